//! A host program for tests that kill it, or that put it where a test process can't go.
//!
//! `victim-host run WORKSPACE SCRATCH READABLE TEXT` has the shell run a text and prints what it printed.
//! `victim-host late WORKSPACE SCRATCH` makes an executor, changes its own environment, and prints what the executor's
//! commands have of it.
//! `victim-host hold WORKSPACE SCRATCH TEXT [fork]` starts a text, prints `ready` when the text has printed
//! something, and then does nothing. With `fork` it has forked before, and that child, whose process number
//! it prints after `ready`, keeps a copy of every descriptor.

#![allow(clippy::print_stdout, reason = "what it prints is its result")]

use std::error::Error;
use std::io::Read;
use std::path::Path;

use ringfence::{
    Access, BundleName, ExecutorSet, Host, Profile, ProfileConfig, Root, Stdio, Verdict, blocking,
};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["run", workspace, scratch, readable, text] => run(workspace, scratch, readable, text),
        ["late", workspace, scratch] => late(workspace, scratch),
        ["hold", workspace, scratch, text, rest @ ..] => hold(workspace, scratch, text, rest == ["fork"]),
        _ => Err("unknown arguments".into()),
    }
}

fn run(workspace: &str, scratch: &str, readable: &str, text: &str) -> Result<(), Box<dyn Error>> {
    let set = set(
        workspace,
        scratch,
        vec![Root::directory(readable, Verdict::READ_ONLY)],
    )?;
    let outcome = set.executor("run")?.shell(text).stderr(Stdio::Merged).output()?;
    print!("{}", outcome.stdout.to_text());
    if set.close().is_clean() {
        Ok(())
    } else {
        Err("something was left".into())
    }
}

fn late(workspace: &str, scratch: &str) -> Result<(), Box<dyn Error>> {
    let set = set(workspace, scratch, Vec::new())?;
    let executor = set.executor("early")?;
    // SAFETY: no other thread of this program reads or changes the environment.
    unsafe {
        std::env::set_var("LC_LATE", "late");
        std::env::set_var("LANG", "late");
    }
    let outcome = executor.shell("env | grep -c late; echo $LANG").output()?;
    print!("{}", outcome.stdout.to_text());
    set.close()
        .is_clean()
        .then_some(())
        .ok_or_else(|| "something was left".into())
}

fn hold(workspace: &str, scratch: &str, text: &str, fork: bool) -> Result<(), Box<dyn Error>> {
    let set = set(workspace, scratch, Vec::new())?;
    let executor = set.executor("hold")?;
    executor.warm_up()?;
    let mut process = executor
        .shell(text)
        .stdin(Stdio::Null)
        .stderr(Stdio::Null)
        .spawn()?;
    let mut output = process.take_stdout().ok_or("no standard output")?;
    output.read_exact(&mut [0])?;
    let holder = if fork { keep_everything() } else { 0 };
    println!("ready {holder}");
    loop {
        std::thread::park();
    }
}

/// Forks a child that holds every descriptor this process has now.
#[cfg(unix)]
fn keep_everything() -> i32 {
    // SAFETY: the child of this process with several threads makes only calls that are safe in a signal handler.
    match unsafe { libc::fork() } {
        0 => loop {
            // SAFETY: no preconditions.
            unsafe { libc::pause() };
        },
        child => child,
    }
}

#[cfg(not(unix))]
fn keep_everything() -> i32 {
    0
}

fn set(workspace: &str, scratch: &str, roots: Vec<Root>) -> Result<blocking::ExecutorSet, Box<dyn Error>> {
    let config = ProfileConfig {
        workspace: Path::new(workspace).into(),
        workspace_access: Verdict::READ_WRITE,
        command: Access::Allow,
        roots,
        ..ProfileConfig::default()
    };
    let set = ExecutorSet::builder(Profile::new(&config, &Host)?)
        .scratch_root(scratch)
        .max_executors(1)
        .bundles([BundleName::Base])
        .build()?;
    Ok(set.into())
}
