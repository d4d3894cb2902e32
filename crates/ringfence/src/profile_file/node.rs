//! Values of a file that know where they are.

use std::collections::BTreeSet;

use ringfence_policy::Field;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Error};

use super::notes::{Notes, Positions};
use super::reason::FileReason;
use super::vocabulary;

/// Reads a text as TOML, and its top as a table; nothing where it is not TOML.
pub(super) fn document<T>(text: &str, notes: &Notes, read: impl FnOnce(&Table<'_>) -> T) -> Option<T> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if !errors.is_empty() {
        note_syntax(text, &errors, notes);
        return None;
    }
    let top = Table {
        entries: table.get_ref(),
        offset: 0,
        field: String::new(),
        notes,
    };
    top.check_keys(vocabulary::TOP);
    Some(read(&top))
}

/// Notes the first error of each line: what else is wrong with a line usually follows from it.
fn note_syntax(text: &str, errors: &[Error], notes: &Notes) {
    let places = errors
        .iter()
        .map(|error| (error.span().map_or(0, |span| span.start), error.message()));
    let mut places: Vec<_> = places.collect();
    places.sort_by_key(|(offset, _)| *offset);
    let mut positions = Positions::of(text.as_bytes());
    let mut last_line = 0;
    for (offset, message) in places {
        let line = positions.at(offset).line;
        if line > last_line {
            let message = message.to_owned();
            notes.problem(Some(offset), "", FileReason::Syntax { message });
        }
        last_line = line;
    }
}

/// A table whose keys are known ones.
pub(super) struct Table<'f> {
    entries: &'f DeTable<'f>,
    offset: usize,
    field: String,
    notes: &'f Notes,
}

impl<'f> Table<'f> {
    /// The value of a key, if there is one.
    pub(super) fn get(&self, key: &str) -> Option<Node<'f>> {
        self.entries.get(key).map(|value| self.node(key, value))
    }

    /// The value of a key that must be there.
    pub(super) fn require(&self, key: &'static str) -> Option<Node<'f>> {
        let node = self.get(key);
        if node.is_none() {
            let missing = FileReason::Missing { key };
            self.notes.problem(Some(self.offset), &self.field, missing);
        }
        node
    }

    /// Notes what is wrong with something that the text does not say.
    pub(super) fn lacks(&self, field: &str, reason: FileReason) {
        self.notes.problem(None, field, reason);
    }

    /// Every key with its value.
    pub(super) fn entries(&self) -> impl Iterator<Item = (&'f str, Node<'f>)> {
        let entries = self.entries.iter();
        entries.map(|(key, value)| (key.get_ref().as_ref(), self.node(key.get_ref(), value)))
    }

    fn node(&self, key: &str, value: &'f Spanned<DeValue<'f>>) -> Node<'f> {
        Node {
            value: value.get_ref(),
            offset: value.span().start,
            field: child(&self.field, key),
            notes: self.notes,
        }
    }

    fn check_keys(&self, known: &'static [&'static str]) {
        for (key, _) in self.entries {
            let name: &str = key.get_ref();
            if known.contains(&name) {
                continue;
            }
            let reason = if vocabulary::TOP.contains(&name) {
                FileReason::Misplaced
            } else {
                FileReason::unknown_key(name, known)
            };
            let field = child(&self.field, name);
            self.notes.problem(Some(key.span().start), &field, reason);
        }
    }
}

/// A value.
pub(super) struct Node<'f> {
    value: &'f DeValue<'f>,
    offset: usize,
    field: String,
    notes: &'f Notes,
}

impl<'f> Node<'f> {
    /// Notes what is wrong with the value.
    pub(super) fn is_wrong(&self, reason: FileReason) {
        self.notes.problem(Some(self.offset), &self.field, reason);
    }

    /// What a check made of it; a problem is noted.
    pub(super) fn checked<T>(&self, result: Result<T, impl Into<FileReason>>) -> Option<T> {
        result.map_err(|reason| self.is_wrong(reason.into())).ok()
    }

    /// Notes that this is where a field of the profile comes from.
    pub(super) fn gives(&self, field: Field) {
        self.notes.place(self.offset, &self.field, field);
    }

