use proptest::prelude::*;

use super::*;

const CASES: [NameCase; 2] = [NameCase::Sensitive, NameCase::Insensitive];

fn same(case: NameCase, one: &str, other: &str) -> bool {
    case.same(OsStr::new(one), OsStr::new(other))
}

#[test]
fn env_5_a_name_is_written_alone_and_a_family_with_a_star() {
    assert_eq!("CI".parse(), Ok(VariableName::Is("CI".into())));
    assert_eq!("CARGO_*".parse(), Ok(VariableName::StartsWith("CARGO_".into())));
    assert_eq!("a?[b] ".parse(), Ok(VariableName::Is("a?[b] ".into())));
}

#[test]
fn env_5_what_is_neither_is_refused_with_the_fix() {
    let refused = |text: &str| {
        let error = text.parse::<VariableName>().unwrap_err();
        (error.code(), error.to_string(), error.hint())
    };
    let (star, name) = (
        "end the beginning of a family of names with the only *, such as CARGO_*",
        "give the name alone; a value is given by setting the variable",
    );
    assert_eq!(
        refused(""),
        (
            "variable_empty",
            "the name of a variable is empty".into(),
            "name a variable, such as CARGO_HOME"
        )
    );
    assert_eq!(
        refused("*"),
        (
            "variable_everything",
            "`*` stands for every variable".into(),
            "name each variable, or how the names begin, such as CARGO_*"
        )
    );
    for text in ["*_TOKEN", "A*B", "A**", "**", "A*B*"] {
        assert_eq!(
            refused(text),
            (
                "variable_star",
                format!("{text:?} has a `*` before its end"),
                star
            )
        );
    }
    let equals = |shown: &str| format!("the name {shown:?} is followed by `=`");
    assert_eq!(
        refused("GITHUB_TOKEN=secret"),
        ("variable_equals", equals("GITHUB_TOKEN"), name),
        "the value is not shown"
    );
    assert_eq!(refused("="), ("variable_equals", equals(""), name));
    assert_eq!(refused("A=*"), ("variable_equals", equals("A"), name));
    assert_eq!(
        refused("A\0*"),
        (
            "variable_nul",
            r#"the name "A\0" has a NUL byte"#.into(),
            "remove the NUL byte; no variable can hold one"
        )
    );
}

#[test]
fn a_refused_value_is_not_shown() {
    let error = check_value(OsStr::new("A"), OsStr::new("secret\0")).unwrap_err();
    assert_eq!(error.code(), "variable_value_nul");
    assert_eq!(error.to_string(), r#"the value of "A" has a NUL byte"#);
    assert_eq!(error.hint(), "remove the NUL byte; no variable can hold one");
    assert!(!format!("{error:?}").contains("secret"));
}

// ENV-10, EXE-27
#[test]
fn env_10_exe_27_case_matters_everywhere_but_on_windows() {
    assert!(CASES.iter().all(|case| same(*case, "Path", "Path")));
    assert!(!same(NameCase::Sensitive, "Path", "PATH"));
    assert!(same(NameCase::Insensitive, "Path", "PATH"));
    assert!(same(NameCase::Insensitive, "größe", "GRÖßE"));
    // Letters that only look alike, or whose upper case is not one letter.
    for (one, other) in [("\u{17f}", "S"), ("ı", "I"), ("ß", "SS"), ("\u{212a}", "K")] {
        assert!(!same(NameCase::Insensitive, one, other), "{one} {other}");
    }
    let native = [NameCase::Sensitive, NameCase::Insensitive][usize::from(cfg!(windows))];
    assert_eq!((NameCase::NATIVE, NameCase::default()), (native, native));
}

#[cfg(unix)]
#[test]
fn names_that_are_not_text_have_a_case_too() {
    use std::os::unix::ffi::OsStrExt;

    let name = OsStr::from_bytes(b"a\xff");
    assert_eq!(NameCase::Insensitive.key(name), OsStr::from_bytes(b"A\xff"));
    assert_eq!(NameCase::Sensitive.key(name), name);
}

proptest! {
    /// Keys are keys of themselves, or names of rules that are kept as keys would not be found.
    #[test]
    fn a_key_is_its_own_key(name in any::<String>()) {
        for case in CASES {
            let key = case.key(OsStr::new(&name));
            prop_assert_eq!(case.key(&key), key.clone());
        }
    }

    #[test]
    fn whatever_is_parsed_is_usable(text in "[A*=\0_]{0,4}") {
        if let Ok(name) = text.parse::<VariableName>() {
            prop_assert!(is_usable(name.text()));
        }
    }
}
