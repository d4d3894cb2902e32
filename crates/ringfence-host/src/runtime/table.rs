//! What every program needs, as reviewed data.
//!
//! A row is a path and what is opened there and beneath it; a final `*` stands for every name with that
//! beginning. Most rows are absent on any one host and are then passed over (POL-40). Rules for a new row: a
//! program fails without it, it holds nothing secret and nothing that tells one host from another, and only
//! the administrator writes there. Nothing under a home directory, nothing under `/var`. In particular not:
//! `/etc/ssh` (POL-41), `/etc/ssl/private`, `/etc/pki/tls/private`, `/etc/pki/entitlement`, `/etc/shadow`,
//! `/etc/machine-id`, `/etc/environment`, `/etc/nix` (access tokens).

use super::RuntimeAccess::{self, Read, ReadExecute};

/// A path and what is opened there.
pub(super) type Row = (&'static str, RuntimeAccess);

/// The rows of this system; none where the system's own baseline stands for them.
pub(super) const SYSTEM: &[Row] = if cfg!(target_os = "linux") {
    LINUX
} else if cfg!(target_os = "macos") {
    MACOS
} else if cfg!(unix) {
    OTHER
} else {
    &[]
};

/// Debian and Ubuntu, Fedora, openSUSE, Arch, Alpine, NixOS, Guix.
const LINUX: &[Row] = &[
    // Programs and libraries. Libraries need execute, since it also governs mapping code (POL-37).
    ("/usr", ReadExecute),
    // Links into /usr, or directories where the two are not merged (S-04).
    ("/bin", ReadExecute),
    ("/sbin", ReadExecute),
    ("/lib", ReadExecute),
    ("/lib32", ReadExecute),
    ("/lib64", ReadExecute),
    ("/libx32", ReadExecute),
    // NixOS and Guix keep programs, libraries and most of /etc here.
    ("/nix/store", ReadExecute),
    ("/gnu/store", ReadExecute),
    // NixOS: most names in /etc are links below this link.
    ("/etc/static", Read),
    // The dynamic loaders of glibc and musl; a preload file that exists and cannot be read is an error
    // message from every program.
    ("/etc/ld.so.cache", Read),
    ("/etc/ld.so.conf", Read),
    ("/etc/ld.so.conf.d", Read),
    ("/etc/ld.so.preload", Read),
    ("/etc/ld-musl-*", Read),
    // Names of users and groups: whoami, ls -l, git, tar.
    ("/etc/passwd", Read),
    ("/etc/group", Read),
    ("/etc/nsswitch.conf", Read),
    ("/etc/login.defs", Read),
    ("/etc/shells", Read),
    // Names of hosts and services.
    ("/etc/hosts", Read),
    ("/etc/host.conf", Read),
    ("/etc/hostname", Read),
    ("/etc/resolv.conf", Read),
    ("/etc/gai.conf", Read),
    ("/etc/services", Read),
    ("/etc/protocols", Read),
    ("/etc/networks", Read),
    // Time zone.
    ("/etc/localtime", Read),
    ("/etc/timezone", Read),
    ("/etc/zoneinfo", Read),
    // Certificates of authorities and settings of TLS libraries; never the directories of private keys.
    ("/etc/ssl/certs", Read),
    ("/etc/ssl/cert.pem", Read),
    ("/etc/ssl/ca-bundle.pem", Read),
    ("/etc/ssl/openssl.cnf", Read),
    ("/etc/ssl/openssl.cnf.d", Read),
    ("/etc/ssl/ct_log_list.cnf", Read),
    ("/etc/pki/ca-trust", Read),
    ("/etc/pki/java", Read),
    ("/etc/pki/tls/cert.pem", Read),
    ("/etc/pki/tls/certs", Read),
    ("/etc/pki/tls/openssl.cnf", Read),
    ("/etc/pki/tls/openssl.d", Read),
    ("/etc/pki/tls/fips_local.cnf", Read),
    ("/etc/pki/tls/ct_log_list.cnf", Read),
    ("/etc/ca-certificates", Read),
    ("/etc/ca-certificates.conf", Read),
    ("/etc/crypto-policies", Read),
    ("/etc/gnutls", Read),
    // Links that choose one of several programs: awk, cc, java.
    ("/etc/alternatives", Read),
    // Types of files.
    ("/etc/mime.types", Read),
    ("/etc/magic", Read),
    ("/etc/magic.mime", Read),
    // Language and terminal.
    ("/etc/locale.alias", Read),
    ("/etc/locale.conf", Read),
    ("/etc/default/locale", Read),
    ("/etc/terminfo", Read),
    ("/etc/inputrc", Read),
    // Start files of shells; NixOS sets PATH in set-environment.
    ("/etc/profile", Read),
    ("/etc/profile.d", Read),
    ("/etc/bash", Read),
    ("/etc/bash.bashrc", Read),
    ("/etc/bashrc", Read),
    ("/etc/zsh", Read),
    ("/etc/zprofile", Read),
    ("/etc/zshenv", Read),
    ("/etc/zshrc", Read),
    ("/etc/fish", Read),
    ("/etc/set-environment", Read),
    // Which system this is: installers and build scripts ask.
    ("/etc/os-release", Read),
    ("/etc/lsb-release", Read),
    ("/etc/debian_version", Read),
    ("/etc/alpine-release", Read),
    ("/etc/arch-release", Read),
    ("/etc/fedora-release", Read),
    ("/etc/redhat-release", Read),
    ("/etc/system-release", Read),
    // Settings of git for all users; parts of language runtimes that /usr links to. Not the settings of package
    // managers (npmrc, pip.conf, maven): they may hold credentials of a registry.
    ("/etc/gitconfig", Read),
    ("/etc/java*", Read),
    ("/etc/perl", Read),
    ("/etc/python3*", Read),
    ("/etc/R", Read),
    // Fonts.
    ("/etc/fonts", Read),
];

/// `/etc` and `/var` are links into `/private` there.
const MACOS: &[Row] = &[
    ("/usr", ReadExecute),
    ("/bin", ReadExecute),
    ("/sbin", ReadExecute),
    // Frameworks hold programs too: Python, Ruby, the Java launcher.
    ("/System/Library", ReadExecute),
    ("/System/Cryptexes", ReadExecute),
    ("/Library/Apple", ReadExecute),
    // What /usr/bin/git, cc and make hand over to.
    ("/Library/Developer/CommandLineTools", ReadExecute),
    // Which shell /bin/sh is, and which developer directory xcrun uses.
    ("/private/var/select", Read),
    ("/private/var/db/timezone", Read),
    ("/etc/hosts", Read),
    ("/etc/resolv.conf", Read),
    ("/etc/services", Read),
    ("/etc/protocols", Read),
    ("/etc/localtime", Read),
    ("/etc/passwd", Read),
    ("/etc/group", Read),
    ("/etc/shells", Read),
    ("/etc/profile", Read),
    ("/etc/bashrc", Read),
    ("/etc/zprofile", Read),
    ("/etc/zshrc", Read),
    ("/etc/gitconfig", Read),
    // Not the rest of /etc/ssl, where private keys may be.
    ("/etc/ssl/certs", Read),
    ("/etc/ssl/cert.pem", Read),
    ("/etc/ssl/openssl.cnf", Read),
];

/// Unix systems nobody has reviewed: the common part.
const OTHER: &[Row] = &[
    ("/usr", ReadExecute),
    ("/bin", ReadExecute),
    ("/sbin", ReadExecute),
    ("/lib", ReadExecute),
    ("/libexec", ReadExecute),
    ("/etc/hosts", Read),
    ("/etc/resolv.conf", Read),
    ("/etc/nsswitch.conf", Read),
    ("/etc/services", Read),
    ("/etc/protocols", Read),
    ("/etc/localtime", Read),
    ("/etc/ssl/certs", Read),
    ("/etc/ssl/cert.pem", Read),
];
