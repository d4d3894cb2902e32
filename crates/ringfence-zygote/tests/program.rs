//! The embedded programs are small and have no part that nothing uses.

#![allow(clippy::unwrap_used, reason = "tests end by panicking")]

use std::process::Command;

#[test]
fn the_programs_compile_without_a_warning() {
    compile("program", "zygote_program");
    compile("probe", "probe_program");
}

fn compile(program: &str, cfg: &str) {
    let source = format!("{}/src/{program}/main.rs", env!("CARGO_MANIFEST_DIR"));
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new("rustc")
        .args([
            &source,
            "--edition",
            "2024",
            "--crate-type",
            "bin",
            "--emit=metadata",
            "-Cpanic=abort",
        ])
        .args(["--cfg", cfg, "-Dwarnings", "-o"])
        .arg(directory.path().join("metadata"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
fn the_image_is_a_small_static_executable() {
    let image = ringfence_zygote::IMAGE;
    assert!(image.starts_with(b"\x7fELF"));
    assert!(image.len() < 64 * 1024, "{} bytes", image.len());
    let interpreter = image
        .windows(8)
        .any(|window| window == b"ld-linux" || window == b"ld-musl-");
    assert!(!interpreter, "it names a dynamic loader");
}

/// The probe makes the calls it is told, says which of them failed, and puts back what it changed.
#[test]
#[cfg(all(
    feature = "probe",
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
fn the_probe_says_what_worked() {
    use ringfence_zygote::attempt::{self, Argument, Attempt, Call};
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;
    use std::process::Stdio;

    let (openat, execve, unlinkat, clone, write) = if cfg!(target_arch = "x86_64") {
        (257, 59, 263, 56, 1)
    } else {
        (56, 221, 35, 220, 64)
    };
    const SIGCHLD: i32 = 17;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("probe");
    std::fs::write(&path, attempt::IMAGE).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    let call = |number, arguments: &[Argument]| Call {
        number,
        arguments: arguments.to_vec(),
        reached: 0,
        closes: number == openat,
    };
    let (here, name) = ((-100).into(), Argument::Data(0));
    let data = |name: &str| vec![directory.path().join(name).into_os_string().into_encoded_bytes()];
    let attempts = [
        Attempt {
            data: data("missing"),
            calls: vec![call(openat, &[here, name])],
            ..Attempt::default()
        },
        Attempt {
            data: data("new"),
            calls: vec![call(openat, &[here, name, 0o101.into(), 0o644.into()])],
            undo: vec![call(unlinkat, &[here, name])],
            ..Attempt::default()
        },
        Attempt {
            flags: attempt::SEPARATE,
            data: data("probe"),
            // Without a request it ends at once.
            calls: vec![
                call(if cfg!(target_arch = "x86_64") { 3 } else { 57 }, &[0.into()]),
                call(execve, &[name]),
            ],
            ..Attempt::default()
        },
        Attempt {
            flags: attempt::SEPARATE,
            data: data("missing"),
            calls: vec![call(execve, &[name])],
            ..Attempt::default()
        },
        Attempt {
            flags: attempt::SEPARATE,
            data: data("once"),
            calls: vec![
                call(openat, &[here, name, 0o2101.into(), 0o644.into()]),
                call(clone, &[SIGCHLD.into()]),
                call(write, &[Argument::Result(0), name, 1.into()]),
            ],
            ..Attempt::default()
        },
    ];
    let mut probe = Command::new(&path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = probe.stdin.take().unwrap();
    input.write_all(&attempt::encode(&attempts).unwrap()).unwrap();
    drop(input);
    let output = probe.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let lines = String::from_utf8(output.stdout).unwrap();
    let errnos: Vec<&str> = lines
        .lines()
        .map(|line| line.split([':', ',']).nth(3).unwrap())
        .collect();
    assert_eq!(errnos, ["2", "0", "0", "2", "0"], "{lines}");
    assert!(!directory.path().join("new").exists(), "it was not undone");
    // Whoever held the output has ended, and so has a child that an attempt made.
    let written = std::fs::read(directory.path().join("once")).unwrap().len();
    assert_eq!(written, 1, "the child that was made went on with the attempt");
}
