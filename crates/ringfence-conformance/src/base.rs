//! The checks that need nothing but a way to run a command: whatever runs commands can be judged by them.
//!
//! Every check is gated on what the subject claims, never on the platform (CON-3): a guarantee that is claimed must
//! survive the attempt to break it; one that is not claimed obliges nothing. Each attempt has a control, so that nothing
//! passes for being impossible anyway.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use ringfence::{Guarantees, Level};

/// A command that has run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Its exit code; `None` if it did not exit by itself.
    pub code: Option<i32>,
    /// What it wrote to both streams.
    pub output: Vec<u8>,
}

/// Whatever runs commands (CON-1).
pub trait Subject {
    /// Has the system's shell run a text in a directory. An exit code other than 0 is no error.
    ///
    /// # Errors
    /// Why the command did not run at all.
    fn shell(&self, directory: &Path, text: &str) -> Result<Ran, String>;

    /// How much it says to enforce.
    fn level(&self) -> Level;

    /// What it claims.
    fn guarantees(&self) -> Guarantees;
}

impl Subject for ringfence::blocking::Executor {
    fn shell(&self, directory: &Path, text: &str) -> Result<Ran, String> {
        let outcome = self
            .run_command(directory, text)
            .map_err(|error| error.to_string())?;
        Ok(Ran {
            code: outcome.code(),
            output: outcome.stdout.clone().into_bytes(),
        })
    }

    fn level(&self) -> Level {
        ringfence::Executor::level(self)
    }

    fn guarantees(&self) -> Guarantees {
        ringfence::Executor::guarantees(self)
    }
}

/// The variable that [`check`] looks for in the environment of commands; a factory must have it in the environment
/// that its subject inherits from.
pub const PLANTED_VARIABLE: (&str, &str) = ("RINGFENCE_PLANTED_SECRET", "must-not-leak");

/// A guarantee that only whoever made the subject knows how to try (CON-20).
pub struct Scenario<'a> {
    /// Which it is; one bit.
    pub guarantee: Guarantees,
    /// Tries to break it; cleans up after itself.
    pub run: &'a dyn Fn() -> Result<Held, String>,
}

impl std::fmt::Debug for Scenario<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Scenario({})", self.guarantee)
    }
}

/// What a scenario found (CON-22).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Held {
    /// That the attempt works where nothing is confined.
    pub control: bool,
    /// That it was refused.
    pub held: bool,
    /// What happened.
    pub detail: String,
}

/// Makes the subject of a check from a workspace, which it must be able to write, and a directory outside of it, which
/// it must not open (CON-4).
pub type Factory<'a> = &'a dyn Fn(&Path, &Path) -> Box<dyn Subject>;

/// Runs the checks in their order; gives what is wrong, which is nothing if the subject conforms.
///
/// `make` is called once for each check, after what the check needs is there. The checks do not run in parallel.
///
/// # Errors
/// The suite itself could not prepare a check.
pub fn check(directory: &Path, make: Factory<'_>, scenarios: &[Scenario<'_>]) -> io::Result<Vec<String>> {
    let checks: [(&str, Check); 4] = [
        ("write boundary", write_boundary),
        ("read boundary", read_boundary),
        ("environment", environment),
        ("implications", |ground, make| {
            Ok(implications(&*ground.subject(make)))
        }),
    ];
    let mut wrong = Vec::new();
    for (name, check) in checks {
        let ground = Ground::new(directory)?;
        let found = check(&ground, make)?;
        wrong.extend(found.into_iter().map(|what| format!("{name}: {what}")));
    }
    let ground = Ground::new(directory)?;
    let claimed = ground.subject(make).guarantees();
    wrong.extend(check_scenarios(claimed, scenarios));
    Ok(wrong)
}

type Check = fn(&Ground, Factory<'_>) -> io::Result<Vec<String>>;

/// The directories of one check; gone with it.
struct Ground {
    workspace: PathBuf,
    outside: PathBuf,
}

impl Ground {
    fn new(directory: &Path) -> io::Result<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("ringfence-base-{}-{number}", std::process::id());
        let top = fs::canonicalize(directory)?.join(name);
        let ground = Self {
            workspace: top.join("it's a workspace"),
            outside: top.join("outside"),
        };
        fs::create_dir_all(&ground.workspace)?;
        fs::create_dir_all(&ground.outside)?;
        Ok(ground)
    }

    fn subject(&self, make: Factory<'_>) -> Box<dyn Subject> {
        make(&self.workspace, &self.outside)
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        if let Some(top) = self.outside.parent() {
            let _ = fs::remove_dir_all(top);
        }
    }
}

fn write_boundary(ground: &Ground, make: Factory<'_>) -> io::Result<Vec<String>> {
    let (inside, outside) = (ground.workspace.join("inside"), ground.outside.join("written"));
    // The control: whoever runs the suite can do what must be refused.
    fs::write(&outside, "")?;
    fs::remove_file(&outside)?;
    let subject = ground.subject(make);
    let mut wrong = Vec::new();
    match subject.shell(&ground.workspace, &format!(": > {}", quoted(&inside))) {
        Ok(ran) if ran.code == Some(0) && inside.exists() => {}
        other => wrong.push(format!("the workspace can't be written: {other:?}")),
    }
    let tried = subject.shell(&ground.workspace, &format!(": > {}", quoted(&outside)));
    if subject.guarantees().contains(Guarantees::WRITE_BOUNDARY) {
        match tried {
            Ok(ran) if ran.code != Some(0) && !outside.exists() => {}
            Ok(ran) => wrong.push(format!("outside can be written although it is claimed: {ran:?}")),
            Err(why) => wrong.push(format!("the command did not run: {why}")),
        }
    }
    Ok(wrong)
}

