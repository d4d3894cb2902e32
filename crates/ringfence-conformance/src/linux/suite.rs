//! From a number to a judged case, and from a failing case to the smallest that fails.

use std::fs;
use std::io;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use proptest::strategy::ValueTree;
use ringfence::{BuildError, ExecutorError, ExecutorSet, Host, Probe, Profile, Unavailable, blocking};
use tempfile::TempDir;

use super::attempts::outsiders::Outsiders;
use super::attempts::{self, Planned};
use super::compare;
use super::effects;
use super::generate::{self, Case};
use super::oracle::{self, Oracle};
use super::probe::{self, Tried};
use super::tree::{self, Layout};
use crate::report::{Disagreement, Summary};
use crate::{Options, SuiteError};

/// Runs as many cases as were asked for, on every processor.
pub(crate) fn run(options: &Options, heard: &(dyn Fn(u64) -> bool + Sync)) -> Result<Summary, SuiteError> {
    let suite = Suite::new(options)?;
    let (next, done) = (AtomicU64::new(0), AtomicU64::new(0));
    let stopped = AtomicBool::new(false);
    let total = Mutex::new(Ok(Summary {
        seed: options.seed,
        ..Summary::default()
    }));
    let work = || {
        while !stopped.load(Ordering::Relaxed) {
            let index = next.fetch_add(1, Ordering::Relaxed);
            if index >= options.cases {
                break;
            }
            let found = suite.case(index);
            let mut total = total.lock().unwrap_or_else(PoisonError::into_inner);
            match (&mut *total, found) {
                (Ok(total), Ok(found)) => total.merge(found),
                (Ok(_), Err(error)) => {
                    *total = Err(error);
                    stopped.store(true, Ordering::Relaxed);
                }
                (Err(_), _) => {}
            }
            if !heard(done.fetch_add(1, Ordering::Relaxed) + 1) {
                stopped.store(true, Ordering::Relaxed);
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(AssertUnwindSafe(work).0);
        }
    });
    let mut summary = total.into_inner().unwrap_or_else(PoisonError::into_inner)?;
    summary.disagreements.sort_by_key(|found| found.case);
    Ok(summary)
}

/// Runs one of the cases that cover every kind of rule.
pub(crate) fn covering(options: &Options, index: usize) -> Result<Option<Summary>, SuiteError> {
    let suite = Suite::new(options)?;
    let case = generate::covering::cases().into_iter().nth(index);
    case.map(|case| suite.judge(&case)).transpose()
}

/// What all cases share.
struct Suite<'a> {
    options: &'a Options,
    /// Attempts that are the same in every case, with what becomes of them without confinement.
    everywhere: (Vec<Planned>, Vec<Tried>),
    outsiders: Outsiders,
    _directory: TempDir,
}

impl<'a> Suite<'a> {
    fn new(options: &'a Options) -> Result<Self, SuiteError> {
        let directory = temporary(&options.directory)?;
        let at = directory.path();
        let outsiders = Outsiders::new(at).map_err(failed("the processes and sockets to be attacked"))?;
        let plan = attempts::everywhere(&outsiders);
        let control = tree::program(&at.join("probe"))
            .and_then(|()| probe::unconfined(&at.join("probe"), at, &plan))
            .map_err(failed("the control"))?;
        Ok(Self {
            options,
            everywhere: (plan, control),
            outsiders,
            _directory: directory,
        })
    }

    /// The case with a number; if it shows a difference, the smallest that shows the same sort of one.
    fn case(&self, index: u64) -> Result<Summary, SuiteError> {
        let generated = generate::tree(self.options.seed, index);
        let mut tree = generated.map_err(|why| SuiteError::Failed {
            what: format!("case {index}"),
            why,
        })?;
        let mut summary = self.judge(&tree.current())?;
        let Some(wanted) = summary.disagreements.first().map(|found| found.operation.clone()) else {
            return Ok(summary);
        };
        for _ in 0..self.options.shrinking {
            if !tree.simplify() {
                break;
            }
            loop {
                let found = self.judge(&tree.current())?;
                let same = found.disagreements.iter().any(|found| found.operation == wanted);
                if same {
                    summary.disagreements = found.disagreements;
                    break;
                }
                if !tree.complicate() {
                    break;
                }
            }
        }
        for found in &mut summary.disagreements {
            found.case = index;
        }
        Ok(summary)
    }

