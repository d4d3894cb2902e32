//! Compiles `src/program/main.rs`, and with the feature `probe` also `src/probe/main.rs`, into static executables and
//! places them in `OUT_DIR`.
//!
//! A program needs nothing but `core`, so one call of rustc makes it for any Linux target whose
//! `core` is installed. It is linked with the `rust-lld` that comes with the toolchain, else with the
//! linker Cargo was told to use, else with `cc`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, exit};

fn main() {
    println!("cargo::rerun-if-changed=src/program");
    println!("cargo::rerun-if-changed=src/probe");
    println!("cargo::rerun-if-changed=src/entry.rs");
    println!("cargo::rerun-if-changed=src/wire.rs");
    println!("cargo::rerun-if-env-changed=RUSTC_LINKER");
    println!("cargo::rustc-check-cfg=cfg(zygote_program, probe_program)");

    make(&ZYGOTE);
    if env::var_os("CARGO_FEATURE_PROBE").is_some() {
        make(&PROBE);
    }
}

/// One embedded program.
struct Program {
    name: &'static str,
    source: &'static str,
    /// Set while it is compiled as a program, and not as a module of the library.
    cfg: &'static str,
}

const ZYGOTE: Program = Program {
    name: "zygote",
    source: "src/program/main.rs",
    cfg: "zygote_program",
};
const PROBE: Program = Program {
    name: "probe",
    source: "src/probe/main.rs",
    cfg: "probe_program",
};

fn make(program: &Program) {
    let image = PathBuf::from(env_value("OUT_DIR")).join(program.name);
    let os = env::var("CARGO_CFG_TARGET_OS").unwrap_or_default();
    let arch = env::var("CARGO_CFG_TARGET_ARCH").unwrap_or_default();
    if os != "linux" || !matches!(arch.as_str(), "x86_64" | "aarch64") {
        // Elsewhere the backends never start it; an empty image keeps the library's type the same.
        if let Err(error) = std::fs::write(&image, b"") {
            fail(&format!("cannot write {}: {error}", image.display()));
        }
        return;
    }

    let mut attempts = Vec::new();
    for linker in linkers() {
        match compile(program, &image, &linker) {
            Ok(()) => return,
            Err(why) => attempts.push(format!("with {}:\n{why}", linker.describe())),
        }
    }
    fail(&format!(
        "the embedded program {} could not be compiled\n{}",
        program.name,
        attempts.join("\n")
    ));
}

enum Linker {
    /// A bare `ld.lld` that needs no C compiler around it.
    Lld,
    /// A C compiler driver that links.
    Driver(OsString),
}

impl Linker {
    fn describe(&self) -> String {
        match self {
            Self::Lld => "rust-lld".to_owned(),
            Self::Driver(path) => path.to_string_lossy().into_owned(),
        }
    }

    fn arguments(&self) -> Vec<OsString> {
        let text: &[&str] = match self {
            Self::Lld => &[
                "-Clinker=rust-lld",
                "-Clinker-flavor=ld.lld",
                "-Clink-arg=--gc-sections",
                // No start files of the target's C library: the program has its own entry point.
                "-Clink-self-contained=no",
            ],
            Self::Driver(_) => &[
                "-Clink-arg=-nostartfiles",
                "-Clink-arg=-nostdlib",
                "-Clink-arg=-static",
            ],
        };
        let mut arguments: Vec<OsString> = text.iter().map(OsString::from).collect();
        if let Self::Driver(path) = self {
            let mut flag = OsString::from("-Clinker=");
            flag.push(path);
            arguments.push(flag);
        }
        arguments
    }
}

fn linkers() -> Vec<Linker> {
    let mut linkers = vec![Linker::Lld];
    linkers.extend(env::var_os("RUSTC_LINKER").map(Linker::Driver));
    linkers.push(Linker::Driver("cc".into()));
    linkers
}

fn compile(program: &Program, image: &Path, linker: &Linker) -> Result<(), String> {
    let source = PathBuf::from(env_value("CARGO_MANIFEST_DIR")).join(program.source);
    let output = Command::new(env_value("RUSTC"))
        .arg(&source)
        .args([
            "--edition",
            "2024",
            "--crate-name",
            program.name,
            "--crate-type",
            "bin",
        ])
        .arg("--target")
        .arg(env_value("TARGET"))
        // Without unwinding and optimised, `core` needs no personality routine and no libc.
        .args([
            "-Cpanic=abort",
            "-Copt-level=z",
            "-Clto=fat",
            "-Ccodegen-units=1",
            "-Cstrip=symbols",
        ])
        .args([
            "-Crelocation-model=static",
            "-Cforce-frame-pointers=no",
            "-Cforce-unwind-tables=no",
        ])
        .args(["--cfg", program.cfg])
        .args(linker.arguments())
        .arg("-o")
        .arg(image)
        .output()
        .map_err(|error| format!("rustc did not start: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

fn env_value(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| fail(&format!("Cargo did not set {name}")))
}

#[expect(
    clippy::print_stderr,
    clippy::exit,
    reason = "how a build script says that it failed"
)]
fn fail(why: &str) -> ! {
    eprintln!("ringfence-zygote: {why}");
    exit(1)
}
