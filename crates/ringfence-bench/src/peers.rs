//! Peers, each with the policy that comes nearest: everything readable, one writable directory, no network.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::candidates::{DYNAMIC, Failure};

/// A peer, and how it is called.
#[derive(Clone, Copy)]
pub(crate) struct Peer {
    pub(crate) name: &'static str,
    program: &'static str,
    /// `WS` stands for the writable directory, `SETTINGS` for a file of settings that names it.
    arguments: &'static str,
    /// Whether one command takes so long that a few have to do.
    pub(crate) is_slow: bool,
}

const ALL: [Peer; 4] = [
    Peer {
        name: "bubblewrap",
        program: "bwrap",
        arguments: "--ro-bind / / --dev /dev --proc /proc --unshare-all --die-with-parent --new-session --bind WS WS --",
        is_slow: false,
    },
    Peer {
        name: "firejail",
        program: "firejail",
        arguments: "--quiet --noprofile --read-only=/ --read-write=WS --net=none --",
        is_slow: true,
    },
    Peer {
        name: "nsjail",
        program: "nsjail",
        arguments: "-Mo -Q -c / -B WS --cwd WS -t 0 --disable_rlimits --",
        is_slow: false,
    },
    Peer {
        name: "srt",
        program: "srt",
        arguments: "--settings SETTINGS -c",
        is_slow: true,
    },
];

/// Those in `PATH`.
pub(crate) fn installed() -> impl Iterator<Item = Peer> {
    ALL.into_iter().filter(|peer| {
        let mut asked = Command::new(peer.program);
        let quiet = asked.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
        quiet.status().is_ok()
    })
}

impl Peer {
    /// Confines the program that does nothing.
    pub(crate) fn command(self, workspace: &Path) -> Result<Command, Failure> {
        let writable = workspace
            .to_str()
            .ok_or("a temporary directory with an odd name")?;
        let settings = workspace.join("srt.json");
        if self.arguments.contains("SETTINGS") && !settings.exists() {
            let filesystem = serde_json::json!({ "denyRead": [], "allowWrite": [writable], "denyWrite": [] });
            let network = serde_json::json!({ "allowedDomains": [], "deniedDomains": [] });
            let text = serde_json::json!({ "network": network, "filesystem": filesystem });
            std::fs::write(&settings, text.to_string())?;
        }
        let mut command = Command::new(self.program);
        for argument in self.arguments.split(' ') {
            command.arg(
                argument
                    .replace("WS", writable)
                    .replace("SETTINGS", &settings.to_string_lossy()),
            );
        }
        command.arg(DYNAMIC);
        Ok(command)
    }
}
