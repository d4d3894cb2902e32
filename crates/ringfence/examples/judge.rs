//! Judges a program by its answer to an input, and refuses to run it at all on a host that can't confine it.
//!
//! The program reads the input on standard input, may read nothing but the directory it lies in, and has one
//! second.
//!
//! ```sh
//! printf '#!/bin/sh\nsort -n\n' >/tmp/answer/run && chmod +x /tmp/answer/run
//! cargo run --example judge -- /tmp/answer ./run
//! ```

#![expect(clippy::print_stdout, reason = "a program that prints its results")]

use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::time::Duration;

use ringfence::blocking::{Executor, ExecutorSet};
use ringfence::{Access, BundleName, Ending, Guarantees, Host, Profile, ProfileConfig, Stdio, Verdict};

const INPUT: &[u8] = b"30\n4\n100\n";
const EXPECTED: &[u8] = b"4\n30\n100\n";

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let (Some(directory), Some(program)) = (arguments.next(), arguments.next()) else {
        return Err("give a directory and the program in it".into());
    };
    let directory = PathBuf::from(directory).canonicalize()?;
    let config = ProfileConfig {
        workspace: directory,
        workspace_access: Verdict::READ_ONLY,
        command: Access::Allow,
        // Without these there is no executor, and the error lists what is missing.
        require: Guarantees::READ_BOUNDARY | Guarantees::WRITE_BOUNDARY | Guarantees::NETWORK_BOUNDARY,
        ..ProfileConfig::default()
    };
    let set: ExecutorSet = ringfence::ExecutorSet::builder(Profile::new(&config, &Host)?)
        .scratch_root(std::env::temp_dir())
        .max_executors(1)
        .bundles([BundleName::Base])
        .build()?
        .into();
    let verdict = set
        .executor("judge")
        .map_err(Box::<dyn Error>::from)
        .and_then(|executor| judge(&executor, program));
    let closed = set.close();
    println!("{}", verdict?);
    match closed.problems.first() {
        Some(problem) => Err(problem.to_string().into()),
        None => Ok(()),
    }
}

fn judge(executor: &Executor, program: std::ffi::OsString) -> Result<String, Box<dyn Error>> {
    let mut process = executor
        .command(program)
        .stdout(Stdio::Captured)
        .stderr(Stdio::Null)
        .output_limit(1024 * 1024)
        .timeout(Duration::from_secs(1))
        .spawn()?;
    if let Some(mut input) = process.take_stdin() {
        // A program that reads no input has closed it; its answer counts all the same.
        let _ = input.write_all(INPUT);
    }
    let outcome = process.wait_all()?;
    Ok(match outcome.ended {
        Ending::Exited(0) if outcome.stdout.head() == EXPECTED => format!("right, in {:?}", outcome.elapsed),
        Ending::Exited(0) => format!("wrong: {:?}", outcome.stdout.to_text()),
        ended => format!("no answer: {ended:?}"),
    })
}
