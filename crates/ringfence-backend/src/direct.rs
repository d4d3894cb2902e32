//! The backend without confinement, for profiles that acknowledge being unconfined.
//!
//! It enforces nothing but the filtered environment, and its report says so. On Unix the command leads a
//! process group of its own, which is killed with it; descendants that leave the group escape.

use std::process::Stdio;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringfence_policy::{Discharge, Isolation, Limit, Limits, Mechanism, RegionTree, Report};

use crate::{
    Backend, Capabilities, CompileRequest, CompiledPolicy, Containment, Event, ExitStatus, HostDeath, Launch,
    LaunchError, Lifetime, LifetimeContainment, Notifier, ReleaseFailed, SetupFailed, Signal, SignalError,
    Unavailable,
};
use tree::Tree;

#[cfg_attr(unix, path = "direct/unix.rs")]
#[cfg_attr(not(unix), path = "direct/other.rs")]
mod tree;

/// Starts commands without confining them.
#[derive(Debug)]
pub struct Direct {
    capabilities: Capabilities,
}

impl Default for Direct {
    fn default() -> Self {
        Self {
            capabilities: Capabilities {
                tier: "direct",
                facts: Vec::new(),
            },
        }
    }
}

impl Backend for Direct {
    fn capabilities(&self) -> &Capabilities {
        &self.capabilities
    }

    fn private_directories(&self) -> &'static [&'static str] {
        &[]
    }

    fn advice(&self, _: &SetupFailed) -> String {
        String::new()
    }

    /// Refuses every policy that asks for confinement (EXE-5).
    fn compile(&self, request: CompileRequest) -> Result<Arc<dyn CompiledPolicy>, Unavailable> {
        if request.policy.isolation == Isolation::Sandboxed {
            return Err(Unavailable::NoBackend {
                why: "the direct backend confines nothing".to_owned(),
                advice: "use a host with a confining backend, or acknowledge an unconfined profile"
                    .to_owned(),
            });
        }
        Ok(Arc::new(DirectPolicy {
            report: Arc::new(Report::direct(Discharge::enforced([
                Mechanism::EnvironmentAllowlist,
            ]))),
            tree: Arc::new(request.policy.tree),
        }))
    }
}

#[derive(Debug)]
struct DirectPolicy {
    report: Arc<Report>,
    tree: Arc<RegionTree>,
}

impl CompiledPolicy for DirectPolicy {
    fn report(&self) -> Arc<Report> {
        Arc::clone(&self.report)
    }

    fn tree(&self) -> Arc<RegionTree> {
        Arc::clone(&self.tree)
    }

    fn warm_up(&self) -> Result<(), LaunchError> {
        Ok(())
    }

    /// There is nothing to give back.
    fn release(&self) -> Result<(), ReleaseFailed> {
        Ok(())
    }

    fn launch(&self, launch: Launch) -> Result<Box<dyn Containment>, LaunchError> {
        let Some((program, arguments)) = launch.arguments.split_first() else {
            return Err(LaunchError::Malformed {
                what: "the command",
                why: "is empty".to_owned(),
            });
        };
        if launch.terminal.is_some() {
            return Err(LaunchError::TerminalUnsupported);
        }
        refuse_limits(&launch.limits)?;
        if let Some(meant) = launch.directory_identity
            && !tree::is_at(&launch.directory, meant)
        {
            return Err(LaunchError::Changed {
                path: launch.directory,
            });
        }
        let failed = |error: std::io::Error| SetupFailed {
            step: SetupFailed::EXECUTE,
            errno: error.raw_os_error().unwrap_or_default(),
            path: Some(program.into()),
        };
        let mut command = tree::command(program, &launch).map_err(failed)?;
        let [stdin, stdout, stderr] = launch.streams.map(Stdio::from);
        command
            .args(arguments)
            .env_clear()
            .envs(launch.environment.iter().map(|(name, value)| (name, value)));
        command
            .current_dir(&launch.directory)
            .stdin(stdin)
            .stdout(stdout)
            .stderr(stderr);
        let tree = Tree::spawn(command).map_err(failed)?;
        DirectProcess::watch(tree, Arc::clone(&self.report), launch.notifier)
            .map(|process| Box::new(process) as Box<dyn Containment>)
            .map_err(|error| {
                let errno = error.raw_os_error().unwrap_or_default();
                LaunchError::Setup(SetupFailed {
                    step: "watch the command",
                    errno,
                    path: None,
                })
            })
    }
}

/// An unconfined command, watched by a thread.
#[derive(Debug)]
struct DirectProcess {
    shared: Arc<Shared>,
    report: Arc<Report>,
}

#[derive(Debug)]
struct Shared {
    tree: Tree,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    reported: Reported,
    ended: Option<ExitStatus>,
}

/// The last event that was given out.
#[derive(Clone, Copy, Debug, Default)]
enum Reported {
    #[default]
    Nothing,
    Start,
    Exit,
    Empty,
}

impl DirectProcess {
    fn watch(tree: Tree, report: Arc<Report>, notifier: Notifier) -> std::io::Result<Self> {
        let shared = Arc::new(Shared {
            tree,
            state: Mutex::default(),
        });
        let watched = Arc::clone(&shared);
        // Where there is no thread for it, dropping the process kills the command.
        let process = Self { shared, report };
        std::thread::Builder::new()
            .name("ringfence-direct".to_owned())
            .spawn(move || {
                let status = watched.tree.wait();
                watched.lock().ended = Some(status);
                notifier.notify();
            })?;
        Ok(process)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Nothing here keeps a limit, but those the pipeline keeps.
fn refuse_limits(limits: &Limits) -> Result<(), LaunchError> {
    let unkept = limits
        .set()
        .filter(|limit| !matches!(limit, Limit::WallTime | Limit::Output));
    let unkept: Vec<Limit> = unkept.collect();
    if unkept.is_empty() {
        return Ok(());
    }
    let refused = Unavailable::limits(unkept, "the command is not confined");
    Err(LaunchError::Unavailable(refused))
}

impl Containment for DirectProcess {
    fn lifetime(&self) -> Lifetime {
        let reason = if cfg!(unix) {
            "no confinement: only the command's process group is killed"
        } else {
            "no confinement: only the command itself is killed"
        };
        Lifetime::new(LifetimeContainment::Unspecified, reason, HostDeath::Survives)
    }

    fn report(&self) -> Arc<Report> {
        Arc::clone(&self.report)
    }

    #[cfg(unix)]
    fn descriptors(&self, _: crate::Watch) -> Vec<std::os::fd::BorrowedFd<'_>> {
        Vec::new()
    }

    fn next_event(&self) -> Option<Event> {
        let mut state = self.shared.lock();
        let (reported, event) = match (state.reported, state.ended) {
            (Reported::Nothing, _) => (Reported::Start, Event::Started),
            (Reported::Start, Some(status)) => (Reported::Exit, Event::Exited(status)),
            // The group was killed before its end was noted.
            (Reported::Exit, _) => (Reported::Empty, Event::Empty),
            (Reported::Start, None) | (Reported::Empty, _) => return None,
        };
        state.reported = reported;
        Some(event)
    }

    fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        self.shared.tree.signal(signal)
    }

    fn kill(&self) {
        // Ended already is as good as killed.
        let _ = self.signal(Signal::Kill);
    }
}

impl Drop for DirectProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(test)]
#[cfg(unix)]
#[path = "direct_tests.rs"]
mod tests;
