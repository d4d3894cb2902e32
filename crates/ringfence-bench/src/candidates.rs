//! What is measured.

use std::cell::Cell;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ringfence::blocking::{Executor, ExecutorSet};
use ringfence::{Host, Profile, ProfileConfig};
use ringfence_policy::Policy;
use tempfile::TempDir;

use crate::peers;
use crate::scaled::{self, Scaled};
use crate::statistics::Figures;

pub(crate) type Failure = Box<dyn Error>;

/// A program that does nothing, linked dynamically.
pub(crate) const DYNAMIC: &str = "/usr/bin/true";

/// What all others are compared with.
const PLAIN: &str = "plain";

/// Pause before each measurement, so that what one candidate leaves behind (teardown, the next spare) is not
/// counted against the next one.
const SETTLE: Duration = Duration::from_millis(5);

/// Everything that takes part in a run.
pub(crate) struct Candidates {
    workspace: TempDir,
    /// Its set, and the executor that has run others.
    warm: Scaled,
    /// Executors of other sizes.
    scaled: Vec<(&'static str, Scaled)>,
    fixed: Option<PathBuf>,
    /// A profile of many rules, and what they are about.
    many: ProfileConfig,
    _places: TempDir,
    cli: Option<PathBuf>,
    cold_keys: Cell<usize>,
    #[cfg(target_os = "linux")]
    this: PathBuf,
}

/// One thing to time; prepared state it needs is made outside of the timed part.
pub(crate) struct Run<'a> {
    name: &'static str,
    /// What it is compared with.
    beside: &'static str,
    /// Its turn comes every so many rounds.
    every: usize,
    time: Box<dyn FnMut() -> Result<Duration, Failure> + 'a>,
}

impl<'a> Run<'a> {
    pub(crate) fn new(name: &'static str, time: impl FnMut() -> Result<Duration, Failure> + 'a) -> Self {
        Self {
            name,
            beside: PLAIN,
            every: 1,
            time: Box::new(time),
        }
    }

    pub(crate) fn beside(mut self, beside: &'static str) -> Self {
        self.beside = beside;
        self
    }

    /// For what takes long.
    pub(crate) fn rarely(self) -> Self {
        self.rarely_if(true)
    }

    fn rarely_if(mut self, takes_long: bool) -> Self {
        if takes_long {
            self.every = 4;
        }
        self
    }
}

impl Candidates {
    /// Makes what is needed to measure everything, or what is asked for.
    pub(crate) fn new(cli: Option<PathBuf>, asked_for: &dyn Fn(&str) -> bool) -> Result<Self, Failure> {
        let (workspace, places) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let warm = Scaled::new(&scaled::usual(workspace.path()))?;
        let scaled = scaled::ALL.into_iter().filter(|(name, _)| asked_for(name));
        let scaled = scaled.map(|(name, make)| Ok((name, make()?)));
        let beside = std::env::current_exe()?.with_file_name("ringfence");
        let fixed = static_true(&workspace);
        Ok(Self {
            cli: cli.or_else(|| beside.exists().then_some(beside)),
            #[cfg(target_os = "linux")]
            this: crate::linux::copy_of_this(workspace.path())?,
            fixed,
            many: scaled::with_rules(places.path(), 5_000)?,
            _places: places,
            scaled: scaled.collect::<Result<_, Failure>>()?,
            workspace,
            warm,
            cold_keys: Cell::new(0),
        })
    }

    /// The executor that has run others.
    pub(crate) const fn warm(&self) -> &Executor {
        &self.warm.executor
    }

    /// Makes executors for keys of its set.
    pub(crate) const fn set(&self) -> &ExecutorSet {
        &self.warm.set
    }

