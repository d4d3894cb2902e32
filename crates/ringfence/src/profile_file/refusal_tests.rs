use super::tests::{code, parse, variables};
use super::*;

fn errors(text: &str) -> Vec<String> {
    let error = ProfileFile::parse(text, &variables()).unwrap_err();
    assert_eq!(error.code(), "invalid_profile_file");
    error.to_string().lines().map(str::to_owned).collect()
}

#[test]
fn every_problem_is_named_with_its_place_and_its_fix() {
    let text = r#"netwrok = "allow"
workspace_access = "rw"
command = true
secret = [
    "${hom}/x",
    { glob = "*.pem", i = "/k" },
    { in = "~/keys", except = ["/etc/*"] },
]
[[roots]]
path = ""
[limits]
memory = "1G"
processes = -1
network = "deny"
"#;
    assert_eq!(
        errors(text),
        [
            "1:1: netwrok: there is no such key (did you mean `network`?)",
            r#"2:20: workspace_access: "rw" is not a word for it (write "deny", "read-only" or "read-write")"#,
            r#"3:11: command: is a boolean, not a text (write it as in "deny")"#,
            "5:5: secret[0]: there is no variable \"hom\" (the variables are `${workspace}` and `${home}`; for the \
             text `${` write `$${`)",
            "6:23: secret[1].i: there is no such key (did you mean `in`?)",
            "7:5: secret[2]: `glob` is missing (add it; a path alone is written as a text, not as a table)",
            "7:12: secret[2].in: `~` does not stand for a home directory (write `${home}`; to mean a file of that \
             name, begin with `./~`)",
            "7:32: secret[2].except[0]: \"/etc/*\" is not beneath a directory (name the directory with `in`; a \
             name that begins with `~` is written with `[~]`)",
            "9:1: roots[0]: `access` is missing (add it)",
            "10:8: roots[0].path: is empty (write at least one character, or leave it out)",
            "12:10: limits.memory: \"1G\" is not a size (write bytes as in 4096, or a whole number with B, KB, MB, \
             GB, TB, KiB, MiB, GiB or TiB as in \"512MiB\")",
            "13:13: limits.processes: -1 is not between 0 and 2^64 - 1 (leave it out to set no limit)",
            "14:1: limits.network: there is no such key in a table (move it up before the first `[table]`; what \
             follows one belongs to it)",
        ]
    );
}

#[test]
fn what_is_wrong_with_the_syntax_is_said_line_by_line_and_alone() {
    let found = errors("workspace = /x y z\nnetwrok = 1\nnetwork = \"deny\"\nnetwork = \"deny\"\n[limits\n");
    let places: Vec<_> = found
        .iter()
        .map(|line| line.split(": ").next().unwrap())
        .collect();
    assert_eq!(places, ["1:13", "4:1", "5:8"], "{found:#?}");
    assert!(found[0].contains("string values must be quoted"), "{}", found[0]);
    assert!(found[1].contains("duplicate key"), "{}", found[1]);
    assert!(
        found
            .iter()
            .all(|line| line.ends_with("(write it as https://toml.io says)"))
    );
}

#[test]
fn columns_count_characters() {
    let text = "\u{feff}#é\r\n\"bündles\" = 1\r\nsecret = ['ä', '']";
    let found = errors(text);
    assert!(
        found[0].starts_with("2:1: \"bündles\": there is no such key (did you mean `bundles`?)"),
        "{found:?}"
    );
    assert!(found[1].starts_with("3:16: secret[1]: is empty"), "{found:?}");
}

#[test]
fn globs_have_no_variables_and_begin_beneath_a_directory() {
    for (glob, expected) in [
        ("", "value_empty"),
        ("/etc/*", "glob_not_relative"),
        ("~/.ssh/**", "glob_not_relative"),
        ("${workspace}/*", "glob_has_variable"),
        ("a/../b", "glob_unclean"),
        ("a/", "glob_unclean"),
        ("[z-a]", "glob_reversed_range"),
        ("[a/b]", "glob_separator_in_class"),
    ] {
        assert_eq!(
            code(&format!("secret = [{{ glob = '{glob}' }}]")),
            expected,
            "{glob}"
        );
        let except = format!("protect = [{{ glob = '**', except = ['{glob}'] }}]");
        assert_eq!(code(&except), expected, "{glob}");
    }
    assert_eq!(
        parse("secret = [{ glob = '$x$$' }]").config.guards[0]
            .subject
            .base(),
        Path::new("/w")
    );
}

#[test]
fn a_name_that_nothing_has_is_named_with_the_nearest_one() {
    let found = errors("bundles = ['base', 'pyhton']\ncache = [\n'x',\n'crago']\nrequire = ['env_scrap']");
    let expected = [
        "1:20: bundles[1]: \"pyhton\" is not a word for it (did you mean \"python\"?)",
        "3:1: cache[0]: \"x\" is not a word for it (write \"cargo\", \"npm\", \"pip\" or \"go\")",
        "4:1: cache[1]: \"crago\" is not a word for it (did you mean \"cargo\"?)",
        "5:12: require[0]: \"env_scrap\" is not a word for it (did you mean \"env_scrub\"?)",
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_says_two_things_at_once_is_refused() {
    assert_eq!(
        code("presets = ['git']\nwithout_presets = []"),
        "value_contradicts"
    );
    assert_eq!(
        code("environment = { set = { CI = '1' }, unset = ['CI'] }"),
        "value_contradicts"
    );
    for list in [
        "presets = ['git', 'git']",
        "bundles = ['base', 'go', 'base']",
        "cache = ['go', 'go']",
    ] {
        assert_eq!(code(list), "value_twice", "{list}");
    }
    for list in ["bundles = ['']", "cache = ['go', '']", "home = { name = '' }"] {
        assert_eq!(code(list), "value_empty", "{list}");
    }
    for name in ["..", ".hidden", "a/b", "ä", "a b"] {
        assert_eq!(
            code(&format!("home = {{ name = '{name}' }}")),
            "home_name",
            "{name}"
        );
    }
}

#[test]
fn env_5_names_of_variables_are_checked_and_their_values_never_shown() {
    for (text, expected) in [
        ("inherit = ['*']", "variable_everything"),
        ("inherit = ['A*B']", "variable_star"),
        ("inherit = ['TOKEN=hunter2']", "variable_equals"),
        ("unset = ['TOKEN=hunter2']", "variable_equals"),
        ("set = { 'TOKEN=hunter2' = '' }", "variable_equals"),
        ("set = { '' = 'hunter2' }", "variable_empty"),
        ("set = { TOKEN = \"hunter2\\u0000\" }", "variable_value_nul"),
        ("set = { TOKEN = ['hunter2'] }", "value_type"),
    ] {
        let text = format!("environment = {{ {text} }}");
        assert_eq!(code(&text), expected, "{text}");
        let error = ProfileFile::parse(&text, &variables()).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error}");
    }
}
