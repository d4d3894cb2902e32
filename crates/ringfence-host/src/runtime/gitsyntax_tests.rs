use super::{Setting, parse, quoted};

/// `section|subsection|name=value` of each setting; without `=` where there is no value.
fn read(text: &str) -> Vec<String> {
    let line = |setting: Setting| {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        let value = setting.value.map(|value| format!("={}", text(value)));
        let (section, subsection) = (text(setting.section), setting.subsection.map(text));
        format!(
            "{section}|{}|{}{}",
            subsection.unwrap_or_default(),
            text(setting.name),
            value.unwrap_or_default()
        )
    };
    parse(text.as_bytes()).into_iter().map(line).collect()
}

#[test]
fn names_are_lower_case_and_subsections_as_written() {
    let text = "\u{feff}[User]\n\tNaMe = A\n[includeIf \"gitdir:~/W \\\"x\\\\\"] path=p ; c\n[Alias.CO]x\n[A.b \"C\"]y";
    assert_eq!(
        read(text),
        [
            "user||name=A",
            "includeif|gitdir:~/W \"x\\|path=p",
            "alias|co|x",
            "a|b.C|y"
        ]
    );
}

#[test]
fn an_empty_subsection_is_another_than_none() {
    for (header, subsection) in [
        ("[user]", None),
        ("[user \"\"]", Some("")),
        ("[user.]", Some("")),
        ("[user..b]", Some(".b")),
        ("[user.b \"\"]", Some("b.")),
    ] {
        let settings = parse(format!("{header}\nname = x").as_bytes());
        let found = settings[0].subsection.as_deref();
        assert_eq!(found, subsection.map(str::as_bytes), "{header}");
    }
}

#[test]
fn values_lose_white_space_around_them_quotes_and_comments() {
    for (written, value) in [
        ("  a  b \t", "a  b"),
        ("a # b", "a"),
        ("a;b", "a"),
        ("\"a # b \"", "a # b "),
        ("a \" \" ", "a  "),
        ("\"\"", ""),
        ("", ""),
        ("a\\tb\\n\\\"\\\\", "a\tb\n\"\\"),
        ("a \\\n b", "a  b"),
        ("\"a\\\nb\"", "ab"),
        ("é", "é"),
        ("a \u{c}", "a \u{c}"),
        ("a \\\n", "a "),
        ("a\rb", "a\rb"),
    ] {
        let expected = [format!("s||n={value}"), "s||after=1".to_owned()];
        assert_eq!(
            read(&format!("[s]\nn = {written}\nafter=1")),
            expected,
            "{written:?}"
        );
        let windows = format!("[s]\r\nn = {}\r\nafter=1\r\n", written.replace('\n', "\r\n"));
        assert_eq!(read(&windows), expected, "{written:?}");
    }
}

#[test]
fn what_git_refuses_ends_the_file() {
    for malformed in [
        "n = \"a",
        "n = \"a\nb\"",
        "n = a\\x",
        "n a",
        "=a",
        "1n = a",
        "[s",
        "[s \"a\nb\"]",
        "[s x]",
        "[s\n\"a\"]",
        "[s.a/b]",
        "[]",
        "[s \"a\" ]",
        "é = a",
        "\u{c}",
    ] {
        let text = format!("[s]\nbefore = 1\n{malformed}\nafter = 1\n");
        assert_eq!(read(&text), ["s||before=1"], "{malformed:?}");
    }
    assert_eq!(read("n = outside of a section"), Vec::<String>::new());
}

#[test]
fn a_quoted_value_reads_back() {
    for value in ["a", " a ", "#;", "\"", "\\", "a\\\"b", "O'Neil \"x\" é"] {
        let text = [b"[s]n=", &*quoted(value.as_bytes())].concat();
        let found = parse(&text).remove(0).value;
        assert_eq!(found.as_deref(), Some(value.as_bytes()), "{value}");
    }
}
