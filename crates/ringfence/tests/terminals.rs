//! Commands with a terminal.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests end by panicking"
)]

mod common;

use std::io::{Read, Write};
use std::time::Duration;

use common::Fixture;
use common::session::{Session, ends_within};
use ringfence::{
    Delivery, Ending, EofNotDelivered, Signal, StdinClosed, Stdio, StreamMode, TerminalSize, Tty,
};

const SOON: Duration = Duration::from_secs(5);

// TTY-3, TTY-18: names of the terminal.
#[test]
fn tty_3_tty_18_a_command_has_a_controlling_terminal_with_a_name() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let script = "tty; test -t 0 && test -t 1 && test -t 2 && echo all; echo by name >/dev/tty; \
                  ps -o sid=,pgid=,pid= -p $$ | tr -s ' '; ls /dev/pts | tr '\\n' ' '";
    let mut session = Session::start(&executor, script);
    assert_eq!(session.process.stream_mode(), StreamMode::Pty);
    let screen = session.rest();
    assert!(
        screen.starts_with("/dev/pts/0\r\nall\r\nby name\r\n"),
        "{screen:?}"
    );
    assert!(screen.ends_with("0 ptmx "), "{screen:?}");
    assert_eq!(session.process.wait().unwrap().ended, Ending::Exited(0));
}

// TTY-5, TTY-7, TTY-4, TTY-8: nobody has to close anything for it.
#[test]
fn tty_5_tty_7_both_outputs_are_on_the_screen_and_end_as_a_file_does() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut process = executor
        .shell("echo out; echo err >&2")
        .tty(Tty::default())
        .spawn()
        .unwrap();
    let mut errors = process.take_stderr().unwrap();
    let mut session = Session::of(process);
    assert_eq!(session.rest(), "out\r\nerr\r\n");
    assert_eq!(session.screen.read(&mut [0; 8]).unwrap(), 0);
    assert_eq!(errors.read(&mut [0; 8]).unwrap(), 0);
}

#[test]
fn tty_10_closing_standard_input_types_the_end_of_file() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session = Session::start(&executor, "cat; echo done");
    session.type_in("one\n");
    session.see("one\r\none\r\n");
    session.keys.close().unwrap();
    session.keys.close().unwrap();
    session.see("done");
    let error = session.keys.write(b"x").unwrap_err();
    assert!(error.get_ref().unwrap().is::<StdinClosed>(), "{error:?}");
    assert_eq!(ends_within(&session.process, SOON), Ending::Exited(0));
}

#[test]
fn tty_10a_the_end_of_file_is_delivered_in_the_middle_of_a_line_and_with_another_character() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session = Session::start(&executor, "stty eof ^Y; echo ready; cat; echo done");
    session.see("ready");
    session.type_in("partial");
    session.keys.close().unwrap();
    session.see("partialpartial");
    session.see("done");
    assert_eq!(ends_within(&session.process, SOON), Ending::Exited(0));
}

#[test]
fn tty_10a_in_raw_mode_there_is_no_end_of_file_and_closing_says_so() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session = Session::start(&executor, "stty raw -echo; echo ready; head -c 1; echo got");
    session.see("ready");
    assert_eq!(session.keys.close(), Err(EofNotDelivered::NotCanonical));
    session.type_in("q");
    session.see("qgot");
    assert_eq!(ends_within(&session.process, SOON), Ending::Exited(0));
}

#[test]
fn tty_11_closing_the_process_hangs_up() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session = Session::start(&executor, "echo ready; sleep 60");
    session.see("ready");
    session.process.close();
    session.process.close();
    assert_eq!(session.screen.read(&mut [0; 8]).unwrap(), 0);
    assert_eq!(
        ends_within(&session.process, SOON),
        Ending::Signaled {
            signal: 1,
            core: false
        }
    );
}

#[test]
fn tty_11_closing_releases_whoever_reads() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let Session {
        process,
        keys: _keys,
        mut screen,
        ..
    } = Session::start(&executor, "sleep 60");
    std::thread::scope(|scope| {
        let reader = scope.spawn(move || screen.read(&mut [0; 8]).unwrap());
        std::thread::sleep(Duration::from_millis(100));
        process.close();
        assert_eq!(reader.join().unwrap(), 0);
    });
    ends_within(&process, SOON);
}

