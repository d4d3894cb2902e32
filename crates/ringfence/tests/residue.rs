//! What is left of an executor that could not be made.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

mod common;

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use common::Fixture;
use ringfence::backend::{
    Backend, Capabilities, CompileRequest, CompiledPolicy, Guarded, SetupFailed, Unavailable,
};
use ringfence::{CloseProblem, ExecutorError, Guarantees, Host, Profile, ProfileConfig, Rule};
use ringfence_linux::Linux;
use rustix::thread::{CapabilitySet, capabilities, set_capabilities};

/// Closes a directory to everybody as soon as placeholders are in it.
#[derive(Debug)]
struct Closing {
    linux: Linux,
    directory: PathBuf,
}

impl Backend for Closing {
    fn capabilities(&self) -> &Capabilities {
        self.linux.capabilities()
    }

    fn private_directories(&self) -> &'static [&'static str] {
        self.linux.private_directories()
    }

    fn advice(&self, failed: &SetupFailed) -> String {
        self.linux.advice(failed)
    }

    fn compile(&self, mut request: CompileRequest) -> Result<Arc<dyn CompiledPolicy>, Unavailable> {
        request.guarded = Arc::new(ClosingPlaces {
            guarded: request.guarded,
            directory: self.directory.clone(),
        });
        let before = capabilities(None).unwrap();
        let compiled = self.linux.compile(request);
        set_capabilities(None, before).unwrap();
        compiled
    }
}

#[derive(Debug)]
struct ClosingPlaces {
    guarded: Arc<dyn Guarded>,
    directory: PathBuf,
}

impl Guarded for ClosingPlaces {
    fn look(&self) -> Arc<[Rule]> {
        if !links_in(&self.directory).is_empty() {
            fs::set_permissions(&self.directory, Permissions::from_mode(0o555)).unwrap();
            // Root is bound by them no more than by anything else until this thread has only the rights of an owner.
            let mut rights = capabilities(None).unwrap();
            rights.effective.remove(CapabilitySet::DAC_OVERRIDE);
            set_capabilities(None, rights).unwrap();
        }
        self.guarded.look()
    }

    fn rules(&self) -> Arc<[Rule]> {
        self.guarded.rules()
    }

    fn is_complete(&self) -> bool {
        self.guarded.is_complete()
    }
}

fn links_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut links: Vec<PathBuf> = entries.filter(|path| path.is_symlink()).collect();
    links.sort();
    links
}

// SET-16: no executor, and word of every placeholder that could not be removed again.
#[test]
fn set_16_a_placeholder_that_can_not_be_removed_is_told_with_what_kept_the_executor_from_being_made() {
    let fixture = Fixture::new();
    let workspace = fixture.workspace.path();
    // Found missing when everything else is done.
    let config = ProfileConfig {
        require: Guarantees::TARGET_NETWORK,
        ..fixture.config()
    };
    let fails_with = |backend: Arc<dyn Backend>| {
        let profile = Profile::new(&config, &Host).unwrap();
        let set = ringfence::ExecutorSet::builder(profile)
            .scratch_root(fixture.scratch.path())
            .max_executors(1)
            .backend(backend)
            .build()
            .unwrap();
        let set = ringfence::blocking::ExecutorSet::from(set);
        let error = set.executor("a").map(drop).unwrap_err();
        assert!(set.close().is_clean());
        error
    };
    let control = fails_with(Arc::new(Linux::untried().without_broker()));
    assert!(
        matches!(
            control,
            ExecutorError::Unavailable(Unavailable::Guarantees { .. })
        ),
        "{control:?}"
    );
    assert!(links_in(workspace).is_empty());

    let error = fails_with(Arc::new(Closing {
        linux: Linux::untried().without_broker(),
        directory: workspace.to_owned(),
    }));
    fs::set_permissions(workspace, Permissions::from_mode(0o755)).unwrap();
    let left = links_in(workspace);
    assert!(left.len() > 1, "this shows nothing");
    let ExecutorError::Residue { cause, problems } = &error else {
        panic!("{error:?}")
    };
    assert_eq!(**cause, control);
    assert_eq!((error.code(), error.hint()), (control.code(), control.hint()));
    assert!(matches!(problems.as_slice(), [CloseProblem::Policy { key, .. }] if key == "a"));
    for path in left {
        let told = error.to_string();
        assert!(told.contains(path.to_str().unwrap()), "{path:?}: {told}");
    }
    // Whoever comes next and leaves in order takes them along.
    let set = fixture.set();
    set.executor("a").unwrap();
    assert!(set.close().is_clean() && links_in(workspace).is_empty());
}
