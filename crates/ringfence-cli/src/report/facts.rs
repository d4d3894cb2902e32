//! What there is to say about an executor.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use ringfence::{
    Access, Discharge, Executor, Kind, Origin, Pattern, Protection, Region, RegionTree, Report,
    ResolvedSubject, Rule, Source, Verdict,
};

/// What holds in a region: for a directory, in what is beneath it.
pub(super) fn verdict(region: &Region<'_>) -> Verdict {
    if region.kind == Kind::Directory {
        region.subtree
    } else {
        region.object
    }
}

/// Why a region is what it is, each reason once.
pub(super) fn sources(region: &Region<'_>) -> Vec<String> {
    let mut sources: Vec<_> = region.rules.iter().map(|rule| rule.source.to_string()).collect();
    sources.dedup();
    sources
}

/// A name that a guard closes.
#[derive(Debug)]
pub(super) struct Guarded<'a> {
    pub(super) path: &'a Path,
    pub(super) protection: Protection,
    pub(super) source: &'a Source,
    pub(super) kind: Kind,
}

/// Everything that guards close, as far as the host was last seen; each name once for each reason.
pub(super) fn guarded(tree: &RegionTree) -> Vec<Guarded<'_>> {
    let guards = tree.rules().iter().filter(|rule| is_guard(&rule.source));
    let guarded = guards.map(|rule| Guarded {
        path: &rule.path,
        protection: protection(rule),
        source: &rule.source,
        kind: rule.kind,
    });
    let mut guarded: Vec<_> = guarded.collect();
    guarded.dedup_by(|a, b| a.path == b.path && a.source == b.source && a.protection == b.protection);
    guarded
}

/// Whether only guards speak about a region.
pub(super) fn is_only_guarded(region: &Region<'_>) -> bool {
    region.rules.iter().all(|rule| is_guard(&rule.source))
}

fn is_guard(source: &Source) -> bool {
    matches!(source, Source::Preset { .. } | Source::Guard(_))
}

fn protection(rule: &Rule) -> Protection {
    match rule.axes.read {
        Some(Access::Deny) => Protection::Secret,
        _ => Protection::Protect,
    }
}

/// The guards that are patterns, with who asks for them.
pub(super) fn patterns(executor: &Executor) -> impl Iterator<Item = (&Pattern, Protection, Origin)> {
    let guards = executor.profile().all_guards().iter();
    guards.filter_map(|guard| match &guard.subject {
        ResolvedSubject::Pattern(pattern) => Some((pattern, guard.protection, guard.origin)),
        ResolvedSubject::Name(_) => None,
    })
}

/// What stands on the host while the executor lives.
pub(super) fn placeholders(report: &Report) -> BTreeSet<&str> {
    let entries = report.entries().iter();
    entries
        .filter_map(|entry| match &entry.discharge {
            Discharge::HostArtefact { what } => Some(what.as_str()),
            _ => None,
        })
        .collect()
}

/// What a bundle opens, and what led to it.
#[derive(Debug, Default)]
pub(super) struct Opened<'a> {
    pub(super) paths: Vec<&'a Path>,
    pub(super) because: BTreeSet<&'a str>,
}

/// The bundles by name.
pub(super) fn bundles(tree: &RegionTree) -> BTreeMap<&str, Opened<'_>> {
    let mut bundles: BTreeMap<&str, Opened<'_>> = BTreeMap::new();
    for rule in tree.rules() {
        if let Source::Runtime { bundle, why } = &rule.source {
            let opened = bundles.entry(bundle).or_default();
            opened.paths.push(&rule.path);
            opened.because.insert(why);
        }
    }
    bundles
}

/// The names of variables that have another value than the caller's.
pub(super) fn set_variables(executor: &Executor) -> Vec<&OsStr> {
    let inherited = &executor.environment_notes().inherited;
    let names = executor.variables().iter().map(|(name, _)| name);
    names
        .filter(|name| !inherited.contains(name))
        .map(OsString::as_os_str)
        .collect()
}
