//! ringfence's backend for Linux.
//!
//! A policy's region tree becomes a private file view (module `view`), Landlock rules on top of it (module `rights`),
//! and a system-call filter (module `filter`). A small embedded program, the *zygote*, builds the view once per
//! executor in namespaces of its own and keeps a prepared process ready for each next command (module `zygote`).
//! Whatever can't be enforced is an undischarged obligation (module `discharge`).

#![cfg(target_os = "linux")]
#![forbid(unsafe_code)]

mod absent;
mod ahead;
mod broker;
mod discharge;
mod filter;
#[cfg(any(test, fuzzing))]
#[doc(hidden)]
pub mod fuzzing;
mod image;
mod kernel_mounts;
mod launch;
mod limits;
mod look;
#[doc(hidden)]
pub mod mutation;
mod policy;
mod probe;
mod process;
mod rights;
mod seen;
mod sockets;
mod streams;
mod surroundings;
mod view;
mod zygote;

use std::path::Path;
use std::sync::Arc;

use ahead::Ahead;
use policy::{HostFacts, LinuxPolicy};
use ringfence_backend::{Backend, Capabilities, CompileRequest, CompiledPolicy, SetupFailed, Unavailable};
use ringfence_policy::Access;
use ringfence_zygote::plan::Plan;
pub use ringfence_zygote::wire::Step;

/// The namespace tier: user, mount, pid, network, IPC, UTS and cgroup namespaces with a private file view.
#[derive(Debug)]
pub struct Linux {
    facts: HostFacts,
    capabilities: Capabilities,
    fault: Option<Step>,
    /// Why nothing can be confined here, if that is known already.
    failed: Option<SetupFailed>,
    ahead: Arc<Ahead>,
}

impl Linux {
    /// Finds out what this host offers, by running the real set-up once.
    ///
    /// # Errors
    /// [`Unavailable::Probe`] with the step that failed.
    pub fn probe() -> Result<Self, Unavailable> {
        let mut facts = probe::look();
        match probe::rehearse(&mut facts) {
            Ok(user_namespace) => Ok(Self::new(facts, Some(user_namespace))),
            Err(failed) => Err(Unavailable::Probe {
                advice: probe::advice(&failed).to_owned(),
                failed,
            }),
        }
    }

    /// The backend for a caller whose first command is the trial.
    ///
    /// Where this process is in a container, or the like, it is tried first all the same: what is missing there can be
    /// done without, if that is known before. Why nothing can be confined then is told by the first executor.
    #[must_use]
    pub fn untried() -> Self {
        let mut facts = probe::look();
        let rehearsed = probe::is_contained().then(|| probe::rehearse(&mut facts));
        let failed = rehearsed.and_then(Result::err);
        Self {
            failed,
            ..Self::new(facts, None)
        }
    }

    fn new(facts: HostFacts, user_namespace: Option<bool>) -> Self {
        Self {
            capabilities: probe::capabilities(&facts, user_namespace),
            facts,
            fault: None,
            failed: None,
            ahead: Arc::default(),
        }
    }

    /// The same backend with one step of the set-up failing, to show that nothing half-confined ever runs.
    #[doc(hidden)]
    #[must_use]
    pub fn with_fault(mut self, step: Step) -> Self {
        self.fault = Some(step);
        self
    }

    /// The same backend on a host whose kernel lets nobody listen to filters, to show what takes the broker's place.
    #[doc(hidden)]
    #[must_use]
    pub fn without_broker(mut self) -> Self {
        self.facts.broker = false;
        self
    }
}

impl Backend for Linux {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn private_directories(&self) -> &'static [&'static str] {
        &surroundings::PRIVATE
    }

    fn advice(&self, failed: &SetupFailed) -> String {
        probe::advice(failed).to_owned()
    }

    fn anticipate(&self, network: Access, scratch: &Path) {
        let plan = Plan {
            flags: policy::namespaces(network),
            uid: rustix::process::geteuid().as_raw(),
            gid: rustix::process::getegid().as_raw(),
            fault: self.fault,
            ..Plan::default()
        };
        self.ahead.begin(plan.beginning(), scratch);
    }

    fn compile(&self, request: CompileRequest) -> Result<Arc<dyn CompiledPolicy>, Unavailable> {
        if let Some(failed) = &self.failed {
            return Err(Unavailable::Probe {
                advice: self.advice(failed),
                failed: failed.clone(),
            });
        }
        Ok(Arc::new(LinuxPolicy::compile(
            request,
            &self.facts,
            self.fault,
            &self.ahead,
        )?))
    }
}
