use std::fs;

use proptest::prelude::*;
use proptest::sample::select;

use super::super::testing::Git;
use super::*;
use crate::testing::Tree;

/// Settings as `name` or `name=value`.
fn written(text: &[u8]) -> Vec<String> {
    let settings = parse(text).unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let lines = settings.iter().map(|setting| match &setting.value {
        Some(value) => format!("{}={}", text(&setting.name), text(value)),
        None => text(&setting.name),
    });
    lines.collect()
}

#[test]
fn sections_subsections_and_keys_are_folded_as_git_folds_them() {
    let text = br#"
        [CORE] FsMonitor = a ; comment
        [Filter "X.y Z\"\\\q"] Clean = "b # c" d # comment
        [Old.Style] Key
        [a]b=1[c]
        d = e
    "#;
    let expected = [
        "core.fsmonitor=a",
        r#"filter.X.y Z"\q.clean=b # c d"#,
        "old.style.key",
        "a.b=1[c]",
        "a.d=e",
    ];
    assert_eq!(written(text), expected);
}

#[test]
fn values_may_be_quoted_escaped_and_continued() {
    let text = b"[a]\nb = \" x \\t\\n\\\"\" y\\\n  z  \nc = # none\nd =\ne = \"\" \n";
    assert_eq!(written(text), ["a.b= x \t\n\" y  z", "a.c=", "a.d=", "a.e="]);
}

#[test]
fn line_ends_and_a_byte_order_mark_of_other_systems_do_not_matter() {
    let text = b"\xef\xbb\xbf[a]\r\nb = c\r\nd\r\n[e \"f\"]\r\ng = \"h\" \\\r\ni";
    assert_eq!(written(text), ["a.b=c", "a.d", "e.f.g=h i"]);
}

#[test]
fn what_git_refuses_hides_nothing() {
    for bad in [
        "what = \"is this",
        "key [",
        "[",
        "[]",
        "[a b]",
        "[a \"b",
        "[a \"b\"x]",
        "k = \\x",
        "-",
        "\0",
        "k # comment",
        "k\r = v",
    ] {
        let text = format!("[core]\nfsmonitor = a\n{bad}\n[core]\nhookspath = b\n");
        assert_eq!(
            written(text.as_bytes()),
            ["core.fsmonitor=a", "core.hookspath=b"],
            "{bad:?}"
        );
    }
    assert_eq!(written(b"\xef\xbb[core]\n[a]b"), ["a.b"]);
}

#[test]
fn names_and_values_end_at_a_nul_as_they_do_for_git() {
    let text = b"[core \"FSmonitor\0junk\"]\nx = a\0b\n[a]b=c";
    assert_eq!(written(text), ["core.fsmonitor=a", "a.b=c"]);
}

#[test]
fn the_last_value_counts() {
    let settings = parse(b"[a]b=1\nb=2\n[a \"x\"]b=3\n[c]d\n[e]f=no\n[g]h=01\n[i]j=x").unwrap();
    assert_eq!(last(&settings, "a.b"), Some(b"2".as_slice()));
    assert_eq!(last(&settings, "a.x.b"), Some(b"3".as_slice()));
    assert_eq!(last(&settings, "c.d"), None);
    let truths = ["c.d", "e.f", "g.h", "i.j", "k.l"].map(|name| is_true(&settings, name));
    assert_eq!(truths, [true, false, true, false, false]);
}

#[test]
fn files_that_are_too_large_or_would_expand_are_errors() {
    let tree = Tree::new();
    let path = tree.path("config");
    let kind = |text: &[u8]| {
        fs::write(&path, text).unwrap();
        read(&path)
            .map(|settings| settings.len())
            .map_err(|error| error.kind())
    };
    let limit = usize::try_from(MAX_BYTES).unwrap();
    assert_eq!(kind(&vec![b'\n'; limit]), Ok(0));
    assert_eq!(kind(&vec![b'\n'; limit + 1]), Err(io::ErrorKind::FileTooLarge));
    let long = "x".repeat(limit / 2);
    let text = format!("[a \"{long}\"]\n{}", "b\n".repeat(limit / 8));
    assert_eq!(kind(text.as_bytes()), Err(io::ErrorKind::InvalidData));
    assert_eq!(kind(&b"b\n".repeat(limit / 2)), Ok(limit / 2));
}

#[test]
fn what_is_no_file_is_an_error() {
    let tree = Tree::new();
    let paths = [
        tree.dir("directory"),
        tree.link("device", "/dev/zero"),
        tree.link("chain", "device"),
    ];
    for path in paths {
        let error = read(&path).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{path:?}");
    }
    assert_eq!(read(&tree.path("absent")).unwrap(), []);
    assert_eq!(read(&tree.link("dangling", "absent")).unwrap(), []);
}

#[test]
#[cfg(target_os = "linux")]
fn nothing_waits_for_the_other_end_of_a_pipe() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    let tree = Tree::new();
    let pipe = tree.path("config");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    assert_eq!(read(&pipe).unwrap_err().kind(), io::ErrorKind::InvalidInput);
}

/// Pieces that texts are made of, so that they often mean something.
const PIECES: &[&str] = &[
    "[", "]", "[core]", "[a \"", "\"]", "[a.b]", "\"", "\\", "\\\"", "\\n", "\\t", "\\\n", "\n", "\r\n",
    "\r", " ", "\t", "=", " = ", "key", "K-1", "1", ".", "#", ";", "value", "\u{feff}", "\u{e4}", "\u{b}",
    "[x]k=v\n",
];

proptest! {
    #[test]
    fn whatever_the_text_is_it_is_read_to_its_end(mut text: Vec<u8>) {
        parse(&text).unwrap();
        text.extend(b"\n[a]b=c");
        let settings = parse(&text).unwrap();
        prop_assert_eq!(last(&settings, "a.b"), Some(b"c".as_slice()));
    }
}

/// Git's own listing of random texts: all of it where git accepts the text, else what is before the bad line.
#[test]
fn settings_are_those_that_git_lists() {
    let tree = Tree::new();
    let Some(git) = Git::installed(&tree) else { return };
    let file = tree.path("config");
    let texts = prop::collection::vec(select(PIECES), 0..40).prop_map(|pieces| pieces.concat());
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig::with_cases(200));
    let checked = runner.run(&texts, |text| {
        let text = format!("[s]\n{text}");
        fs::write(&file, &text).unwrap();
        let listed = git.output(&tree.root, &[&"config", &"--file", &file, &"--list", &"--null"]);
        let settings = parse(text.as_bytes()).unwrap();
        let mut ours = Vec::new();
        for setting in &settings {
            ours.extend(&setting.name);
            if let Some(value) = &setting.value {
                ours.push(b'\n');
                ours.extend(value);
            }
            ours.push(0);
        }
        if listed.status.success() {
            prop_assert_eq!(&ours, &listed.stdout);
        } else {
            prop_assert!(ours.starts_with(&listed.stdout), "{:?} {:?}", ours, listed.stdout);
        }
        Ok(())
    });
    checked.unwrap();
}
