//! Settings that make git run programs or lead it to other settings, as reviewed data.
//!
//! A row is the name of a setting and which values matter. A `*` stands for any subsection, or for any key. Rules for
//! a new row: with this setting in a repository, some command of git, or of what is installed with it, runs a program
//! that the repository chooses, or takes settings, hooks or answers from a place that it chooses. That a repository
//! chooses one of the programs git knows already is no reason. Sources: git-config(1) of git 2.47 to 2.55 and the
//! manuals it refers to.

use super::config::{Setting, boolean};

/// A setting and which of its values matter.
type Row = (&'static str, When);

/// Which values of a setting matter.
#[derive(Clone, Copy)]
enum When {
    /// Whatever it says.
    Always,
    /// One that is no boolean: the others turn something of git's own on or off.
    NoBoolean,
    /// One that begins with `!`: the others choose something of git's own.
    Shell,
    /// One that does not begin with a letter: `!` begins a command, `-` an option of git, such as `-c`, which sets what
    /// it likes. After a letter it is a command of git.
    Alias,
    /// One with a `/`: the others are names that git knows or looks up in `PATH`.
    Path,
    /// One like `ext::COMMAND`: `git-remote-ext` runs, with the command.
    Helper,
    /// Any, in a subsection that is such an address.
    InHelper,
}
use When::{Alias, Always, Helper, InHelper, NoBoolean, Path, Shell};

const ROWS: &[Row] = &[
    // Run by almost every command, git status among them. A boolean is for the monitor of git itself.
    ("core.fsmonitor", NoBoolean),
    // Where hooks are instead of in `hooks`; the hooks of later versions, which are settings.
    ("core.hookspath", Always),
    ("hook.*.command", Always),
    // A hook of Microsoft's git, run by almost every command.
    ("core.virtualfilesystem", Always),
    // What files pass through on their way to and from the index: git status, add, diff, checkout.
    ("filter.*.clean", Always),
    ("filter.*.smudge", Always),
    ("filter.*.process", Always),
    // What shows differences: git diff, log -p, show.
    ("diff.external", Always),
    ("diff.*.command", Always),
    ("diff.*.textconv", Always),
    ("interactive.difffilter", Always),
    // What merges a file: git merge, rebase, cherry-pick, stash.
    ("merge.*.driver", Always),
    // Programs for text that is to be edited or read.
    ("core.editor", Always),
    ("sequence.editor", Always),
    ("core.pager", Always),
    ("pager.*", NoBoolean),
    // Asked for user names and passwords: git fetch, push.
    ("core.askpass", Always),
    ("credential.helper", Always),
    ("credential.*.helper", Always),
    // What makes and checks signatures: git commit -S, log --show-signature.
    ("gpg.program", Always),
    ("gpg.*.program", Always),
    ("gpg.ssh.defaultkeycommand", Always),
    // What connects to a remote repository.
    ("core.sshcommand", Always),
    ("core.gitproxy", Always),
    ("imap.tunnel", Always),
    // Run on the other side, which is this one if the address is a path.
    ("remote.*.uploadpack", Always),
    ("remote.*.receivepack", Always),
    // Names the program git-remote-NAME for a remote repository, as addresses do.
    ("remote.*.vcs", Always),
    ("remote.*.url", Helper),
    ("remote.*.pushurl", Helper),
    ("remote.pushdefault", Helper),
    ("branch.*.remote", Helper),
    ("branch.*.pushremote", Helper),
    ("submodule.*.url", Helper),
    ("url.*.insteadof", InHelper),
    ("url.*.pushinsteadof", InHelper),
    // Allows addresses that name a command, which are not allowed otherwise.
    ("protocol.allow", Always),
    ("protocol.ext.allow", Always),
    // Who answers instead of the remote repository.
    ("remote.*.proxy", Always),
    ("http.proxy", Always),
    ("http.*.proxy", Always),
    // A new command of git. A subsection is part of the name of the command, or has it in later versions.
    ("alias.*", Alias),
    ("alias.*.*", Alias),
    // Run by git submodule update.
    ("submodule.*.update", Shell),
    // Run by git when it looks for objects elsewhere, sends or collects them.
    ("core.alternaterefscommand", Always),
    ("uploadpack.packobjectshook", Always),
    ("gc.recentobjectshook", Always),
    // Run by git archive, also for somebody else.
    ("tar.*.command", Always),
    // Run by git commit --trailer and git interpret-trailers.
    ("trailer.*.command", Always),
    ("trailer.*.cmd", Always),
    // Run by git difftool and git mergetool. A tool with a path is a script they read, wherever it is; the layout of
    // vimdiff passes through the shell.
    ("diff.tool", Path),
    ("diff.guitool", Path),
    ("merge.tool", Path),
    ("merge.guitool", Path),
    ("difftool.*.cmd", Always),
    ("difftool.*.path", Always),
    ("mergetool.*.cmd", Always),
    ("mergetool.*.path", Always),
    ("mergetool.*.layout", Always),
    // Run by git help and git web--browse.
    ("man.*.cmd", Always),
    ("man.*.path", Always),
    ("browser.*.cmd", Always),
    ("browser.*.path", Always),
    // The server, its modules and the pages of git instaweb; any key, since all are written into its settings.
    ("instaweb.*", Always),
    // Run by git gui.
    ("guitool.*.cmd", Always),
    // Run by git send-email, with or without the name of an identity. A server with a path is a program.
    ("sendemail.sendmailcmd", Always),
    ("sendemail.tocmd", Always),
    ("sendemail.cccmd", Always),
    ("sendemail.headercmd", Always),
    ("sendemail.smtpserver", Path),
    ("sendemail.*.sendmailcmd", Always),
    ("sendemail.*.tocmd", Always),
    ("sendemail.*.cccmd", Always),
    ("sendemail.*.headercmd", Always),
    ("sendemail.*.smtpserver", Path),
    // Run by git svn.
    ("svn.authorsprog", Always),
    // Run by Git LFS, which is installed with git in many places.
    ("lfs.customtransfer.*.path", Always),
    ("lfs.extension.*.clean", Always),
    ("lfs.extension.*.smudge", Always),
    // Other settings; where hooks of new repositories come from; another working tree, with attributes of its own.
    ("include.path", Always),
    ("includeif.*.path", Always),
    ("init.templatedir", Always),
    ("core.worktree", Always),
];

/// Whether a setting makes git run a program or leads it to other settings.
pub(super) fn is_dangerous(setting: &Setting) -> bool {
    let Some(parts) = Parts::of(&setting.name) else {
        return false;
    };
    ROWS.iter().any(|(pattern, when)| {
        let pattern = Parts::of(pattern.as_bytes());
        pattern.is_some_and(|pattern| pattern.covers(&parts)) && when.holds(&parts, setting.value.as_deref())
    })
}

/// The parts of a name.
struct Parts<'a> {
    section: &'a [u8],
    subsection: Option<&'a [u8]>,
    key: &'a [u8],
}

