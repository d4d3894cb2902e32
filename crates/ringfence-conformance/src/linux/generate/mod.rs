//! Cases: a profile and the tree it is about, in a form that shrinks to what matters.

pub(crate) mod covering;
mod names;
mod verdicts;

use std::ffi::OsString;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use ringfence::{Access, Protection, Verdict};

/// One profile with its tree, in indices and names: nothing in it depends on where the tree is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Case {
    /// What the profile says of the whole host.
    pub(crate) host: Verdict,
    pub(crate) workspace: Verdict,
    pub(crate) network: Access,
    pub(crate) places: Vec<Place>,
    /// Guards with patterns beneath the workspace.
    pub(crate) patterns: Vec<(&'static str, Protection)>,
    /// Symbolic links: where each is, and where it leads.
    pub(crate) links: Vec<(usize, usize)>,
    /// Second names of files: where the file is, and where its other name is.
    pub(crate) hard_links: Vec<(usize, usize)>,
    /// Whether the presets are on.
    pub(crate) presets: bool,
}

/// A name beneath the top, the workspace, or an earlier directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// Reduced to the number of directories there are.
    pub(crate) parent: usize,
    pub(crate) name: OsString,
    pub(crate) shape: Shape,
    pub(crate) rule: Entry,
}

/// What is at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Directory,
    File,
    Absent,
}

/// What the profile says of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    Nothing,
    Root(Verdict),
    Guard(Protection),
}

/// Names that the patterns match; every directory of a tree has both if there are patterns.
pub(crate) const PATTERNS: [&str; 3] = ["**/.env", "*.pem", "**/k*.p?m"];

/// The generated case of a number, together with the way to smaller ones that fail as well.
pub(crate) fn tree(seed: u64, index: u64) -> Result<impl ValueTree<Value = Case>, String> {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&index.to_le_bytes());
    let random = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let mut runner = TestRunner::new_with_rng(Config::default(), random);
    case().new_tree(&mut runner).map_err(|reason| reason.to_string())
}

fn case() -> impl Strategy<Value = Case> {
    let links = || vec((any::<u8>(), any::<u8>()), 0..3);
    let indices = |pairs: Vec<(u8, u8)>| -> Vec<_> {
        pairs
            .into_iter()
            .map(|(a, b)| (usize::from(a), usize::from(b)))
            .collect()
    };
    (
        verdicts::host(),
        verdicts::workspace(),
        verdicts::network(),
        vec(place(), 0..7),
        vec((prop::sample::select(&PATTERNS[..]), protection()), 0..3),
        links().prop_map(indices),
        // Most second names make a policy that has to be refused.
        prop_oneof![6 => Just(Vec::new()), 1 => links().prop_map(indices)],
        prop::bool::weighted(0.15),
    )
        .prop_map(
            |(host, workspace, network, places, patterns, links, hard_links, presets)| Case {
                host,
                workspace,
                network,
                places,
                patterns,
                links,
                hard_links,
                presets,
            },
        )
}

fn place() -> impl Strategy<Value = Place> {
    let shape = prop_oneof![
        5 => Just(Shape::Directory),
        2 => Just(Shape::File),
        2 => Just(Shape::Absent),
    ];
    let rule = prop_oneof![
        2 => Just(Entry::Nothing),
        4 => verdicts::root().prop_map(Entry::Root),
        3 => protection().prop_map(Entry::Guard),
    ];
    (any::<u8>(), names::name(), shape, rule).prop_map(|(parent, name, shape, rule)| Place {
        parent: usize::from(parent),
        name,
        shape,
        rule,
    })
}

fn protection() -> impl Strategy<Value = Protection> {
    prop_oneof![Just(Protection::Protect), Just(Protection::Secret)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_repeats_its_cases() {
        let case = |seed, index| tree(seed, index).unwrap().current();
        assert_eq!(case(7, 3), case(7, 3));
        assert_ne!(case(7, 3), case(7, 4));
        assert_ne!(case(7, 3), case(8, 3));
    }

    /// What the suite claims to try is really generated (CON-51).
    #[test]
    fn cases_have_everything_in_them() {
        let cases: Vec<Case> = (0..400).map(|index| tree(1, index).unwrap().current()).collect();
        let places = || cases.iter().flat_map(|case| &case.places);
        let named =
            |wanted: &dyn Fn(&[u8]) -> bool| places().any(|place| wanted(place.name.as_encoded_bytes()));
        assert!(named(&|name| name.contains(&b'\n')));
        assert!(named(&|name| name.contains(&b'[')));
        assert!(named(&|name| std::str::from_utf8(name).is_err()));
        assert!(named(&|name| name.len() == 255));
        assert!(named(
            &|name| name.iter().filter(|byte| **byte == b'/').count() > 10
        ));
        for shape in [Shape::Directory, Shape::File, Shape::Absent] {
            for guarded in [false, true] {
                let is_guard = |place: &Place| matches!(place.rule, Entry::Guard(_)) == guarded;
                assert!(
                    places().any(|place| place.shape == shape && is_guard(place)),
                    "{shape:?}"
                );
            }
        }
        for access in [Access::Deny, Access::Gated, Access::Allow] {
            for axis in ringfence::Axis::ALL {
                let says =
                    |place: &Place| matches!(place.rule, Entry::Root(verdict) if verdict.get(axis) == access);
                assert!(places().any(says), "{access:?} {axis:?}");
                assert!(cases.iter().any(|case| case.workspace.get(axis) == access));
            }
        }
        assert!(cases.iter().any(|case| case.host.read == Access::Allow));
        assert!(cases.iter().any(|case| case.network == Access::Allow));
        assert!(
            cases
                .iter()
                .any(|case| !case.links.is_empty() && !case.hard_links.is_empty())
        );
        assert!(cases.iter().any(|case| case.presets) && cases.iter().any(|case| !case.patterns.is_empty()));
    }
}
