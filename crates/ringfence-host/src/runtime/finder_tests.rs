use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use ringfence_policy::{Kind, Link};

use super::optional;
use crate::runtime::{Bundle, BundleName, Provenance, RuntimeAccess, Survey, discover};
use crate::testing::Tree;

/// A host of its own: a home directory and directories beside it.
struct World {
    tree: Tree,
    variables: Vec<(&'static str, PathBuf)>,
}

impl World {
    fn new() -> Self {
        let tree = Tree::new();
        tree.dir("people/me");
        Self {
            tree,
            variables: Vec::new(),
        }
    }

    fn home(&self) -> PathBuf {
        self.tree.path("people/me")
    }

    /// What the path leads to, without what the tables open.
    fn bundles(&self, path: &[&str]) -> Vec<Bundle> {
        let path = std::env::join_paths(path.iter().map(|path| self.at(path))).unwrap();
        let lookup = |name: &str| {
            let known = self.variables.iter().find(|(variable, _)| *variable == name);
            known.map(|(_, value)| OsString::from(value))
        };
        let mut bundles = discover(
            &Survey::of(&path),
            &BundleName::all(),
            &path,
            &lookup,
            Some(&self.home()),
        );
        without_tables(&mut bundles);
        for entry in bundles.iter().flat_map(|bundle| &bundle.entries) {
            assert_eq!(entry.access, RuntimeAccess::ReadExecute);
            assert_ne!(entry.resolved.kind, Kind::Absent);
        }
        bundles
    }

    /// The provenance of the entry with a path.
    fn why(&self, path: &[&str], entry: &str) -> String {
        let bundles = self.bundles(path);
        let mut entries = bundles.iter().flat_map(|bundle| &bundle.entries);
        let found = entries.find(|found| found.resolved.path == self.at(entry));
        found.unwrap().why.to_string()
    }

    /// `~` stands for the home directory; what starts neither with it nor with a slash is in the tree.
    fn at(&self, path: &str) -> PathBuf {
        match path.strip_prefix('~') {
            Some(rest) => PathBuf::from(format!("{}{rest}", self.home().display())),
            None => self.tree.path(path),
        }
    }

    /// Asserts which bundles there are, and what each opens.
    fn opens(&self, path: &[&str], expected: &[(&str, &[&str])]) {
        let bundles = self.bundles(path);
        let names = |bundle: &Bundle| -> Vec<_> {
            let entries = bundle.entries.iter();
            entries.map(|entry| entry.resolved.path.clone()).collect()
        };
        let found: Vec<_> = bundles
            .iter()
            .map(|bundle| (bundle.name.as_str(), names(bundle)))
            .filter(|(_, names)| !names.is_empty())
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(name, paths)| (*name, paths.iter().map(|path| self.at(path)).collect::<Vec<_>>()))
            .collect();
        assert_eq!(found, expected);
    }

    fn program(&self, path: &str) {
        self.tree.program(self.at(path));
    }

    fn file(&self, path: &str) {
        self.tree.file(self.at(path));
    }

    fn link(&self, path: &str, target: &str) {
        self.tree.link(self.at(path), target);
    }
}

/// What a `PATH` leads to for whoever has neither a home nor variables.
fn of_nobody(path: &str) -> Vec<Bundle> {
    let path: &OsStr = path.as_ref();
    let mut bundles = discover(&Survey::of(path), &BundleName::all(), path, &|_| None, None);
    without_tables(&mut bundles);
    bundles
}

fn without_tables(bundles: &mut Vec<Bundle>) {
    for bundle in bundles.iter_mut() {
        bundle
            .entries
            .retain(|entry| entry.why != Provenance::Table(bundle.name));
    }
    bundles.retain(|bundle| !bundle.entries.is_empty() || !bundle.private.is_empty());
}

#[test]
fn rustup_needs_its_own_directory_and_no_credentials() {
    let world = World::new();
    world.program("~/.cargo/bin/rustup");
    world.link("~/.cargo/bin/cargo", "rustup");
    world.file("~/.cargo/credentials.toml");
    world.file("~/.rustup/settings.toml");
    let path = ["~/.cargo/bin", "~/.cargo/bin"];
    world.opens(&path, &[("rust", &["~/.cargo/bin", "~/.rustup"])]);
    let bundle = &world.bundles(&path)[0];
    assert_eq!(
        bundle.environment,
        [("RUSTUP_HOME".into(), world.at("~/.rustup").into())]
    );
    assert_eq!(bundle.private, [("CARGO_HOME".into(), PathBuf::from(".cargo"))]);
}

