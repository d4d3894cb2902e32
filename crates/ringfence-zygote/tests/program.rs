//! The embedded program is small and has no part that nothing uses.

use std::process::Command;

#[test]
fn the_program_compiles_without_a_warning() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/src/program/main.rs");
    let directory = tempfile::tempdir().unwrap();
    let output = Command::new("rustc")
        .args([
            source,
            "--edition",
            "2024",
            "--crate-type",
            "bin",
            "--emit=metadata",
            "-Cpanic=abort",
        ])
        .args(["--cfg", "zygote_program", "-Dwarnings", "-o"])
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
    assert!(image.len() < 48 * 1024, "{} bytes", image.len());
    let interpreter = image
        .windows(8)
        .any(|window| window == b"ld-linux" || window == b"ld-musl-");
    assert!(!interpreter, "it names a dynamic loader");
}
