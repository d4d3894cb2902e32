//! Every step of the set-up can fail, and whichever does, the command does not run and the caller learns the
//! step, the errno and the path (issue of half-confined targets: LIN-43, EXE-59).

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

use std::fs::File;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use ringfence_backend::{
    Backend, CompileRequest, CompiledPolicy, Containment, Event, ExitStatus, Guarded, Launch, LaunchError,
    Notifier, SetupFailed, Terminal, Unguarded,
};
use ringfence_host::{Host, runtime};
use ringfence_linux::{Linux, Step};
use ringfence_policy::{
    Access, Axes, Policy, Profile, ProfileConfig, Protection, Reach, Resolve, Rule, Source, Verdict,
};
use tempfile::TempDir;

struct Fixture {
    workspace: TempDir,
    base: TempDir,
}

impl Fixture {
    fn new() -> Self {
        Self {
            workspace: tempfile::tempdir().unwrap(),
            base: tempfile::tempdir().unwrap(),
        }
    }

    fn canary(&self) -> std::path::PathBuf {
        self.workspace.path().join("canary")
    }

    /// Compiles a policy in which a command can create the canary.
    fn compile(&self, backend: &Linux) -> Arc<dyn CompiledPolicy> {
        self.compile_guarded(backend, Arc::new(Unguarded))
    }

    fn compile_guarded(&self, backend: &Linux, guarded: Arc<dyn Guarded>) -> Arc<dyn CompiledPolicy> {
        let config = ProfileConfig {
            workspace: self.workspace.path().to_owned(),
            workspace_access: Verdict::READ_WRITE,
            command: Access::Allow,
            ..ProfileConfig::default()
        };
        let profile = Profile::new(&config, &Host).unwrap();
        let axes = Axes {
            read: Some(Access::Allow),
            execute: Some(Access::Allow),
            write: None,
        };
        let base = [runtime::BundleName::Base].into();
        let bundles = runtime::discover(
            &runtime::Survey::of("".as_ref()),
            &base,
            "".as_ref(),
            &|_| None,
            None,
        );
        let entries = bundles.into_iter().flat_map(|bundle| bundle.entries);
        let system = entries.map(|entry| {
            let source = Source::Runtime {
                bundle: "base".to_owned(),
                why: "x".to_owned(),
            };
            Rule::new(entry.resolved, Reach::Tree, axes, source)
        });
        let policy = Policy::compile(&profile, system.collect()).unwrap();
        let base = self.base.path().to_owned();
        backend
            .compile(CompileRequest {
                policy,
                guarded,
                journal: base.join("journal"),
                locks: base.join("locks"),
                base,
                private_bytes: 1 << 20,
            })
            .unwrap()
    }

    fn run(&self, policy: &dyn CompiledPolicy, program: &str) -> Result<ExitStatus, SetupFailed> {
        self.run_on(policy, program, None)
    }

    fn run_on(
        &self,
        policy: &dyn CompiledPolicy,
        program: &str,
        terminal: Option<Terminal>,
    ) -> Result<ExitStatus, SetupFailed> {
        let null = || OwnedFd::from(File::options().read(true).write(true).open("/dev/null").unwrap());
        let launch = Launch {
            arguments: vec![program.into(), self.canary().into()],
            environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
            directory: self.workspace.path().to_owned(),
            directory_identity: None,
            limits: ringfence_policy::Limits::default(),
            streams: [null(), null(), null()],
            terminal,
            notifier: Notifier::new(|| {}),
        };
        match policy.launch(launch) {
            Ok(containment) => end(&*containment),
            Err(LaunchError::Setup(failed)) => Err(failed),
            Err(other) => panic!("{other}"),
        }
    }
}

