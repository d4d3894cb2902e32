//! The backend without confinement, for profiles that acknowledge being unconfined.
//!
//! It enforces nothing but the filtered environment, and its report says so. On Unix the command leads a
//! process group of its own, which is killed with it; descendants that leave the group escape.

use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ringfence_policy::{Discharge, Isolation, Mechanism, RegionTree, Report};

use crate::{
    Backend, Capabilities, CompileRequest, CompiledPolicy, Containment, Event, ExitStatus, Launch,
    LaunchError, LifetimeContainment, Notifier, SetupFailed, Signal, SignalError, Unavailable,
};

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
            report: Report::direct(Discharge::enforced([Mechanism::EnvironmentAllowlist])),
            tree: request.policy.tree,
        }))
    }
}

#[derive(Debug)]
struct DirectPolicy {
    report: Report,
    tree: RegionTree,
}

impl CompiledPolicy for DirectPolicy {
    fn report(&self) -> &Report {
        &self.report
    }

    fn tree(&self) -> &RegionTree {
        &self.tree
    }

    fn warm_up(&self) -> Result<(), LaunchError> {
        Ok(())
    }

    /// There is nothing to give back.
    fn release(&self) {}

    fn launch(&self, launch: Launch) -> Result<Box<dyn Containment>, LaunchError> {
        let Some((program, arguments)) = launch.arguments.split_first() else {
            return Err(LaunchError::Malformed {
                what: "the command",
                why: "is empty".to_owned(),
            });
        };
        let [stdin, stdout, stderr] = launch.streams.map(Stdio::from);
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(launch.environment.iter().map(|(name, value)| (name, value)));
        command
            .current_dir(&launch.directory)
            .stdin(stdin)
            .stdout(stdout)
            .stderr(stderr);
        lead_group(&mut command);
        let child = command.spawn().map_err(|error| SetupFailed {
            step: "execute the program",
            errno: error.raw_os_error().unwrap_or_default(),
            path: Some(program.into()),
        })?;
        Ok(Box::new(DirectProcess::watch(child, launch.notifier)))
    }
}

#[cfg(unix)]
fn lead_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn lead_group(_: &mut Command) {}

/// An unconfined command, watched by a thread.
#[derive(Debug)]
struct DirectProcess {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    id: u32,
}

#[derive(Debug)]
struct State {
    started_reported: bool,
    ended: Option<ExitStatus>,
    end_reported: bool,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl DirectProcess {
    fn watch(child: Child, notifier: Notifier) -> Self {
        let state = State {
            started_reported: false,
            ended: None,
            end_reported: false,
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(state),
            id: child.id(),
        });
        let watched = Arc::clone(&shared);
        std::thread::spawn(move || {
            let status = wait_and_end_group(child, &watched);
            watched.lock().ended = Some(status);
            notifier.notify();
        });
        Self { shared }
    }
}

/// Waits for the command. Its id stays reserved until the group has been killed, so no stranger is hit.
#[cfg(unix)]
fn wait_and_end_group(mut child: Child, shared: &Shared) -> ExitStatus {
    use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
    use std::os::unix::process::ExitStatusExt;
    let id = Pid::from_child(&child);
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while matches!(waitid(WaitId::Pid(id), options), Err(rustix::io::Errno::INTR)) {}
    // Nobody may signal the id once it can be reused.
    let _state = shared.lock();
    let _ = kill_process_group(id, Signal::KILL);
    match child.wait() {
        Ok(status) => match (status.code(), status.signal()) {
            (Some(code), _) => ExitStatus::Exited(code),
            (None, Some(signal)) => ExitStatus::Signaled {
                signal,
                core: status.core_dumped(),
            },
            (None, None) => ExitStatus::Killed,
        },
        Err(_) => ExitStatus::Killed,
    }
}

#[cfg(not(unix))]
fn wait_and_end_group(mut child: Child, _: &Shared) -> ExitStatus {
    match child.wait().map(|status| status.code()) {
        Ok(Some(code)) => ExitStatus::Exited(code),
        _ => ExitStatus::Killed,
    }
}

impl Containment for DirectProcess {
    fn class(&self) -> LifetimeContainment {
        LifetimeContainment::Unspecified
    }

    #[cfg(unix)]
    fn descriptors(&self, _: crate::Watch) -> Vec<std::os::fd::BorrowedFd<'_>> {
        Vec::new()
    }

    fn next_event(&self) -> Option<Event> {
        let mut state = self.shared.lock();
        if !state.started_reported {
            state.started_reported = true;
            return Some(Event::Started);
        }
        let ended = state.ended.filter(|_| !state.end_reported)?;
        state.end_reported = true;
        Some(Event::Ended(ended))
    }

    #[cfg(unix)]
    fn signal(&self, signal: Signal) -> Result<(), SignalError> {
        use rustix::process::{Pid, Signal as Number, kill_process_group};
        let number = match signal {
            Signal::Interrupt => Number::INT,
            Signal::Terminate => Number::TERM,
            Signal::Hangup => Number::HUP,
            Signal::Kill => Number::KILL,
        };
        let state = self.shared.lock();
        let id = i32::try_from(self.shared.id).ok().and_then(Pid::from_raw);
        match (state.ended, id) {
            (None, Some(id)) => kill_process_group(id, number).map_err(|_| SignalError::Ended),
            _ => Err(SignalError::Ended),
        }
    }

    #[cfg(not(unix))]
    fn signal(&self, _: Signal) -> Result<(), SignalError> {
        Err(SignalError::Unsupported)
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
