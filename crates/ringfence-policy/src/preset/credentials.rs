//! Keys, tokens and passwords, as reviewed data.
//!
//! Rules for a new row: the file commonly holds something that opens an account or a machine, and no build or test
//! needs it. Names below the home directory matter only where a profile shows the home directory at all.

use super::Place::{Beneath, Home, HomeIfThere, Host};
use super::Row;
use crate::guard::Protection::Secret;

const fn row(place: super::Place, reason: &'static str) -> Row {
    Row {
        place,
        protection: Secret,
        reason,
    }
}

/// What is no secret although it is named like one.
const SAMPLES: &[&str] = &["**/*.example", "**/*.sample", "**/*.template", "**/*.dist"];
/// The same, where the name goes on.
const LOCAL_SAMPLES: &[&str] = &[
    "**/.env.example.local",
    "**/.env.sample.local",
    "**/.env.template.local",
    "**/.env.dist.local",
];

pub(super) const ROWS: &[Row] = &[
    // In projects.
    row(
        Beneath("**/.env", SAMPLES),
        "variables with keys and passwords of the project",
    ),
    row(
        Beneath("**/.env.local", SAMPLES),
        "variables with keys and passwords of the project",
    ),
    row(
        Beneath("**/.env.*.local", LOCAL_SAMPLES),
        "variables with keys and passwords of the project",
    ),
    row(
        Beneath("**/.env.prod", &[]),
        "variables with keys and passwords of what is in use",
    ),
    row(
        Beneath("**/.env.production", &[]),
        "variables with keys and passwords of what is in use",
    ),
    row(
        Beneath("**/.env.staging", &[]),
        "variables with keys and passwords of what is in use",
    ),
    row(Beneath("**/.env.keys", &[]), "the keys that decrypt variables"),
    row(
        Beneath("**/.dev.vars", &[]),
        "variables with keys and passwords of the project",
    ),
    row(Beneath("**/.pypirc", &[]), "passwords of package indexes"),
    row(Beneath("**/.git-credentials", &[]), "git stores passwords in it"),
    row(Beneath("**/.netrc", &[]), "passwords of hosts"),
    // Keys of a person.
    row(Home(".ssh"), "private keys, and the keys that may log in"),
    row(Home(".gnupg"), "private keys"),
    row(HomeIfThere(".password-store"), "passwords"),
    row(
        HomeIfThere(".local/share/keyrings"),
        "passwords and keys of the desktop",
    ),
    row(
        HomeIfThere(".local/share/kwalletd"),
        "passwords and keys of the desktop",
    ),
    row(HomeIfThere(".config/op"), "sessions of 1Password"),
    row(HomeIfThere(".config/Bitwarden CLI"), "sessions of Bitwarden"),
    row(HomeIfThere(".config/sops"), "keys of sops and age"),
    row(HomeIfThere("Library/Keychains"), "passwords and keys of macOS"),
    // Clouds and clusters.
    row(HomeIfThere(".aws"), "keys and sessions of AWS"),
    row(HomeIfThere(".azure"), "sessions of Azure"),
    row(HomeIfThere(".config/gcloud"), "sessions of Google Cloud"),
    row(HomeIfThere(".boto"), "keys of Google Cloud Storage and S3"),
    row(HomeIfThere(".s3cfg"), "keys of S3"),
    row(HomeIfThere(".config/rclone"), "keys of storage services"),
    row(HomeIfThere(".kube"), "certificates and tokens of clusters"),
    row(
        HomeIfThere(".docker"),
        "passwords of registries, and the daemon's address",
    ),
    row(HomeIfThere(".config/containers"), "passwords of registries"),
    row(HomeIfThere(".config/helm"), "passwords of registries"),
    row(HomeIfThere(".terraform.d"), "tokens of Terraform"),
    row(HomeIfThere(".terraformrc"), "tokens of Terraform"),
    row(HomeIfThere(".vault-token"), "a session of Vault"),
    row(HomeIfThere(".config/doctl"), "tokens of DigitalOcean"),
    row(HomeIfThere(".fly"), "tokens of Fly"),
    row(HomeIfThere(".config/heroku"), "tokens of Heroku"),
    row(HomeIfThere(".databrickscfg"), "tokens of Databricks"),
    row(HomeIfThere(".snowflake"), "passwords of Snowflake"),
    // Code hosting and package registries.
    row(HomeIfThere(".netrc"), "passwords of hosts"),
    row(HomeIfThere("_netrc"), "passwords of hosts"),
    row(HomeIfThere(".git-credentials"), "git stores passwords in it"),
    row(
        HomeIfThere(".config/git/credentials"),
        "git stores passwords in it",
    ),
    row(HomeIfThere(".config/gh"), "tokens of GitHub"),
    row(HomeIfThere(".config/hub"), "tokens of GitHub"),
    row(HomeIfThere(".config/glab-cli"), "tokens of GitLab"),
    row(HomeIfThere(".config/github-copilot"), "tokens of Copilot"),
    row(HomeIfThere(".npmrc"), "tokens of npm registries"),
    row(HomeIfThere(".yarnrc.yml"), "tokens of npm registries"),
    row(HomeIfThere(".pypirc"), "passwords of Python registries"),
    row(HomeIfThere(".config/pip"), "passwords of Python registries"),
    row(HomeIfThere(".cargo/credentials"), "tokens of Rust registries"),
    row(
        HomeIfThere(".cargo/credentials.toml"),
        "tokens of Rust registries",
    ),
    row(HomeIfThere(".gem/credentials"), "keys of RubyGems"),
    row(HomeIfThere(".m2/settings.xml"), "passwords of Maven repositories"),
    row(
        HomeIfThere(".m2/settings-security.xml"),
        "the master password of Maven",
    ),
    row(
        HomeIfThere(".gradle/gradle.properties"),
        "passwords of Gradle repositories",
    ),
    row(HomeIfThere(".nuget/NuGet"), "passwords of NuGet sources"),
    row(
        HomeIfThere(".composer/auth.json"),
        "tokens of Composer repositories",
    ),
    row(
        HomeIfThere(".config/composer/auth.json"),
        "tokens of Composer repositories",
    ),
    // Databases.
    row(HomeIfThere(".pgpass"), "passwords of PostgreSQL"),
    row(HomeIfThere(".my.cnf"), "passwords of MySQL"),
    row(HomeIfThere(".mylogin.cnf"), "passwords of MySQL"),
    // Agents.
    row(
        HomeIfThere(".claude/.credentials.json"),
        "a session of Claude Code",
    ),
    row(HomeIfThere(".codex/auth.json"), "a session of Codex"),
    row(HomeIfThere(".gemini/oauth_creds.json"), "a session of Gemini CLI"),
    // Browsers and mail: cookies are sessions.
    row(HomeIfThere(".mozilla"), "sessions and passwords of Firefox"),
    row(HomeIfThere(".thunderbird"), "passwords of mail accounts"),
    row(
        HomeIfThere(".config/google-chrome"),
        "sessions and passwords of Chrome",
    ),
    row(
        HomeIfThere(".config/chromium"),
        "sessions and passwords of Chromium",
    ),
    row(
        HomeIfThere(".config/BraveSoftware"),
        "sessions and passwords of Brave",
    ),
    row(
        HomeIfThere(".config/microsoft-edge"),
        "sessions and passwords of Edge",
    ),
    row(HomeIfThere(".config/opera"), "sessions and passwords of Opera"),
    row(
        HomeIfThere(".config/vivaldi"),
        "sessions and passwords of Vivaldi",
    ),
    row(HomeIfThere("snap/firefox"), "sessions and passwords of Firefox"),
    row(HomeIfThere("snap/chromium"), "sessions and passwords of Chromium"),
    row(HomeIfThere(".var/app"), "sessions of Flatpak programs"),
    row(
        HomeIfThere("Library/Application Support/Google/Chrome"),
        "sessions and passwords of Chrome",
    ),
    row(
        HomeIfThere("Library/Application Support/Firefox"),
        "sessions and passwords of Firefox",
    ),
    row(HomeIfThere("Library/Cookies"), "sessions of macOS programs"),
    // Histories: passwords are typed into command lines.
    row(HomeIfThere(".bash_history"), "what was typed, passwords included"),
    row(HomeIfThere(".zsh_history"), "what was typed, passwords included"),
    row(
        HomeIfThere(".local/share/fish/fish_history"),
        "what was typed, passwords included",
    ),
    row(
        HomeIfThere(".python_history"),
        "what was typed, passwords included",
    ),
    row(
        HomeIfThere(".node_repl_history"),
        "what was typed, passwords included",
    ),
    row(HomeIfThere(".psql_history"), "what was typed, passwords included"),
    row(
        HomeIfThere(".mysql_history"),
        "what was typed, passwords included",
    ),
    // The system's, which a caller with user id 0 could read.
    row(Host("/etc/shadow"), "password hashes"),
    row(Host("/etc/shadow-"), "password hashes"),
    row(Host("/etc/gshadow"), "password hashes"),
    row(Host("/etc/gshadow-"), "password hashes"),
    row(Host("/etc/sudoers"), "who may become root"),
    row(Host("/etc/sudoers.d"), "who may become root"),
    row(Host("/etc/ssh"), "private keys of the host"),
    row(Host("/etc/ssl/private"), "private keys of services"),
    row(Host("/etc/pki/tls/private"), "private keys of services"),
    row(Host("/etc/krb5.keytab"), "keys of the host"),
    row(
        Host("/etc/NetworkManager/system-connections"),
        "passwords of networks",
    ),
    row(Host("/etc/wpa_supplicant"), "passwords of networks"),
    row(Host("/etc/kubernetes"), "keys of the cluster"),
    row(Host("/run/secrets"), "secrets of the container"),
    row(Host("/var/run/secrets"), "secrets of the container"),
    row(Host("/var/lib/sss/db"), "cached credentials"),
    row(Host("/root/.ssh"), "private keys of root"),
    row(Host("/root/.gnupg"), "private keys of root"),
];