// TTY-12, SIG-14, TTY-9
#[test]
fn tty_12_sig_14_typing_ctrl_c_interrupts() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session = Session::of(
        executor
            .command("sleep")
            .arg("60")
            .tty(Tty::default())
            .spawn()
            .unwrap(),
    );
    session.type_in("\x03");
    assert_eq!(
        ends_within(&session.process, SOON),
        Ending::Signaled {
            signal: 2,
            core: false
        }
    );
}

// TTY-13, TTY-14
#[test]
fn tty_13_tty_14_the_size_is_there_from_the_start_and_can_change() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session = Session::start(
        &executor,
        "stty size; trap 'stty size; exit' WINCH; echo ready; while :; do sleep 0.05; done",
    );
    session.see("24 80");
    session.see("ready");
    session
        .process
        .resize(TerminalSize::new(42, 111).unwrap())
        .unwrap();
    session.see("42 111");
    assert_eq!(ends_within(&session.process, SOON), Ending::Exited(0));
    session.process.resize(TerminalSize::default()).unwrap();

    let tty = Tty::new(TerminalSize::new(7, 9).unwrap()).term("dumb");
    let process = executor.shell("stty size; echo $TERM").tty(tty).spawn().unwrap();
    assert_eq!(Session::of(process).rest(), "7 9\r\ndumb\r\n");
}

#[test]
fn sig_13_an_interrupt_reaches_the_job_in_the_foreground_and_a_termination_everybody() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    // It has job control, so each job is a group of its own, and ignores SIGTERM.
    let shell = executor.command("bash").args(["--norc", "--noprofile", "-i"]);
    let shell = shell
        .terminate_grace(Duration::from_millis(500))
        .tty(Tty::default());
    let mut session = Session::of(shell.spawn().unwrap());
    session.type_in("sleep 61 &\nsh -c 'echo star''ted; exec sleep 60'\n");
    session.see("started");
    assert_eq!(session.process.signal(Signal::Interrupt), Ok(Delivery::Sent));
    session.type_in("echo status $?\n");
    session.see("status 130");
    assert_eq!(session.process.signal(Signal::Terminate), Ok(Delivery::Sent));
    session.type_in("wait %1; echo background $?\n");
    session.see("background 143");
    // The shell itself has to be killed.
    assert_eq!(ends_within(&session.process, SOON), Ending::Cancelled);
}

#[test]
fn tty_6_output_that_nobody_reads_keeps_no_command_from_ending() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let quiet = Session::start(&executor, "echo unread");
    assert_eq!(ends_within(&quiet.process, SOON), Ending::Exited(0));
    let flood = Session::start(&executor, "yes");
    std::thread::sleep(Duration::from_millis(100));
    assert!(flood.process.try_wait().is_none());
    assert_eq!(flood.process.signal(Signal::Kill), Ok(Delivery::Sent));
    ends_within(&flood.process, SOON);
    let another = Session::start(&executor, "yes");
    assert!(set.close().is_clean());
    assert_eq!(another.process.wait().unwrap().ended, Ending::OwnerClosed);
}

#[test]
fn output_of_a_command_with_a_terminal_is_captured_and_nobody_types() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let outcome = executor
        .shell("test -t 1 && echo terminal; test -t 0 || echo nobody; cat; read y; echo err >&2")
        .tty(Tty::default())
        .output()
        .unwrap();
    assert_eq!(outcome.stdout.to_text(), "terminal\r\nnobody\r\nerr\r\n");
    // Nobody was left who could have shown more.
    assert!(outcome.stdout.is_complete(), "it is said to be cut off");
    // What is shown on the terminal behind both streams' backs keeps nobody waiting.
    let outcome = executor
        .shell("echo out; seq 1 100000 >/dev/tty; echo err >&2")
        .tty(Tty::default())
        .stdout(Stdio::Captured)
        .stderr(Stdio::Captured)
        .output()
        .unwrap();
    let streams = (outcome.stdout.to_text(), outcome.stderr.to_text());
    assert_eq!((&*streams.0, &*streams.1), ("out\n", "err\n"));
}

