use std::os::unix::ffi::OsStrExt;

use super::*;
use crate::fake::{ALLOW, DENY, FakeHost, GATED, config, profile, writable};
use crate::{ProfileConfig, Root, Source, Verdict};

/// Every access of this profile differs from its neighbours, so that a mixed-up answer shows.
fn mixed() -> Profile {
    profile(&ProfileConfig {
        workspace_access: Verdict::new(ALLOW, GATED).with_execute(DENY),
        host_access: Verdict::new(DENY, GATED).with_execute(ALLOW),
        network: ALLOW,
        command: GATED,
        roots: vec![Root::directory(
            "/data",
            Verdict::new(GATED, ALLOW).with_execute(DENY),
        )],
        ..config()
    })
}

fn ask(kind: &str, scope: &str) -> Result<Access, QueryError> {
    mixed().access_for(kind, scope)
}

fn malformed(scope: &str) -> Result<Access, QueryError> {
    Err(QueryError::MalformedScope { scope: scope.into() })
}

#[test]
fn pro_28_command_takes_no_scope() {
    assert_eq!(ask("command.execute", ""), Ok(GATED));
    let unexpected = QueryError::UnexpectedScope {
        kind: "command.execute".into(),
        scope: "ls".into(),
    };
    assert_eq!(ask("command.execute", "ls"), Err(unexpected));
}

#[test]
fn pro_29_network_takes_no_scope() {
    assert_eq!(ask("network", ""), Ok(ALLOW));
    let unexpected = QueryError::UnexpectedScope {
        kind: "network".into(),
        scope: "host:*".into(),
    };
    assert_eq!(ask("network", "host:*"), Err(unexpected));
}

#[test]
fn pro_30_the_host_scope_answers_with_the_host_access() {
    assert_eq!(ask("filesystem.read", "host:*"), Ok(DENY));
    assert_eq!(ask("filesystem.execute", "host:*"), Ok(ALLOW));
    assert_eq!(ask("filesystem.write", "host:*"), Ok(GATED));
}

#[test]
fn pro_31_a_path_answers_with_the_deepest_root_else_the_host() {
    assert_eq!(ask("filesystem.read", "/ws/src/main.rs"), Ok(ALLOW));
    assert_eq!(ask("filesystem.execute", "/ws/src/main.rs"), Ok(DENY));
    assert_eq!(ask("filesystem.read", "/data/file"), Ok(GATED));
    assert_eq!(ask("filesystem.write", "/data"), Ok(ALLOW));
    assert_eq!(ask("filesystem.read", "/etc/passwd"), Ok(DENY));
    assert_eq!(ask("filesystem.execute", "/database"), Ok(ALLOW));
}

#[test]
fn pro_32_a_tree_answers_only_at_a_configured_root() {
    assert_eq!(ask("filesystem.write", "tree:/ws"), Ok(GATED));
    assert_eq!(ask("filesystem.write", "tree:/data"), Ok(ALLOW));
    // PRO-35: deny, not an error, is the authoritative answer for any other tree.
    for other in ["tree:/ws/src", "tree:/missing", "tree:/", "tree:/etc"] {
        assert_eq!(ask("filesystem.read", other), Ok(DENY), "{other}");
    }
}

