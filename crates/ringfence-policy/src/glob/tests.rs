use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use super::*;

fn pattern(text: &str) -> Glob {
    Glob::new(text).unwrap()
}

fn matches(text: &str, path: &str) -> bool {
    pattern(text).matches(Path::new(path))
}

fn covers<'a>(text: &str, path: &'a str) -> Option<&'a str> {
    pattern(text)
        .covers(Path::new(path))
        .map(|path| path.to_str().unwrap())
}

fn raw(bytes: &[u8]) -> &Path {
    Path::new(OsStr::from_bytes(bytes))
}

/// One line per pattern: what matches and what does not, with spaces between the paths.
fn table(lines: &[(&str, &str, &str)]) {
    for (text, matching, others) in lines {
        for path in matching.split(' ') {
            assert!(matches(text, path), "{text} should match {path}");
        }
        for path in others.split(' ') {
            assert!(!matches(text, path), "{text} should not match {path}");
        }
    }
}

#[test]
fn pol_29_stars_and_question_marks() {
    table(&[
        ("/a/*", "/a/b /a/.b /a/b.c", "/a /a/b/c /ab"),
        ("/a/*.rs", "/a/b.rs /a/.rs", "/a/b/c.rs /a/b.rss /a/brs"),
        ("/a/b*c", "/a/bc /a/bxc /a/bcc", "/a/b/c /a/bcd /a/xbc"),
        ("/a?c", "/abc /a.c /aéc", "/ac /abbc /a/c"),
        ("/??", "/ab /éé", "/a /abc /a/"),
        ("/a**b", "/ab /axb /a/b /ax/y/zb", "/a /b /a/bc"),
        ("/a**", "/a /ab /a/b", "/ /b /b/a"),
        ("/**b", "/b /ab /a/b /a/cb", "/ /bc /b/c"),
        ("/a***b", "/ab /a/b", "/a"),
        ("/**", "/a /a/b", "/"),
        ("/*", "/a", "/ /a/b"),
    ]);
}

#[test]
fn pol_29_classes() {
    table(&[
        ("/[abc]", "/a /b /c", "/d / /ab /[abc]"),
        ("/[a-cx]", "/a /b /c /x", "/d /-"),
        ("/[!x]", "/a /! /é", "/x / /ab"),
        ("/[^x]", "/a /^", "/x"),
        ("/[x!^]", "/x /! /^", "/a"),
        ("/[!!]", "/a", "/!"),
        ("/[]x]", "/] /x", "/[]x] /a"),
        ("/[!]x]", "/a", "/] /x"),
        ("/[]-_]", "/] /^ /_", "/- /a"),
        ("/[a-]", "/a /-", "/b"),
        ("/[-a]", "/a /-", "/b"),
        ("/[!-a]", "/b", "/a /-"),
        ("/[a-c-e]", "/b /- /e", "/d"),
        ("/[+--]", "/+ /, /-", "/."),
        ("/[a-]]", "/a] /-]", "/a /]"),
        ("/[[]", "/[", "/[[]"),
        ("/[*][?]", "/*?", "/ab"),
    ]);
}

#[test]
fn pol_29_an_unclosed_bracket_stands_for_itself() {
    table(&[
        ("/[", "/[", "/a"),
        ("/[a", "/[a", "/a"),
        ("/[]", "/[]", "/] /["),
        ("/[!]", "/[!]", "/a /[a]"),
        ("/[^]", "/[^]", "/a"),
        ("/[z-a*", "/[z-a /[z-ab", "/z"),
        ("/a]", "/a]", "/a"),
        ("/[[a]", "/[ /a", "/[[a]"),
        ("/[a/b?", "/[a/bc", "/a/bc /b"),
    ]);
}

#[test]
fn pol_29_everything_else_is_literal() {
    table(&[
        ("/a.b", "/a.b", "/axb"),
        ("/a+(b|c)$^{2}~", "/a+(b|c)$^{2}~", "/aab"),
        ("/{a,b}", "/{a,b}", "/a /b"),
        ("/\\*", "/\\ /\\a", "/*"),
        ("/\\[a]", "/\\a", "/[a]"),
        ("/!a#", "/!a#", "/b"),
        ("/a\n", "/a\n", "/a /a\n\n"),
        ("/**/.env*", "/.env /ws/.env", "/.ENV /ws/.Env"),
        ("/a/b", "/a/b", "/a\\b /A/b"),
    ]);
}

