//! A compiled policy: the plan, the zygote that serves it, and when both are stale.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use ringfence_backend::{
    CompileRequest, CompiledPolicy, Containment, Guarded, Launch, LaunchError, ReleaseFailed, SetupFailed,
    Unavailable,
};
use ringfence_host::cgroup::{Cgroups, Scope};
use ringfence_host::guarded::Replaced;
use ringfence_host::placeholder::Placeholders;
use ringfence_host::runtime::Device;
use ringfence_policy::{Access, Kind, NestedNamespaces, Policy, RegionTree, Report, Rule, Source, TreeError};
use ringfence_zygote::plan::Plan;
use ringfence_zygote::wire::{self, Step};
use rustix::io::Errno;

use crate::absent::{self, Absent};
use crate::ahead::{Ahead, is_fresh};
use crate::broker::Broker;
use crate::discharge::{self, Complete};
use crate::filter::{self, Architecture};
use crate::kernel_mounts;
use crate::launch;
use crate::limits;
use crate::look::{Look, lock};
use crate::process::Process;
use crate::rights::Landlock;
use crate::seen::Seen;
use crate::sockets::Sockets;
use crate::streams;
use crate::surroundings;
use crate::view::{self, Extras, Pace, View, ViewError, Watched};
use crate::zygote::{self, Building, Zygote};

/// How late a replaced file of the system may be noticed.
const SOON: Duration = Duration::from_secs(1);

/// How often a view is made anew because something moved while it was made.
const TRIES: usize = 8;

/// What the host must offer, found out once per backend.
#[derive(Clone, Debug)]
pub(crate) struct HostFacts {
    pub(crate) landlock: Landlock,
    /// Whether a `/proc` of the command's own can be mounted.
    pub(crate) proc: bool,
    /// Whether process 1 of a spawn can make names for the command.
    pub(crate) broker: bool,
    pub(crate) devices: Vec<Device>,
    pub(crate) cgroups: Cgroups,
}

/// One executor's policy.
#[derive(Debug)]
pub(crate) struct LinuxPolicy {
    /// Without what guards are about.
    policy: Policy,
    guarded: Arc<dyn Guarded>,
    base: PathBuf,
    private_bytes: u64,
    facts: HostFacts,
    fault: Option<Step>,
    ahead: Arc<Ahead>,
    state: Mutex<State>,
}

/// What is derived from the policy and the host as it was last seen.
#[derive(Debug)]
struct State {
    /// The whole tree, what guards are about included.
    tree: Arc<RegionTree>,
    guarded: Arc<[Rule]>,
    placeholders: Placeholders,
    /// Where they are.
    artefacts: Vec<PathBuf>,
    plan: Plan,
    report: Arc<Report>,
    watched: Arc<[Watched]>,
    /// The kernel's word about those that must be noticed at once, from the second command on.
    replaced: Option<Arc<Mutex<Replaced>>>,
    /// When the objects that may be noticed late were last looked at.
    looked_at_all: Instant,
    sockets: Sockets,
    zygote: Option<Arc<Zygote>>,
    /// The one that is to be, if its view is made already, and when it was begun.
    building: Option<(Instant, Building)>,
    /// Whether a command was started.
    served: bool,
    /// Whether all this is of a host as it is no more, because what followed from the last look could not be had.
    outdated: bool,
    released: bool,
}