fn end(containment: &dyn Containment) -> Result<ExitStatus, SetupFailed> {
    let patience = Instant::now() + Duration::from_secs(20);
    while Instant::now() < patience {
        match containment.next_event() {
            Some(Event::Exited(status)) => return Ok(status),
            Some(Event::SetupFailed(failed)) => return Err(failed),
            Some(changed @ Event::Changed { .. }) => panic!("{changed:?}"),
            Some(Event::Started | Event::Empty) => {}
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    }
    panic!("the command neither failed nor ended");
}

#[test]
fn without_a_fault_the_command_runs() {
    let fixture = Fixture::new();
    let policy = fixture.compile(&Linux::probe().unwrap());
    assert_eq!(fixture.run(&*policy, "touch"), Ok(ExitStatus::Exited(0)));
    assert!(fixture.canary().exists());
}

// EXE-59
#[test]
fn whichever_step_fails_it_is_named_and_nothing_runs() {
    const EPERM: i32 = 1;
    for step in Step::ALL {
        let fixture = Fixture::new();
        let policy = fixture.compile(&Linux::probe().unwrap().with_fault(*step));
        // Every step but those of the terminal is one of every command.
        let terminal = (*step == Step::Terminal).then_some(Terminal {
            streams: [true; 3],
            rows: 24,
            columns: 80,
            like: None,
        });
        let failed = fixture
            .run_on(&*policy, "touch", terminal)
            .expect_err(step.name());
        assert_eq!((failed.step, failed.errno), (step.name(), EPERM));
        assert_eq!(failed.path.as_deref(), Some(Path::new("injected")));
        assert!(
            !fixture.canary().exists(),
            "the command ran although `{}` failed",
            step.name()
        );
    }
}

/// Guards that close a file from one look on, as if it had been moved there at that moment.
#[derive(Debug)]
struct Moved {
    looks: AtomicUsize,
    from: usize,
    before: Arc<[Rule]>,
    after: Arc<[Rule]>,
}

impl Guarded for Moved {
    fn look(&self) -> Arc<[Rule]> {
        self.looks.fetch_add(1, Ordering::SeqCst);
        self.rules()
    }

    fn rules(&self) -> Arc<[Rule]> {
        Arc::clone(if self.looks.load(Ordering::SeqCst) < self.from {
            &self.before
        } else {
            &self.after
        })
    }

    fn is_complete(&self) -> bool {
        true
    }
}

#[test]
fn what_is_moved_while_a_view_is_made_is_closed_in_it_whenever_that_is() {
    let writes = |from: usize| {
        let fixture = Fixture::new();
        File::create(fixture.canary()).unwrap();
        let closed = Host.resolve(&fixture.canary()).unwrap();
        let closed = Rule::new(closed, Reach::Tree, Protection::Protect.axes(), Source::Guard(0));
        let guarded = Arc::new(Moved {
            looks: AtomicUsize::new(0),
            from,
            before: Arc::from([]),
            after: Arc::from([closed]),
        });
        let policy =
            fixture.compile_guarded(&Linux::probe().unwrap(), Arc::clone(&guarded) as Arc<dyn Guarded>);
        guarded.look();
        let status = fixture.run(&*policy, "touch").unwrap();
        (
            status == ExitStatus::Exited(0),
            guarded.looks.load(Ordering::SeqCst),
        )
    };
    let (wrote, looks) = writes(usize::MAX);
    assert!(wrote && looks > 2);
    for from in 0..=looks {
        let (wrote, _) = writes(from);
        assert!(!wrote, "moved before look {from} of {looks}");
    }
}

#[test]
fn lin_41_a_missing_program_is_named() {
    const ENOENT: i32 = 2;
    let fixture = Fixture::new();
    let policy = fixture.compile(&Linux::probe().unwrap());
    let failed = fixture.run(&*policy, "ringfence-no-such-program").unwrap_err();
    assert_eq!((failed.step, failed.errno), (Step::Exec.name(), ENOENT));
    let plain = fixture.workspace.path().join("plain");
    std::fs::write(&plain, "").unwrap();
    let failed = fixture.run(&*policy, plain.to_str().unwrap()).unwrap_err();
    assert_eq!((failed.step, failed.errno), (Step::Exec.name(), 13), "{failed}");
}

#[test]
fn s_08_a_root_replaced_by_a_link_is_refused() {
    let fixture = Fixture::new();
    let victim = tempfile::tempdir().unwrap();
    let policy = fixture.compile(&Linux::probe().unwrap());
    let moved = fixture.workspace.path().with_extension("moved");
    std::fs::rename(fixture.workspace.path(), &moved).unwrap();
    std::os::unix::fs::symlink(victim.path(), fixture.workspace.path()).unwrap();
    let launch = Launch {
        arguments: vec!["touch".into(), fixture.canary().into()],
        environment: vec![("PATH".into(), "/usr/bin:/bin".into())],
        directory: "/".into(),
        directory_identity: None,
        limits: ringfence_policy::Limits::default(),
        streams: [0, 1, 2].map(|_| OwnedFd::from(File::open("/dev/null").unwrap())),
        terminal: None,
        notifier: Notifier::new(|| {}),
    };
    let refused = policy.launch(launch).map(drop);
    std::fs::remove_file(fixture.workspace.path()).unwrap();
    std::fs::rename(&moved, fixture.workspace.path()).unwrap();
    assert_eq!(
        refused,
        Err(LaunchError::Changed {
            path: fixture.workspace.path().to_owned()
        })
    );
    assert_eq!(std::fs::read_dir(victim.path()).unwrap().count(), 0);
}
