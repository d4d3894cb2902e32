//! What the README shows is what happens: its demonstration is run, and its library example is the program in
//! `examples/readme.rs` of the library, which is compiled with the tests.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test that can't go on fails")]

mod support;

use std::fs;
use std::path::Path;

use support::{Place, RINGFENCE, installed};

fn read(name: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    fs::read_to_string(root.join(name)).expect("a file of the repository")
}

/// The code blocks of the README in one language.
fn blocks(language: &str) -> Vec<String> {
    let readme = read("README.md");
    let parts = readme.split("```");
    let inside = parts.skip(1).step_by(2);
    let blocks = inside.filter_map(|block| block.strip_prefix(&format!("{language}\n")));
    blocks.map(str::to_owned).collect()
}

#[test]
fn the_demonstration_shows_what_it_claims() {
    if !installed("readme_demonstration", &[&["bash", "--version"]]) {
        return;
    }
    let demonstration = blocks("sh")
        .into_iter()
        .find_map(|block| Some(block.strip_prefix("cargo run --release -- run")?.to_owned()))
        .expect("a demonstration");
    let place = Place::new();
    let mut shell = place.unconfined("sh");
    shell.args(["-c", &format!(r#""{RINGFENCE}" run{demonstration}"#)]);
    let done = place.finish(shell.spawn().unwrap()).succeeded();
    let shown = blocks("text").into_iter().next().expect("what it prints");
    assert_eq!(done.stdout, shown, "{done:#?}");
    assert_eq!(
        fs::read_dir(place.workspace()).unwrap().count(),
        0,
        "it left something"
    );
    let home = std::env::var("HOME").unwrap_or_default();
    assert!(!Path::new(&home).join("demo").exists(), "it wrote to {home}");
}

#[test]
fn the_library_example_is_a_compiled_program() {
    let dense = |text: &str| text.split_whitespace().collect::<String>();
    let example = dense(&read("crates/ringfence/examples/readme.rs"));
    let blocks = blocks("rust");
    assert_eq!(blocks.len(), 1);
    for block in blocks {
        assert!(
            example.contains(&dense(&block)),
            "not in examples/readme.rs:\n{block}"
        );
    }
}

#[test]
fn links_lead_to_files() {
    let readme = read("README.md");
    let links: Vec<&str> = readme
        .split("](")
        .skip(1)
        .filter_map(|rest| rest.split(')').next())
        .filter(|link| !link.contains("://") && !link.starts_with('#'))
        .collect();
    assert!(links.len() > 10, "{links:?}");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for link in links {
        assert!(
            root.join(link).exists(),
            "README.md links to {link}, which is not there"
        );
    }
}