impl LinuxPolicy {
    pub(crate) fn compile(
        request: CompileRequest,
        facts: &HostFacts,
        fault: Option<Step>,
        ahead: &Arc<Ahead>,
    ) -> Result<Self, Unavailable> {
        let CompileRequest {
            mut policy,
            guarded,
            base,
            journal,
            locks,
            private_bytes,
        } = request;
        let mounts = kernel_mounts::list();
        if let Some((path, kind)) = kernel_mounts::written(&policy.tree, &mounts) {
            return Err(Unavailable::Path {
                path,
                why: format!("it lies in {kind}, which commands never write"),
            });
        }
        let privileged = rustix::process::geteuid().is_root();
        if policy.nested_namespaces == NestedNamespaces::Allow {
            let (why, advice) = if !facts.proc {
                (
                    "user ids are mapped in /proc, and where the host's is covered in part commands have none",
                    "use a container whose own /proc is whole, or leave out nested_namespaces",
                )
            } else if privileged {
                (
                    "user ids are mapped in /proc, which commands of user id 0 only read",
                    "run it as an ordinary user, or leave out nested_namespaces",
                )
            } else {
                ("", "")
            };
            if !why.is_empty() {
                let (why, advice) = (why.to_owned(), advice.to_owned());
                return Err(Unavailable::NestedNamespaces { why, advice });
            }
        }
        let mut more = surroundings::rules(&policy.tree, facts, privileged);
        more.extend(
            kernel_mounts::rules(&policy.tree, &mounts)
                .into_iter()
                .filter(surroundings::is_elsewhere),
        );
        policy.tree = policy.tree.with(more).map_err(|error| Unavailable::Path {
            path: policy.workspace.clone(),
            why: error.to_string(),
        })?;
        // A host that was killed had limits even if this one has none.
        facts.cgroups.sweep();
        let sockets = Sockets::first(&policy.tree);
        let facts = facts.clone();
        let rules = guarded.rules();
        let blank = State {
            tree: Arc::default(),
            guarded: Arc::from([]),
            placeholders: Placeholders::new(journal, locks),
            artefacts: Vec::new(),
            plan: Plan::default(),
            report: Arc::new(Report::new(Vec::new())),
            watched: Arc::new([]),
            replaced: None,
            looked_at_all: Instant::now(),
            sockets: Sockets::default(),
            zygote: None,
            building: None,
            served: false,
            outdated: false,
            released: false,
        };
        let compiled = Self {
            policy,
            guarded,
            base,
            private_bytes,
            facts,
            fault,
            ahead: Arc::clone(ahead),
            state: Mutex::new(blank),
        };
        let derived = compiled.derive(&mut compiled.lock(), sockets, &rules);
        match derived {
            Ok(()) => {
                compiled.lock().build(ahead);
                Ok(compiled)
            }
            Err(cause) => Err(match compiled.release() {
                Ok(()) => cause,
                Err(left) => Unavailable::Residue {
                    cause: Box::new(cause),
                    left,
                },
            }),
        }
    }

