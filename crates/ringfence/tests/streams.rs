//! Standard streams of running commands: who is held up by whom, and who is not.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests end by panicking")]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::time::{Duration, Instant};

use common::{Fixture, confined_or_not, eventually, own_seconds, processes_with};
use ringfence::blocking::{Executor, Process};
use ringfence::{ChildStdin, Ending, StdinClosed, Stdio, StreamMode};

/// Nothing that is to happen at once takes this long.
const SOON: Duration = Duration::from_secs(10);

fn spawn(executor: &Executor, text: &str) -> Process {
    executor.shell(text).spawn().unwrap()
}

/// Reads up to and with the end of a line.
fn line(from: &mut impl Read) -> String {
    let mut bytes = Vec::new();
    while bytes.last() != Some(&b'\n') {
        let mut byte = [0];
        assert_eq!(from.read(&mut byte).unwrap(), 1, "{bytes:?}");
        bytes.extend(byte);
    }
    String::from_utf8(bytes).unwrap()
}

fn all(mut from: impl Read) -> String {
    let mut text = String::new();
    from.read_to_string(&mut text).unwrap();
    text
}

fn is_closed(result: std::io::Result<impl std::fmt::Debug>) -> bool {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BrokenPipe);
    error
        .get_ref()
        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<StdinClosed>)
}

/// Writes until somebody ends that.
fn write_on(mut stdin: ChildStdin) -> std::io::Result<()> {
    loop {
        stdin.write_all(&[b'x'; 64 * 1024])?;
    }
}

// PRC-19: what is written before the end can be read before the end.
#[test]
fn prc_19_what_is_written_comes_at_once_and_on_its_own_stream() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let mut process = spawn(&executor, "echo first; read go; echo second; echo err >&2");
        let (mut stdin, mut stdout) = (process.take_stdin().unwrap(), process.take_stdout().unwrap());
        let stderr = process.take_stderr().unwrap();
        assert_eq!(line(&mut stdout), "first\n");
        assert!(process.try_wait().is_none(), "it waits for us");
        stdin.write_all(b"go\n").unwrap();
        assert_eq!((all(stdout), all(stderr)), ("second\n".into(), "err\n".into()));
        assert_eq!(process.wait().unwrap().ended, Ending::Exited(0));
    }
}

// S-23, PRC-20, PRC-11, LIF-7: who waits, who reads to the end, and who does neither.
#[test]
fn s_23_prc_20_the_end_of_the_command_is_the_end_of_its_output() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    for keeps in [
        "sleep TIME &",
        "setsid sleep TIME &",
        "(setsid sh -c 'sleep TIME & wait' &)",
        "trap '' HUP TERM; sleep TIME &",
    ] {
        let seconds = own_seconds();
        let text = format!("{}; read go; echo done", keeps.replace("TIME", &seconds)).replace("&;", "&");
        let run = || {
            let mut process = spawn(&executor, &text);
            eventually("the background process", || !processes_with(&seconds).is_empty());
            process.take_stdin().unwrap().write_all(b"go\n").unwrap();
            process
        };
        let began = Instant::now();
        let mut process = run();
        assert_eq!(all(process.take_stdout().unwrap()), "done\n", "{keeps}");
        assert_eq!(process.wait().unwrap().ended, Ending::Exited(0));

        let mut process = run();
        assert_eq!(process.wait().unwrap().ended, Ending::Exited(0));
        // What was written stays there to be read.
        assert_eq!(all(process.take_stdout().unwrap()), "done\n", "{keeps}");

        let process = run();
        assert!(process.wait_all().unwrap().success());
        assert_eq!(processes_with(&seconds), Vec::<u32>::new(), "{keeps}");
        assert!(began.elapsed() < SOON, "{keeps}: {:?}", began.elapsed());
    }
    assert!(set.close().is_clean());
}

// PRC-21: an unread pipe holds the command up, and nobody who waits for another one.
#[test]
fn prc_21_output_that_nobody_reads_stays_in_the_pipe() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        // More than a pipe holds, and a mark behind it.
        let text = "head -c 1000000 /dev/zero; touch written";
        let mut process = spawn(&executor, text);
        std::thread::sleep(Duration::from_millis(300));
        assert!(!fixture.path("written").exists() && process.try_wait().is_none());
        let mut count = 0;
        let mut stdout = process.take_stdout().unwrap();
        let mut buffer = vec![0; 65536];
        loop {
            match stdout.read(&mut buffer).unwrap() {
                0 => break,
                more => count += more,
            }
        }
        assert_eq!(count, 1_000_000);
        assert!(process.wait().unwrap().success());
        std::fs::remove_file(fixture.path("written")).unwrap();
        // What fits is no reason to wait for a reader.
        let unread = spawn(&executor, "echo unread; exit 4");
        assert_eq!(unread.wait().unwrap().ended, Ending::Exited(4));
        // A command that is held up can be ended all the same.
        let held_up = spawn(&executor, "yes");
        held_up.kill();
        assert_eq!(held_up.wait_all().unwrap().ended, Ending::Cancelled);
    }
}

