//! Which option or line of a file brought what about, and so which one to name when something is wrong with it.

use std::collections::HashMap;
use std::path::Path;

use ringfence::{
    BuildError, Clause, Discharge, Entry, ExecutorError, Field, Guarantees, InvalidProfile, Problem,
    ProfileConfig, ProfileFile, Reason, Unavailable,
};

use crate::failure::{self, Failure};

/// Where the parts of a configuration come from.
#[derive(Debug)]
pub(super) struct Origins {
    file: Option<ProfileFile>,
    /// The options, as they were written.
    options: HashMap<Field, String>,
    /// The guarantees that options insist on.
    pub(super) require: Guarantees,
}

impl Origins {
    /// Everything comes from the file, if there is one, so far.
    pub(super) fn new(file: Option<ProfileFile>) -> Self {
        Self {
            file,
            options: HashMap::new(),
            require: Guarantees::empty(),
        }
    }

    pub(super) fn insert(&mut self, field: Field, option: String) {
        self.options.insert(field, option);
    }

    /// The option that brought a part about.
    pub(super) fn option(&self, field: Field) -> Option<&str> {
        self.options.get(&field).map(String::as_str)
    }

    /// The option or the line of the file that brought a part about.
    fn named(&self, field: Field) -> Option<String> {
        let option = self.option(field).map(str::to_owned);
        option.or_else(|| self.file.as_ref()?.place(field))
    }

    /// Why the configuration makes no profile: a line for each problem.
    pub(super) fn invalid(&self, invalid: InvalidProfile) -> Failure {
        let is_option = |field: Field| self.file.is_none() || self.options.contains_key(&field);
        let (of_options, of_file): (Vec<_>, Vec<_>) = invalid
            .problems
            .into_iter()
            .partition(|problem| is_option(problem.field));
        let mut lines = Vec::new();
        if let (Some(file), false) = (&self.file, of_file.is_empty()) {
            lines.push(file.explain(&InvalidProfile { problems: of_file }).to_string());
        }
        lines.extend(of_options.iter().map(|problem| self.line(problem)));
        let mut hints: Vec<_> = of_options.iter().map(|problem| hint(&problem.reason)).collect();
        hints.dedup();
        Failure::new(lines.join("\n")).hint(hints.join("; "))
    }

    fn line(&self, problem: &Problem) -> String {
        let Some(option) = self.option(problem.field) else {
            return problem.to_string();
        };
        match &problem.reason {
            Reason::Contradicts { root, .. } => {
                let other = self.option(Field::Root(*root)).unwrap_or("another root");
                format!("{option}: contradicts {other}")
            }
            reason => format!("{option}: {reason}"),
        }
    }

    /// Why there is no executor.
    pub(super) fn executor(&self, error: ExecutorError, config: &ProfileConfig) -> Failure {
        let named = match &error {
            ExecutorError::Unavailable(Unavailable::Guarantees { missing, entries }) => {
                self.limit(entries).or_else(|| self.required(*missing, entries))
            }
            ExecutorError::Unavailable(Unavailable::Path { path, why }) => {
                let mut devices = config.devices.iter();
                let index = devices.position(|device| device.path == *path);
                index.and_then(|index| self.device(Field::Device(index), path, why))
            }
            _ => None,
        };
        named.unwrap_or_else(|| error.into())
    }

    /// A device that can't be opened.
    fn device(&self, field: Field, path: &Path, why: &str) -> Option<Failure> {
        let named = match self.option(field) {
            Some(option) => option.to_owned(),
            None => format!("{}: {path:?}", self.named(field)?),
        };
        let hint = match self.option(field) {
            _ if path.symlink_metadata().is_ok() => "name a device node, such as /dev/kvm".to_owned(),
            Some(option) => format!("write `{option}?` if commands can do without it"),
            None => {
                let entry = format!("{{ path = {path:?}, presence = \"optional\" }}");
                format!("write `{entry}` if commands can do without it")
            }
        };
        Some(Failure::new(format!("{named}: {why}")).hint(hint))
    }

    /// The guarantees that options insist on in vain.
    fn required(&self, missing: Guarantees, entries: &[Entry]) -> Option<Failure> {
        let wanted = missing & self.require;
        let evidence = entries
            .iter()
            .filter(|entry| wanted.contains(entry.obligation.guarantee))
            .map(|entry| format!("{}: {}", entry.obligation, entry.discharge));
        let evidence: Vec<_> = evidence.collect();
        let evidence = if evidence.is_empty() {
            "nothing in this run brings it about".to_owned()
        } else {
            evidence.join("; ")
        };
        let hint = failure::ways_out(entries).unwrap_or_else(|| {
            "leave it out, or run it where this holds; `ringfence doctor` says what this host can enforce"
                .to_owned()
        });
        (!wanted.is_empty())
            .then(|| Failure::new(format!("--require {wanted}: it is not achieved: {evidence}")).hint(hint))
    }

    /// A limit that nothing keeps.
    fn limit(&self, entries: &[Entry]) -> Option<Failure> {
        entries.iter().find_map(|entry| {
            let (Clause::Limit(limit), Discharge::Unenforced { why }) =
                (entry.obligation.clause, &entry.discharge)
            else {
                return None;
            };
            let named = self.named(Field::Limit(limit))?;
            let message = format!("{named}: nothing here can limit {limit}: {why}");
            let what = self.option(Field::Limit(limit)).unwrap_or("it");
            Some(Failure::new(message).hint(format!("leave {what} out, or run it where this is possible")))
        })
    }
}

/// Why there is no set.
pub(super) fn no_set(error: BuildError) -> Failure {
    let BuildError::Kept { field, path, why } = &error else {
        return error.into();
    };
    let (option, variable) = if *field == "keep_homes" {
        ("--home", "XDG_DATA_HOME")
    } else {
        ("--cache", "XDG_CACHE_HOME")
    };
    Failure::new(format!("{option}: {} {why}", path.display())).hint(format!(
        "set {variable} to a directory that the command can't write"
    ))
}

/// What to do about it, in options.
fn hint(reason: &Reason) -> String {
    match reason {
        Reason::Guarded { path, .. } => format!("give `--unprotect {}` too, or leave it out", path.display()),
        Reason::SameAsWorkspace { .. } => {
            "leave it out; the workspace can be written unless --read-only says otherwise".to_owned()
        }
        Reason::Zero => "give at least 1, or leave it out to set no limit".to_owned(),
        Reason::Missing { .. } => "create it first, or name another one".to_owned(),
        Reason::NotADirectory { .. } => "name a directory".to_owned(),
        Reason::Contradicts { .. } => "leave one of the two out".to_owned(),
        other => other.hint().to_owned(),
    }
}
