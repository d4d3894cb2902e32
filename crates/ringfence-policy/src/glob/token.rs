//! The grammar of patterns.

/// One step of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Token {
    /// This byte.
    Byte(u8),
    /// One character of a name, in one of these ranges.
    OneOf(Vec<Range>),
    /// One character of a name, in none of these ranges; of no ranges it is `?`.
    NoneOf(Vec<Range>),
    /// Any run within a name.
    Name,
    /// Any run.
    Path,
    /// Any directories, each with the `/` behind it; only ever follows a `/`.
    Directories,
}

/// Both ends belong to the range.
pub(crate) type Range = (Character, Character);

/// What `?` and classes match; bytes that are not UTF-8 sort behind all characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Character {
    /// A code point.
    Scalar(char),
    /// A byte that is not part of UTF-8.
    Stray(u8),
}

/// Where a token leads when a byte is consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// The same token goes on.
    Stay,
    /// The next token begins.
    On,
}

/// What is wrong with a class, with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Malformed {
    /// A range ends before it begins.
    Range(String),
    /// The class holds a `/`.
    Separator(String),
}

impl Token {
    /// Where one byte leads; the character is given with the last byte of its spelling.
    ///
    /// A character is thus judged as a whole, even where a stray byte of the pattern has taken its first byte.
    pub(crate) fn consume(&self, byte: u8, character: Option<Character>) -> Option<Move> {
        let matched = |yes: bool| yes.then_some(Move::On);
        match (self, character) {
            (Self::Byte(literal), _) => matched(*literal == byte),
            (Self::Path | Self::Directories, _) => Some(Move::Stay),
            (_, _) if byte == b'/' => None,
            (Self::Name, _) | (Self::OneOf(_) | Self::NoneOf(_), None) => Some(Move::Stay),
            (Self::OneOf(ranges), Some(character)) => matched(character.is_in(ranges)),
            (Self::NoneOf(ranges), Some(character)) => matched(!character.is_in(ranges)),
        }
    }

    /// Whether the next token may begin without another byte, after this last one.
    pub(crate) fn may_be_skipped(&self, last: u8) -> bool {
        match self {
            Self::Name | Self::Path => true,
            Self::Directories => last == b'/',
            Self::Byte(_) | Self::OneOf(_) | Self::NoneOf(_) => false,
        }
    }

    /// Whether the token can consume a `/`.
    pub(crate) fn passes_separator(&self) -> bool {
        self.consume(b'/', Some(Character::Scalar('/'))).is_some()
    }
}

impl Character {
    fn is_in(self, ranges: &[Range]) -> bool {
        ranges
            .iter()
            .any(|(first, last)| (*first..=*last).contains(&self))
    }
}

/// Reads the text of a pattern; up to the first byte with a meaning there is one token for each byte.
pub(crate) fn parse(text: &[u8]) -> Result<Vec<Token>, Malformed> {
    let characters: Vec<_> = spell(text).filter_map(|(_, character)| character).collect();
    let mut tokens = Vec::new();
    let mut rest = characters.as_slice();
    // Once nothing closes a `[`, nothing closes a later one, and looking for it again would take quadratic time.
    let mut closable = true;
    while let Some((first, after)) = rest.split_first() {
        rest = match first {
            Character::Scalar('*') => stars(after, &mut tokens),
            Character::Scalar('?') => {
                tokens.push(Token::NoneOf(Vec::new()));
                after
            }
            Character::Scalar('[') if closable => {
                let class = class(after)?;
                closable = class.is_some();
                let (token, after) = class.unwrap_or((Token::Byte(b'['), after));
                tokens.push(token);
                after
            }
            Character::Scalar(literal) => {
                tokens.extend(literal.encode_utf8(&mut [0; 4]).bytes().map(Token::Byte));
                after
            }
            Character::Stray(byte) => {
                tokens.push(Token::Byte(*byte));
                after
            }
        };
    }
    Ok(tokens)
}

/// Every byte; the last one of each character comes with the character.
pub(crate) fn spell(bytes: &[u8]) -> impl Iterator<Item = (u8, Option<Character>)> {
    bytes.utf8_chunks().flat_map(|chunk| {
        let (valid, stray) = (chunk.valid(), chunk.invalid());
        let valid = valid.char_indices().flat_map(move |(start, scalar)| {
            let spelling = &valid.as_bytes()[start..start + scalar.len_utf8()];
            let character = move |at| (at + 1 == spelling.len()).then_some(Character::Scalar(scalar));
            spelling
                .iter()
                .enumerate()
                .map(move |(at, byte)| (*byte, character(at)))
        });
        valid.chain(stray.iter().map(|byte| (*byte, Some(Character::Stray(*byte)))))
    })
}

/// What a star and the stars right behind it mean; answers what follows.
fn stars<'a>(after: &'a [Character], tokens: &mut Vec<Token>) -> &'a [Character] {
    let more = after.iter().take_while(|next| **next == Character::Scalar('*'));
    let (more, after) = after.split_at(more.count());
    let behind_separator = matches!(tokens.last(), Some(Token::Byte(b'/') | Token::Directories));
    let (token, after) = match after {
        _ if more.is_empty() => (Token::Name, after),
        [Character::Scalar('/'), after @ ..] if behind_separator => (Token::Directories, after),
        _ => (Token::Path, after),
    };
    tokens.push(token);
    after
}

/// The class whose `[` was just read, and what follows it; nothing if it is not closed.
fn class(after: &[Character]) -> Result<Option<(Token, &[Character])>, Malformed> {
    let (token, members): (fn(_) -> _, _) = match after {
        [Character::Scalar('!' | '^'), members @ ..] => (Token::NoneOf, members),
        members => (Token::OneOf, members),
    };
    // The first member is one even if it is a `]`.
    let close = members
        .iter()
        .skip(1)
        .position(|next| *next == Character::Scalar(']'));
    let Some((members, rest)) = close.and_then(|close| members.split_at_checked(close + 1)) else {
        return Ok(None);
    };
    if members.contains(&Character::Scalar('/')) {
        let inside = &after[..after.len() - rest.len()];
        return Err(Malformed::Separator(format!("[{}]", lossy(inside))));
    }
    Ok(Some((token(ranges(members)?), &rest[1..])))
}

fn ranges(mut members: &[Character]) -> Result<Vec<Range>, Malformed> {
    let mut ranges = Vec::new();
    while let [first, after @ ..] = members {
        let (last, after) = match after {
            [Character::Scalar('-'), last, after @ ..] => (last, after),
            _ => (first, after),
        };
        if first > last {
            return Err(Malformed::Range(lossy(&[*first, Character::Scalar('-'), *last])));
        }
        ranges.push((*first, *last));
        members = after;
    }
    Ok(ranges)
}

fn lossy(characters: &[Character]) -> String {
    let shown = characters.iter().map(|character| match character {
        Character::Scalar(scalar) => *scalar,
        Character::Stray(_) => char::REPLACEMENT_CHARACTER,
    });
    shown.collect()
}
