//! How one executor is made: directories, rules, environment, compiled policy.

mod directories;
mod environment;
mod git;
mod rules;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use ringfence_backend::{CompileRequest, CompiledPolicy, Guarded, LaunchError, Unavailable};
use ringfence_host::runtime::BundleName;
use ringfence_policy::{Home, Policy};

use crate::error::ExecutorError;
use crate::executor::{Executor, Inner};
use crate::guarded::GuardedPlaces;
use crate::kept::Kept;
use crate::platform::Probe;
use crate::scratch::JOURNAL;
use crate::set::{CloseProblem, Shared};
use crate::worktree;
use directories::Directories;

impl Shared {
    pub(crate) fn build_executor(self: &Arc<Self>, key: &str) -> Result<Executor, ExecutorError> {
        self.backend.anticipate(self.profile.network(), &self.owned_path);
        let mut directories = Directories::create(&self.owned_path)?;
        let kept = self.keep(key, &mut directories);
        let built = kept.and_then(|kept| self.compile(key, &directories, kept));
        built.map_err(|cause| with_problems(cause, directories.remove()))
    }

    fn compile(
        self: &Arc<Self>,
        key: &str,
        directories: &Directories,
        kept: Vec<Kept>,
    ) -> Result<Executor, ExecutorError> {
        let isolated = self.profile.home() == Home::Isolated;
        let attached = worktree::attached(&self.profile);
        let mut rules = self.rules(directories, isolated)?;
        rules.extend(
            attached
                .as_ref()
                .and_then(|attached| worktree::opened(&self.profile, attached)),
        );
        let policy = Policy::compile(&self.profile, rules).map_err(|error| Unavailable::Path {
            path: self.owned_path.clone(),
            why: error.to_string(),
        })?;
        // Closing waits for what is in the making, and a search can be long.
        let searched = GuardedPlaces::new(
            &self.profile,
            &policy.tree,
            attached,
            vec![self.owned_path.clone()],
            &|| self.lifecycle.is_closing(),
        );
        let guarded = Arc::new(searched.ok_or(ExecutorError::SetClosed)?);
        let request = CompileRequest {
            policy,
            guarded: Arc::clone(&guarded) as Arc<dyn Guarded>,
            base: directories.base.clone(),
            journal: directories.top.join(JOURNAL),
            locks: self.locks.clone(),
            private_bytes: self.profile.limits().private_bytes.unwrap_or(self.private_bytes),
        };
        let compiled = self.backend.compile(request);
        let compiled = compiled.map_err(|unavailable| uncompiled(key, unavailable))?;
        let made = self.assemble(key, directories, kept, &compiled, guarded);
        made.map_err(|cause| {
            let key = key.to_owned();
            let failed = compiled.release().err();
            with_problems(cause, failed.map(|failed| CloseProblem::Policy { key, failed }))
        })
    }

    /// What is left to do once there is a policy.
    fn assemble(
        self: &Arc<Self>,
        key: &str,
        directories: &Directories,
        kept: Vec<Kept>,
        compiled: &Arc<dyn CompiledPolicy>,
        guarded: Arc<GuardedPlaces>,
    ) -> Result<Executor, ExecutorError> {
        let isolated = self.profile.home() == Home::Isolated;
        if isolated && self.selection.contains(&BundleName::Git) {
            self.write_git_settings(&directories.home, &compiled.placeholders())?;
        }
        let environment = self.environment(directories, isolated, &compiled.tree());
        // Last, as the view is made meanwhile.
        if self.probe == Probe::AtFirstExecutor {
            compiled.warm_up().map_err(|error| self.untrue(error))?;
        }
        Ok(Executor::new(Inner {
            shared: Arc::clone(self),
            key: key.to_owned(),
            lifecycle: self.lifecycle.part(),
            directory: directories.top.clone(),
            compiled: Arc::clone(compiled),
            guarded,
            variables: environment.variables,
            notes: environment.notes,
            home: isolated.then(|| directories.home.clone()),
            temporary: directories.temporary.clone(),
            kept: Mutex::new(kept),
            used: AtomicBool::new(false),
        }))
    }

    /// A trial that failed: the host can't confine commands after all.
    fn untrue(&self, error: LaunchError) -> Unavailable {
        match error {
            LaunchError::Setup(failed) => Unavailable::Probe {
                advice: self.backend.advice(&failed),
                failed,
            },
            other => Unavailable::Path {
                path: self.owned_path.clone(),
                why: other.to_string(),
            },
        }
    }
}

/// A policy that could not be had, with what that left.
fn uncompiled(key: &str, unavailable: Unavailable) -> ExecutorError {
    match unavailable {
        Unavailable::Residue { cause, left } => {
            let key = key.to_owned();
            with_problems((*cause).into(), Some(CloseProblem::Policy { key, failed: left }))
        }
        unavailable => unavailable.into(),
    }
}

/// A failure with what could not be undone after it (SET-16).
fn with_problems(cause: ExecutorError, problem: Option<CloseProblem>) -> ExecutorError {
    let Some(problem) = problem else { return cause };
    match cause {
        ExecutorError::Residue { cause, mut problems } => {
            problems.push(problem);
            ExecutorError::Residue { cause, problems }
        }
        cause => ExecutorError::Residue {
            cause: Box::new(cause),
            problems: vec![problem],
        },
    }
}