    /// Tries everything in one case.
    fn judge(&self, case: &Case) -> Result<Summary, SuiteError> {
        let ground = Ground::new(&self.options.directory, case)?;
        let judged = ground.judge(self, case);
        self.outsiders.accept();
        let mut summary = judged?;
        let top = ground.layout.directories[0].display().to_string();
        for found in &mut summary.disagreements {
            found.profile = format!("{case:?}");
            for text in found.paths.iter_mut().chain([&mut found.policy]) {
                *text = text.replace(&top, "TOP");
            }
        }
        summary.cases = 1;
        Ok(summary)
    }

    fn executor(
        &self,
        profile: Profile,
        ground: &Ground,
    ) -> Result<(blocking::ExecutorSet, blocking::Executor), Refused> {
        let mut builder = ExecutorSet::builder(profile)
            .scratch_root(&ground.scratch)
            .max_executors(1)
            .bundles([])
            .probe(Probe::AtFirstExecutor)
            .environment([]);
        if let Some(backend) = &self.options.backend {
            builder = builder.backend(backend.clone());
        }
        let set = blocking::ExecutorSet::from(builder.build().map_err(|error| match error {
            BuildError::Unavailable(unavailable) => refusal(unavailable),
            error => Refused::Suite(error.to_string()),
        })?);
        match set.executor("conformance") {
            Ok(executor) => Ok((set, executor)),
            Err(ExecutorError::Unavailable(unavailable)) => Err(refusal(unavailable)),
            Err(error) => Err(Refused::Suite(error.to_string())),
        }
    }
}

/// Why there is no executor.
enum Refused {
    /// The policy can't be enforced as it is written.
    Policy(String),
    /// Something that is no answer to the policy.
    Suite(String),
}

fn refusal(unavailable: Unavailable) -> Refused {
    match unavailable {
        Unavailable::Guarantees { entries, .. } => {
            let mut reasons: Vec<_> = entries
                .iter()
                .map(|entry| format!("{} is {}", entry.obligation.clause, entry.discharge.status()))
                .collect();
            reasons.sort();
            reasons.dedup();
            Refused::Policy(reasons.join(", "))
        }
        Unavailable::Path { why, .. } => Refused::Policy(why),
        other => Refused::Suite(other.to_string()),
    }
}

/// The directories of one case.
struct Ground {
    _directory: TempDir,
    layout: Layout,
    probe: PathBuf,
    scratch: PathBuf,
}

impl Ground {
    fn new(directory: &Path, case: &Case) -> Result<Self, SuiteError> {
        let directory = temporary(directory)?;
        let at = directory.path();
        let ground = Self {
            layout: Layout::new(case, &at.join("t")),
            probe: at.join("p/probe"),
            scratch: at.join("s"),
            _directory: directory,
        };
        let program = || {
            fs::create_dir(&ground.scratch)?;
            fs::create_dir(ground.probe.parent().unwrap_or(&ground.probe))?;
            tree::program(&ground.probe)
        };
        program().map_err(failed("the directories of a case"))?;
        Ok(ground)
    }

