use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use proptest::prelude::*;
use proptest::sample::select;

use super::oracle::{characters, oracle};
use super::*;

fn raw(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

fn join(names: &[Vec<&[u8]>]) -> PathBuf {
    let names: Vec<_> = names.iter().map(|pieces| pieces.concat()).collect();
    raw(&[b"/", names.join(&b'/').as_slice()].concat()).into()
}

fn any_path() -> impl Strategy<Value = PathBuf> {
    let piece = select(vec![
        b"a".as_slice(),
        b"b",
        b".",
        b"]",
        b"\n",
        "é".as_bytes(),
        b"\xff",
    ]);
    let name = prop::collection::vec(piece, 1..4);
    prop::collection::vec(name, 0..5)
        .prop_map(|names| join(&names))
        .prop_filter("canonical", |path| is_clean(path))
}

fn any_pattern() -> impl Strategy<Value = Glob> {
    let piece = prop_oneof![
        3 => select(vec![b"a".as_slice(), b"b", b".", b"]", b"\n", "é".as_bytes(), b"\xff"]),
        3 => select(vec![b"*".as_slice(), b"**", b"?"]),
        2 => select(vec![b"[".as_slice(), b"[ab]", b"[!a]", b"[.-a]", "[b-é]".as_bytes(), b"[^\xff]", b"[]b-]", b"[-a"]),
    ];
    let mixed = prop::collection::vec(piece, 1..4);
    let name = prop_oneof![2 => mixed, 1 => Just(vec![b"**".as_slice()]), 1 => Just(vec![b"*".as_slice()])];
    prop::collection::vec(name, 0..5)
        .prop_map(|names| join(&names))
        .prop_filter_map("well-formed", |text| Glob::new(text).ok())
}

/// The same beneath a name so long that the automaton needs a second word for what matters.
fn beneath(name: &str, path: &Path) -> PathBuf {
    let path = path.as_os_str().as_bytes();
    raw(&[b"/", name.as_bytes(), path.strip_suffix(b"/").unwrap_or(path)].concat()).into()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn pol_29_matching_agrees_with_a_naive_oracle(
        pattern in any_pattern(),
        paths in prop::collection::vec(any_path(), 1..12),
        length in 50..70_usize,
    ) {
        let wide = Glob::new(beneath(&"?".repeat(length), pattern.text())).unwrap();
        for path in &paths {
            let expected = oracle(&characters(pattern.text()), &characters(path));
            prop_assert_eq!(pattern.matches(path), expected, "{:?}", path);
            let name = path.file_name().unwrap_or_default();
            prop_assert!(!expected || pattern.may_match_name(name), "{:?}", path);
            prop_assert_eq!(wide.matches(&beneath(&"a".repeat(length), path)), expected, "{:?}", path);
        }
    }

    #[test]
    fn pol_34_covering_agrees_with_a_naive_oracle(pattern in any_pattern(), path in any_path()) {
        let text = characters(pattern.text());
        let mut lineage: Vec<_> = path.ancestors().collect();
        lineage.reverse();
        let expected = lineage.into_iter().find(|path| oracle(&text, &characters(path)));
        prop_assert_eq!(pattern.covers(&path), expected);
    }

    /// Entering names from a directory gives what starting there gives, and no match is behind a closed door.
    #[test]
    fn a_search_finds_every_match(pattern in any_pattern(), path in any_path()) {
        let matches = oracle(&characters(pattern.text()), &characters(&path));
        for directory in path.ancestors() {
            let names = path.strip_prefix(directory).unwrap();
            let found = names.iter().fold(pattern.start(directory), |search, name| search.enter(name));
            prop_assert_eq!(found.is_match(), matches);
            if matches && directory != path {
                prop_assert!(pattern.may_match_beneath(directory), "{:?}", directory);
            }
        }
        prop_assert!(!matches || path.starts_with(pattern.prefix()));
    }
}