// PRC-22
#[test]
fn prc_22_standard_input_is_closed_once_and_takes_no_more() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut process = executor.command("cat").spawn().unwrap();
    let mut stdin = process.take_stdin().unwrap();
    stdin.write_all(b"through\n").unwrap();
    assert_eq!((stdin.close(), stdin.close()), (Ok(()), Ok(())));
    assert!(is_closed(stdin.write(b"x")));
    assert!(is_closed(stdin.clone().write(b"x")), "a clone is the same end");
    assert_eq!(all(process.take_stdout().unwrap()), "through\n");
    assert_eq!(process.wait().unwrap().ended, Ending::Exited(0));
}

// PRC-22, PRC-34, beyond A3: whoever closes releases whoever is stuck.
#[test]
fn prc_22_prc_34_closing_never_waits_for_a_writer_and_releases_it() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        for whole in [false, true] {
            let mut process = executor.command("sleep").arg("60").spawn().unwrap();
            let stdin = process.take_stdin().unwrap();
            std::thread::scope(|scope| {
                let writers = [0; 3].map(|_| scope.spawn(|| write_on(stdin.clone())));
                std::thread::sleep(Duration::from_millis(200));
                assert!(
                    writers.iter().all(|writer| !writer.is_finished()),
                    "nobody is stuck"
                );
                let began = Instant::now();
                if whole {
                    process.close();
                } else {
                    stdin.close().unwrap();
                }
                assert!(began.elapsed() < SOON);
                for writer in writers {
                    assert!(is_closed(writer.join().unwrap()));
                }
            });
            // Closing ended no command.
            assert!(process.try_wait().is_none());
            process.kill();
            assert_eq!(process.wait().unwrap().ended, Ending::Cancelled);
        }
    }
}

// PRC-22: the same for tasks, and their other end.
#[tokio::test(flavor = "multi_thread")]
async fn prc_22_closing_releases_tasks_that_write() {
    use tokio::io::AsyncWriteExt;
    let fixture = Fixture::new();
    let profile = ringfence::Profile::new(&fixture.config(), &ringfence::Host).unwrap();
    let builder = ringfence::ExecutorSet::builder(profile).scratch_root(fixture.scratch.path());
    let set = builder.max_executors(1).build().unwrap();
    let executor = set.executor("a").await.unwrap();
    for whole in [false, true] {
        let mut process = executor.command("sleep").arg("60").spawn().await.unwrap();
        let stdin = process.take_stdin().unwrap();
        let mut writing = stdin.clone().into_async().unwrap();
        let writer = tokio::spawn(async move {
            loop {
                writing.write_all(&[b'x'; 64 * 1024]).await?;
            }
            #[expect(unreachable_code, reason = "says what the task answers")]
            Ok::<(), std::io::Error>(())
        });
        tokio::time::sleep(Duration::from_millis(200)).await;
        assert!(!writer.is_finished(), "nobody is stuck");
        if whole {
            process.close();
        } else {
            stdin.close().unwrap();
        }
        let ended = tokio::time::timeout(SOON, writer).await.unwrap().unwrap();
        assert!(is_closed(ended));
        assert!(process.try_wait().is_none());
        process.kill();
        assert_eq!(process.wait().await.unwrap().ended, Ending::Cancelled);
    }
    // Nobody reads on: that is no signal for this process, and not the error of a closed end.
    let mut process = executor.command("true").spawn().await.unwrap();
    let mut stdin = process.take_stdin().unwrap().into_async().unwrap();
    process.wait_all().await.unwrap();
    let error = stdin.write(b"x").await.unwrap_err();
    assert!(
        error.kind() == ErrorKind::BrokenPipe && error.get_ref().is_none(),
        "{error:?}"
    );
    assert!(set.close().await.is_clean());
}

#[test]
fn prc_22_a_command_that_reads_no_more_is_an_error_and_no_signal() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let mut process = spawn(&executor, "exec <&-; echo closed; sleep 60");
        let mut stdin = process.take_stdin().unwrap();
        line(&mut process.take_stdout().unwrap());
        // Whatever this process is starting at the moment has the other end as well until it is executed.
        let error = loop {
            match stdin.write_all(b"x") {
                Ok(()) => std::thread::sleep(Duration::from_millis(5)),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::BrokenPipe);
        // The system said so, and not we.
        assert_eq!(error.raw_os_error(), Some(rustix::io::Errno::PIPE.raw_os_error()));
        process.kill();
        process.wait().unwrap();
    }
}

// PRC-24
#[test]
fn prc_24_pipes_stay_pipes() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut process = spawn(&executor, "test -t 0 || test -t 1 || test -t 2 || echo none");
    assert_eq!(process.stream_mode(), StreamMode::Pipes);
    assert_eq!(all(process.take_stdout().unwrap()), "none\n");
    process.wait().unwrap();
    process.close();
    assert_eq!(process.stream_mode(), StreamMode::Pipes);
}

