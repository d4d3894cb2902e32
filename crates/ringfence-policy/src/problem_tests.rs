//! The public shape of every error of the crate.

use super::*;
use crate::{Access, GlobError, InvalidVariable, OutOfRange, QueryError, Source, TreeError, UnknownPreset};

/// One value of each variant: its code, its line, its hint.
fn all() -> Vec<(&'static str, String, &'static str)> {
    let path = || PathBuf::from("/a\nb");
    let resolve = [
        ResolveError::Empty,
        ResolveError::Relative { path: path() },
        ResolveError::Denied {
            path: path(),
            errno: 13,
        },
        ResolveError::Loop { path: path() },
        ResolveError::Io {
            path: path(),
            errno: 5,
        },
        ResolveError::NotCanonical { path: path() },
    ];
    let reasons = [
        Reason::Missing { path: path() },
        Reason::NotADirectory { path: path() },
        Reason::NotAFile { path: path() },
        Reason::SameAsWorkspace { path: path() },
        Reason::Contradicts {
            path: path(),
            root: 0,
        },
        Reason::Unacknowledged,
        Reason::NeedlessAcknowledgement,
        Reason::Unenforceable {
            access: Access::Gated,
        },
        Reason::Guarded {
            path: path(),
            preset: Preset::Git,
        },
        Reason::NeedsConfinement,
        Reason::NotADevice { path: path() },
        Reason::Zero,
        Reason::OtherWorkspace {
            ours: path(),
            theirs: path(),
        },
    ];
    let queries = [
        QueryError::UnknownKind { kind: "a\nb".into() },
        QueryError::UnexpectedScope {
            kind: "network".into(),
            scope: "a\nb".into(),
        },
        QueryError::MalformedScope { scope: "a\nb".into() },
    ];
    let trees = [
        TreeError::Relative { path: path() },
        TreeError::Unclean { path: path() },
    ];
    let variables = [
        InvalidVariable::Empty,
        InvalidVariable::Everything,
        InvalidVariable::Star { name: "*a\nb".into() },
        InvalidVariable::Equals { name: "a\nb".into() },
        InvalidVariable::Nul {
            name: "a\nb\0".into(),
        },
        InvalidVariable::ValueNul { name: "a\nb".into() },
    ];
    let globs = [
        GlobError::Relative { pattern: path() },
        GlobError::Unclean { pattern: path() },
        GlobError::Nul { pattern: path() },
        GlobError::ReversedRange {
            pattern: path(),
            range: "z-a".into(),
        },
        GlobError::SeparatorInClass {
            pattern: path(),
            class: "[a/b]".into(),
        },
    ];
    let preset = UnknownPreset { name: "x\ny".into() };
    let range = OutOfRange {
        what: "access",
        value: 3,
        max: 2,
    };
    let mut all = vec![(range.code(), range.to_string(), range.hint())];
    all.extend(
        resolve
            .into_iter()
            .map(Reason::from)
            .chain(reasons)
            .map(|e| (e.code(), e.to_string(), e.hint())),
    );
    all.extend(queries.map(|error| (error.code(), error.to_string(), error.hint())));
    all.extend(trees.map(|error| (error.code(), error.to_string(), error.hint())));
    all.extend(variables.map(|error| (error.code(), error.to_string(), error.hint())));
    all.extend(globs.map(|error| (error.code(), error.to_string(), error.hint())));
    all.push((preset.code(), preset.to_string(), preset.hint()));
    all
}

#[test]
fn codes_are_stable() {
    let codes: Vec<_> = all().into_iter().map(|(code, _, _)| code).collect();
    let expected = "out_of_range path_empty path_relative path_denied path_loop path_io path_not_canonical \
        path_missing path_not_a_directory path_not_a_file root_is_workspace root_contradicts \
        unconfined_unacknowledged sandboxed_acknowledged unconfined_unenforceable root_guarded needs_confinement \
        not_a_device limit_zero other_workspace unknown_kind \
        unexpected_scope malformed_scope rule_relative rule_unclean variable_empty variable_everything variable_star \
        variable_equals variable_nul variable_value_nul glob_relative glob_unclean glob_nul glob_reversed_range \
        glob_separator_in_class unknown_preset";
    assert_eq!(codes.join(" "), expected);
}

#[test]
fn every_error_is_one_line_with_a_hint_apart() {
    for (code, line, hint) in all() {
        assert!(!line.is_empty() && !line.contains('\n'), "{code}: {line:?}");
        assert!(
            hint.len() > 10 && !hint.contains('\n') && !line.contains(hint),
            "{code}: {hint:?}"
        );
    }
}

#[test]
fn provenance_reads_in_human_words() {
    let sources = [
        Source::Host,
        Source::Workspace,
        Source::Root(3),
        Source::Runtime {
            bundle: "python".into(),
            why: "PATH".into(),
        },
        Source::Device,
        Source::Home,
        Source::Temporary,
        Source::Private,
        Source::Owned,
        Source::System,
    ];
    let mut words: Vec<_> = sources
        .iter()
        .map(|source| format!("because of {source}"))
        .collect();
    assert_eq!(words[2], "because of the profile's additional root 3");
    assert_eq!(words[3], "because of the runtime bundle python (PATH)");
    words.sort();
    words.dedup();
    assert_eq!(words.len(), sources.len());
}
