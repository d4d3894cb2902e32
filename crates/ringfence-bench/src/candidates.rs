//! What is measured.

use std::cell::Cell;
use std::error::Error;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use ringfence::blocking::{Executor, ExecutorSet};
use ringfence::{Access, Guard, Host, Profile, ProfileConfig, Root, Verdict};
use ringfence_policy::Policy;
use tempfile::TempDir;

use crate::statistics::Figures;

type Failure = Box<dyn Error>;

/// A program that does nothing, linked dynamically.
const DYNAMIC: &str = "/usr/bin/true";

/// What all others are compared with.
const PLAIN: &str = "plain";

/// Pause before each measurement, so that what one candidate leaves behind (teardown, the next spare) is not
/// counted against the next one.
const SETTLE: Duration = Duration::from_millis(5);

/// Everything that takes part in a run.
pub(crate) struct Candidates {
    workspace: TempDir,
    _scratch: TempDir,
    set: ExecutorSet,
    warm: Executor,
    fixed: Option<PathBuf>,
    /// A profile of many rules, and what they are about.
    many: ProfileConfig,
    _places: TempDir,
    cli: Option<PathBuf>,
    bubblewrap: bool,
    cold_keys: Cell<usize>,
}

/// One thing to time; prepared state it needs is made outside of the timed part.
type Run<'a> = (&'static str, Box<dyn FnMut() -> Result<Duration, Failure> + 'a>);

impl Candidates {
    pub(crate) fn new(cli: Option<PathBuf>) -> Result<Self, Failure> {
        let (workspace, scratch, places) = (tempfile::tempdir()?, tempfile::tempdir()?, tempfile::tempdir()?);
        let config = ProfileConfig {
            workspace: workspace.path().to_owned(),
            workspace_access: Verdict::READ_WRITE,
            command: Access::Allow,
            ..ProfileConfig::default()
        };
        let profile = Profile::new(&config, &Host)?;
        let builder = ringfence::ExecutorSet::builder(profile).scratch_root(scratch.path());
        let set: ExecutorSet = builder.max_executors(usize::MAX).build()?.into();
        let warm = set.executor("warm")?;
        let beside = std::env::current_exe()?.with_file_name("ringfence");
        let fixed = static_true(&workspace);
        Ok(Self {
            cli: cli.or_else(|| beside.exists().then_some(beside)),
            bubblewrap: Command::new("bwrap")
                .arg("--version")
                .stdout(Stdio::null())
                .status()
                .is_ok(),
            fixed,
            many: many_rules(&places)?,
            _places: places,
            workspace,
            _scratch: scratch,
            set,
            warm,
            cold_keys: Cell::new(0),
        })
    }

    /// Runs all candidates, or `only` these and the plain one, `rounds` times, one after the other in each round.
    pub(crate) fn measure(&self, warm_up: usize, rounds: usize, only: &[String]) -> Result<Figures, Failure> {
        let workspace = self.workspace.path().to_owned();
        let (set, warm, cold_keys) = (&self.set, &self.warm, &self.cold_keys);
        let fixed = self.fixed.clone();
        let many = self.many.clone();
        let mut runs: Vec<Run<'_>> = vec![(PLAIN, Box::new(|| plain(Command::new(DYNAMIC))))];
        if let Some(fixed) = &fixed {
            runs.push(("plain_static", Box::new(move || plain(Command::new(fixed)))));
            runs.push(("warm_static", Box::new(move || confined(warm, fixed))));
        }
        runs.push(("warm", Box::new(move || confined(warm, DYNAMIC.as_ref()))));
        let new_key = || {
            cold_keys.set(cold_keys.get() + 1);
            format!("cold {}", cold_keys.get())
        };
        runs.push((
            "cold",
            Box::new(move || {
                let key = new_key();
                let began = Instant::now();
                let executor = set.executor(&key)?;
                confined(&executor, DYNAMIC.as_ref())?;
                Ok(began.elapsed())
            }),
        ));
        runs.push((
            "executor",
            Box::new(move || {
                let key = new_key();
                let began = Instant::now();
                set.executor(&key)?;
                Ok(began.elapsed())
            }),
        ));
        runs.push(("memoized", Box::new(move || memoized(set))));
        runs.push(("compile", Box::new(move || compile(&many))));
        if let Some(cli) = &self.cli {
            let workspace = &workspace;
            runs.push((
                "cli",
                Box::new(move || {
                    let mut command = Command::new(cli);
                    command
                        .args(["run", "--workspace"])
                        .arg(workspace)
                        .args(["--", DYNAMIC]);
                    plain(command)
                }),
            ));
        }
        if self.bubblewrap {
            runs.push((
                "bubblewrap",
                Box::new(|| {
                    let mut command = Command::new("bwrap");
                    command.args(
                        "--ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent --new-session"
                            .split(' '),
                    );
                    command
                        .arg("--bind")
                        .args([&workspace, &workspace])
                        .args(["--", DYNAMIC]);
                    plain(command)
                }),
            ));
        }
        let is_wanted = |name: &str| only.is_empty() || name == PLAIN || only.iter().any(|only| only == name);
        if let Some(unknown) = only
            .iter()
            .find(|only| !runs.iter().any(|(name, _)| name == only))
        {
            return Err(format!("there is nothing called {unknown} to measure here").into());
        }
        runs.retain(|(name, _)| is_wanted(name));
        let mut times: Vec<Vec<Duration>> = runs.iter().map(|_| Vec::with_capacity(rounds)).collect();
        for round in 0..warm_up + rounds {
            for ((name, run), times) in runs.iter_mut().zip(&mut times) {
                std::thread::sleep(SETTLE);
                let time = run().map_err(|error| format!("{name}: {error}"))?;
                if round >= warm_up {
                    times.push(time);
                }
            }
        }
        let mut figures = Figures::default();
        for ((name, _), times) in runs.iter().zip(times) {
            figures.push(name, times);
        }
        Ok(figures)
    }
}

/// Spawn and wait, as `std::process` does it.
fn plain(mut command: Command) -> Result<Duration, Failure> {
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
fn compile(config: &ProfileConfig) -> Result<Duration, Failure> {
    let began = Instant::now();
    let profile = Profile::new(config, &Host)?;
    std::hint::black_box(Policy::compile(&profile, Vec::new())?);
    Ok(began.elapsed())
}

/// A root and a secret in each of many directories.
fn many_rules(workspace: &TempDir) -> Result<ProfileConfig, Failure> {
    const RULES: usize = 5_000;
    let mut config = ProfileConfig {
        workspace: workspace.path().to_owned(),
        workspace_access: Verdict::READ_WRITE,
        ..ProfileConfig::default()
    };
    for number in 0..RULES / 2 {
        let directory = workspace.path().join(format!("{}/{number}", number % 50));
        std::fs::create_dir_all(&directory)?;
        config.guards.push(Guard::secret(directory.join("secret")));
        config.roots.push(Root::directory(directory, Verdict::READ_ONLY));
    }
    Ok(config)
}

fn confined(executor: &Executor, program: &std::path::Path) -> Result<Duration, Failure> {
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