#[test]
fn pol_29_every_byte_of_a_literal_component_stands_for_itself() {
    for byte in (1..=u8::MAX).filter(|byte| !b"*?/".contains(byte)) {
        let text = [b"/ws/x", [byte].as_slice(), b"y"].concat();
        let pattern = Glob::new(raw(&text)).unwrap();
        assert_eq!(pattern.prefix(), raw(&text));
        assert_eq!(
            serde_json::to_string(&pattern).unwrap().contains("hex"),
            byte > 127
        );
        for other in (1..=u8::MAX).filter(|other| *other != b'/') {
            let path = [b"/ws/x", [other].as_slice(), b"y"].concat();
            assert_eq!(pattern.matches(raw(&path)), byte == other, "{byte} {other}");
        }
    }
}

#[test]
fn s_12_a_recursive_pattern_names_files_at_any_depth() {
    table(&[
        (
            "/ws/**/*.parquet",
            "/ws/a.parquet /ws/d/e/a.parquet",
            "/ws/a.parquet.gz /a.parquet /ws/d",
        ),
        (
            "/**/.env*",
            "/.env /ws/.env /ws/a/.env.local",
            "/ws/main.go /ws/env /ws/notenv",
        ),
    ]);
}

#[test]
fn pol_29_the_whole_path_must_match() {
    table(&[
        ("/a", "/a", "/ /ab /a/b /b/a"),
        ("/", "/", "/a"),
        ("/ws/*.key", "/ws/a.key", "/ws/a.key.pub /ws/a.key/b /x/ws/a.key"),
    ]);
}

#[test]
fn pol_30_unicode_works_by_code_point() {
    table(&[
        ("/é", "/é", "/e /e\u{301}"),
        ("/[α-γ]", "/α /β /γ", "/δ /a /Α"),
        ("/[!α-γ]", "/δ /a", "/α /αδ"),
        ("/*[!é]", "/éa /e", "/é /aé"),
        ("/[é]*", "/é /éé", "/è /e"),
        ("/?", "/é /😀", "/éé /e\u{301}"),
        ("/[a-😀]", "/a /é /😀", "/A /😁"),
    ]);
}

#[test]
fn pol_30_a_reversed_range_is_malformed() {
    for (text, range) in [
        ("/ws/[z-a]", "z-a"),
        ("/ws/[!z-a]x", "z-a"),
        ("/[abγ-α]*", "γ-α"),
        ("/**/[a--]", "a--"),
        ("/[]-A]", "]-A"),
    ] {
        let reversed = GlobError::ReversedRange {
            pattern: text.into(),
            range: range.into(),
        };
        assert_eq!(Glob::new(text), Err(reversed), "{text}");
    }
    assert!(Glob::new("/[a-a]").is_ok());
}

#[test]
fn bytes_that_are_not_text_are_characters_of_their_own() {
    let matches = |text: &[u8], path: &[u8]| Glob::new(raw(text)).unwrap().matches(raw(path));
    assert!(matches(b"/a\xff*", b"/a\xffb") && !matches(b"/a\xff*", b"/a\xfeb"));
    assert!(matches(b"/?", b"/\xff") && !matches(b"/?", b"/\xff\xfe") && matches(b"/??", b"/\xc3\xff"));
    assert!(matches(b"/[\xfe]", b"/\xfe") && !matches(b"/[\xfe]", b"/\xff"));
    assert!(matches(b"/[\x80-\xff]", b"/\xff") && !matches(b"/[\x80-\xff]", "/é".as_bytes()));
    assert!(
        matches(b"/[!a]", b"/\xff"),
        "no character is beyond a negated class"
    );
    assert!(matches(b"/**/x", b"/\xff\xfe/x") && matches(b"/*x", b"/\xc3x"));
}

#[test]
fn a_stray_byte_matches_within_a_character_too() {
    let matches = |text: &[u8], path: &str| Glob::new(raw(text)).unwrap().matches(Path::new(path));
    for text in [
        b"/\xc3*".as_slice(),
        b"/\xc3?",
        b"/\xc3[\xc3\xa9]",
        b"/*\xa9",
        b"/**\xa9",
    ] {
        assert!(matches(text, "/é"), "{text:?}");
        assert!(!matches(text, "/e"), "{text:?}");
    }
    assert!(!matches(b"/\xc3[!\xc3\xa9]", "/é") && !matches(b"/\xc3??", "/é"));
}