// PRC-32, PRC-33: no signal, no waiting; the command sees the end of its input, and a broken pipe.
#[test]
fn prc_32_prc_33_closing_closes_the_streams_and_nothing_else() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        // It takes a moment: what this process is starting has the other end as well until it is executed.
        let text = "trap '' PIPE; cat; while echo x; do sleep 0.01; done; touch over";
        let process = spawn(&executor, text);
        process.close();
        process.close();
        let exit = process.wait().unwrap();
        assert_eq!(exit.ended, Ending::Exited(0), "it went on");
        assert_eq!(exit.requested, None);
        process.close();
        assert_eq!(process.wait().unwrap(), exit);
        std::fs::remove_file(fixture.path("over")).unwrap();
    }
}

// PRC-35: dropping closes and does not kill.
#[test]
fn prc_35_dropping_the_handle_closes_the_streams_and_the_command_goes_on() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let process = spawn(&executor, "cat; sleep 0.2; touch over");
        assert_eq!(set.executions().len(), 1);
        drop(process);
        eventually("the end of the command", || fixture.path("over").exists());
        eventually("the end of the execution", || set.executions().is_empty());
        std::fs::remove_file(fixture.path("over")).unwrap();
        assert!(set.close().is_clean());
    }
}

// PRC-43: a run that is waited for has no input, and both of its outputs are read all the time.
#[test]
fn prc_43_a_run_has_no_input_and_its_output_holds_it_up_nowhere() {
    let fixture = Fixture::new();
    for config in confined_or_not(&fixture) {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let big = 300_000;
        let text = format!("cat; head -c {big} /dev/zero >&2; head -c {big} /dev/zero; echo end");
        let outcome = executor.shell(text).output().unwrap();
        assert!(outcome.success());
        assert_eq!(
            (outcome.stderr.head().len(), outcome.stdout.head().len()),
            (big, big + 4)
        );
        let empty = executor
            .shell("wc -c; readlink /proc/self/fd/0")
            .output()
            .unwrap();
        assert_eq!(empty.stdout.to_text(), "0\n/dev/null\n");
    }
}

// PRC-46: without confinement somebody can get away with the output; that holds nobody up.
#[test]
fn prc_46_whoever_got_away_with_the_output_holds_nobody_up() {
    let fixture = Fixture::new();
    let [confined, unconfined] = confined_or_not(&fixture);
    for (config, escapes) in [(confined, false), (unconfined, true)] {
        let set = fixture.set_with(&config);
        let executor = set.executor("a").unwrap();
        let seconds = own_seconds();
        // Whoever is alone in a session is out of the command's group before it ends.
        let text = format!(
            "setsid -f sleep {seconds}; while ! pgrep -f '^sleep {seconds}' >/dev/null; do sleep 0.01; done; echo done"
        );
        let began = Instant::now();
        let outcome = executor.shell(text).output().unwrap();
        let left = processes_with(&seconds);
        for process in &left {
            let id = rustix::process::Pid::from_raw(process.cast_signed()).unwrap();
            rustix::process::kill_process(id, rustix::process::Signal::KILL).unwrap();
        }
        assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
        assert_eq!(
            (outcome.stdout.head(), outcome.ended),
            (&b"done\n"[..], Ending::Exited(0))
        );
        assert_eq!(
            (outcome.stdout.is_cut_off(), left.len()),
            (escapes, usize::from(escapes))
        );
    }
}

/// Where each stream leads is said for each.
#[test]
fn streams_can_lead_to_different_places() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let file = std::fs::File::create(fixture.path("log")).unwrap();
    let mut process = executor
        .shell("cat; echo err >&2")
        .stdin(Stdio::Piped)
        .stdout(Stdio::Owned(file.into()))
        .stderr(Stdio::Merged)
        .spawn()
        .unwrap();
    assert!(process.take_stdout().is_none() && process.take_stderr().is_none());
    process.take_stdin().unwrap().write_all(b"in\n").unwrap();
    assert!(process.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(fixture.path("log")).unwrap(), "in\nerr\n");
}

// PRC-22: each of several that wait is told when there is room.
#[tokio::test(flavor = "multi_thread")]
async fn prc_22_two_tasks_that_wait_for_room_both_get_it() {
    use tokio::io::AsyncWriteExt;
    const EACH: usize = 200_000;
    let fixture = Fixture::new();
    let profile = ringfence::Profile::new(&fixture.config(), &ringfence::Host).unwrap();
    let builder = ringfence::ExecutorSet::builder(profile).scratch_root(fixture.scratch.path());
    let set = builder.max_executors(1).build().unwrap();
    let executor = set.executor("a").await.unwrap();
    let command = executor.shell("sleep 0.3; wc -c");
    let mut process = command.stdout(Stdio::Captured).spawn().await.unwrap();
    let stdin = process.take_stdin().unwrap();
    let write = |stdin: ChildStdin| async move {
        let mut stdin = stdin.into_async().unwrap();
        stdin.write_all(&[b'x'; EACH]).await.unwrap();
    };
    let both = [tokio::spawn(write(stdin.clone())), tokio::spawn(write(stdin))];
    for task in both {
        tokio::time::timeout(SOON, task).await.unwrap().unwrap();
    }
    let outcome = process.wait_all().await.unwrap();
    assert_eq!(outcome.stdout.to_text().trim(), (2 * EACH).to_string());
    assert!(set.close().await.is_clean());
}
