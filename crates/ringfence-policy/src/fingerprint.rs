//! The fingerprint: one name for everything a profile says.

use std::fmt;
use std::path::Path;

use serde::{Serialize, Serializer};
use sha2::{Digest, Sha256};

use crate::access::{ABI_VERSION, Axis, Verdict};
use crate::environment::{EnvironmentRules, VariableName};
use crate::guard::{ResolvedGuard, ResolvedSubject};
use crate::limit::Limit;
use crate::path::bytes;
use crate::terms::Terms;
use crate::text::hex;

/// SHA-256 over everything written in a profile; displays as 64 lowercase hexadecimal digits (PRO-40).
///
/// Equal for configurations that normalise to the same profile, different for any difference in authority. It
/// does not cover what was observed on the host, such as identities.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// The raw digest.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Every field has a fixed size or a length before it, so different terms give different input (PRO-43).
    pub(crate) fn of(terms: &Terms) -> Self {
        let mut encoder = Encoder(Sha256::new());
        encoder.raw(b"ringfence profile fingerprint\n");
        encoder.raw(&ABI_VERSION.to_le_bytes());
        encoder.path(&terms.workspace.path);
        encoder.verdict(terms.workspace_access);
        encoder.verdict(terms.host_access);
        encoder.raw(&[terms.network as u8, terms.command as u8, terms.home as u8]);
        encoder.raw(&[terms.isolation as u8, terms.acknowledgement as u8]);
        encoder.length(terms.roots.len());
        for root in &terms.roots {
            encoder.path(&root.at.path);
            encoder.raw(&[root.kind as u8]);
            encoder.verdict(root.access);
        }
        encoder.length(terms.written_guards().count());
        for guard in terms.written_guards() {
            encoder.guard(guard);
        }
        encoder.length(terms.presets.len());
        for (preset, exempt) in &terms.presets {
            encoder.raw(&[*preset as u8]);
            encoder.length(exempt.len());
            exempt.iter().for_each(|path| encoder.path(path));
        }
        encoder.raw(&[terms.new_repositories as u8, terms.nested_namespaces as u8]);
        encoder.length(terms.devices.len());
        for device in &terms.devices {
            encoder.path(&device.path);
            encoder.raw(&[device.presence as u8]);
        }
        encoder.environment(&terms.environment);
        for limit in Limit::ALL {
            encoder.limit(terms.limits.get(limit));
        }
        encoder.raw(&[terms.require.bits(), terms.required().bits()]);
        Self(encoder.0.finalize().into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(&self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl Serialize for Fingerprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

struct Encoder(Sha256);

impl Encoder {
    fn raw(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn length(&mut self, length: usize) {
        self.raw(&(length as u64).to_le_bytes());
    }

    fn path(&mut self, path: &Path) {
        self.length(bytes(path).len());
        self.raw(bytes(path));
    }

    fn guard(&mut self, guard: &ResolvedGuard) {
        self.raw(&[guard.protection as u8]);
        self.path(guard.base());
        let ResolvedSubject::Pattern(pattern) = &guard.subject else {
            return self.raw(&[0]);
        };
        self.raw(&[1 + u8::from(pattern.glob().is_some())]);
        let globs = pattern.glob().into_iter().chain(pattern.exceptions());
        self.length(pattern.exceptions().len());
        globs.for_each(|glob| self.path(glob.text()));
    }

    fn environment(&mut self, rules: &EnvironmentRules) {
        self.length(rules.inherit_rules().len());
        for name in rules.inherit_rules() {
            let (kind, text) = match name {
                VariableName::Is(text) => (0, text),
                VariableName::StartsWith(text) => (1, text),
            };
            self.raw(&[kind]);
            self.path(Path::new(text));
        }
        self.length(rules.set_values().len());
        for (name, value) in rules.set_values() {
            self.path(Path::new(name));
            self.path(Path::new(value));
        }
        self.length(rules.unset_names().len());
        for name in rules.unset_names() {
            self.path(Path::new(name));
        }
    }

    fn limit(&mut self, limit: Option<u64>) {
        self.raw(&[u8::from(limit.is_some())]);
        self.raw(&limit.unwrap_or_default().to_le_bytes());
    }

    fn verdict(&mut self, verdict: Verdict) {
        self.raw(&Axis::ALL.map(|axis| verdict.get(axis) as u8));
    }
}

#[cfg(test)]
#[path = "fingerprint_tests.rs"]
mod tests;
