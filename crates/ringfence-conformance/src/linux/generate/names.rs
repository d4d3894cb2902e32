//! Names of files, ordinary and odd.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use proptest::prelude::*;

/// Bytes that mean something to a shell, to a pattern, to a terminal, or to nobody.
const ODD: &[&[u8]] = &[
    b"new\nline",
    b"[ab]*?",
    b"**",
    b"{x,y}",
    b"\xff\xfe",
    b"e\xcc\x81",
    b"-rf",
    b"back\\slash",
    b"quote'\"$(x)`",
    b"\x01\x7f",
    b"trailing.",
];

/// A name, or several with directories between them that nobody speaks about.
pub(super) fn name() -> impl Strategy<Value = OsString> {
    let plain = prop::sample::select(&["a", "b", "c", "data", ".hidden", "with space"][..]);
    let odd = prop::sample::select(ODD);
    let deep = prop::sample::select(&[2_usize, 12, 40][..]);
    prop_oneof![
        8 => plain.prop_map(OsString::from),
        5 => odd.prop_map(|name| OsString::from_vec(name.to_vec())),
        1 => any::<bool>().prop_map(longest),
        1 => deep.prop_map(|depth| OsString::from(format!("{}end", "d/".repeat(depth)))),
    ]
}

/// As long as a file system allows: 255 bytes, also if they are fewer characters.
fn longest(multibyte: bool) -> OsString {
    OsString::from(if multibyte {
        format!("{}n", "é".repeat(127))
    } else {
        "n".repeat(255)
    })
}