    fn judge(&self, suite: &Suite<'_>, case: &Case) -> Result<Summary, SuiteError> {
        let top = &self.layout.directories[0];
        let mut plan = attempts::plan(&self.layout);
        let working = self.probe.parent().unwrap_or(top);
        self.layout.build().map_err(failed("the tree of a case"))?;
        let listeners = Outsiders::listen(&self.layout);
        let mut control = probe::unconfined(&self.probe, working, &plan).map_err(failed("the control"))?;
        drop(listeners);
        remove(top).map_err(failed("the tree of the control"))?;

        self.layout.build().map_err(failed("the tree of a case"))?;
        let _listeners = Outsiders::listen(&self.layout);
        let (everywhere, known) = &suite.everywhere;
        plan.extend(everywhere.iter().cloned());
        control.extend(known);
        let seen = oracle::look(&plan);
        let before = effects::snapshot(top).map_err(failed("the tree of a case"))?;
        let config = self.layout.profile(case, &self.probe, &self.scratch);
        let profile = match Profile::new(&config, &Host) {
            Ok(profile) => profile,
            Err(invalid) => {
                return Ok(refused(
                    &invalid
                        .problems
                        .first()
                        .map_or_else(String::new, |problem| format!("{:?}", problem.reason)),
                ));
            }
        };
        let (set, executor) = match suite.executor(profile.clone(), self) {
            Ok(made) => made,
            Err(Refused::Policy(why)) => return Ok(refused(&why)),
            Err(Refused::Suite(why)) => {
                return Err(SuiteError::Failed {
                    what: format!("an executor for {case:?}"),
                    why,
                });
            }
        };
        let (tried, outcome) =
            probe::confined(&executor, &self.probe, working, &plan).map_err(failed("the confined probe"))?;
        let tree = executor.tree();
        let oracle = Oracle::new(&profile, &tree, &outcome.achieved.report, &seen);
        let expected: Vec<_> = plan.iter().map(|planned| oracle.expect(planned)).collect();
        let mut summary = compare::Case {
            plan: &plan,
            expected: &expected,
            control: &control,
            tried: &tried,
            claimed: outcome.achieved.guarantees,
        }
        .compare();
        summary.disagreements.extend(contradictions(&oracle, &plan));
        drop(executor);
        let closed = set.close();
        if !closed.is_clean() {
            summary.disagreements.push(found(
                "close the set",
                &[],
                "nothing is left",
                format!("{closed:?}"),
            ));
        }
        let after = effects::snapshot(top).map_err(failed("the tree after a case"))?;
        let differences = effects::differences(&before, &after, &plan, &tried, &expected, &seen);
        summary
            .disagreements
            .extend(differences.into_iter().map(|(path, what)| {
                found(
                    "effects on the host",
                    &[&path],
                    "they are those of what worked",
                    what,
                )
            }));
        Ok(summary)
    }
}

fn contradictions(oracle: &Oracle<'_>, plan: &[Planned]) -> Vec<Disagreement> {
    let mut paths: Vec<&Path> = plan
        .iter()
        .flat_map(|planned| &planned.paths)
        .map(PathBuf::as_path)
        .collect();
    paths.sort();
    paths.dedup();
    let contradiction = |path: &Path| Some((path.to_owned(), oracle.contradiction(path)?));
    let all = paths.into_iter().filter_map(contradiction);
    all.map(|(path, what)| found("ask twice", &[&path], "profile and executor say the same", what))
        .collect()
}

fn found(operation: &str, paths: &[&Path], policy: &str, reality: String) -> Disagreement {
    Disagreement {
        case: 0,
        profile: String::new(),
        operation: operation.to_owned(),
        paths: paths.iter().map(|path| format!("{path:?}")).collect(),
        policy: policy.to_owned(),
        reality,
    }
}

fn refused(why: &str) -> Summary {
    Summary {
        refused: [(why.to_owned(), 1)].into(),
        ..Summary::default()
    }
}

fn temporary(directory: &Path) -> Result<TempDir, SuiteError> {
    // Canonical, since policies are.
    let directory = fs::canonicalize(directory).map_err(failed("the directory of the suite"))?;
    tempfile::Builder::new()
        .prefix("rf-")
        .tempdir_in(directory)
        .map_err(failed("a directory for a case"))
}

/// What commands made may be closed to its owner.
fn remove(directory: &Path) -> io::Result<()> {
    fs::remove_dir_all(directory)
}

fn failed(what: &'static str) -> impl Fn(io::Error) -> SuiteError {
    move |error| SuiteError::Failed {
        what: what.to_owned(),
        why: error.to_string(),
    }
}