fn read_boundary(ground: &Ground, make: Factory<'_>) -> io::Result<Vec<String>> {
    const CONTENT: &str = "what is in it";
    let read = |path: &Path| format!("read -r line < {} && printf %s \"$line\"", quoted(path));
    let (inside, outside) = (ground.workspace.join("control"), ground.outside.join("secret"));
    for path in [&inside, &outside] {
        fs::write(path, format!("{CONTENT}\n"))?;
        // The control, as for writing.
        fs::read(path)?;
    }
    let subject = ground.subject(make);
    let shows = |ran: &Ran| String::from_utf8_lossy(&ran.output).contains(CONTENT);
    let mut wrong = Vec::new();
    match subject.shell(&ground.workspace, &read(&inside)) {
        Ok(ran) if ran.code == Some(0) && shows(&ran) => {}
        other => wrong.push(format!("the workspace can't be read: {other:?}")),
    }
    if subject.guarantees().contains(Guarantees::READ_BOUNDARY) {
        match subject.shell(&ground.workspace, &read(&outside)) {
            Ok(ran) if ran.code != Some(0) && !shows(&ran) => {}
            Ok(ran) => wrong.push(format!("outside can be read although it is claimed: {ran:?}")),
            Err(why) => wrong.push(format!("the command did not run: {why}")),
        }
    }
    Ok(wrong)
}

fn environment(ground: &Ground, make: Factory<'_>) -> io::Result<Vec<String>> {
    let (name, value) = PLANTED_VARIABLE;
    // The control: who inherits the variable shows it.
    let control = Command::new("/bin/sh")
        .args(["-c", "export -p"])
        .env(name, value)
        .output()?;
    let shows = |output: &[u8]| String::from_utf8_lossy(output).contains(value);
    let subject = ground.subject(make);
    Ok(match subject.shell(&ground.workspace, "export -p") {
        Ok(_) if !shows(&control.stdout) => vec!["the control does not show the variable".to_owned()],
        Ok(ran) if ran.code != Some(0) => vec![format!("the environment can't be shown: {ran:?}")],
        Ok(ran) if shows(&ran.output) && subject.guarantees().contains(Guarantees::ENV_SCRUB) => {
            vec!["a variable of the caller's leaks although it is claimed that none does".to_owned()]
        }
        Ok(_) => Vec::new(),
        Err(why) => vec![format!("the command did not run: {why}")],
    })
}

/// What claims imply of each other; runs nothing (CON-14).
fn implications(subject: &dyn Subject) -> Vec<String> {
    let (level, claimed) = (subject.level(), subject.guarantees());
    let implies = |a: Guarantees, b: Guarantees| !claimed.contains(a) || claimed.contains(b);
    let rules = [
        (
            level != Level::None || Guarantees::ENV_SCRUB.contains(claimed),
            "without confinement nothing but the environment can be claimed",
        ),
        (
            implies(Guarantees::ADDRESS_NETWORK, Guarantees::NETWORK_BOUNDARY),
            "addresses are claimed without the network's boundary",
        ),
        (
            implies(Guarantees::TARGET_NETWORK, Guarantees::NETWORK_BOUNDARY),
            "targets are claimed without the network's boundary",
        ),
        (
            !claimed.contains(Guarantees::WRITE_BOUNDARY) || level >= Level::Degraded,
            "the write boundary is claimed without a level",
        ),
        (
            level != Level::Full || claimed.contains(Guarantees::WRITE_BOUNDARY),
            "the level is full without the write boundary",
        ),
    ];
    let broken = rules.into_iter().filter(|(holds, _)| !holds);
    broken
        .map(|(_, what)| format!("{what}: {level:?}, {claimed}"))
        .collect()
}

/// Each claimed guarantee that needs a scenario has one, which runs once and shows that it holds (CON-20..22).
fn check_scenarios(claimed: Guarantees, scenarios: &[Scenario<'_>]) -> Vec<String> {
    let tried_already = Guarantees::WRITE_BOUNDARY | Guarantees::ENV_SCRUB;
    let mut wrong = Vec::new();
    for guarantee in (claimed - tried_already).iter() {
        let Some(scenario) = scenarios.iter().find(|scenario| scenario.guarantee == guarantee) else {
            wrong.push(format!("{guarantee} is claimed, and nobody says how to try it"));
            continue;
        };
        match (scenario.run)() {
            Ok(Held {
                control: false,
                detail,
                ..
            }) => {
                wrong.push(format!("{guarantee}: the control failed: {detail}"));
            }
            Ok(Held {
                held: false, detail, ..
            }) => wrong.push(format!("{guarantee} does not hold: {detail}")),
            Ok(_) => {}
            Err(why) => wrong.push(format!("{guarantee} could not be tried: {why}")),
        }
    }
    wrong
}

/// A path as one word of the shell (CON-40).
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', "'\"'\"'"))
}
