//! The syntax of git's configuration files; see git-config(1), "Syntax".

/// One variable as it is set in a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Setting {
    /// In lower case.
    pub(crate) section: Vec<u8>,
    /// An empty one is another than none.
    pub(crate) subsection: Option<Vec<u8>>,
    /// In lower case.
    pub(crate) name: Vec<u8>,
    /// None for a name alone, which means true.
    pub(crate) value: Option<Vec<u8>>,
}

/// Reads the settings before the first place that git would complain about.
pub(crate) fn parse(text: &[u8]) -> Vec<Setting> {
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let mut parser = Parser { text, at: 0 };
    let mut settings = Vec::new();
    // Git stops here too; what it has read by then counts for nothing there.
    let _complete = parser.run(&mut settings);
    settings
}

/// A value as it must be written to be read back.
pub(crate) fn quoted(value: &[u8]) -> Vec<u8> {
    let mut text = vec![b'"'];
    for byte in value {
        if matches!(byte, b'"' | b'\\') {
            text.push(b'\\');
        }
        text.push(*byte);
    }
    text.push(b'"');
    text
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    /// None where the text is malformed.
    fn run(&mut self, settings: &mut Vec<Setting>) -> Option<()> {
        let (mut section, mut subsection) = (None, None);
        while let Some(byte) = self.next() {
            match byte {
                b'#' | b';' => self.skip_line(),
                b'[' => {
                    let (name, sub) = self.header()?;
                    (section, subsection) = (Some(name), sub);
                }
                byte if is_space(byte) => {}
                byte if byte.is_ascii_alphabetic() => {
                    self.at -= 1;
                    let name = self.key();
                    let value = self.after_name()?;
                    settings.push(Setting {
                        section: section.clone()?,
                        subsection: subsection.clone(),
                        name,
                        value,
                    });
                }
                _ => return None,
            }
        }
        Some(())
    }

    /// The next byte, the end of a line as `\n`.
    fn next(&mut self) -> Option<u8> {
        let byte = *self.text.get(self.at)?;
        self.at += 1;
        if byte == b'\r' && self.text.get(self.at) == Some(&b'\n') {
            self.at += 1;
            return Some(b'\n');
        }
        Some(byte)
    }

    fn skip_line(&mut self) {
        while self.next().is_some_and(|byte| byte != b'\n') {}
    }

    /// Letters, digits and `-`, in lower case.
    fn key(&mut self) -> Vec<u8> {
        let rest = &self.text[self.at..];
        let other = |byte: &u8| !(byte.is_ascii_alphanumeric() || *byte == b'-');
        let length = rest.iter().position(other).unwrap_or(rest.len());
        self.at += length;
        rest[..length].to_ascii_lowercase()
    }

    /// What follows `[`: `section]`, `section "subsection"]`, or the old `section.subsection]`.
    fn header(&mut self) -> Option<(Vec<u8>, Option<Vec<u8>>)> {
        let section = self.key();
        let mut subsection: Option<Vec<u8>> = None;
        loop {
            match self.next()? {
                b']' => return (!section.is_empty()).then_some((section, subsection)),
                b'.' => subsection = Some(deeper(subsection, self.key())),
                byte if is_space(byte) => break,
                _ => return None,
            }
        }
        self.at -= 1;
        loop {
            match self.next()? {
                b'"' => break,
                byte if is_space(byte) && byte != b'\n' => {}
                _ => return None,
            }
        }
        let subsection = deeper(subsection, self.subsection()?);
        (self.next()? == b']').then_some((section, Some(subsection)))
    }

    /// The rest of a quoted subsection; a backslash makes any character stand for itself.
    fn subsection(&mut self) -> Option<Vec<u8>> {
        let mut subsection = Vec::new();
        loop {
            match self.next()? {
                b'"' => return Some(subsection),
                b'\\' => subsection.push(self.next().filter(|byte| *byte != b'\n')?),
                b'\n' => return None,
                byte => subsection.push(byte),
            }
        }
    }

    /// What follows the name of a variable; the outer none is malformed.
    fn after_name(&mut self) -> Option<Option<Vec<u8>>> {
        loop {
            match self.next() {
                Some(b' ' | b'\t') => {}
                Some(b'=') => return self.value().map(Some),
                Some(b'\n') | None => return Some(None),
                Some(_) => return None,
            }
        }
    }

    /// A value to the end of its line, without white space around it and without comments.
    fn value(&mut self) -> Option<Vec<u8>> {
        let mut value = Vec::new();
        // Where white space begins that may be the end.
        let mut end = 0;
        let mut in_quotes = false;
        loop {
            match self.next() {
                Some(b'\n') | None if in_quotes => return None,
                Some(b'\n') | None => break,
                Some(b'#' | b';') if !in_quotes => {
                    self.skip_line();
                    break;
                }
                Some(b'"') => {
                    in_quotes = !in_quotes;
                    end = value.len();
                }
                Some(b'\\') => {
                    value.push(match self.next() {
                        Some(b'\n') | None => {
                            end = value.len();
                            continue;
                        }
                        Some(b't') => b'\t',
                        Some(b'b') => 8,
                        Some(b'n') => b'\n',
                        Some(byte @ (b'\\' | b'"')) => byte,
                        Some(_) => return None,
                    });
                    end = value.len();
                }
                Some(byte) if is_space(byte) && !in_quotes => {
                    if !value.is_empty() {
                        value.push(byte);
                    }
                }
                Some(byte) => {
                    value.push(byte);
                    end = value.len();
                }
            }
        }
        value.truncate(end);
        Some(value)
    }
}

/// One more part of a subsection.
fn deeper(subsection: Option<Vec<u8>>, part: Vec<u8>) -> Vec<u8> {
    match subsection {
        Some(above) => [above, part].join(&b'.'),
        None => part,
    }
}

fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

#[cfg(test)]
#[path = "gitsyntax_tests.rs"]
mod tests;