    /// Derives view, plan and report from the policy and the host as it is now.
    fn derive(&self, state: &mut State, sockets: Sockets, guarded: &[Rule]) -> Result<(), Unavailable> {
        state.outdated = true;
        let malformed = |error: TreeError| Unavailable::Path {
            path: self.policy.workspace.clone(),
            why: error.to_string(),
        };
        let tree = self
            .policy
            .tree
            .with(guarded.iter().cloned())
            .map_err(malformed)?;
        let broker = Broker::new(&tree, self.facts.broker);
        let absent = absent::close(&tree, &broker, &mut state.placeholders)
            .map_err(|name| changed(root_of(&tree, &name)))?;
        // What patterns match may be a placeholder now.
        let guarded = self.guarded.look();
        let rules = guarded.iter().chain(&absent.rules).cloned();
        let tree = self.policy.tree.with(rules).map_err(malformed)?;
        let policy = Policy {
            tree: tree
                .with(surroundings::closed_in_private(&tree))
                .map_err(malformed)?,
            ..self.policy.clone()
        };
        let view = self.view(&policy.tree, &sockets, &absent)?;
        let complete = Complete {
            sockets: sockets.complete,
            patterns: self.guarded.is_complete(),
        };
        let report = discharge::report(&policy, &view, complete, &absent, &self.facts);
        let missing = self.policy.required - report.guarantees();
        if !missing.is_empty() {
            let entries = report
                .missing(self.policy.required)
                .into_iter()
                .cloned()
                .collect();
            return Err(Unavailable::Guarantees { missing, entries });
        }
        state.plan = self.plan(&policy.tree, &view);
        state.tree = Arc::new(policy.tree);
        state.guarded = guarded;
        state.artefacts = absent.placeholders();
        state.report = Arc::new(report);
        state.watched = view.watched.into();
        state.replaced = None;
        state.sockets = sockets;
        // Commands that are still running keep the old one.
        state.zygote = None;
        state.building = None;
        state.outdated = false;
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    /// The zygote of a view that shows the host as it is now, and what is enforced in it.
    fn fresh_zygote(&self) -> Result<(Arc<Zygote>, Arc<Report>), LaunchError> {
        let look = self.lock().begin_look();
        let rules = self.guarded.rules();
        let (sockets, stale) = look.compare(&self.policy.tree, &rules);
        let mut state = self.lock();
        if state.released {
            return Err(LaunchError::Released);
        }
        if stale || state.outdated {
            self.derive_again(&mut state, sockets, &rules)?;
        } else {
            state.sockets = sockets;
        }
        if let Some(zygote) = &state.zygote {
            return Ok((Arc::clone(zygote), Arc::clone(&state.report)));
        }
        for _ in 0..TRIES {
            let building = state.building.take().filter(|(since, _)| is_fresh(*since));
            let built = building.and_then(|(_, building)| building.finish().ok());
            let zygote = match built.map_or_else(|| Zygote::start(&state.plan, &self.ahead), Ok) {
                Ok(zygote) => Arc::new(zygote),
                // A socket that was to be masked went with its owner.
                Err(failed) if is_target_gone(&failed) => {
                    let sockets = Sockets::look(&self.policy.tree, &state.sockets);
                    self.derive_again(&mut state, sockets, &rules)?;
                    continue;
                }
                Err(failed) => return Err(told(failed)),
            };
            // What was moved while the view was made may be in it where it was closed before.
            let rules = self.guarded.look();
            if Arc::ptr_eq(&rules, &state.guarded) {
                state.zygote = Some(Arc::clone(&zygote));
                return Ok((zygote, Arc::clone(&state.report)));
            }
            let sockets = state.sockets.clone();
            self.derive_again(&mut state, sockets, &rules)?;
        }
        Err(LaunchError::Changed {
            path: self.policy.workspace.clone(),
        })
    }

    fn derive_again(&self, state: &mut State, sockets: Sockets, rules: &[Rule]) -> Result<(), LaunchError> {
        self.derive(state, sockets, rules).map_err(|error| match error {
            Unavailable::Path { path, .. } => LaunchError::Changed { path },
            other => LaunchError::Unavailable(other),
        })
    }

    /// Hands a command to a spare.
    fn start(&self, message: &[u8], launch: &Launch) -> Result<Process, LaunchError> {
        let start_in = |zygote: Arc<Zygote>, report, scope: Option<Scope>| {
            let spare = match &launch.terminal {
                Some(terminal) => zygote.make_terminal_spare(terminal)?,
                None => zygote.take_spare()?,
            };
            if let Some(scope) = &scope {
                limits::enter(scope, &spare.pidfd)?;
            }
            launch::send(&spare, message, &launch.streams)?;
            Ok(Process::new(spare, zygote, report, scope))
        };
        let scope = || limits::scope(&launch.limits, &self.facts.cgroups);
        let (zygote, report) = self.fresh_zygote()?;
        self.lock().served = true;
        streams::check(&self.tree(), self.facts.landlock, &launch.streams)?;
        match start_in(Arc::clone(&zygote), report, scope()?) {
            Err(failed) if zygote::is_gone(&failed) => {
                // It was killed from outside. A new one is as good, once.
                self.lock()
                    .zygote
                    .take_if(|current| Arc::ptr_eq(current, &zygote));
                let (zygote, report) = self.fresh_zygote()?;
                Ok(start_in(zygote, report, scope()?)?)
            }
            started => Ok(started?),
        }
    }

    fn view(&self, tree: &RegionTree, sockets: &Sockets, absent: &Absent) -> Result<View, Unavailable> {
        let masked: Vec<PathBuf> = sockets.paths().into_iter().chain(sockets.pipes(tree)).collect();
        let extras = Extras {
            sockets: &masked,
            placeholders: absent.links().collect(),
            closed: absent.closed(),
        };
        let built = view::build(tree, self.facts.landlock, &extras, self.private_bytes, &Seen::at);
        built.map_err(|error| match error {
            ViewError::Changed(path) => changed(path),
            ViewError::Unreadable(path, errno) => Unavailable::Path {
                path,
                why: io::Error::from_raw_os_error(errno).to_string(),
            },
            ViewError::Unenforceable(path, why) => Unavailable::Path { path, why },
        })
    }

    fn plan(&self, tree: &RegionTree, view: &View) -> Plan {
        let uid = rustix::process::geteuid();
        let mut flags = namespaces(self.policy.network);
        if uid.is_root() {
            flags |= wire::READ_ONLY_PROC;
        }
        if !self.facts.proc {
            flags |= wire::NO_PROC;
        }
        if self.policy.nested_namespaces == NestedNamespaces::Allow {
            flags |= wire::NESTED_NAMESPACES;
        }
        let landlock = self.facts.landlock;
        let proc = tree.verdict(Path::new(surroundings::PROC));
        Plan {
            flags,
            uid: uid.as_raw(),
            gid: rustix::process::getegid().as_raw(),
            fault: self.fault,
            handled: landlock.handled(),
            scopes: landlock.scopes(),
            proc_access: landlock.rights(proc, Kind::Directory),
            base: view::bytes(&self.base),
            filter: filter::assemble(Architecture::NATIVE, self.policy.nested_namespaces),
            operations: view.operations.clone(),
            rules: view.rules.clone(),
            asking: filter::asking(Architecture::NATIVE),
            making: landlock.withheld(),
            guards: view.guards.clone(),
            free: view.free.clone(),
        }
    }
}

impl State {
    /// Has the view made while the caller does something else, if a zygote was begun for it. What goes wrong shows when
    /// it is begun anew.
    fn build(&mut self, ahead: &Ahead) {
        let begun = ahead.take(self.plan.beginning());
        self.building = begun.and_then(|(since, begun)| Some((since, begun.build(&self.plan).ok()?)));
    }

