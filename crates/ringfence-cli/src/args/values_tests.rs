use super::*;

fn parse<P: TypedValueParser>(parser: &P, text: &str) -> Result<P::Value, String> {
    let command = clap::Command::new("test");
    parser
        .parse_ref(&command, None, OsStr::new(text))
        .map_err(|error| error.to_string())
}

#[test]
fn pol_21_only_a_prefix_makes_a_pattern() {
    for path in ["a[b]", "*.pem", "x?", "globe", "./glob:x", " "] {
        assert_eq!(parse(&place(), path), Ok(Place::Path(path.into())));
    }
    assert_eq!(
        parse(&place(), "glob:**/*.pem"),
        Ok(Place::Pattern("**/*.pem".into()))
    );
    for wrong in ["", "glob:", "glob:[z-a]", "glob:**/../x"] {
        assert!(parse(&place(), wrong).is_err(), "{wrong:?} was accepted");
    }
}

#[test]
fn the_beginning_of_a_pattern_is_where_it_is_about() {
    for (glob, base, matches, matches_not) in [
        ("**/*.pem", "/a[b]/w", "/a[b]/w/x/y.pem", "/ab/w/y.pem"),
        (".env", "/a[b]/w", "/a[b]/w/.env", "/a[b]/w/x/.env"),
        ("../x", "/a[b]/w/..", "/a[b]/w/../x", "/a[b]/w/x"),
        ("x/./y/*", "/a[b]/w/x/y", "/a[b]/w/x/y/z", "/a[b]/w/x/z"),
        (
            "/etc/ssl/**/*.key",
            "/etc/ssl",
            "/etc/ssl/a/b.key",
            "/a[b]/w/b.key",
        ),
    ] {
        let pattern = pattern(OsStr::new(glob), Path::new("/a[b]/w")).unwrap();
        assert_eq!(pattern.base(), Path::new(base), "{glob}");
        assert!(pattern.matches(Path::new(matches)), "{glob}");
        assert!(!pattern.matches(Path::new(matches_not)), "{glob}");
    }
}

#[test]
fn what_is_written_back_is_read_as_the_same_place() {
    for path in ["a", "glob:x", "-v", "glob:"] {
        let written = literal(path.into());
        let Ok(Place::Path(read)) = parse(&place(), written.to_str().unwrap()) else {
            panic!("{path}")
        };
        assert_eq!(Path::new("/w").join(read), Path::new("/w/.").join(path));
    }
}

#[test]
fn a_device_may_be_missing_where_that_is_said() {
    assert_eq!(
        parse(&device(), "/dev/kvm"),
        Ok(Device::Required("/dev/kvm".into()))
    );
    assert_eq!(
        parse(&device(), "/dev/kvm?"),
        Ok(Device::Optional("/dev/kvm".into()))
    );
}

#[test]
fn names_of_homes_lead_nowhere_else() {
    assert_eq!(parse(&home(), "real"), Ok(Home::Real));
    assert_eq!(parse(&home(), "isolated"), Ok(Home::Isolated));
    assert_eq!(parse(&home(), "ci-1.x"), Ok(Home::Named("ci-1.x".to_owned())));
    for wrong in ["", ".", "..", ".x", "a/b", "a b", "é", &"x".repeat(65)] {
        assert!(parse(&home(), wrong).is_err(), "{wrong:?} was accepted");
    }
}

#[test]
fn names_are_those_of_the_library() {
    assert_eq!(parse(&preset(), "agent-config"), Ok(Preset::AgentConfig));
    assert_eq!(parse(&bundle(), "go"), Ok(BundleName::Go));
    assert_eq!(parse(&cache(), "npm"), Ok(Cache::Npm));
    for one in Guarantees::all() {
        assert_eq!(parse(&guarantee(), &one.to_string()), Ok(one));
    }
    assert!(parse(&preset(), "Git").is_err());
}
