//! Tables of the kernel, files of git, and journals.

use std::os::unix::ffi::OsStrExt;

use crate::mountinfo;
use crate::repository::{config, index};
use crate::runtime::gitsyntax;
use crate::sockets::table;

/// A text that may be any of them.
///
/// # Panics
/// It is read as what it is not.
pub fn texts(data: &[u8]) {
    const HASH_BYTES: usize = 20;
    mountinfo_gives_back(data);
    sockets_are_told_apart(data);
    let _ = index::look(data, HASH_BYTES, b"a");
    settings_are_read_the_same_way(data);
    values_are_read_back(data);
}

fn sockets_are_told_apart(text: &[u8]) {
    let bound = table::parse(text);
    assert!(bound.absolute.iter().all(|path| path.has_root()));
    assert!(bound.relative.iter().all(|path| !path.has_root()));
    // A name without a line end is one name, whatever it looks like.
    let name = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let line = [
        b"0000000012345678: 00000002 00000000 00010000 0001 01 12345 /",
        name,
        b"\n",
    ]
    .concat();
    let read: Vec<_> = table::parse(&line).absolute;
    assert_eq!(read.len(), 1);
    assert_eq!(read[0].as_os_str().as_bytes(), [b"/", name].concat());
}

/// What the kernel would write for a path is read as that path.
fn mountinfo_gives_back(path: &[u8]) {
    let escaped: Vec<u8> = path
        .iter()
        .flat_map(|byte| match byte {
            b' ' | b'\t' | b'\n' | b'\\' => format!("\\{byte:03o}").into_bytes(),
            byte => vec![*byte],
        })
        .collect();
    assert_eq!(mountinfo::path(&escaped).as_os_str().as_bytes(), path);
    let _ = mountinfo::path(path);
}

/// The two readers of git's settings stop at different places, and up to the first fault they say the same.
fn settings_are_read_the_same_way(text: &[u8]) {
    // At a NUL names and values end for one of them.
    if text.contains(&0) {
        return;
    }
    let Ok(all) = config::parse(text) else { return };
    for (strict, setting) in gitsyntax::parse(text).into_iter().zip(all) {
        let mut name = [strict.section, b".".to_vec()].concat();
        if let Some(subsection) = strict.subsection {
            name.extend([subsection, b".".to_vec()].concat());
        }
        name.extend(strict.name);
        assert_eq!(
            (name, strict.value),
            (setting.name, setting.value),
            "{:?}",
            String::from_utf8_lossy(text)
        );
    }
}

fn values_are_read_back(value: &[u8]) {
    if value.iter().any(|byte| matches!(byte, 0 | b'\n')) {
        return;
    }
    let text = [b"[a]\n\tb = ", gitsyntax::quoted(value).as_slice(), b"\n"].concat();
    let read = gitsyntax::parse(&text);
    assert_eq!(
        read.first().map(|setting| setting.value.as_deref()),
        Some(Some(value))
    );
}