// TTY-10a: what is typed and how it ends are known as one.
#[test]
fn tty_10a_the_end_of_file_meets_the_end_of_what_is_typed() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    for _ in 0..30 {
        let mut session = Session::start(&executor, "cat >/dev/null; echo done");
        let keys = session.keys.clone();
        let typist = std::thread::spawn(move || {
            let mut keys = &keys;
            // Refused once it is closed.
            while keys.write(b"x").is_ok() {}
        });
        session.keys.close().unwrap();
        typist.join().unwrap();
        session.see("done");
    }
}

#[test]
fn a_process_that_is_over_holds_no_descriptors() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let run = |tty: bool| {
        let command = executor.command("true").stdin(Stdio::Null).stdout(Stdio::Null);
        let command = command.stderr(Stdio::Null);
        let command = if tty { command.tty(Tty::default()) } else { command };
        let process = command.spawn().unwrap();
        process.wait_all().unwrap();
        process.close();
        process
    };
    let open = || std::fs::read_dir("/proc/self/fd").unwrap().count();
    for tty in [false, true] {
        let _warm = run(tty);
        let before = open();
        let processes: Vec<_> = (0..30).map(|_| run(tty)).collect();
        // Other tests run in this process, too.
        let more = open().saturating_sub(before);
        assert!(more < 30, "{more} for {} processes", processes.len());
    }
}

#[test]
fn tty_9_a_terminal_has_the_settings_of_the_system() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut session = Session::start(&executor, "stty -a; cat; echo done");
    session.see("isig icanon");
    session.see(" echo ");
    for typed in ["one", "two", "three"] {
        session.type_in(&format!("{typed}x\x7f\n"));
        session.see(&format!("\n{typed}\r\n"));
    }
    session.type_in("\x04");
    session.see("done");
    assert_eq!(ends_within(&session.process, SOON), Ending::Exited(0));
    let none = Session::start(&executor, "cat");
    none.keys.close().unwrap();
    assert_eq!(ends_within(&none.process, SOON), Ending::Exited(0), "at once");
}

// TTY-2, TTY-8, TTY-11: the terminal goes with the command, or earlier, and there is a way to say so.
#[test]
fn tty_11_closing_after_the_end_is_no_error_and_nobody_waits_for_it() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let mut over = Session::start(&executor, "echo last; (setsid sleep 60 &)");
    assert_eq!(ends_within(&over.process, SOON), Ending::Exited(0));
    // The background had it as well.
    assert_eq!(over.rest(), "last\r\n");
    over.process.close();
    over.process.resize(TerminalSize::default()).unwrap();
    assert_eq!(over.process.wait().unwrap().ended, Ending::Exited(0));
    let missing = executor.command("no-such-program").tty(Tty::default()).spawn();
    assert!(matches!(missing, Err(ringfence::RunError::Setup(_))));
    assert!(set.close().is_clean());
}

// TTY-13
#[test]
fn tty_13_resizing_may_meet_a_close() {
    let fixture = Fixture::new();
    let set = fixture.set();
    let executor = set.executor("a").unwrap();
    let session = Session::start(&executor, "sleep 60");
    std::thread::scope(|scope| {
        for rows in 1..=4 {
            let process = &session.process;
            scope.spawn(move || {
                for columns in 1..=50 {
                    // Closed or not, it is an answer and no accident.
                    let size = TerminalSize::new(rows, columns).unwrap();
                    assert!(matches!(
                        process.resize(size),
                        Ok(()) | Err(ringfence::ResizeError::Closed)
                    ));
                }
            });
        }
        scope.spawn(|| session.process.close());
    });
    ends_within(&session.process, SOON);
    let pipes = executor.command("cat").spawn().unwrap();
    let refused = pipes.resize(TerminalSize::default()).unwrap_err();
    assert_eq!(refused.code(), "process_resize_unsupported");
}