    /// What type of value it is, where there is a choice.
    pub(super) fn shape(&self) -> Shape {
        match self.value {
            DeValue::String(_) => Shape::Text,
            DeValue::Integer(_) => Shape::Integer,
            DeValue::Table(_) => Shape::Table,
            _ => Shape::Other,
        }
    }

    pub(super) fn text(&self) -> Option<&'f str> {
        let text = self.value.as_str();
        text.or_else(|| self.is_not("a text", "\"text\""))
    }

    /// A text of at least one character.
    pub(super) fn name(&self) -> Option<&'f str> {
        let text = self.text()?;
        if text.is_empty() {
            self.is_wrong(FileReason::Empty);
        }
        (!text.is_empty()).then_some(text)
    }

    /// An integer that is not negative.
    pub(super) fn count(&self) -> Option<u64> {
        let integer = self.value.as_integer();
        let integer = integer.or_else(|| self.is_not("a whole number", "64"))?;
        let count = u64::from_str_radix(integer.as_str(), integer.radix());
        self.checked(count.map_err(|_| FileReason::Count {
            number: integer.to_string(),
        }))
    }

    /// What one of some words means.
    pub(super) fn word<W: AsRef<str>, T>(&self, words: impl IntoIterator<Item = (W, T)>) -> Option<T> {
        let mut known = Vec::new();
        for (word, meaning) in words {
            if self.value.as_str() == Some(word.as_ref()) {
                return Some(meaning);
            }
            known.push(word.as_ref().to_owned());
        }
        let Some(text) = self.value.as_str() else {
            return self.is_not(
                "a text",
                &known.first().map_or_else(String::new, |word| format!("{word:?}")),
            );
        };
        self.is_wrong(FileReason::UnknownWord {
            word: text.to_owned(),
            known,
        });
        None
    }

    /// The values of a list; none where it is not a list.
    pub(super) fn items(&self) -> Vec<Node<'f>> {
        let list = self.value.as_array();
        let Some(list) = list.or_else(|| self.is_not("a list", "[\"text\"]")) else {
            return Vec::new();
        };
        let items = list.iter().enumerate();
        items
            .map(|(index, item)| Node {
                value: item.get_ref(),
                offset: item.span().start,
                field: format!("{}[{index}]", self.field),
                notes: self.notes,
            })
            .collect()
    }

    /// The names in a list, each with its place; one that is there already is wrong.
    pub(super) fn names(&self) -> Vec<(&'f str, Node<'f>)> {
        let mut seen = BTreeSet::new();
        let mut names = Vec::new();
        for item in self.items() {
            let Some(name) = item.name() else { continue };
            if seen.insert(name) {
                names.push((name, item));
            } else {
                item.is_wrong(FileReason::Twice);
            }
        }
        names
    }

    /// A table with no keys but these.
    pub(super) fn table(&self, known: &'static [&'static str]) -> Option<Table<'f>> {
        let table = self.any_table()?;
        table.check_keys(known);
        Some(table)
    }

    /// A table with any keys.
    pub(super) fn any_table(&self) -> Option<Table<'f>> {
        let table = self.value.as_table();
        let entries = table.or_else(|| self.is_not("a table", "{ key = \"text\" }"))?;
        Some(Table {
            entries,
            offset: self.offset,
            field: self.field.clone(),
            notes: self.notes,
        })
    }

    /// Notes that the value is of another type; gives nothing.
    pub(super) fn is_not<T>(&self, expected: &'static str, example: &str) -> Option<T> {
        self.is_wrong(FileReason::WrongType {
            found: match self.value {
                DeValue::String(_) => "a text",
                DeValue::Integer(_) => "an integer",
                DeValue::Float(_) => "a number with a fraction",
                DeValue::Boolean(_) => "a boolean",
                DeValue::Datetime(_) => "a date or time",
                DeValue::Array(_) => "a list",
                DeValue::Table(_) => "a table",
            },
            expected,
            example: example.to_owned(),
        });
        None
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Integer,
    Table,
    Other,
}

/// The dotted path of a key; one that TOML would quote is quoted. What follows a `=` may be the value of an
/// environment variable, which no message shows.
fn child(field: &str, key: &str) -> String {
    let key = key.split('=').next().unwrap_or_default();
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let key = if !key.is_empty() && key.chars().all(is_bare) {
        key.to_owned()
    } else {
        format!("{key:?}")
    };
    match field {
        "" => key,
        field => format!("{field}.{key}"),
    }
}