    fn begin_look(&mut self) -> Look {
        let now = Instant::now();
        let everything = now.duration_since(self.looked_at_all) >= SOON;
        if everything {
            self.looked_at_all = now;
        }
        let look = Look {
            watched: Arc::clone(&self.watched),
            replaced: self.replaced.clone(),
            sockets: self.sockets.clone(),
            guarded: Arc::clone(&self.guarded),
            everything,
        };
        // The look that follows sees what happened before. Often there is no second command.
        if self.served && self.replaced.is_none() {
            let urgent = self
                .watched
                .iter()
                .filter(|object| object.pace == Pace::EverySpawn);
            let replaced = Replaced::watch(urgent.map(|object| object.path.as_path()));
            self.replaced = Some(Arc::new(Mutex::new(replaced)));
        }
        look
    }
}

impl CompiledPolicy for LinuxPolicy {
    fn report(&self) -> Arc<Report> {
        Arc::clone(&self.lock().report)
    }

    fn tree(&self) -> Arc<RegionTree> {
        Arc::clone(&self.lock().tree)
    }

    fn placeholders(&self) -> Vec<PathBuf> {
        self.lock().artefacts.clone()
    }

    fn has_terminals(&self) -> bool {
        true
    }

    fn is_warm(&self) -> bool {
        self.state.try_lock().is_ok_and(|state| state.zygote.is_some())
    }

    fn warm_up(&self) -> Result<(), LaunchError> {
        self.fresh_zygote().map(drop)
    }

    fn release(&self) -> Result<(), ReleaseFailed> {
        let mut state = self.lock();
        state.released = true;
        let (zygote, building) = (state.zygote.take(), state.building.take());
        let placeholders = std::mem::take(&mut state.placeholders);
        drop(state);
        if let Some(zygote) = &zygote {
            zygote.kill();
        }
        // All commands have ended; only the zygote and its spares, which run none, may still have them mounted upon, and
        // a name can be removed all the same.
        let removed = placeholders.remove();
        // The kernel takes its time for the end of the namespaces.
        if let Some(zygote) = zygote {
            zygote.end();
        }
        drop(building);
        removed.map_err(|left| still_standing(&left))
    }

    fn launch(&self, launch: Launch) -> Result<Box<dyn Containment>, LaunchError> {
        let message = launch::encode(&launch, &limits::of_process(&launch.limits, &self.facts.cgroups))?;
        Ok(Box::new(self.start(&message, &launch)?))
    }
}

/// Those that a policy with this network needs, as plan flags.
pub(crate) fn namespaces(network: Access) -> u32 {
    let always = wire::USER_NAMESPACE | wire::CGROUP_NAMESPACE;
    if network == Access::Allow {
        always
    } else {
        always | wire::NETWORK_NAMESPACE
    }
}

/// Whether something that the view was to cover is not there any more.
fn is_target_gone(failed: &SetupFailed) -> bool {
    failed.step == Step::Target.name() && failed.errno == Errno::NOENT.raw_os_error()
}

/// Why no view could be made. A link where there was none is a change of the host, wherever on the way it stands.
fn told(failed: SetupFailed) -> LaunchError {
    let is_link = failed.step == Step::Source.name() && failed.errno == Errno::LOOP.raw_os_error();
    match failed.path.clone().filter(|_| is_link) {
        Some(path) => LaunchError::Changed { path },
        None => failed.into(),
    }
}

/// The place of the profile that a name is in: if a link leads there now, that is what was replaced.
fn root_of(tree: &RegionTree, name: &Path) -> PathBuf {
    let written = |rule: &&Rule| {
        matches!(rule.source, Source::Workspace | Source::Root(_)) && name.starts_with(&rule.path)
    };
    // Parents come first.
    let deepest = tree.rules().iter().rfind(written);
    deepest.map_or(name, |rule| &rule.path).to_owned()
}

fn changed(path: PathBuf) -> Unavailable {
    Unavailable::Path {
        path,
        why: "it is not what it was when the profile was made".to_owned(),
    }
}

/// Word of the placeholders that could not be removed, each by its name.
fn still_standing(left: &[(PathBuf, io::Error)]) -> ReleaseFailed {
    let reasons: BTreeSet<String> = left.iter().map(|(_, error)| error.to_string()).collect();
    let names: Vec<_> = left.iter().map(|(path, _)| path.display().to_string()).collect();
    let several = if names.len() > 1 { "s" } else { "" };
    ReleaseFailed {
        what: format!("the placeholder{several} {}", names.join(", ")),
        why: Vec::from_iter(reasons).join(", "),
    }
}
