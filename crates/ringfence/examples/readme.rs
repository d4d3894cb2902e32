//! The library example of the README, as a whole program: runs the tests of the crate in the current directory.

#![expect(clippy::print_stdout, reason = "a program that prints its results")]

use ringfence::{Access, ExecutorSet, Host, Profile, ProfileConfig, Verdict};

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let workspace = std::env::current_dir()?;
    // The README shows the lines from here …
    let config = ProfileConfig {
        workspace: workspace.clone(),
        workspace_access: Verdict::READ_WRITE,
        command: Access::Allow,
        ..ProfileConfig::default()
    };
    let set = ExecutorSet::builder(Profile::new(&config, &Host)?)
        .scratch_root("/tmp")
        .max_executors(8)
        .build()?;
    let executor = set.executor("agent-a").await?;
    let outcome = executor
        .command("cargo")
        .arg("test")
        .current_dir(&workspace)
        .output()
        .await?;
    println!(
        "{:?}, enforced: {}\n{}",
        outcome.ended,
        outcome.achieved.guarantees,
        outcome.stdout.to_text()
    );
    // … to here.
    match set.close().await.problems.first() {
        Some(problem) => Err(problem.to_string().into()),
        None => Ok(()),
    }
}
