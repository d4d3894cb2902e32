//! Compilers, and what builds with them.

use std::fs;

use crate::support::{Place, installed};

#[test]
fn make_and_a_c_compiler() {
    if !installed("real_work_make", &[&["make", "--version"], &["cc", "--version"]]) {
        return;
    }
    let place = Place::new();
    fs::write(place.file("answer.c"), "int answer(void) { return 42; }\n").unwrap();
    let main = "#include <stdio.h>\nint answer(void);\nint main(void) { printf(\"%d\\n\", answer()); }\n";
    fs::write(place.file("main.c"), main).unwrap();
    let makefile = "all: program\n\t./program\nprogram: main.o answer.o\n\t$(CC) -o $@ $^\n";
    fs::write(place.file("Makefile"), makefile).unwrap();
    let done = place.sh(&[], "make --jobs=2 >log && tail -n 1 log").succeeded();
    assert_eq!(done.stdout, "42\n");
    let again = place.sh(&[], "make program").succeeded();
    assert!(again.stdout.contains("up to date"), "{again:?}");
}

#[test]
fn cargo_builds_and_tests_a_crate_offline() {
    if !installed(
        "real_work_cargo",
        &[&["cargo", "--version"], &["cc", "--version"]],
    ) {
        return;
    }
    let place = Place::new();
    let manifest = "[package]\nname = \"hello\"\nversion = \"1.2.3\"\nedition = \"2021\"\n";
    fs::write(place.file("Cargo.toml"), manifest).unwrap();
    fs::create_dir(place.file("src")).unwrap();
    let source = "fn main() { println!(\"hello {}\", env!(\"CARGO_PKG_VERSION\")) }\n#[test] fn adds() { assert_eq!(1 + 1, 2) }\n";
    fs::write(place.file("src/main.rs"), source).unwrap();
    let script = "cargo build --offline --quiet && target/debug/hello && cargo test --offline --quiet";
    let done = place.sh(&[], script).succeeded();
    assert!(done.stdout.starts_with("hello 1.2.3\n"), "{done:?}");
    assert!(done.stdout.contains("1 passed"), "{done:?}");
}

/// A build script, a dependency by path, and tests of each kind; `rustdoc` compiles in `TMPDIR`.
#[test]
fn s_17_cargo_runs_every_kind_of_test_offline() {
    if !installed(
        "real_work_cargo",
        &[&["cargo", "--version"], &["cc", "--version"]],
    ) {
        return;
    }
    let place = Place::new();
    let package = |name| format!("[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2021\"\n");
    let dependency = "[dependencies]\ntwo = { path = \"two\" }\n";
    place.write("Cargo.toml", &(package("four") + dependency));
    place.write("build.rs", "fn main() { println!(\"cargo:rustc-env=MADE=4\") }\n");
    let library = "\
//! ```
//! assert_eq!(four::four(), 4);
//! ```
pub fn four() -> u32 { two::two() + two::two() }
#[test] fn as_the_build_script_said() { assert_eq!(four().to_string(), env!(\"MADE\")) }
";
    place.write("src/lib.rs", library);
    let integration = "#[test] fn doubles() { assert_eq!(four::four(), 4) }\n";
    place.write("tests/integration.rs", integration);
    place.write("two/Cargo.toml", &package("two"));
    place.write("two/src/lib.rs", "pub fn two() -> u32 { 2 }\n");
    let done = place.sh(&[], "cargo test --offline --quiet").succeeded();
    assert_eq!(done.stdout.matches("1 passed").count(), 3, "{done:?}");
}

/// The cache of the compiler is in the private home directory.
#[test]
fn s_17_go_builds_and_tests_a_module() {
    if !installed("real_work_go", &[&["go", "version"]]) {
        return;
    }
    let place = Place::new();
    place.write(
        "double/double.go",
        "package double\n\nfunc Double(n int) int { return 2 * n }\n",
    );
    let test = "\
package double

import \"testing\"

func TestDouble(t *testing.T) {
	if Double(21) != 42 {
		t.Fatal(Double(21))
	}
}
";
    place.write("double/double_test.go", test);
    let main = "\
package main

import (
	\"fmt\"

	\"example.com/sums/double\"
)

func main() { fmt.Println(double.Double(4)) }
";
    place.write("main.go", main);
    let script = "go mod init example.com/sums 2>log && go build -o program . && ./program && go test ./...";
    let done = place.sh(&[], script).succeeded();
    let lines: Vec<&str> = done.stdout.lines().collect();
    assert!(
        lines.len() == 3 && lines[0] == "8" && lines[2].starts_with("ok  \texample.com/sums/double\t"),
        "{done:?}"
    );
}

#[test]
fn java_compiles_packs_and_runs_classes() {
    if !installed(
        "real_work_java",
        &[
            &["javac", "-version"],
            &["java", "-version"],
            &["jar", "--version"],
        ],
    ) {
        return;
    }
    let place = Place::new();
    let greeting = "package greet;\npublic record Greeting(String name) {\n    public String toString() { return \"hello \" + name; }\n}\n";
    place.write("source/greet/Greeting.java", greeting);
    let main = "\
package greet;

public class Main {
    public static void main(String[] names) throws Exception {
        var file = java.nio.file.Files.createTempFile(\"greeting\", null);
        java.nio.file.Files.writeString(file, new Greeting(names[0]).toString());
        var reader = new Thread(() -> {
            try {
                System.out.println(java.nio.file.Files.readString(file));
            } catch (java.io.IOException error) {
                throw new java.io.UncheckedIOException(error);
            }
        });
        reader.start();
        reader.join();
    }
}
";
    place.write("source/greet/Main.java", main);
    let script = "
        set -e
        javac -d classes source/greet/*.java && java -cp classes greet.Main classes
        jar --create --file greet.jar --main-class greet.Main -C classes . && java -jar greet.jar archive
    ";
    let done = place.sh(&[], script).succeeded();
    assert_eq!(done.stdout, "hello classes\nhello archive\n");
}