/// With backtracking this would not end.
#[test]
fn pol_31_an_adversarial_pattern_ends() {
    let text = format!("/{}", "*a".repeat(700));
    assert!(!matches(&text, &format!("/{}b", "a".repeat(699))));
    assert!(!matches(&text, &format!("/{}", "a".repeat(699))));
    assert!(matches(&text, &format!("/{}", "a".repeat(700))));
    assert!(!matches(
        &text.replace("*a", "**a"),
        &format!("/{}b", "/a".repeat(349))
    ));
}

#[test]
fn pol_31_a_long_pattern_is_read() {
    for text in ["[", "[]", "[!", "[a-", "*", "**/", "[a]", "?["] {
        let text = format!("/{}x", text.repeat(10_000));
        assert_eq!(pattern(&text).text(), Path::new(&text));
    }
}

#[test]
fn pol_32_nothing_but_two_stars_matches_a_separator() {
    table(&[
        ("/a[!x]b", "/a.b", "/a/b"),
        ("/a[^x]b", "/a.b", "/a/b"),
        ("/a[.-0]b", "/a.b /a0b", "/a/b"),
        ("/a[!.-0]b", "/axb", "/a/b /a.b"),
        ("/a[ -~]b", "/a~b", "/a/b"),
        ("/a?b", "/a.b", "/a/b"),
        ("/a*b", "/ab", "/a/b"),
    ]);
}

#[test]
fn pol_32_a_separator_in_a_class_is_malformed() {
    for (text, class) in [
        ("/ws/[a/b]", "[a/b]"),
        ("/ws/[!/]x", "[!/]"),
        ("/[]/x]", "[]/x]"),
        ("/[a-/]", "[a-/]"),
        ("/app/[slug/**/id]/x", "[slug/**/id]"),
    ] {
        let refused = GlobError::SeparatorInClass {
            pattern: text.into(),
            class: class.into(),
        };
        assert_eq!(Glob::new(text), Err(refused), "{text}");
    }
}

#[test]
fn pol_33_two_stars_match_every_byte() {
    let env = pattern("/**/.env*");
    for byte in (1..=u8::MAX).filter(|byte| *byte != b'/') {
        let path = [b"/ws/a", [byte].as_slice(), b"b/.env"].concat();
        assert!(env.matches(raw(&path)), "{byte}");
        assert!(pattern("/ws/a*b/.env").matches(raw(&path)), "{byte}");
        assert!(pattern("/ws/a?b/.env").matches(raw(&path)), "{byte}");
    }
}

#[test]
fn pol_34_two_stars_between_separators_match_no_directory_too() {
    table(&[
        (
            "/ws/**/secret",
            "/ws/secret /ws/a/secret /ws/a/b/secret",
            "/ws/asecret /ws/a/xsecret /wssecret /secret /ws",
        ),
        ("/**/secret", "/secret /a/secret", "/asecret /a/b"),
        ("/a/**/b/**/c", "/a/b/c /a/x/b/y/z/c", "/a/c /a/bc /ab/c"),
        ("/a/**/**/b", "/a/b /a/x/b /a/x/y/b", "/ab /a/xb"),
        ("/a/***/b", "/a/b /a/x/y/b", "/a/xb"),
        ("/a/**/*", "/a/b /a/b/c", "/a"),
        ("/a/**/*b", "/a/b /a/xb /a/x/b", "/a/x/by"),
        ("/a**/b", "/a/b /ax/b /a/x/b", "/ab"),
        ("/a/**b", "/a/b /a/xb /a/x/b", "/ab"),
    ]);
}

#[test]
fn pol_34_two_stars_at_the_end_match_all_beneath_but_not_the_directory() {
    table(&[
        (
            "/ws/data/**",
            "/ws/data/a /ws/data/a/b /ws/data/\n",
            "/ws/data /ws/database /ws",
        ),
        (
            "/**/.git/**",
            "/.git/config /a/.git/hooks/x",
            "/.git /a/.git /a/.gitignore",
        ),
        ("/a/**/**", "/a/b /a/b/c", "/a"),
    ]);
}

#[test]
fn pol_34_what_is_beneath_a_match_is_covered() {
    for (text, path, expected) in [
        ("/**/.env*", "/ws/.env.d/key", Some("/ws/.env.d")),
        ("/**/.env*", "/ws/.env", Some("/ws/.env")),
        ("/**/.env*", "/.env/a/.env/b", Some("/.env")),
        ("/**/.env*", "/ws/main.go", None),
        ("/ws/*", "/ws/a/b/c", Some("/ws/a")),
        ("/ws/data/**", "/ws/data/a/b", Some("/ws/data/a")),
        ("/ws/data/**", "/ws/data", None),
        ("/ws/a", "/ws/a/b", Some("/ws/a")),
        ("/ws/a", "/ws/ab", None),
        ("/ws/a/b", "/ws/a", None),
        ("/", "/a/b", Some("/")),
        ("/", "/", Some("/")),
        ("/**", "/a/b", Some("/a")),
        ("/**", "/", None),
        ("/**b", "/a/b/c", Some("/a/b")),
    ] {
        assert_eq!(covers(text, path), expected, "{text} {path}");
    }
}