#[test]
fn variables_of_the_caller_move_a_toolchain() {
    let mut world = World::new();
    world.program("cargo/bin/rustup");
    world.tree.dir("toolchains");
    world.link("alias", "toolchains");
    world.tree.dir(world.at("~/.rustup"));
    world.variables = vec![
        ("CARGO_HOME", world.at("cargo")),
        ("RUSTUP_HOME", world.at("alias")),
    ];
    world.opens(&["cargo/bin"], &[("rust", &["cargo/bin", "toolchains"])]);
    let environment = &world.bundles(&["cargo/bin"])[0].environment;
    assert_eq!(
        environment,
        &[("RUSTUP_HOME".into(), world.at("toolchains").into())]
    );
}

#[test]
fn a_variable_opens_neither_a_home_nor_all() {
    let mut world = World::new();
    world.program("~/.pyenv/shims/python");
    for root in ["~", "people", "/", "/etc", "~/.ssh"] {
        world.tree.dir(world.at("~/.ssh"));
        world.variables = vec![("PYENV_ROOT", world.at(root)), ("RUSTUP_HOME", world.at(root))];
        world.opens(&["~/.pyenv/shims"], &[("path", &["~/.pyenv/shims"])]);
    }
}

#[test]
fn a_variable_does_not_open_keys_beside_a_toolchain() {
    let mut world = World::new();
    world.program("~/.cargo/bin/rustup");
    world.tree.dir(world.at("~/.ssh"));
    world.variables = vec![("RUSTUP_HOME", world.at("~/.ssh"))];
    world.opens(&["~/.cargo/bin"], &[("rust", &["~/.cargo/bin"])]);
    assert_eq!(world.bundles(&["~/.cargo/bin"])[0].environment, []);
}

#[test]
fn a_version_manager_is_opened_as_a_whole() {
    let world = World::new();
    world.program("~/.pyenv/shims/python");
    world.program("~/.pyenv/bin/pyenv");
    world.program("~/.pyenv/versions/3/bin/python");
    world.opens(
        &["~/.pyenv/plugins", "~/.pyenv/shims", "~/.pyenv/bin"],
        &[("python", &["~/.pyenv"])],
    );
    let environment = &world.bundles(&["~/.pyenv/shims"])[0].environment;
    assert_eq!(environment, &[("PYENV_ROOT".into(), world.at("~/.pyenv").into())]);
}

#[test]
fn parts_of_a_manager_are_opened_where_the_rest_is_not_needed() {
    let world = World::new();
    world.program("~/.asdf/shims/node");
    world.program("~/.asdf/installs/node/1/bin/node");
    world.file("~/.asdf/downloads/x");
    world.opens(
        &["~/.asdf/shims"],
        &[("path", &["~/.asdf/installs", "~/.asdf/shims"])],
    );
}

#[test]
fn an_installation_is_known_by_what_lies_beside_its_bin() {
    let world = World::new();
    for (name, bundle, file) in [
        ("node", "node", "include/node/node.h"),
        ("conda", "python", "conda-meta/history"),
        ("go", "go", "pkg/tool/x"),
        ("java", "java", "lib/jrt-fs.jar"),
        ("java8", "java", "lib/tools.jar"),
        ("maven", "java", "bin/m2.conf"),
        ("gradle", "java", "init.d/readme.txt"),
        ("rust", "rust", "lib/rustlib/x"),
    ] {
        world.program(&format!("~/{name}/v1/bin/x"));
        world.file(&format!("~/{name}/v1/{file}"));
        let (bin, root) = (format!("~/{name}/v1/bin"), format!("~/{name}/v1"));
        world.opens(&[&bin], &[(bundle, &[&root])]);
    }
}

#[test]
fn a_marker_does_not_open_a_home() {
    let world = World::new();
    world.program("~/bin/python");
    world.file("~/pyvenv.cfg");
    world.opens(&["~/bin"], &[("path", &["~/bin"])]);
}

#[test]
fn a_virtual_environment_brings_its_interpreter() {
    let world = World::new();
    world.program("pythons/3.12.1/bin/python3");
    world.link("pythons/3.12", "3.12.1");
    let home = world.at("pythons/3.12/bin");
    world.link("ws/.venv/bin/python", home.join("python3").to_str().unwrap());
    let settings = format!("include-system-site-packages = false\nhome= {}\n", home.display());
    fs::write(world.at("ws/.venv/pyvenv.cfg"), settings).unwrap();
    world.opens(
        &["ws/.venv/bin"],
        &[("python", &["pythons/3.12.1", "pythons/3.12.1/bin", "ws/.venv"])],
    );
}