    /// Whether something of this name can be timed here.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.runs().iter().any(|run| run.name == name)
    }

    /// Runs the candidates that are asked for and what they are compared with `rounds` times, one after the other in
    /// each round.
    pub(crate) fn measure(
        &self,
        warm_up: usize,
        rounds: usize,
        asked_for: &dyn Fn(&str) -> bool,
    ) -> Result<Figures, Failure> {
        let mut runs = self.runs();
        let asked_for = runs.iter().filter(|run| asked_for(run.name));
        let wanted: Vec<_> = asked_for.flat_map(|run| [run.name, run.beside]).collect();
        runs.retain(|run| run.name == PLAIN || wanted.contains(&run.name));
        let mut times: Vec<Vec<Duration>> = runs.iter().map(|_| Vec::with_capacity(rounds)).collect();
        for round in 0..warm_up + rounds {
            for (run, times) in runs.iter_mut().zip(&mut times) {
                if round % run.every != 0 {
                    continue;
                }
                std::thread::sleep(SETTLE);
                let time = (run.time)().map_err(|error| format!("{}: {error}", run.name))?;
                if round >= warm_up {
                    times.push(time);
                }
            }
        }
        let mut figures = Figures::default();
        for (run, times) in runs.iter().zip(times) {
            figures.push(run.name, run.beside, times);
        }
        Ok(figures)
    }

    /// Everything that can be timed here.
    fn runs(&self) -> Vec<Run<'_>> {
        let (set, warm) = (self.set(), self.warm());
        let mut runs = vec![Run::new(PLAIN, || plain(Command::new(DYNAMIC)))];
        if let Some(fixed) = &self.fixed {
            runs.push(Run::new("plain_static", move || plain(Command::new(fixed))));
            runs.push(Run::new("warm_static", move || confined(warm, fixed)));
        }
        runs.push(Run::new("warm", || confined(warm, DYNAMIC.as_ref())));
        runs.push(Run::new("cold", || {
            let key = self.new_key();
            let began = Instant::now();
            let executor = set.executor(&key)?;
            confined(&executor, DYNAMIC.as_ref())?;
            Ok(began.elapsed())
        }));
        runs.push(Run::new("executor", || {
            let key = self.new_key();
            let began = Instant::now();
            set.executor(&key)?;
            Ok(began.elapsed())
        }));
        runs.push(Run::new("memoized", || memoized(set)));
        runs.push(Run::new("compile", || compile(&self.many)));
        if let Some(cli) = &self.cli {
            runs.push(Run::new("cli", move || {
                let mut command = Command::new(cli);
                command
                    .args(["run", "--workspace"])
                    .arg(self.workspace.path())
                    .args(["--", DYNAMIC]);
                plain(command)
            }));
        }
        for (name, scaled) in &self.scaled {
            runs.push(Run::new(name, || confined(&scaled.executor, DYNAMIC.as_ref())).beside("warm"));
        }
        for peer in peers::installed() {
            let workspace = self.workspace.path();
            runs.push(Run::new(peer.name, move || plain(peer.command(workspace)?)).rarely_if(peer.is_slow));
        }
        runs.extend(crate::steps::runs(warm));
        #[cfg(target_os = "linux")]
        runs.extend(crate::linux::runs(warm, &self.this));
        runs
    }

    fn new_key(&self) -> String {
        self.cold_keys.set(self.cold_keys.get() + 1);
        format!("cold {}", self.cold_keys.get())
    }
}

/// Spawn and wait, as `std::process` does it.
pub(crate) fn plain(mut command: Command) -> Result<Duration, Failure> {
    command.stdin(Stdio::null()).stdout(Stdio::null());
    let began = Instant::now();
    let status = command.status()?;
    let took = began.elapsed();
    if status.success() {
        Ok(took)
    } else {
        Err(format!("{command:?}: {status}").into())
    }
}

/// One look for a key that is there, from the time of many.
fn memoized(set: &ExecutorSet) -> Result<Duration, Failure> {
    const LOOKS: u32 = 10_000;
    let began = Instant::now();
    for _ in 0..LOOKS {
        std::hint::black_box(set.executor("warm")?);
    }
    Ok(began.elapsed() / LOOKS)
}

/// Profile and policy of many rules, from what a caller writes to what a backend is given.
pub(crate) fn compile(config: &ProfileConfig) -> Result<Duration, Failure> {
    let began = Instant::now();
    let profile = Profile::new(config, &Host)?;
    std::hint::black_box(Policy::compile(&profile, Vec::new())?);
    Ok(began.elapsed())
}

pub(crate) fn confined(executor: &Executor, program: &std::path::Path) -> Result<Duration, Failure> {
    use ringfence::Stdio;
    let command = executor
        .command(program)
        .stdout(Stdio::Null)
        .stderr(Stdio::Inherit);
    let began = Instant::now();
    let outcome = command.output()?;
    let took = began.elapsed();
    if outcome.success() {
        Ok(took)
    } else {
        Err(format!("{}: {:?}", program.display(), outcome.ended).into())
    }
}

/// A static program that does nothing, if there is a C compiler to make one.
fn static_true(directory: &TempDir) -> Option<PathBuf> {
    let (source, program) = (directory.path().join("true.c"), directory.path().join("true"));
    std::fs::write(&source, "int main(void) { return 0; }").ok()?;
    let built = Command::new("cc")
        .args(["-O2", "-static", "-o"])
        .args([&program, &source])
        .status();
    built.is_ok_and(|status| status.success()).then_some(program)
}
