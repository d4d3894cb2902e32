//! The `shell` tool of an agent: runs the text a model wrote, confined to the current directory, and prints what
//! the model should see.
//!
//! ```sh
//! cargo run --example agent_tool -- 'cargo test 2>&1 | tail -n 5'
//! ```

#![expect(clippy::print_stdout, reason = "a program that prints its results")]

use std::error::Error;
use std::time::Duration;

use ringfence::{Access, Ending, ExecutorSet, Host, Outcome, Profile, ProfileConfig, Stdio, Verdict};

/// What a model reads of one command.
const SHOWN_BYTES: usize = 16 * 1024;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let text = std::env::args()
        .nth(1)
        .ok_or("give the shell text as one argument")?;
    let workspace = std::env::current_dir()?;
    let config = ProfileConfig {
        workspace: workspace.clone(),
        workspace_access: Verdict::READ_WRITE,
        command: Access::Allow,
        ..ProfileConfig::default()
    };
    let profile = Profile::new(&config, &Host)?;
    let set = ExecutorSet::builder(profile)
        .scratch_root(std::env::temp_dir())
        .max_executors(1)
        .build()?;
    let executor = set.executor("agent").await?;
    let outcome = executor
        .shell(text)
        .current_dir(&workspace)
        .stderr(Stdio::Merged)
        .timeout(Duration::from_secs(120))
        .capture_limit(SHOWN_BYTES)
        .output()
        .await;
    // Whatever happened, nothing of it stays behind.
    let closed = set.close().await;
    println!("{}", for_the_model(&outcome?));
    match closed.problems.first() {
        Some(problem) => Err(problem.to_string().into()),
        None => Ok(()),
    }
}

fn for_the_model(outcome: &Outcome) -> String {
    let ending = match outcome.ended {
        Ending::Exited(code) => format!("exit code {code}"),
        Ending::Signaled { signal, .. } => format!("ended by signal {signal}"),
        Ending::TimedOut => "ended after 2 minutes".to_owned(),
        _ => "killed".to_owned(),
    };
    let head = String::from_utf8_lossy(outcome.stdout.head());
    let tail = outcome.stdout.tail();
    let gap = match outcome.stdout.dropped_bytes() {
        0 => String::new(),
        dropped => format!("\n[{dropped} bytes are not shown]\n"),
    };
    format!("{head}{gap}{}\n[{ending}]", String::from_utf8_lossy(&tail))
}