#[test]
fn a_link_into_a_virtual_environment_brings_its_interpreter() {
    let world = World::new();
    world.program("pythons/3/bin/python");
    world.program("~/.tool/bin/tool");
    let settings = format!("home = {}", world.at("pythons/3/bin").display());
    fs::write(world.at("~/.tool/pyvenv.cfg"), settings).unwrap();
    world.link("tools/tool", "../people/me/.tool/bin/tool");
    world.opens(
        &["tools"],
        &[("python", &["~/.tool", "pythons/3"]), ("path", &["tools"])],
    );
}

#[test]
fn the_home_of_a_virtual_environment_must_hold_a_python() {
    let world = World::new();
    world.program("ws/.venv/bin/pip");
    world.file("private/bin/secret");
    world.file("private/data/python3");
    for home in ["private/bin", "private/data", "missing/bin"] {
        fs::write(
            world.at("ws/.venv/pyvenv.cfg"),
            format!("home = {}", world.at(home).display()),
        )
        .unwrap();
        world.opens(&["ws/.venv/bin"], &[("python", &["ws/.venv"])]);
    }
}

#[test]
fn a_link_to_a_program_opens_its_installation() {
    let world = World::new();
    world.program("~/.local/share/pipx/venvs/black/bin/black");
    world.link("~/.local/bin/black", "../share/pipx/venvs/black/bin/black");
    world.program("~/.local/share/claude/versions/2.0");
    world.file("~/.local/share/claude/settings");
    world.link("~/.local/bin/claude", "../share/claude/versions/2.0");
    world.opens(
        &["~/.local/bin"],
        &[(
            "path",
            &[
                "~/.local/bin",
                "~/.local/share/claude/versions/2.0",
                "~/.local/share/pipx/venvs/black",
            ],
        )],
    );
}

#[test]
fn a_link_to_no_program_or_to_keys_opens_nothing() {
    let world = World::new();
    world.file("~/private/bin/letter");
    world.program("~/.ssh/bin/key");
    world.tree.dir(world.at("~/private/directory"));
    for (name, target) in [
        ("letter", "../../private/bin/letter"),
        ("key", "../../.ssh/bin/key"),
        ("directory", "../../private/directory"),
        ("dangling", "../../private/missing"),
        ("loop", "./loop"),
    ] {
        world.link(&format!("~/.local/bin/{name}"), target);
    }
    world.opens(&["~/.local/bin"], &[("path", &["~/.local/bin"])]);
}

#[test]
fn a_link_opens_only_the_file_where_its_installation_is_too_much() {
    let world = World::new();
    world.program("~/bin/mine");
    world.program("~/.tool/bin/tool");
    world.program("~/.local/bin/shared");
    world.link("tools/mine", "../people/me/bin/mine");
    world.link("tools/tool", "../people/me/.tool/bin/tool");
    world.link("tools/shared", "../people/me/.local/bin/shared");
    world.opens(
        &["tools"],
        &[(
            "path",
            &["~/.local/bin/shared", "~/.tool/bin/tool", "~/bin/mine", "tools"],
        )],
    );
}

#[test]
fn a_link_to_a_known_toolchain_opens_that() {
    let world = World::new();
    world.program("~/.cargo/bin/rustup");
    world.tree.dir(world.at("~/.rustup"));
    world.link("tools/rustup", "../people/me/.cargo/bin/rustup");
    world.opens(
        &["tools"],
        &[("rust", &["~/.cargo/bin", "~/.rustup"]), ("path", &["tools"])],
    );
}

#[test]
fn a_link_that_only_the_path_names_is_kept() {
    let world = World::new();
    world.program("versions/2/bin/x");
    world.link("current", "versions/2");
    world.link("tools/x", "../current/bin/x");
    let link = |path: &str, target: &str| Link {
        path: world.at(path),
        target: target.into(),
    };
    let found = &world.bundles(&["current/bin"])[0].entries;
    assert_eq!(found[0].resolved.path, world.at("versions/2/bin"));
    assert_eq!(found[0].resolved.links, [link("current", "versions/2")]);
    let entries = &world.bundles(&["tools"])[0].entries;
    let links = entries.iter().flat_map(|entry| &entry.resolved.links);
    assert!(
        links.clone().any(|found| *found == link("current", "versions/2")),
        "{entries:?}"
    );
}

