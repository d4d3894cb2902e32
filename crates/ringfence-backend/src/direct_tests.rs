use std::fs::File;
use std::io::{PipeReader, Read, pipe};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use ringfence_policy::fake::Directories;
use ringfence_policy::{Guarantees, Level, Policy, Profile, ProfileConfig};

use super::*;
use crate::{Stream, Unguarded};

fn compile(config: &ProfileConfig) -> Result<Arc<dyn CompiledPolicy>, Unavailable> {
    let profile = Profile::new(config, &Directories).unwrap();
    Direct::default().compile(CompileRequest {
        policy: Policy::compile(&profile, Vec::new()).unwrap(),
        guarded: Arc::new(Unguarded),
        base: "/base".into(),
        journal: "/journal".into(),
        locks: "/locks".into(),
        private_bytes: 0,
    })
}

fn unconfined() -> Arc<dyn CompiledPolicy> {
    compile(&ProfileConfig::unconfined("/")).unwrap()
}

/// A command in the directory of the system's programs; its output, and word of its end.
fn launch(arguments: &[&str], environment: &[(&str, &str)]) -> (Launch, PipeReader, Receiver<()>) {
    let (output, written) = pipe().unwrap();
    let null = || Stream::from(File::options().read(true).write(true).open("/dev/null").unwrap());
    let (ended, end) = channel();
    let launch = Launch {
        arguments: arguments.iter().map(Into::into).collect(),
        environment: environment
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        directory: "/usr/bin".into(),
        directory_identity: None,
        limits: Limits::default(),
        streams: [null(), written.into(), null()],
        terminal: None,
        notifier: Notifier::new(move || ended.send(()).unwrap_or_default()),
    };
    (launch, output, end)
}

/// What a command writes; it must succeed.
fn output(arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let (launch, mut output, end) = launch(arguments, environment);
    let process = unconfined().launch(launch).unwrap();
    let mut text = String::new();
    output.read_to_string(&mut text).unwrap();
    end.recv_timeout(Duration::from_secs(20)).unwrap();
    assert_eq!(process.next_event(), Some(Event::Started));
    assert_eq!(process.next_event(), Some(Event::Exited(ExitStatus::Exited(0))));
    assert_eq!(process.next_event(), Some(Event::Empty));
    text
}

// POL-121, EXE-5
#[test]
fn pol_121_it_takes_no_policy_that_asks_for_confinement() {
    let allowing_all = ProfileConfig {
        isolation: Isolation::Sandboxed,
        acknowledgement: ringfence_policy::Acknowledgement::NotGiven,
        ..ProfileConfig::unconfined("/")
    };
    for sandboxed in [
        allowing_all,
        ProfileConfig {
            workspace: "/".into(),
            ..ProfileConfig::default()
        },
    ] {
        let refused = compile(&sandboxed).map(drop).unwrap_err();
        assert!(matches!(refused, Unavailable::NoBackend { .. }), "{refused}");
    }
}

// POL-121, EXE-5
#[test]
fn pol_121_it_changes_nothing_of_a_command_and_claims_the_environment_only() {
    let policy = unconfined();
    let report = policy.report();
    assert_eq!(
        (report.level(), report.guarantees()),
        (Level::None, Guarantees::ENV_SCRUB)
    );
    assert_eq!(report.entries().len(), 1, "nothing else is said");
    assert!(policy.placeholders().is_empty());
    let arguments = ["/usr/bin/printf", "%s|", "a b", "$HOME", "*", "", "'\"\\"];
    assert_eq!(output(&arguments, &[]), "a b|$HOME|*||'\"\\|");
    assert_eq!((policy.release(), policy.release()), (Ok(()), Ok(())));
}

#[test]
fn env_7_an_empty_environment_is_empty_for_the_program_too() {
    assert_eq!(output(&["/usr/bin/env"], &[]), "");
    assert_eq!(output(&["/usr/bin/env"], &[("A", "1")]), "A=1\n");
}

#[test]
fn env_12_a_bare_name_is_looked_up_in_the_path_of_the_command() {
    let system = ("PATH", "/usr/bin:/bin");
    assert_eq!(output(&["env"], &[system]), "PATH=/usr/bin:/bin\n");
    // The last of two counts, and an empty element is the working directory.
    assert_eq!(output(&["true"], &[("PATH", "/nowhere"), system]), "");
    assert_eq!(output(&["true"], &[("PATH", ":/nowhere")]), "");
    for environment in [&[][..], &[("PATH", "/nowhere")], &[system, ("PATH", "/nowhere")]] {
        let (launch, ..) = launch(&["true"], environment);
        let refused = unconfined().launch(launch).map(drop).unwrap_err();
        let LaunchError::Setup(failed) = refused else {
            panic!("{refused}");
        };
        assert!(failed.is_execute() && failed.errno == rustix::io::Errno::NOENT.raw_os_error());
    }
}
