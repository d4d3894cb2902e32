use super::*;

fn is_never(name: &str) -> bool {
    Never::of(OsStr::new(name)).is_some()
}

/// Whether every name that `row` is about is one that `other` is about too.
fn covered(row: &str, other: &str) -> bool {
    match (row.strip_prefix('*'), row.strip_suffix('*')) {
        (Some(end), _) => other.strip_prefix('*').is_some_and(|other| end.ends_with(other)),
        (_, Some(start)) => other
            .strip_suffix('*')
            .is_some_and(|other| start.starts_with(other)),
        _ => fits(other.as_bytes(), row.as_bytes()),
    }
}

#[test]
fn no_row_is_redundant() {
    for (index, row) in NEVER.iter().enumerate() {
        for (other_index, other) in NEVER.iter().enumerate() {
            assert!(
                index == other_index || !covered(row.name, other.name),
                "{} is covered by {}",
                row.name,
                other.name
            );
        }
    }
}

#[test]
fn every_row_has_a_reason_and_a_name_of_the_documented_form() {
    for row in NEVER {
        let ends = [row.name.strip_prefix('*'), row.name.strip_suffix('*')];
        let core = ends.into_iter().flatten().next().unwrap_or(row.name);
        let plain = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
        assert!(core.len() >= 2 && core.chars().all(plain), "{}", row.name);
        assert!(row.reason.contains(' '), "{}", row.name);
        assert!(!row.reason.ends_with('.'), "{}", row.name);
    }
}

#[test]
fn every_row_is_the_first_about_some_name() {
    for row in NEVER {
        let name = row.name.replace('*', "Q");
        assert_eq!(Never::of(OsStr::new(&name)), Some(row), "{name}");
    }
}

#[test]
fn s_31_secrets_and_what_leads_to_them_are_on_the_list() {
    let names = "OPENAI_API_KEY ANTHROPIC_API_KEY GITHUB_TOKEN GH_TOKEN AWS_SESSION_TOKEN AWS_PROFILE TOKEN \
                 AZURE_CLIENT_SECRET GOOGLE_APPLICATION_CREDENTIALS SECRET_KEY_BASE PASSWORD DB_PASSWD MYSQL_PWD \
                 CARGO_REGISTRY_TOKEN TF_VAR_db_password npm_config__authToken CI_JOB_JWT_V2 GITHUB_ENV \
                 ACTIONS_ID_TOKEN_REQUEST_URL SSH_AUTH_SOCK SSH_AGENT_PID GPG_AGENT_INFO DOCKER_HOST KUBECONFIG \
                 DBUS_SESSION_BUS_ADDRESS XAUTHORITY DISPLAY WAYLAND_DISPLAY DATABASE_URL PGPASSWORD PGSERVICEFILE \
                 REDIS_URL MONGODB_URI https_proxy PIP_EXTRA_INDEX_URL SENTRY_DSN SLACK_WEBHOOK_URL KRB5CCNAME \
                 XDG_RUNTIME_DIR XDG_CONFIG_HOME NOTIFY_SOCKET TMUX SSLKEYLOGFILE OTEL_EXPORTER_OTLP_HEADERS \
                 ConnectionStrings__Default VSCODE_GIT_IPC_HANDLE BW_SESSION OP_SESSION_my";
    for name in names.split_whitespace() {
        assert!(is_never(name), "{name}");
    }
}

#[test]
fn s_32_what_runs_or_redirects_programs_is_on_the_list() {
    let names = "LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES GLIBC_TUNABLES GCONV_PATH HOSTALIASES \
                 LOCPATH NLSPATH MALLOC_TRACE TERMINFO TERMINFO_DIRS BASH_ENV ENV BASH_FUNC_ls%% PROMPT_COMMAND \
                 ZDOTDIR IFS CDPATH PS4 SHELLOPTS BASHOPTS PYTHONSTARTUP PYTHONPATH PYTHONHOME NODE_OPTIONS NODE_PATH \
                 PERL5OPT PERL5LIB RUBYOPT RUBYLIB JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS EDITOR VISUAL \
                 PAGER MANPAGER GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR LESS LESSOPEN LESSCLOSE GIT_SSH \
                 GIT_SSH_COMMAND GIT_PROXY_COMMAND GIT_ASKPASS SSH_ASKPASS SUDO_ASKPASS GIT_EXTERNAL_DIFF \
                 GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_CONFIG GIT_CONFIG_GLOBAL GIT_CONFIG_KEY_0 GIT_CONFIG_PARAMETERS \
                 GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE GIT_TRACE2_EVENT RUSTC_WRAPPER CARGO_BUILD_RUSTC_WRAPPER \
                 CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER MAVEN_OPTS MAKEFLAGS GNUMAKEFLAGS PSModulePath \
                 CORECLR_PROFILER_PATH DOTNET_STARTUP_HOOKS OPENSSL_CONF QT_PLUGIN_PATH GTK_MODULES BROWSER";
    for name in names.split_whitespace() {
        assert!(is_never(name), "{name}");
    }
}

/// A rule for a family, such as `CARGO_*`, must stay useful.
#[test]
fn ordinary_settings_are_not_on_the_list() {
    let names = "CARGO_HOME CARGO_TARGET_DIR CARGO_TERM_COLOR RUSTUP_HOME RUST_LOG RUST_BACKTRACE GOPATH GOCACHE \
                 GOROOT JAVA_HOME GRADLE_USER_HOME NODE_ENV PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED \
                 VIRTUAL_ENV CI NO_COLOR COLORTERM FORCE_COLOR COLUMNS LINES PWD OLDPWD LANGUAGE HOSTNAME SHLVL \
                 GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL GIT_TERMINAL_PROMPT DOCKER_BUILDKIT SSL_CERT_FILE \
                 XDG_CACHE_HOME XDG_SESSION_TYPE CC CFLAGS LDFLAGS PKG_CONFIG_PATH TMPDIR TEMP MANPATH INFOPATH \
                 DEBIAN_FRONTEND SOURCE_DATE_EPOCH http_timeout PATHEXT COMSPEC";
    for name in names.split_whitespace() {
        assert!(!is_never(name), "{name}: {:?}", Never::of(OsStr::new(name)));
    }
}
