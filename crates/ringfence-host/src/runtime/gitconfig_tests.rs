use std::fs;
use std::path::{Path, PathBuf};

use super::{GitFiles, gitconfig};
use crate::testing::Tree;

/// A home directory, a system file and a workspace.
struct World {
    tree: Tree,
    workspace: PathBuf,
}

impl World {
    fn new() -> Self {
        let tree = Tree::new();
        let workspace = tree.dir("home/work/ws");
        Self { tree, workspace }
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.tree.file(name), text).unwrap();
    }

    fn text(&self) -> String {
        let system = [self.tree.path("etc/gitconfig")];
        let home = self.tree.path("home");
        let files = GitFiles {
            system: &system,
            xdg_config_home: None,
            home: Some(&home),
        };
        String::from_utf8(gitconfig(&files, &self.workspace)).unwrap()
    }

    fn with_user(&self, lines: &str) -> String {
        let user = if lines.is_empty() { "" } else { "[user]\n" };
        format!(
            "{user}{lines}[safe]\n\tdirectory = \"{}\"\n",
            self.workspace.display()
        )
    }
}

#[test]
fn nothing_set_gives_the_workspace_alone() {
    let world = World::new();
    assert_eq!(world.text(), world.with_user(""));
    let nowhere = gitconfig(&GitFiles::default(), Path::new("/ws"));
    assert_eq!(nowhere, b"[safe]\n\tdirectory = \"/ws\"\n");
}

#[test]
fn later_files_win_as_in_git() {
    let world = World::new();
    world.write("etc/gitconfig", "[user]\nname=system\nemail=system@x\n");
    let expected = "\tname = \"system\"\n\temail = \"system@x\"\n";
    assert_eq!(world.text(), world.with_user(expected));
    world.write("home/.config/git/config", "[user]\nname=xdg\n");
    let expected = "\tname = \"xdg\"\n\temail = \"system@x\"\n";
    assert_eq!(world.text(), world.with_user(expected));
    world.write("home/.gitconfig", "[user]\nname=home\nname=Last One\n");
    let expected = "\tname = \"Last One\"\n\temail = \"system@x\"\n";
    assert_eq!(world.text(), world.with_user(expected));
}

#[test]
fn nothing_but_the_identity_gets_through() {
    let world = World::new();
    let text = "
[user]
    name = Me
    signingKey = SECRET
[user \"other\"]
    email = SECRET
[credential]
    helper = !SECRET
[alias]
    x = !SECRET
[core]
    hooksPath = SECRET
    sshCommand = SECRET
    pager = SECRET
[include]
    path = SECRET
[url \"https://SECRET@host/\"]
    insteadOf = x
[http]
    extraHeader = SECRET
[filter \"x\"]
    clean = SECRET
";
    world.write("home/.gitconfig", text);
    assert_eq!(world.text(), world.with_user("\tname = \"Me\"\n"));
}

#[test]
fn values_are_quoted_and_control_characters_refused() {
    let world = World::new();
    world.write(
        "home/.gitconfig",
        "[user]\nname = \"A \\\"B\\\" \\\\ #;C \"\nemail = é@x\n",
    );
    let expected = "\tname = \"A \\\"B\\\" \\\\ #;C \"\n\temail = \"é@x\"\n";
    assert_eq!(world.text(), world.with_user(expected));
    for bad in ["a\\n[alias]", "a\\tb", "a\\bb", "a\u{1}", "a\u{7f}", "a\u{85}"] {
        world.write("home/.gitconfig", &format!("[user]\nname = {bad}\nemail = e\n"));
        assert_eq!(world.text(), world.with_user("\temail = \"e\"\n"), "{bad:?}");
    }
    let text = gitconfig(&GitFiles::default(), Path::new("/ws\n[alias]\nx = y"));
    assert_eq!(text, b"");
}

#[test]
fn includes_are_followed_where_git_does() {
    let world = World::new();
    let text = "[user]\nname=me\n[include]\npath=other\npath=~/third\npath=missing\n\
                [includeIf \"gitdir:~/work/\"]\npath=at-work\n[includeIf \"gitdir:~/play/\"]\npath=at-play\n";
    world.write("home/.gitconfig", text);
    world.write("home/other", "[user]\nemail=other\n");
    world.write("home/third", "[user]\nname=third\n[include]\npath=third\n");
    world.write("home/at-play", "[user]\nemail=play\n");
    let expected = "\tname = \"third\"\n\temail = \"other\"\n";
    assert_eq!(world.text(), world.with_user(expected));
    world.write("home/at-work", "[user]\nemail=work\n");
    let expected = "\tname = \"third\"\n\temail = \"work\"\n";
    assert_eq!(world.text(), world.with_user(expected));
}

#[test]
fn a_linked_worktree_has_the_settings_of_its_repository() {
    let world = World::new();
    world.tree.dir("home/play/main/.git/worktrees/ws");
    let pointer = world.tree.path("home/play/main/.git/worktrees/ws");
    world.write("home/work/ws/.git", &format!("gitdir: {}\n", pointer.display()));
    world.write(
        "home/.gitconfig",
        "[includeIf \"gitdir:~/play/\"]\npath=at-play\n",
    );
    world.write("home/at-play", "[user]\nname=play\n");
    assert_eq!(world.text(), world.with_user("\tname = \"play\"\n"));
}

#[test]
fn what_the_caller_trusts_in_the_workspace_stays_trusted() {
    let world = World::new();
    let safe = |entries: &[&str]| {
        let line = |entry: &&str| format!("\tdirectory = \"{}{entry}\"\n", world.workspace.display());
        format!("[safe]\n{}", entries.iter().map(line).collect::<String>())
    };
    for (entries, expected) in [
        (&["/elsewhere", "~/work/ws"][..], &[""][..]),
        (&["~/work/ws/sub", "~/work/wsx"], &["", "/sub"]),
        (&["~/work/ws/../x", "~/work/ws/"], &[""]),
        (&["*"], &["", "/*"]),
        (&["~/work/*"], &["", "/*"]),
        (&["~/play/*", "~/work/ws/x/*"], &["", "/x/*"]),
        (&["*", "~/work/ws/sub", ""], &[""]),
    ] {
        let line = |entry: &&str| format!("directory = {entry}\n");
        let lines: String = entries.iter().map(line).collect();
        world.write("home/.gitconfig", &format!("[safe]\n{lines}"));
        assert_eq!(world.text(), safe(expected), "{entries:?}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_pipe_and_a_loop_of_includes_end() {
    let world = World::new();
    let pipe = world.tree.path("home/pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    )
    .unwrap();
    let text = "[include]\npath=pipe\npath=.gitconfig\npath=.gitconfig\npath=.gitconfig\n[user]\nname=me\n";
    world.write("home/.gitconfig", text);
    assert_eq!(world.text(), world.with_user("\tname = \"me\"\n"));
}
