//! What agents, editors and shells act on by themselves, as reviewed data.
//!
//! Rules for a new row: some program obeys the file on the host without being asked, by starting a program, by
//! widening what an agent may do, or by loading code. Not here: files that are the work itself, such as `Makefile`,
//! `package.json` or `AGENTS.md`, which a person reviews before acting on them.

use super::Place::{Beneath, Home, HomeIfThere, Root};
use super::Row;
use crate::guard::Protection::Protect;

const fn row(place: super::Place, reason: &'static str) -> Row {
    Row {
        place,
        protection: Protect,
        reason,
    }
}

pub(super) const ROWS: &[Row] = &[
    // Agents: permissions, hooks and servers they start.
    row(
        Root(".claude"),
        "Claude Code runs hooks and takes permissions from it",
    ),
    row(Root(".codex"), "Codex takes its sandbox mode and servers from it"),
    row(Root(".agents"), "agents load skills and settings from it"),
    row(
        Root(".cursor"),
        "Cursor starts the servers it names and takes rules from it",
    ),
    row(Root(".gemini"), "Gemini CLI takes settings and servers from it"),
    row(Root(".opencode"), "opencode loads plugins from it"),
    row(Root(".mcp.json"), "agents start the servers it names"),
    // Found where they are; a name of their own in every workspace is too much for how rarely they are used.
    row(
        Beneath("**/opencode.json", &[]),
        "opencode starts the servers it names",
    ),
    row(
        Beneath("**/.roo", &[]),
        "Roo Code takes rules and servers from it",
    ),
    row(
        Beneath("**/.kiro", &[]),
        "Kiro runs its hooks and starts the servers it names",
    ),
    row(
        Beneath("**/.windsurf", &[]),
        "Windsurf takes rules and workflows from it",
    ),
    row(
        Beneath("**/.junie", &[]),
        "Junie takes guidelines and servers from it",
    ),
    row(
        Beneath("**/.aider.conf.yml", &[]),
        "aider takes commands to run after its edits from it",
    ),
    // Editors: tasks, debuggers and containers that start when a folder is opened.
    row(
        Root(".vscode"),
        "editors run its tasks and take paths of programs from its settings",
    ),
    row(
        Root(".idea"),
        "JetBrains editors take run configurations and paths of programs from it",
    ),
    row(Root(".zed"), "Zed takes tasks and paths of programs from it"),
    row(
        Root(".devcontainer"),
        "editors run its commands on the host before they enter the container",
    ),
    row(
        Beneath("**/.devcontainer.json", &[]),
        "editors run its commands on the host before they enter the container",
    ),
    row(
        Beneath("**/*.code-workspace", &[]),
        "editors run its tasks and take paths of programs from its settings",
    ),
    row(
        Beneath("**/.helix", &[]),
        "Helix takes paths of language servers from it",
    ),
    // Shells that enter the directory.
    row(Root(".envrc"), "direnv runs it on entering the directory"),
    // Start-up files of shells, where the home directory itself can be written.
    row(Home(".bashrc"), "every interactive bash runs it"),
    row(Home(".profile"), "login shells run it"),
    row(Home(".bash_profile"), "a login bash runs it instead of .profile"),
    row(Home(".bash_login"), "a login bash runs it instead of .profile"),
    row(Home(".bash_logout"), "a login bash runs it at its end"),
    row(Home(".zshenv"), "every zsh runs it"),
    row(Home(".zprofile"), "a login zsh runs it"),
    row(Home(".zshrc"), "every interactive zsh runs it"),
    row(Home(".zlogin"), "a login zsh runs it"),
    row(Home(".zlogout"), "a login zsh runs it at its end"),
    row(Home(".config/fish"), "every fish runs what is in it"),
    row(Home(".inputrc"), "it can bind keys to command lines"),
    row(Home(".gitconfig"), "git runs the programs it names"),
    row(Home(".config/git"), "git runs the programs it names"),
    row(Home(".config/autostart"), "desktops start what it names"),
    row(
        Home(".config/systemd"),
        "the user's service manager starts what it names",
    ),
    row(
        Home(".config/environment.d"),
        "the user's service manager sets its variables for every program",
    ),
    row(
        HomeIfThere(".claude.json"),
        "Claude Code starts the servers it names",
    ),
    row(HomeIfThere(".xprofile"), "desktops run it at login"),
    row(HomeIfThere(".xsessionrc"), "desktops run it at login"),
    row(
        HomeIfThere(".pam_environment"),
        "logins set its variables for every program",
    ),
    row(HomeIfThere(".tmux.conf"), "tmux runs the commands it names"),
    row(HomeIfThere(".screenrc"), "screen runs the commands it names"),
    row(HomeIfThere(".vimrc"), "vim runs it"),
    row(HomeIfThere(".vim"), "vim loads plugins from it"),
    row(HomeIfThere(".config/nvim"), "Neovim runs what is in it"),
    row(HomeIfThere(".emacs"), "Emacs runs it"),
    row(HomeIfThere(".emacs.d"), "Emacs runs what is in it"),
    row(
        HomeIfThere(".config/Code/User"),
        "VS Code takes tasks and paths of programs from it",
    ),
    row(HomeIfThere(".gdbinit"), "gdb runs it"),
    row(HomeIfThere(".lldbinit"), "lldb runs it"),
    row(HomeIfThere(".Rprofile"), "R runs it"),
    row(
        HomeIfThere(".cargo/config.toml"),
        "cargo runs the compiler wrappers and runners it names",
    ),
    row(
        HomeIfThere(".cargo/config"),
        "cargo runs the compiler wrappers and runners it names",
    ),
    row(HomeIfThere(".local/bin"), "its programs are found by PATH"),
    row(HomeIfThere("bin"), "its programs are found by PATH"),
];
