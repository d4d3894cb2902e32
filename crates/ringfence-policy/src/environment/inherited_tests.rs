use super::super::Never;
use super::*;

// ENV-1, EXE-20
#[test]
fn env_1_exe_20_the_allowlist_is_exactly_the_specified_one() {
    let names: Vec<_> = INHERITED.iter().map(|row| row.name).collect();
    assert_eq!(
        names,
        [
            "PATH", "HOME", "TERM", "LANG", "LC_*", "USER", "LOGNAME", "SHELL", "TZ"
        ]
    );
}

#[test]
fn every_row_has_a_reason_and_no_two_rows_are_about_the_same_name() {
    let case = NameCase::Insensitive;
    let rows: Vec<_> = Inherited::all(case).collect();
    assert_eq!(rows.len(), INHERITED.len() + INHERITED_ON_WINDOWS.len());
    for (index, row) in rows.iter().enumerate() {
        assert!(!row.reason.is_empty(), "{row:?}");
        let key = case.key(OsStr::new(row.name));
        let covers = |(other, _): &(usize, &&Inherited)| rows[*other].covers(case, &key);
        let covering: Vec<_> = rows
            .iter()
            .enumerate()
            .filter(covers)
            .map(|(other, _)| other)
            .collect();
        assert_eq!(covering, [index], "{row:?}");
    }
}

#[test]
fn nothing_that_is_inherited_by_default_is_on_the_never_list() {
    for row in Inherited::all(NameCase::Insensitive) {
        let family = row.name.trim_end_matches('*');
        for name in [family.to_owned(), format!("{family}X")] {
            assert_eq!(Never::of(OsStr::new(&name)), None, "{name}");
        }
    }
    let categories = "ADDRESS ALL COLLATE CTYPE IDENTIFICATION MEASUREMENT MESSAGES MONETARY NAME NUMERIC \
                      PAPER TELEPHONE TIME";
    for category in categories.split(' ') {
        assert_eq!(
            Never::of(OsStr::new(&format!("LC_{category}"))),
            None,
            "{category}"
        );
    }
}

#[test]
fn env_10_the_windows_baseline_is_inherited_there_and_only_there() {
    let baseline = "SystemRoot SystemDrive windir ComSpec PATHEXT NUMBER_OF_PROCESSORS PROCESSOR_ARCHITECTURE \
                    PROCESSOR_ARCHITEW6432 ProgramFiles ProgramFiles(x86) USERNAME";
    for name in baseline.split(' ') {
        let covered = |case: NameCase| {
            let key = case.key(OsStr::new(name)).into_owned();
            Inherited::all(case).any(|row| row.covers(case, &key))
        };
        assert!(covered(NameCase::Insensitive), "{name}");
        assert!(!covered(NameCase::Sensitive), "{name}");
    }
}

#[test]
fn env_3_the_private_directories_are_home_and_tmpdir() {
    let (temporary, home) = (Path::new("/s/tmp"), Path::new("/s/home"));
    let pairs = |pairs: &[(&str, &str)]| {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).into(), (*value).into()))
            .collect()
    };
    let both: BTreeMap<OsString, OsString> = pairs(&[("HOME", "/s/home"), ("TMPDIR", "/s/tmp")]);
    assert_eq!(
        private_directories(NameCase::Sensitive, temporary, Some(home)),
        both
    );
    let one: BTreeMap<OsString, OsString> = pairs(&[("TMPDIR", "/s/tmp")]);
    assert_eq!(private_directories(NameCase::Sensitive, temporary, None), one);
}

// ENV-10, EXE-27
#[test]
fn env_10_exe_27_on_windows_they_have_their_windows_names_too() {
    let (temporary, home) = (Path::new("/s/tmp"), Path::new("/s/home"));
    let forced = private_directories(NameCase::Insensitive, temporary, Some(home));
    let at = |name: &str| Path::new(&forced[OsStr::new(name)]);
    for name in ["TMPDIR", "TEMP", "TMP"] {
        assert_eq!(at(name), temporary);
    }
    assert_eq!((at("HOME"), at("USERPROFILE")), (home, home));
    assert_eq!(at("APPDATA"), home.join("AppData").join("Roaming"));
    assert_eq!(at("LOCALAPPDATA"), home.join("AppData").join("Local"));
    assert_eq!(forced.len(), 7);
    // What says in the table that it is replaced is.
    let replaced = Inherited::all(NameCase::Insensitive).filter(|row| row.reason.contains("replaced"));
    assert_eq!(
        replaced.map(|row| row.name).collect::<Vec<_>>(),
        ["HOME", "USERPROFILE", "APPDATA", "LOCALAPPDATA"]
    );
}