#[test]
fn pro_33_what_has_no_answer_is_an_error() {
    for kind in ["", "filesystem", "filesystem.delete", "Network", "command"] {
        assert_eq!(ask(kind, ""), Err(QueryError::UnknownKind { kind: kind.into() }));
    }
    for scope in [
        "",
        "relative",
        "./ws",
        "/ws/",
        "/ws//a",
        "/ws/../etc",
        "/ws/.",
        "//",
        "tree:",
        "tree:ws",
        "tree:/ws/",
        "tree:/a/../b",
        "tree://",
        "tree:tree:/ws",
        "subtree:",
        "subtree:ws",
        "subtree:/ws/.",
        "host:",
        "host:x",
        "host:*/",
        "host:/ws",
        "other:/ws",
        "Tree:/ws",
    ] {
        assert_eq!(ask("filesystem.read", scope), malformed(scope));
    }
    let error = ask("filesystem.read", "a\nb").unwrap_err();
    assert_eq!(
        (error.to_string().as_str(), error.code()),
        (r#"malformed scope "a\nb""#, "malformed_scope")
    );
}

#[test]
fn pro_34_axes_are_looked_up_apart_and_the_host_comes_last() {
    let denied = Verdict::new(ALLOW, DENY);
    let profile = profile(&ProfileConfig {
        host_access: Verdict::new(DENY, ALLOW),
        roots: vec![
            Root::directory("/ws/a", denied),
            Root::directory("/ws/a/b", Verdict::READ_WRITE),
        ],
        ..writable()
    });
    let both = |path: &str| {
        ["filesystem.read", "filesystem.write"].map(|kind| profile.access_for(kind, path).unwrap())
    };
    assert_eq!(both("/ws/a/x"), [ALLOW, DENY]);
    assert_eq!(both("/ws/a/b/x"), [ALLOW, ALLOW]);
    assert_eq!(both("/ws/ab"), [ALLOW, ALLOW]);
    assert_eq!(both("/elsewhere"), [DENY, ALLOW]);
}

#[test]
fn pro_36_the_resolving_variant_judges_the_canonical_path() {
    let host = FakeHost::new()
        .dir("/outside")
        .link("/ws/link", "/outside")
        .locked("/locked");
    let profile = Profile::new(&writable(), &host).unwrap();
    let path = Path::new("/ws/link/x");
    assert_eq!(
        profile.access_for("filesystem.write", path),
        Ok(ALLOW),
        "the lexical answer is fooled"
    );
    let decision = profile.decide(&host, path, Axis::Write).unwrap();
    assert_eq!(
        (decision.access, decision.resolved.path.as_path()),
        (DENY, Path::new("/outside/x"))
    );
    assert_eq!(decision.rule.map(|rule| rule.source), Some(Source::Host));
    let refused = profile.decide(&host, Path::new("/locked/x"), Axis::Write);
    assert_eq!(
        refused,
        Err(ResolveError::Denied {
            path: "/locked".into(),
            errno: 13
        })
    );
    assert!(profile.decide(&host, Path::new("ws"), Axis::Read).is_err());
}

#[test]
fn pro_37_a_subtree_answers_with_the_strictest_access_in_it() {
    let profile = profile(&ProfileConfig {
        roots: vec![
            Root::directory("/ws/gate", Verdict::new(ALLOW, GATED)),
            Root::absent("/ws/src/secret", Verdict::DENY),
            Root::directory("/ws-2", Verdict::DENY),
        ],
        ..writable()
    });
    let write = |scope: &str| profile.access_for("filesystem.write", scope).unwrap();
    assert_eq!(write("subtree:/ws"), DENY);
    assert_eq!(write("subtree:/ws/gate"), GATED);
    assert_eq!(write("subtree:/ws/src"), DENY);
    assert_eq!(
        write("subtree:/ws/docs"),
        ALLOW,
        "not configured, and yet it can be asked"
    );
    assert_eq!(
        profile.access_for("filesystem.read", "subtree:/ws/gate"),
        Ok(ALLOW)
    );
    assert_eq!(profile.access_for("filesystem.read", "subtree:/"), Ok(DENY));
    // A stricter workspace strictly beneath counts as well.
    let inside = crate::fake::profile(&ProfileConfig {
        host_access: Verdict::READ_WRITE,
        ..config()
    });
    assert_eq!(inside.access_for("filesystem.write", "subtree:/"), Ok(DENY));
    assert_eq!(inside.access_for("filesystem.write", "/"), Ok(ALLOW));
}

#[test]
fn pro_33_scopes_are_bytes_and_need_not_be_text() {
    let raw = |bytes: &'static [u8]| OsStr::from_bytes(bytes);
    let root = Root::directory(raw(b"/ws/\xff"), Verdict::DENY);
    let profile = profile(&ProfileConfig {
        roots: vec![root],
        ..writable()
    });
    assert_eq!(
        profile.access_for("filesystem.read", raw(b"/ws/\xff/a")),
        Ok(DENY)
    );
    assert_eq!(
        profile.access_for("filesystem.read", raw(b"subtree:/ws/\xfe")),
        Ok(ALLOW)
    );
    assert_eq!(
        profile.access_for("filesystem.read", raw(b"tree:/ws/\xff")),
        Ok(DENY)
    );
}
