//! What every program needs, as reviewed data.
//!
//! A row is a path and what is opened there and beneath it; a final `*` stands for every name with that
//! beginning. Most rows are absent on any one host and are then passed over (POL-40). Rules for a new row: a
//! program fails without it, it holds nothing secret and nothing that tells one host from another, and only
//! the administrator writes there. Nothing under a home directory, nothing under `/var`. In particular not:
//! `/etc/ssh` (POL-41), `/etc/ssl/private`, `/etc/pki/tls/private`, `/etc/pki/entitlement`, `/etc/shadow`,
//! `/etc/machine-id`, `/etc/environment`, `/etc/nix` (access tokens), and the settings of package managers
//! (`npmrc`, `pip.conf`, `maven/settings.xml`), which may hold credentials of a registry.

use super::BundleName::{self, Base, Git, Java, Locale, Python, Tls, Tz};
use super::RuntimeAccess::{self, Read, ReadExecute};

/// A path and what is opened there.
pub(super) type Row = (&'static str, RuntimeAccess);

/// What a bundle opens on every host.
pub(super) type Table = (BundleName, &'static [Row]);

/// The tables of this system; none where the system's own baseline stands for them.
pub(super) const TABLES: &[Table] = if cfg!(target_os = "linux") {
    LINUX
} else if cfg!(target_os = "macos") {
    MACOS
} else if cfg!(unix) {
    OTHER
} else {
    &[]
};

/// Debian and Ubuntu, Fedora, openSUSE, Arch, Alpine, NixOS, Guix.
const LINUX: &[Table] = &[
    (Base, BASE_OF_LINUX),
    (Tls, TLS_OF_LINUX),
    (
        Tz,
        &[
            ("/etc/localtime", Read),
            ("/etc/timezone", Read),
            ("/etc/zoneinfo", Read),
        ],
    ),
    (
        Locale,
        &[
            ("/etc/locale.alias", Read),
            ("/etc/locale.conf", Read),
            ("/etc/default/locale", Read),
            ("/etc/terminfo", Read),
            ("/etc/inputrc", Read),
        ],
    ),
    // Its programs and templates are in /usr.
    (Git, &[("/etc/gitconfig", Read), ("/etc/gitattributes", Read)]),
    // What the standard library in /usr links to.
    (Python, &[("/etc/python3*", Read)]),
    (
        Java,
        &[
            ("/etc/java*", Read),
            // Where Maven's class path and logging are set up; beside them are the settings.
            ("/etc/maven/m2.conf", Read),
            ("/etc/maven/logging", Read),
        ],
    ),
];

/// What every program of Linux needs.
const BASE_OF_LINUX: &[Row] = &[
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
    // Links that choose one of several programs: awk, cc, java.
    ("/etc/alternatives", Read),
    // Types of files.
    ("/etc/mime.types", Read),
    ("/etc/magic", Read),
    ("/etc/magic.mime", Read),
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
    // Parts of language runtimes that /usr links to.
    ("/etc/perl", Read),
    ("/etc/R", Read),
    // Fonts.
    ("/etc/fonts", Read),
];

/// Certificates of authorities and settings of TLS libraries; never the directories of private keys.
const TLS_OF_LINUX: &[Row] = &[
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
];

/// `/etc` and `/var` are links into `/private` there.
const MACOS: &[Table] = &[
    (
        Base,
        &[
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
            ("/etc/hosts", Read),
            ("/etc/resolv.conf", Read),
            ("/etc/services", Read),
            ("/etc/protocols", Read),
            ("/etc/passwd", Read),
            ("/etc/group", Read),
            ("/etc/shells", Read),
            ("/etc/profile", Read),
            ("/etc/bashrc", Read),
            ("/etc/zprofile", Read),
            ("/etc/zshrc", Read),
        ],
    ),
    // Not the rest of /etc/ssl, where private keys may be.
    (
        Tls,
        &[
            ("/etc/ssl/certs", Read),
            ("/etc/ssl/cert.pem", Read),
            ("/etc/ssl/openssl.cnf", Read),
        ],
    ),
    (
        Tz,
        &[("/etc/localtime", Read), ("/private/var/db/timezone", Read)],
    ),
    (Git, &[("/etc/gitconfig", Read)]),
];

/// Unix systems nobody has reviewed: the common part.
const OTHER: &[Table] = &[
    (
        Base,
        &[
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
        ],
    ),
    (Tls, &[("/etc/ssl/certs", Read), ("/etc/ssl/cert.pem", Read)]),
    (Tz, &[("/etc/localtime", Read)]),
];
