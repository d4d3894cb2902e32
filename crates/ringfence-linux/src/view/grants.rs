//! Landlock rules: what they grant beyond those of the regions around.

use std::collections::BTreeMap;
use std::path::Path;

use ringfence_policy::{Kind, Region, Source};
use ringfence_zygote::plan::Rule;

use super::{Builder, Placement, bytes};
use crate::rights::Landlock;
use crate::surroundings::{DEV, PROC};

impl Builder<'_> {
    /// A Landlock rule where the region grants more than what surrounds it does.
    pub(super) fn grant(&mut self, region: &Region<'_>, parent: Option<usize>, placement: &Placement) {
        let inherited = parent.map_or(0, |at| self.inherited_rights[at]);
        let private = region
            .rules
            .iter()
            .any(|rule| matches!(rule.source, Source::Private | Source::Home | Source::Temporary));
        let kind = placement.kind;
        let verdict = if kind == Kind::Directory {
            region.subtree
        } else {
            region.object
        };
        let mut rights = self.landlock.rights(verdict, kind);
        if region.path.starts_with(DEV) {
            rights |= self.landlock.device_rights(kind);
        }
        if private {
            rights |= self.landlock.socket_rights(kind);
        }
        let hidden = placement.narrowed.is_some() && !placement.read_by_landlock;
        let shown = !placement.absent && !hidden;
        // Where nothing of the region shows there is no rule to inherit from.
        self.inherited_rights
            .push(inherited | if shown { rights } else { 0 });
        // `/proc` is another filesystem in every spawn: its rule is made there.
        let copied_rights = if placement.copied { rights } else { 0 };
        if copied_rights != 0
            && let Some(directory) = region.path.parent()
        {
            self.free_beneath
                .push(parent.is_some_and(|at| self.free_beneath[at]));
            self.copies
                .push((directory.to_owned(), bytes(region.path), copied_rights));
            return;
        }
        let exists = shown && region.path != Path::new(PROC);
        let is_free = parent.is_some_and(|at| self.free_beneath[at]);
        let frees = exists
            && kind == Kind::Directory
            && rights & Landlock::MAKING != 0
            && !self.guarded.contains(region.path);
        if frees && !is_free {
            self.free.push(bytes(region.path));
        }
        self.free_beneath.push(is_free || frees);
        if exists && kind != Kind::Absent && rights & !inherited != 0 {
            self.rules.push(Rule {
                path: bytes(region.path),
                access: rights,
            });
        }
    }

    /// Whether a region that was absent needs a rule for what is there by now, in an area that stays what it is.
    pub(super) fn may_need_rule(&self, region: &Region<'_>, parent: Option<usize>) -> bool {
        let inherited = parent.map_or(0, |at| self.inherited_rights[at]);
        let most = self.landlock.rights(region.subtree, Kind::Directory);
        region.kind == Kind::Absent && most & !inherited != 0
    }

    /// One rule per directory that holds copies: nothing else of the host is in it, so what the rule grants
    /// beneath it is the copies and what is granted anyway. Where reading is withheld by Landlock alone, a rule
    /// above could open it again, so each copy gets its own.
    pub(super) fn grant_copies(&mut self) {
        let each = self.placements.iter().any(|placement| placement.read_by_landlock);
        let mut by_directory: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
        for (directory, path, rights) in std::mem::take(&mut self.copies) {
            *by_directory
                .entry(if each { path } else { bytes(&directory) })
                .or_default() |= rights;
        }
        self.rules.extend(
            by_directory
                .into_iter()
                .map(|(path, access)| Rule { path, access }),
        );
    }
}
