//! A program that attacks: each subcommand tries one thing a confined command must not be able to do.
//!
//! `attack STEP [ARGS] [+ STEP [ARGS]]…` takes the steps in one process. When all of them worked it prints
//! `done` and exits 0; when one was refused it prints the name of the errno and exits 1; a misuse exits 2. So a
//! test can run the same attack unconfined first, see that it works, and then see which errno stops it inside.
//!
//! Some steps only prepare: `admin` enters a mount namespace with all capabilities, `as-init` becomes process 1,
//! `high` sets the upper half of each register that holds an `int`, `without` takes system calls away.

#![cfg_attr(
    target_os = "linux",
    allow(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "what it prints is its result"
    )
)]

#[cfg(target_os = "linux")]
mod files;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
mod mounts;
#[cfg(target_os = "linux")]
mod namespaces;
#[cfg(target_os = "linux")]
mod older;
#[cfg(target_os = "linux")]
mod processes;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(target_os = "linux")]
mod sys;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let tables = [
        files::STEPS,
        kernel::STEPS,
        mounts::STEPS,
        namespaces::STEPS,
        older::STEPS,
        processes::STEPS,
        sockets::STEPS,
    ];
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    for step in arguments.split(|argument| argument == "+") {
        let known = |name: &String| tables.iter().copied().flatten().find(|known| known.0 == name);
        let Some((name, rest)) = step.split_first() else {
            return misuse("a step is empty");
        };
        let Some((_, run)) = known(name) else {
            return misuse(name);
        };
        if let Err(errno) = run(&sys::Args(rest)) {
            println!("{errno}");
            return 1.into();
        }
    }
    println!("done");
    0.into()
}

#[cfg(target_os = "linux")]
fn misuse(what: &str) -> std::process::ExitCode {
    eprintln!("attack: no such step: {what}");
    2.into()
}

#[cfg(not(target_os = "linux"))]
fn main() {}