#[test]
fn what_must_not_be_opened_is_passed_over() {
    let world = World::new();
    world.file("file");
    let never = [
        "/",
        "/etc",
        "/root",
        "/tmp",
        "/home",
        "/dev",
        "/proc/self",
        "~",
        "people",
        "missing",
        "file",
        "~/.config",
    ];
    world.tree.dir(world.at("~/.config"));
    world.opens(&never, &[]);
}

#[test]
fn relative_and_empty_directories_are_passed_over() {
    assert_eq!(of_nobody("src:.::../ringfence-host"), []);
    assert_eq!(of_nobody(""), []);
}

#[test]
fn what_the_tables_open_is_left_out() {
    let bundles = of_nobody("/usr/bin:/bin:/sbin:/usr/local/bin");
    let entries = bundles.iter().flat_map(|bundle| &bundle.entries);
    for entry in entries {
        let resolved = &entry.resolved;
        let known = |link: &Link| link.path.starts_with("/usr") || link.path.starts_with("/etc/alternatives");
        let inside = resolved.path.starts_with("/usr") && resolved.links.iter().all(known);
        assert!(!inside, "{entry:?}");
    }
}

#[test]
fn a_package_in_opt_is_opened_as_a_whole() {
    let optional = |path| optional(Path::new(path)).and_then(Path::to_str);
    assert_eq!(optional("/opt/google/chrome/chrome"), Some("/opt/google"));
    assert_eq!(optional("/opt/google"), Some("/opt/google"));
    assert_eq!(optional("/opt"), None);
    assert_eq!(optional("/usr/opt/x/y"), None);
}

#[test]
fn a_manager_below_another_home_is_known_by_its_usual_place() {
    let world = World::new();
    world.tree.file("people/other/.cargo/bin/cargo");
    world.tree.file("people/other/.rustup/settings.toml");
    world.opens(
        &["people/other/.cargo/bin"],
        &[("rust", &["people/other/.cargo/bin", "people/other/.rustup"])],
    );
    let bundles = world.bundles(&["people/other/.cargo/bin"]);
    let rustup = world.tree.path("people/other/.rustup");
    assert_eq!(bundles[0].environment, [("RUSTUP_HOME".into(), rustup.into())]);
}

#[test]
fn managers_of_node_open_versions_and_no_more() {
    let world = World::new();
    for (versions, rest, variable) in [
        ("~/.nvm/versions", "~/.nvm/.cache/x", "NVM_DIR"),
        (
            "~/.local/share/fnm/node-versions",
            "~/.local/share/fnm/x",
            "FNM_DIR",
        ),
        ("~/.fnm/node-versions", "~/.fnm/x", "FNM_DIR"),
    ] {
        let bin = format!("{versions}/node/v20/bin");
        world.program(&format!("{bin}/node"));
        world.file(rest);
        world.opens(&[&bin], &[("node", &[versions])]);
        let bundle = world.bundles(&[&bin]).remove(0);
        let place = world.at(versions).parent().unwrap().into();
        assert_eq!(bundle.environment, [(variable.into(), place)]);
        assert_eq!(
            bundle.private,
            [("npm_config_cache".into(), PathBuf::from(".npm"))]
        );
    }
}

#[test]
fn a_link_of_the_login_session_leads_into_fnm() {
    let world = World::new();
    world.program("~/.local/share/fnm/node-versions/v20/installation/bin/node");
    world.link(
        "~/.local/share/fnm/aliases/default",
        "../node-versions/v20/installation",
    );
    let alias = world.at("~/.local/share/fnm/aliases/default");
    world.link("session/123", alias.to_str().unwrap());
    let bundle = world.bundles(&["session/123/bin"]).remove(0);
    assert_eq!(bundle.name, BundleName::Node);
    let links = bundle.entries.iter().flat_map(|entry| &entry.resolved.links);
    let session = world.at("session/123");
    assert!(links.clone().any(|link| link.path == session), "{bundle:?}");
    assert_eq!(
        world.why(&["session/123/bin"], "~/.local/share/fnm/node-versions"),
        format!("PATH directory {}/bin", session.display())
    );
}

