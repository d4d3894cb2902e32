use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use proptest::prelude::*;

use crate::fake::Directories;
use crate::fake::generate::{any_config, any_profile};
use crate::fake::{ALLOW, DENY, FakeHost, GATED, profile, writable};
use crate::*;

fn fingerprint(config: &ProfileConfig) -> Fingerprint {
    profile(config).fingerprint()
}

#[test]
fn pro_40_a_fingerprint_is_64_lowercase_hex_digits_and_stays_the_same() {
    let first = fingerprint(&writable()).to_string();
    assert_eq!(first.len(), 64);
    assert!(
        first
            .bytes()
            .all(|digit| matches!(digit, b'0'..=b'9' | b'a'..=b'f'))
    );
    // Stored fingerprints would stop matching; a change of this value is a change of the format.
    assert_eq!(
        first,
        "01fd9b7e403a82e3329c8bb3c3ae7cb62822d3cc35fa797f36df15dc2ebf0e0a"
    );
}

#[test]
fn pro_40_every_field_counts() {
    let base = ProfileConfig {
        roots: vec![Root::absent("/data", Verdict::READ_ONLY)],
        ..writable()
    };
    let changes: [fn(&mut ProfileConfig); 18] = [
        |config| config.workspace = "/ws2".into(),
        |config| config.workspace_access.read = GATED,
        |config| config.workspace_access.execute = GATED,
        |config| config.workspace_access.write = GATED,
        |config| config.host_access.read = DENY,
        |config| config.host_access.execute = DENY,
        |config| config.host_access.write = ALLOW,
        |config| config.network = GATED,
        |config| config.command = GATED,
        |config| config.home = Home::Real,
        |config| config.roots[0].path = "/data2".into(),
        |config| config.roots[0].kind = RootKind::Directory,
        |config| config.roots[0].access.execute = GATED,
        |config| config.roots[0].access.write = GATED,
        |config| config.roots.clear(),
        |config| config.require = Guarantees::RESOURCE_LIMITS,
        |config| config.nested_namespaces = NestedNamespaces::Allow,
        |config| *config = ProfileConfig::unconfined("/ws"),
    ];
    let changed = changes.map(|change| {
        let mut config = base.clone();
        change(&mut config);
        fingerprint(&config)
    });
    let mut all = Vec::from(changed);
    all.push(fingerprint(&base));
    all.sort();
    all.dedup();
    assert_eq!(all.len(), 19);
}

#[test]
fn pro_41_spelling_order_and_repetition_do_not_count() {
    let host = FakeHost::new()
        .dir("/a")
        .dir("/b")
        .link("/link", "/a")
        .link("/w", "/ws");
    let of = |workspace: &str, roots: &[&str]| {
        let roots = roots
            .iter()
            .map(|path| Root::directory(path, Verdict::READ_ONLY))
            .collect();
        let config = ProfileConfig {
            workspace: workspace.into(),
            roots,
            ..writable()
        };
        Profile::new(&config, &host).unwrap().fingerprint()
    };
    let plain = of("/ws", &["/a", "/b"]);
    assert_eq!(of("/w/.", &["/b/../b", "/link", "/a"]), plain);
    assert_ne!(of("/ws", &["/a"]), plain);
}

#[test]
fn pro_42_what_was_observed_does_not_count() {
    // The same configuration on hosts where the same names are other objects.
    let of = |host: &FakeHost| Profile::new(&writable(), host).unwrap();
    let (here, there) = (of(&FakeHost::new()), of(&FakeHost::new().dir("/a/b/c")));
    assert_ne!(here.workspace().identity, there.workspace().identity);
    assert_eq!(here.fingerprint(), there.fingerprint());
}

#[test]
fn pro_43_paths_that_differ_in_a_byte_that_is_not_text_differ() {
    let of = |name: &'static [u8]| {
        fingerprint(&ProfileConfig {
            workspace: OsStr::from_bytes(name).into(),
            ..writable()
        })
    };
    assert_ne!(of(b"/ws\xff"), of(b"/ws\xfe"));
    assert_ne!(of(b"/ws\xff"), of("/ws\u{fffd}".as_bytes()));
}

#[test]
fn fingerprints_read_as_hex() {
    let fingerprint = fingerprint(&writable());
    assert_eq!(
        serde_json::to_string(&fingerprint).unwrap(),
        format!("\"{fingerprint}\"")
    );
    assert_eq!(format!("{fingerprint:?}"), format!("Fingerprint({fingerprint})"));
    assert_eq!(
        format!("{:02x}", fingerprint.as_bytes()[0]),
        fingerprint.to_string()[..2]
    );
}

/// What a profile says, without its name.
fn said(profile: &Profile) -> Settings {
    let nameless = super::Fingerprint([0; 32]);
    Settings {
        fingerprint: nameless,
        ..profile.settings()
    }
}

proptest! {
    /// PRO-41, PRO-43: fingerprints are equal exactly when everything said is equal.
    #[test]
    fn pro_43_fingerprints_are_injective(a in any_profile(), b in any_profile(), config in any_config()) {
        prop_assert_eq!(a.fingerprint() == b.fingerprint(), said(&a) == said(&b));
        let mut turned = config.clone();
        turned.roots.reverse();
        let (one, two) = (Profile::new(&config, &Directories).unwrap(), Profile::new(&turned, &Directories).unwrap());
        prop_assert_eq!(said(&one), said(&two));
        prop_assert_eq!(one, two);
    }
}
