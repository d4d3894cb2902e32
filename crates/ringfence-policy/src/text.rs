//! How values appear in JSON.

use std::fmt::Display;
use std::path::Path;

use serde::Serializer;
use serde::ser::SerializeMap;

/// Writes a path losslessly: a string where it is UTF-8, otherwise `{"hex": "2fff"}` with its raw bytes.
pub(crate) fn path<S: Serializer>(path: impl AsRef<Path>, serializer: S) -> Result<S::Ok, S::Error> {
    let path = path.as_ref();
    if let Some(text) = path.to_str() {
        return serializer.serialize_str(text);
    }
    let mut map = serializer.serialize_map(Some(1))?;
    map.serialize_entry("hex", &hex(path.as_os_str().as_encoded_bytes()))?;
    map.end()
}

/// Writes a path that may be missing; nothing is `null`.
pub(crate) fn optional_path<S: Serializer>(
    value: &Option<impl AsRef<Path>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => path(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// Writes a value as the text it displays as.
pub(crate) fn display<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Lowercase hexadecimal digits, two per byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