impl<'a> Parts<'a> {
    /// Divides a name at its first and its last dot, as git does.
    fn of(name: &'a [u8]) -> Option<Self> {
        let is_dot = |byte: &u8| *byte == b'.';
        let first = name.iter().position(is_dot)?;
        let last = name.iter().rposition(is_dot)?;
        Some(Self {
            section: &name[..first],
            subsection: name.get(first + 1..last),
            key: &name[last + 1..],
        })
    }

    fn covers(&self, other: &Self) -> bool {
        let fits = |pattern: &[u8], part: &[u8]| pattern == b"*" || pattern == part;
        let subsection = match (self.subsection, other.subsection) {
            (None, None) => true,
            (Some(pattern), Some(part)) => fits(pattern, part),
            _ => false,
        };
        self.section == other.section && subsection && fits(self.key, other.key)
    }
}

impl When {
    fn holds(self, name: &Parts<'_>, value: Option<&[u8]>) -> bool {
        let value = value.unwrap_or_default();
        match self {
            Always => true,
            NoBoolean => boolean(value).is_none(),
            Shell => value.starts_with(b"!"),
            Alias => !value.first().is_some_and(u8::is_ascii_alphabetic),
            Path => value.contains(&b'/'),
            Helper => is_helper(value),
            InHelper => name.subsection.is_some_and(is_helper),
        }
    }
}

/// Whether an address names the program that reads it, as in `ext::COMMAND`.
fn is_helper(address: &[u8]) -> bool {
    let of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
    let name = address.iter().take_while(|byte| of_name(byte)).count();
    name > 0 && address[name..].starts_with(b"::")
}

#[cfg(test)]
#[cfg(unix)]
#[path = "keys_tests.rs"]
mod tests;
