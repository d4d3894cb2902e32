//! How values appear in JSON.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::path::{Path, PathBuf};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

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

/// Writes texts of the system's, each as a path is written.
pub(crate) fn list<'a, S: Serializer, T: AsRef<OsStr> + 'a>(
    values: impl IntoIterator<Item = &'a T>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    #[serde(transparent)]
    struct Text<'a>(#[serde(serialize_with = "path")] &'a OsStr);

    serializer.collect_seq(values.into_iter().map(|value| Text(value.as_ref())))
}

/// Writes names and values, each as a path is written: `[{"name": "CI", "value": "1"}]`.
pub(crate) fn pairs<'a, S: Serializer>(
    values: impl IntoIterator<Item = (&'a OsString, &'a OsString)>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Pair<'a> {
        #[serde(serialize_with = "path")]
        name: &'a OsStr,
        #[serde(serialize_with = "path")]
        value: &'a OsStr,
    }

    serializer.collect_seq(values.into_iter().map(|(name, value)| Pair { name, value }))
}

/// Writes sets of paths by the names they belong to: `{"git": ["/w/x"]}`.
pub(crate) fn path_sets<S: Serializer>(
    sets: &BTreeMap<impl Display, BTreeSet<PathBuf>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    struct Paths<'a>(&'a BTreeSet<PathBuf>);

    impl Serialize for Paths<'_> {
        fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
            list(self.0, serializer)
        }
    }

    serializer.collect_map(sets.iter().map(|(name, paths)| (name.to_string(), Paths(paths))))
}

/// Writes a value as the text it displays as.
pub(crate) fn display<S: Serializer>(value: &impl Display, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

/// Lowercase hexadecimal digits, two per byte.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
