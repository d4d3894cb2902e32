//! The report as JSON.

use std::path::Path;

use ringfence::{Ending, Executor, Kind, Limit, Limits, NewRepository, Origin, Outcome, RunError, Usage};
use serde_json::{Map, Value, json};

use super::facts;

/// Everything about an executor, and how its command ended.
pub(super) fn report(executor: &Executor, result: Option<&Result<Outcome, RunError>>) -> Value {
    let report = executor.report();
    json!({
        "fingerprint": executor.profile().fingerprint().to_string(),
        "level": report.level(),
        "guarantees": report.guarantees(),
        "obligations": report.entries(),
        "regions": regions(executor),
        "guards": guards(executor),
        "patterns": patterns(executor),
        "placeholders": facts::placeholders(&report),
        "environment": environment(executor),
        "limits": limits(&executor.profile().limits()),
        "bundles": bundles(executor),
        "new_repositories": executor.profile().new_repositories(),
        "nested_namespaces": executor.profile().nested_namespaces(),
        "result": result.map(self::result),
    })
}

/// A path as a text, or where it is none, its bytes as `{"hex": "2fff"}`.
pub(crate) fn path(path: &Path) -> Value {
    match path.to_str() {
        Some(text) => text.into(),
        None => {
            let bytes = path.as_os_str().as_encoded_bytes().iter();
            json!({ "hex": bytes.map(|byte| format!("{byte:02x}")).collect::<String>() })
        }
    }
}

fn regions(executor: &Executor) -> Vec<Value> {
    let tree = executor.tree();
    let regions = tree.regions().map(|region| {
        json!({
            "path": path(region.path),
            "kind": region.kind,
            "access": facts::verdict(&region),
            "because": facts::sources(&region),
        })
    });
    regions.collect()
}

fn guards(executor: &Executor) -> Vec<Value> {
    let tree = executor.tree();
    let guarded = facts::guarded(&tree).into_iter().map(|guarded| {
        json!({
            "path": path(guarded.path),
            "protection": guarded.protection,
            "because": guarded.source.to_string(),
            "exists": guarded.kind != Kind::Absent,
        })
    });
    guarded.collect()
}

fn patterns(executor: &Executor) -> Vec<Value> {
    let patterns = facts::patterns(executor).map(|(pattern, protection, origin)| {
        let (preset, reason) = match origin {
            Origin::Profile => (None, None),
            Origin::Preset { preset, reason } => (Some(preset), Some(reason)),
        };
        json!({
            "pattern": pattern,
            "protection": protection,
            "preset": preset,
            "reason": reason,
        })
    });
    patterns.collect()
}

/// Names and reasons, never a value.
fn environment(executor: &Executor) -> Value {
    let notes = executor.environment_notes();
    let set = facts::set_variables(executor).into_iter();
    json!({
        "inherited": notes.inherited.iter().map(|name| path(Path::new(name))).collect::<Vec<_>>(),
        "set": set.map(|name| path(Path::new(name))).collect::<Vec<_>>(),
        "withheld": notes.withheld,
        "overridden": notes.overridden,
    })
}

fn limits(limits: &Limits) -> Map<String, Value> {
    let names = limits.set().map(|limit| {
        let name = match limit {
            Limit::Memory => "memory_bytes",
            Limit::Processes => "processes",
            Limit::CpuTime => "cpu_time_ns",
            Limit::WallTime => "wall_time_ns",
            Limit::OpenFiles => "open_files",
            Limit::FileSize => "file_bytes",
            Limit::PrivateSize => "private_bytes",
            Limit::Output => "output_bytes",
            other => other.name(),
        };
        (name.to_owned(), limits.get(limit).into())
    });
    names.collect()
}

fn bundles(executor: &Executor) -> Map<String, Value> {
    let tree = executor.tree();
    let bundles = facts::bundles(&tree).into_iter().map(|(name, opened)| {
        let paths = opened.paths.into_iter().map(path);
        let value = json!({ "paths": paths.collect::<Vec<_>>(), "because": opened.because });
        (name.to_owned(), value)
    });
    bundles.collect()
}

fn result(result: &Result<Outcome, RunError>) -> Value {
    match result {
        Ok(outcome) => json!({
            "ended": ending(outcome.ended),
            "elapsed_ms": u64::try_from(outcome.elapsed.as_millis()).unwrap_or(u64::MAX),
            "lifetime": outcome.lifetime,
            "usage": usage(&outcome.usage),
            "new_repositories": outcome.new_repositories.iter().map(repository).collect::<Vec<_>>(),
            "unsearched": outcome.unsearched.iter().map(|directory| path(directory)).collect::<Vec<_>>(),
        }),
        Err(error) => json!({ "error": { "code": error.code(), "message": error.to_string() } }),
    }
}

fn ending(ending: Ending) -> Value {
    match ending {
        Ending::Exited(code) => json!({ "exited": code }),
        Ending::Signaled { signal, core } => json!({ "signaled": signal, "core": core }),
        Ending::TimedOut => json!("timed_out"),
        Ending::LimitExceeded(limit) => json!({ "limit_exceeded": limit }),
        Ending::Cancelled => json!("cancelled"),
        Ending::OwnerClosed => json!("owner_closed"),
        other => json!(format!("{other:?}")),
    }
}

fn repository(repository: &NewRepository) -> Value {
    let hooks = repository.hooks.iter().map(|hook| path(Path::new(hook)));
    json!({
        "path": path(&repository.path),
        "programs": repository.programs,
        "hooks": hooks.collect::<Vec<_>>(),
        "linked": repository.linked,
        "refused": repository.refused,
        "unrefused": repository.unrefused,
    })
}

fn usage(usage: &Usage) -> Value {
    let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    json!({
        "peak_memory_bytes": usage.peak_memory_bytes,
        "peak_processes": usage.peak_processes,
        "cpu_time_ns": usage.cpu_time.map(nanoseconds),
        "touched": usage.touched,
    })
}