#[test]
fn a_program_brings_the_place_it_manages() {
    let world = World::new();
    world.program("~/.local/bin/uv");
    world.file("~/.local/share/uv/credentials/secret");
    world.file("~/.local/share/uv/python/cpython-3.12/bin/python3.12");
    world.program("distribution/rustup");
    world.link("distribution/cargo", "rustup");
    world.file("~/.rustup/settings.toml");
    world.opens(
        &["~/.local/bin", "distribution"],
        &[
            ("python", &["~/.local/share/uv/python"]),
            ("rust", &["~/.rustup"]),
            ("path", &["distribution", "~/.local/bin"]),
        ],
    );
    assert_eq!(
        world.why(&["~/.local/bin"], "~/.local/share/uv/python"),
        format!("program {}/.local/bin/uv", world.home().display())
    );
    let python = world.bundles(&["~/.local/bin"]).remove(0);
    let place = world.at("~/.local/share/uv/python").into();
    assert_eq!(python.environment, [("UV_PYTHON_INSTALL_DIR".into(), place)]);
}

#[test]
fn a_python_alone_is_known_by_its_library() {
    let world = World::new();
    world.program("~/python/bin/python3.13");
    world.link("~/python/bin/python3", "python3.13");
    world.opens(&["~/python/bin"], &[("path", &["~/python/bin"])]);
    world.file("~/python/lib/python3.13/os.py");
    world.opens(&["~/python/bin"], &[("python", &["~/python"])]);
}

#[test]
fn an_installation_that_a_variable_names_is_opened_with_it() {
    let mut world = World::new();
    world.program("~/jdks/17/bin/java");
    world.program("~/sdk/go/bin/go");
    world.link("~/jdks/current", "17");
    world.variables = vec![
        ("JAVA_HOME", world.at("~/jdks/current")),
        ("GOROOT", world.at("~/sdk/go")),
    ];
    world.opens(&[], &[("go", &["~/sdk/go"]), ("java", &["~/jdks/17"])]);
    let java = world.bundles(&[]).remove(1);
    let variable = |value: &str| ("JAVA_HOME".into(), world.at(value).into());
    assert_eq!(java.environment, [variable("~/jdks/17")]);
    assert_eq!(
        java.private[0],
        ("GRADLE_USER_HOME".into(), PathBuf::from(".gradle"))
    );
    assert_eq!(java.options, [("MAVEN_OPTS".into(), "-Duser.home=".into())]);
    assert_eq!(world.why(&[], "~/jdks/17"), "variable JAVA_HOME");
}

#[test]
fn a_variable_that_names_no_installation_opens_nothing() {
    let mut world = World::new();
    world.program("~/bin/java");
    world.program("~/.ssh/bin/java");
    world.file("~/private/letter");
    world.program("~/jdk/bin/java");
    for root in ["~", "~/.ssh", "~/private", "people", "/", "/etc", "~/missing"] {
        world.variables = vec![("JAVA_HOME", world.at(root))];
        assert_eq!(world.bundles(&[]), [], "{root}");
    }
    world.variables = vec![("JAVA_HOME", "jdk".into())];
    assert_eq!(world.bundles(&[]), []);
    world.variables = vec![("JAVA_HOME", world.at("~/jdk"))];
    world.opens(&[], &[("java", &["~/jdk"])]);
}

#[test]
fn every_entry_says_what_led_to_it() {
    let world = World::new();
    world.program("~/.pyenv/shims/python");
    let at = |path: &str| world.at(path).display().to_string();
    let shims = at("~/.pyenv/shims");
    assert_eq!(
        world.why(&["~/.pyenv/shims"], "~/.pyenv"),
        format!("PATH directory {shims}")
    );
    world.program("~/.tools/x/bin/x");
    world.link("tools/x", "../people/me/.tools/x/bin/x");
    assert_eq!(
        world.why(&["tools"], "~/.tools/x"),
        format!("link {}", at("tools/x"))
    );
    world.program("pythons/3/bin/python3");
    world.program("~/venv/bin/pip");
    let settings = format!("home = {}", at("pythons/3/bin"));
    fs::write(world.at("~/venv/pyvenv.cfg"), settings).unwrap();
    assert_eq!(
        world.why(&["~/venv/bin"], "pythons/3"),
        format!("pyvenv.cfg of {}", at("~/venv"))
    );
}

#[test]
fn a_link_beside_that_passes_a_closed_place_keeps_it() {
    let world = World::new();
    world.program("tools/gcc");
    world.link("tools/cc", "../choices/cc");
    world.link("choices/cc", "../tools/gcc");
    let entries = &world.bundles(&["tools"])[0].entries;
    let mut links = entries.iter().flat_map(|entry| &entry.resolved.links);
    assert!(
        links.any(|link| link.path == world.at("choices/cc")),
        "{entries:?}"
    );
}
