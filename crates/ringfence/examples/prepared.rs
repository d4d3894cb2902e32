//! Prepare, look at what it may write, start, read while it runs, wait.
//!
//! `cargo run --example prepared -- DIRECTORY`

#![expect(clippy::print_stdout, reason = "a program that prints its results")]

use std::io::Read;

use ringfence::blocking::ExecutorSet;
use ringfence::{Access, Host, Profile, ProfileConfig, Verdict};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let workspace = std::fs::canonicalize(workspace)?;
    let scratch = std::env::temp_dir();
    let config = ProfileConfig {
        workspace: workspace.clone(),
        workspace_access: Verdict::READ_ONLY,
        command: Access::Allow,
        ..ProfileConfig::default()
    };
    let profile = Profile::new(&config, &Host)?;
    let set = ringfence::ExecutorSet::builder(profile)
        .scratch_root(scratch)
        .max_executors(1)
        .build()?;
    let set = ExecutorSet::from(set);
    let executor = set.executor("example")?;

    let prepared = executor
        .shell("printf 'hello\\n'; exit 3")
        .current_dir(&workspace)
        .prepare()?;
    // Nothing has run yet; what it may change is known and does not change any more.
    println!("{}: {:?}", prepared.execution_id(), prepared.effective_access());

    let mut process = prepared.start()?;
    let mut output = String::new();
    if let Some(mut stdout) = process.take_stdout() {
        stdout.read_to_string(&mut output)?;
    }
    let exit = process.wait()?;
    println!(
        "{:?} output={output:?} lifetime={}",
        exit.ended,
        process.lifetime_containment()
    );
    process.wait_all()?;
    assert!(set.close().is_clean());
    Ok(())
}
