use super::*;

fn problem(position: Option<(usize, usize)>, field: &str, reason: FileReason) -> FileProblem {
    FileProblem {
        position: position.map(|(line, column)| FilePosition { line, column }),
        field: field.to_owned(),
        reason,
    }
}

#[test]
fn a_problem_is_one_line_with_what_is_known_of_its_place() {
    let mut error = ProfileFileError {
        file: Some("p.toml".into()),
        problems: vec![
            problem(None, "", FileReason::NotUtf8),
            problem(None, "workspace", FileReason::Empty),
            problem(Some((3, 7)), "", FileReason::Misplaced),
            problem(Some((4, 1)), "secret[1].glob", FileReason::Empty),
        ],
    };
    let what = [FileReason::NotUtf8, FileReason::Empty, FileReason::Misplaced]
        .map(|reason| format!("{reason} ({})", reason.hint()));
    assert_eq!(
        error.to_string().lines().collect::<Vec<_>>(),
        [
            format!("p.toml: {}", what[0]),
            format!("p.toml: workspace: {}", what[1]),
            format!("p.toml:3:7: {}", what[2]),
            format!("p.toml:4:1: secret[1].glob: {}", what[1]),
        ]
    );
    error.file = None;
    assert!(
        error
            .to_string()
            .ends_with(&format!("\n4:1: secret[1].glob: {}", what[1]))
    );
}

#[test]
fn the_nearest_key_is_suggested_if_one_is_near() {
    const KNOWN: &[&str] = &["memory", "cpu_time", "open_files"];
    for (key, nearest) in [
        ("memroy", Some("memory")),
        ("mem", Some("memory")),
        ("cpu-time", Some("cpu_time")),
        ("cputime", Some("cpu_time")),
        ("nofile", None),
        ("", None),
    ] {
        let reason = FileReason::unknown_key(key, KNOWN);
        assert_eq!(
            reason,
            FileReason::UnknownKey {
                nearest,
                known: KNOWN
            },
            "{key}"
        );
    }
    assert_eq!(
        FileReason::unknown_key("x", KNOWN).hint(),
        "use `memory`, `cpu_time` or `open_files`"
    );
    assert_eq!(FileReason::unknown_key("x", &["name"]).hint(), "use `name`");
}
