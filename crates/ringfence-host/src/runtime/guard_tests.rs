use std::path::Path;

use super::{openable, prefix, trusted};

const HOME: &str = "/data/people/me";

fn open(path: &str) -> bool {
    openable(Path::new(path), Some(Path::new(HOME)))
}

#[test]
fn homes_and_what_contains_them_are_never_opened() {
    for path in ["/", "/data", "/data/people", HOME, "/root", "/home", "/Users"] {
        assert!(!open(path), "{path}");
    }
    for path in [
        "/data/people/me/bin",
        "/data/people/you",
        "/data/peop",
        "/root/.cargo/bin",
        "/home/linuxbrew/.linuxbrew",
    ] {
        assert!(open(path), "{path}");
    }
}

#[test]
fn directories_of_many_purposes_are_never_opened() {
    for path in [
        "/etc", "/etc/ssh", "/tmp", "/var", "/opt", "/run", "/dev/shm", "/proc/1", "/sys", "/boot/x",
    ] {
        assert!(!open(path), "{path}");
        assert!(!openable(Path::new(path), None), "{path}");
    }
    for name in [
        ".local",
        ".local/share",
        ".config",
        ".cache",
        ".cargo",
        ".ssh",
        ".ssh/bin",
        ".gnupg/x",
        ".local/share/uv",
        ".local/share/uv/credentials/x",
    ] {
        assert!(!open(&format!("{HOME}/{name}")), "{name}");
    }
    for path in [
        "/tmp/x",
        "/opt/x",
        "/data/people/me/.local/bin",
        "/data/people/me/.docker/bin",
        "/data/people/me/.local/share/uv/python",
        "/etcetera",
    ] {
        assert!(open(path), "{path}");
    }
}

#[test]
fn a_prefix_is_neither_at_the_top_nor_hidden_in_a_home() {
    let prefix = |path: &str| prefix(Path::new(path), Some(Path::new(HOME)));
    for path in ["/", "/data", HOME, "/srv", "/elsewhere", "/data/people/me/.tool"] {
        assert!(!prefix(path), "{path}");
    }
    for path in [
        "/data/tool",
        "/data/people/me/tool",
        "/data/people/me/.tool/1.0",
        "/data/.tool",
    ] {
        assert!(prefix(path), "{path}");
    }
}

#[test]
fn a_link_of_the_system_is_not_followed_to_where_anybody_writes() {
    for path in [
        "/home/me/zone",
        "/root/x",
        "/tmp/x",
        "/var/tmp/x",
        "/proc/1/mounts",
        "/dev/null",
        "/",
        "/var",
        "/etc",
    ] {
        assert!(!trusted(Path::new(path)), "{path}");
    }
    for path in [
        "/run/systemd/resolve/stub-resolv.conf",
        "/mnt/wsl/resolv.conf",
        "/usr/bin",
        "/etc/hosts",
    ] {
        assert!(trusted(Path::new(path)), "{path}");
    }
}