#[test]
fn pol_16_paths_are_cleaned_before_they_are_judged() {
    table(&[(
        "/ws/*.key",
        "/ws//a.key /ws/./a.key/ /ws/x/../a.key",
        "/ws/a.key/..",
    )]);
    assert_eq!(covers("/ws/*.d", "/ws//a.d/b"), Some("/ws//a.d/b"));
    assert_eq!(covers("/ws/*.d", "/ws/a.d/../b"), None);
    assert!(pattern("/ws/*.d").may_match_beneath(Path::new("/a/../ws/")));
}

#[test]
fn nothing_matches_a_relative_path() {
    let all = pattern("/**");
    for path in ["", "a", "a/b", "./a", "../a"] {
        let path = Path::new(path);
        assert!(!all.matches(path) && all.covers(path).is_none() && !all.may_match_beneath(path));
    }
}

#[test]
fn pol_24_what_is_malformed_is_refused() {
    for (text, code) in [
        ("", "glob_relative"),
        ("**/.env", "glob_relative"),
        ("ws/*", "glob_relative"),
        ("//a", "glob_unclean"),
        ("/a/", "glob_unclean"),
        ("/a/**/", "glob_unclean"),
        ("/a//*", "glob_unclean"),
        ("/./*", "glob_unclean"),
        ("/*/..", "glob_unclean"),
        ("/a\0*", "glob_nul"),
        ("/[z-a]", "glob_reversed_range"),
        ("/[a/b]", "glob_separator_in_class"),
    ] {
        let error = Glob::new(text).unwrap_err();
        assert_eq!(error.code(), code, "{text}");
        assert!(error.to_string().contains(&format!("{text:?}")), "{error}");
        assert!(!error.hint().is_empty());
    }
}

#[test]
fn errors_are_one_line_whatever_the_pattern_holds() {
    let error = Glob::new("/\n[z-\u{1b}]").unwrap_err();
    assert_eq!(
        error.to_string(),
        r#"the pattern "/\n[z-\u{1b}]" has the range "z-\u{1b}", which ends before it begins"#
    );
}

#[test]
fn the_prefix_is_what_a_search_may_begin_with() {
    for (text, prefix) in [
        ("/", "/"),
        ("/a/b", "/a/b"),
        ("/*", "/"),
        ("/**/.env", "/"),
        ("/a*/b", "/"),
        ("/home/u/**/.env", "/home/u"),
        ("/home/u/x.[ab]", "/home/u"),
        ("/home/u/b?", "/home/u"),
        ("/home/[u/x*", "/home/[u"),
        ("/é/x/é*", "/é/x"),
    ] {
        assert_eq!(pattern(text).prefix(), Path::new(prefix), "{text}");
    }
}

#[test]
fn json_keeps_the_pattern_as_written() {
    assert_eq!(
        serde_json::to_string(&pattern("/**/.env*")).unwrap(),
        r#""/**/.env*""#
    );
    let stray = Glob::new(raw(b"/\xff*")).unwrap();
    assert_eq!(serde_json::to_string(&stray).unwrap(), r#"{"hex":"2fff2a"}"#);
}

#[test]
fn most_names_need_no_search() {
    for (text, possible, others) in [
        ("/ws/**/.env*", ".env .envrc .x", "env a.env"),
        ("/ws/**/*.pem", "key.pem m", "key.pe .pem.bak"),
        ("/ws/**/.git/hooks", "hooks hs", ".git config"),
        ("/ws/x[ab]", "xa x]", "a bx"),
        ("/ws/a**b", "b ab xb", "a ba"),
        ("/ws/**", "a b", ""),
        ("/ws/[.]env", ".env xv", "env.x"),
    ] {
        for (names, expected) in [(possible, true), (others, false)] {
            for name in names.split_whitespace() {
                assert_eq!(
                    pattern(text).may_match_name(name.as_ref()),
                    expected,
                    "{text}: {name}"
                );
            }
        }
    }
}
