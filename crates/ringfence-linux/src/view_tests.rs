//! The operations of a view, interpreted, agree with the region tree at every path.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use ringfence_policy::{Access, Axis, Kind, RegionTree, Rule, Source, Verdict};
use ringfence_zygote::plan::Operation;
use ringfence_zygote::wire::{ATTR_NOEXEC, ATTR_RDONLY, ViewOp};

use super::*;

const LANDLOCK: Landlock = Landlock {
    abi: Some(7),
    errata: 0,
};

/// A host on which every path is a directory, but those that end in `f` are files.
fn directories(path: &Path) -> std::io::Result<Option<Seen>> {
    let is_file = path.as_os_str().as_encoded_bytes().ends_with(b"f");
    Ok(Some(Seen::fake(if is_file {
        Kind::File
    } else {
        Kind::Directory
    })))
}

fn view_of(tree: &RegionTree) -> View {
    build(tree, LANDLOCK, &Extras::default(), 1 << 20, &directories).unwrap()
}

/// What the operations of a kind are about.
fn targets(view: &View, kind: ViewOp) -> Vec<&[u8]> {
    let operations = view.operations.iter();
    operations
        .filter(|operation| operation.kind == kind)
        .map(|operation| operation.target.as_slice())
        .collect()
}

fn tree(rules: &[(&str, Verdict)]) -> RegionTree {
    let rules = rules
        .iter()
        .map(|(path, verdict)| Rule::tree(*path, *verdict, Source::Root(0)));
    RegionTree::new(rules.collect()).unwrap()
}

/// What stands at a path once all operations are done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stands {
    /// Nothing of the host.
    Nothing,
    Host {
        writable: bool,
        executable: bool,
    },
}

/// Executes the operations as the kernel does: a mount hides everything that was mounted below its place, and
/// needs something there to be mounted on.
fn interpret(operations: &[Operation], path: &Path) -> Stands {
    let mut mounts: BTreeMap<PathBuf, Stands> = BTreeMap::new();
    let mut made = BTreeSet::from([PathBuf::from("/")]);
    for operation in operations {
        let target = PathBuf::from(String::from_utf8(operation.target.clone()).unwrap());
        let of_the_host = |path: &Path| look_up(&mounts, path) != Stands::Nothing;
        let stands = match operation.kind {
            ViewOp::Bind => Stands::Host {
                writable: operation.attributes & ATTR_RDONLY == 0,
                executable: operation.attributes & ATTR_NOEXEC == 0,
            },
            ViewOp::Tmpfs | ViewOp::MaskFile | ViewOp::MaskSocket | ViewOp::Devpts => Stands::Nothing,
            // A recursive bind onto itself takes along what is mounted below.
            ViewOp::Pin => {
                assert!(
                    of_the_host(&target),
                    "{} is pinned but not there",
                    target.display()
                );
                mounts.insert(target.clone(), look_up(&mounts, &target));
                continue;
            }
            ViewOp::Directory | ViewOp::File | ViewOp::Link | ViewOp::Copy => {
                let parent = target.parent().unwrap();
                assert!(made.contains(parent), "{} is made in nothing", target.display());
                made.insert(target);
                continue;
            }
            ViewOp::Seal => continue,
        };
        let there = made.contains(&target) || of_the_host(&target);
        assert!(there, "{} is mounted on nothing", target.display());
        mounts.retain(|mounted, _| !mounted.starts_with(&target));
        if stands == Stands::Nothing {
            made.insert(target.clone());
        }
        mounts.insert(target, stands);
    }
    look_up(&mounts, path)
}

fn look_up(mounts: &BTreeMap<PathBuf, Stands>, path: &Path) -> Stands {
    path.ancestors()
        .find_map(|ancestor| mounts.get(ancestor))
        .copied()
        .unwrap_or(Stands::Nothing)
}

fn expected(tree: &RegionTree, path: &Path) -> Stands {
    let verdict = tree.verdict(path);
    if !verdict.allows_any() {
        return Stands::Nothing;
    }
    let allows = |axis| verdict.get(axis) == Access::Allow;
    Stands::Host {
        writable: allows(Axis::Write),
        executable: allows(Axis::Execute),
    }
}

/// Verdicts whose file view has no choice: what is writable or executable is readable too.
fn verdicts() -> impl Strategy<Value = Verdict> {
    let access = || prop_oneof![Just(Access::Deny), Just(Access::Gated), Just(Access::Allow)];
    (access(), access(), access()).prop_map(|(read, execute, write)| match read {
        Access::Allow => Verdict { read, execute, write },
        _ => Verdict {
            read,
            execute: Access::Deny,
            write: Access::Deny,
        },
    })
}

/// Every verdict, those included for which no view can be had.
fn any_verdict() -> impl Strategy<Value = Verdict> {
    let access = || prop_oneof![Just(Access::Deny), Just(Access::Gated), Just(Access::Allow)];
    (access(), access(), access()).prop_map(|(read, execute, write)| Verdict { read, execute, write })
}

/// Whether the mounts and Landlock together let a command use a path.
fn permits(view: &View, path: &Path, axis: Axis) -> bool {
    let Stands::Host { writable, executable } = interpret(&view.operations, path) else {
        return false;
    };
    let (shown, verdict) = match axis {
        Axis::Read => (true, READ),
        Axis::Execute => (executable, Verdict::DENY.with_execute(Access::Allow)),
        Axis::Write => (writable, Verdict::new(Access::Deny, Access::Allow)),
    };
    let wanted = LANDLOCK.rights(verdict, Kind::Directory);
    // A rule grants beneath its object too, whatever is mounted between.
    let granted = view
        .rules
        .iter()
        .filter(|rule| path.starts_with(OsStr::from_bytes(&rule.path)))
        .fold(0, |rights, rule| rights | rule.access);
    shown && granted & wanted == wanted
}

fn paths() -> impl Strategy<Value = PathBuf> {
    prop::collection::vec(prop_oneof!["a", "b", "a-b"], 0..5).prop_map(|names| {
        names
            .into_iter()
            .fold(PathBuf::from("/"), |path, name| path.join(name))
    })
}

proptest! {
    #[test]
    fn the_view_agrees_with_the_tree_at_every_path(
        rules in prop::collection::btree_map(paths(), verdicts(), 0..8),
        probes in prop::collection::vec(paths(), 16),
    ) {
        let rules: Vec<Rule> =
            rules.iter().map(|(path, verdict)| Rule::tree(path, *verdict, Source::Root(0))).collect();
        let named: Vec<PathBuf> = rules.iter().map(|rule| rule.path.clone()).collect();
        let tree = RegionTree::new(rules).unwrap();
        let view = view_of(&tree);
        for path in named.iter().chain(&probes) {
            prop_assert_eq!(interpret(&view.operations, path), expected(&tree, path), "{}", path.display());
        }
    }

    /// Nothing is permitted that the tree does not allow, and where less is, that is said.
    #[test]
    fn pol_50_what_is_enforced_is_never_wider_than_the_tree_and_narrower_only_where_that_is_told(
        rules in prop::collection::btree_map(paths(), any_verdict(), 0..8),
        probes in prop::collection::vec(paths(), 16),
    ) {
        let rules: Vec<Rule> =
            rules.iter().map(|(path, verdict)| Rule::tree(path, *verdict, Source::Root(0))).collect();
        let named: Vec<PathBuf> = rules.iter().map(|rule| rule.path.clone()).collect();
        let tree = RegionTree::new(rules).unwrap();
        let view = view_of(&tree);
        for path in named.iter().chain(&probes) {
            let placement = path.ancestors().find_map(|above| {
                view.placements.iter().find(|placement| placement.path == above)
            });
            let told = placement.is_some_and(|placement| placement.narrowed.is_some());
            for axis in Axis::ALL {
                let allowed = tree.decide(path, axis).access == Access::Allow;
                let permitted = permits(&view, path, axis);
                prop_assert!(allowed || !permitted, "{} is open: {}", axis.name(), path.display());
                prop_assert!(permitted || !allowed || told, "{} is closed: {}", axis.name(), path.display());
            }
        }
    }

    /// What was absent when the profile was made and is there now stands as if it had been there.
    #[test]
    fn what_comes_later_is_shown_and_granted_as_what_was_there_before(
        rules in prop::collection::btree_map(paths(), (any_verdict(), any::<bool>()), 0..8),
    ) {
        let view_with = |absent: bool| {
            let rules = rules.iter().map(|(path, (verdict, late))| {
                let mut rule = Rule::tree(path, *verdict, Source::Root(0));
                if absent && *late {
                    rule.kind = Kind::Absent;
                }
                rule
            });
            view_of(&RegionTree::new(rules.collect()).unwrap())
        };
        let (late, before) = (view_with(true), view_with(false));
        prop_assert_eq!(late.operations, before.operations);
        prop_assert_eq!(late.rules, before.rules);
    }

    /// What needs a grant is closed until there is one, exactly as what is denied.
    #[test]
    fn pol_6_gated_is_enforced_as_denied(
        rules in prop::collection::btree_map(paths(), any_verdict(), 0..8),
    ) {
        let view_with = |gated: Access| {
            let access = |access| if access == Access::Gated { gated } else { access };
            let rules = rules.iter().map(|(path, verdict)| {
                let Verdict { read, execute, write } = *verdict;
                let verdict = Verdict { read: access(read), execute: access(execute), write: access(write) };
                Rule::tree(path, verdict, Source::Root(0))
            });
            view_of(&RegionTree::new(rules.collect()).unwrap())
        };
        let (gated, denied) = (view_with(Access::Gated), view_with(Access::Deny));
        prop_assert_eq!(gated.operations, denied.operations);
        prop_assert_eq!(gated.rules, denied.rules);
    }
}

#[test]
fn s_06_the_order_in_which_rules_are_written_does_not_matter() {
    let rules = [
        ("/w", Verdict::READ_WRITE),
        ("/w/a", Verdict::READ_ONLY),
        ("/w/a/b", Verdict::READ_WRITE),
    ];
    let mut reversed = rules;
    reversed.reverse();
    let (one, other) = (view_of(&tree(&rules)), view_of(&tree(&reversed)));
    assert_eq!(one.operations, other.operations);
    let at = |path: &str| interpret(&one.operations, Path::new(path));
    assert_eq!(
        at("/w/x"),
        Stands::Host {
            writable: true,
            executable: true
        }
    );
    assert_eq!(
        at("/w/a/x"),
        Stands::Host {
            writable: false,
            executable: true
        }
    );
    assert_eq!(
        at("/w/a/b/x"),
        Stands::Host {
            writable: true,
            executable: true
        }
    );
}

#[test]
fn directories_on_the_way_to_a_protected_path_are_pinned() {
    let view = view_of(&tree(&[
        ("/w", Verdict::READ_WRITE),
        ("/w/x/y/z", Verdict::READ_ONLY),
    ]));
    let pinned = targets(&view, ViewOp::Pin);
    assert_eq!(pinned, [b"/w/x".as_slice(), b"/w/x/y"]);
}

/// A root that is a mount, as other rights hold in it, moves with the directories above it.
#[test]
fn the_way_to_a_protected_path_in_a_nested_root_is_pinned_from_the_outermost_on() {
    let data = Verdict::READ_WRITE.with_execute(Access::Deny);
    let view = view_of(&tree(&[
        ("/w", Verdict::READ_WRITE),
        ("/w/x/data", data),
        ("/w/x/data/y/z", Verdict::READ_ONLY),
    ]));
    let pinned = targets(&view, ViewOp::Pin);
    assert_eq!(pinned, [b"/w/x".as_slice(), b"/w/x/data/y"]);
}

#[test]
fn a_readable_region_whose_writing_nested_in_it_must_not_be_read_is_hidden_and_reported() {
    let write_only = Verdict {
        read: Access::Deny,
        execute: Access::Deny,
        write: Access::Allow,
    };
    let nested = view_of(&tree(&[("/w", Verdict::READ_ONLY), ("/w/out", write_only)]));
    assert_eq!(
        interpret(&nested.operations, Path::new("/w/out")),
        Stands::Nothing
    );
    assert!(
        nested
            .placements
            .iter()
            .any(|placement| placement.narrowed.is_some())
    );

    let alone = view_of(&tree(&[("/out", write_only)]));
    assert_eq!(
        interpret(&alone.operations, Path::new("/out")),
        Stands::Host {
            writable: true,
            executable: false
        }
    );
    let rule = alone.rules.iter().find(|rule| rule.path == b"/out").unwrap();
    assert_eq!(
        rule.access & LANDLOCK.rights(Verdict::READ_ONLY, Kind::Directory),
        0,
        "reading is left to Landlock"
    );
}

/// Also where the directory between is hidden, or a memory filesystem of the command's own.
#[test]
fn reading_is_not_left_to_landlock_beneath_a_place_whose_rule_grants_it() {
    let write_only = Verdict::new(Access::Deny, Access::Allow);
    let over = |path: &str, verdict, source| Rule::tree(path, verdict, source);
    let hidden_between = vec![
        over("/", Verdict::READ_ONLY, Source::Host),
        over("/w", Verdict::DENY, Source::Root(0)),
        over("/w/out", write_only, Source::Root(1)),
    ];
    let private_around = vec![
        over("/w", Verdict::READ_WRITE, Source::Private),
        over("/w/out", write_only, Source::Root(0)),
    ];
    for rules in [hidden_between, private_around] {
        let view = view_of(&RegionTree::new(rules).unwrap());
        let path = Path::new("/w/out");
        assert_eq!(interpret(&view.operations, path), Stands::Nothing);
        let placement = view.placements.iter().find(|placement| placement.path == path);
        assert!(placement.unwrap().narrowed.is_some());
    }
}

#[test]
fn what_is_absent_or_another_kind_is_not_shown() {
    let tree = tree(&[("/w", Verdict::READ_WRITE)]);
    let absent = build(&tree, LANDLOCK, &Extras::default(), 0, &|_| Ok(None)).unwrap();
    assert_eq!(interpret(&absent.operations, Path::new("/w")), Stands::Nothing);
    let link = build(&tree, LANDLOCK, &Extras::default(), 0, &|_| {
        Ok(Some(Seen::fake(Kind::File)))
    });
    assert_eq!(link.map(drop), Err(ViewError::Changed("/w".into())));
}

/// Whatever was missing in a shown place makes the view stale once it is there; where nothing shows, it is no matter.
#[test]
fn what_is_missing_is_watched_where_it_would_be_seen() {
    let gone = |path: &Path| match path.ends_with("late") {
        true => Ok(None),
        false => directories(path),
    };
    let watched = |around: Verdict, access: Verdict| {
        let tree = tree(&[("/w", around), ("/w/late", access)]);
        let view = build(&tree, LANDLOCK, &Extras::default(), 0, &gone).unwrap();
        let mut watched = view.watched.iter();
        watched.any(|object| object.path == Path::new("/w/late") && object.seen.is_none())
    };
    for (around, access, expected) in [
        (Verdict::READ_ONLY, Verdict::DENY, true),
        (Verdict::READ_ONLY, Verdict::READ_WRITE, true),
        (Verdict::READ_WRITE, Verdict::READ_ONLY, true),
        (Verdict::READ_ONLY, Verdict::READ_ONLY, false),
        (Verdict::DENY, Verdict::READ_ONLY, true),
        (Verdict::DENY, Verdict::DENY, false),
    ] {
        assert_eq!(watched(around, access), expected, "{access:?} in {around:?}");
    }
}

#[test]
fn what_is_opened_below_a_closed_directory_has_somewhere_to_be_mounted() {
    let view = view_of(&tree(&[
        ("/srv/a", Verdict::DENY),
        ("/srv/a/b/in", Verdict::READ_WRITE),
    ]));
    let at = |path: &str| interpret(&view.operations, Path::new(path));
    assert_eq!(at("/srv/a/b"), Stands::Nothing);
    assert_eq!(
        at("/srv/a/b/in"),
        Stands::Host {
            writable: true,
            executable: true
        }
    );
}

#[test]
fn a_program_of_a_bundle_is_mounted_and_stays_executable() {
    let mut rule = Rule::tree("/opt/toolf", Verdict::READ_ONLY, runtime("path"));
    rule.kind = Kind::File;
    let view = view_of(&RegionTree::new(vec![rule]).unwrap());
    assert_eq!(
        interpret(&view.operations, Path::new("/opt/toolf")),
        Stands::Host {
            writable: false,
            executable: true
        }
    );
}

#[test]
fn host_sockets_in_visible_places_are_masked_and_others_left_alone() {
    let tree = tree(&[("/w", Verdict::READ_WRITE)]);
    let sockets = [
        PathBuf::from("/elsewhere/sf"),
        PathBuf::from("/w/lockedf"),
        PathBuf::from("/w/sf"),
    ];
    let look = |path: &Path| match path.ends_with("lockedf") {
        true => Err(std::io::ErrorKind::PermissionDenied.into()),
        false => directories(path),
    };
    let extras = Extras {
        sockets: &sockets,
        ..Extras::default()
    };
    let view = build(&tree, LANDLOCK, &extras, 0, &look).unwrap();
    let masked = targets(&view, ViewOp::MaskSocket);
    assert_eq!(masked, [b"/w/sf"]);
}

#[test]
fn small_files_of_the_system_are_copied_under_one_rule_and_a_users_never() {
    let read = Verdict {
        execute: Access::Deny,
        ..Verdict::READ_ONLY
    };
    let file = |path: &str, source: Source| {
        let mut rule = Rule::tree(path, read, source);
        rule.kind = Kind::File;
        rule
    };
    let system = || runtime("system");
    let rules = vec![
        file("/etc/af", system()),
        file("/etc/bf", system()),
        file("/etc/uf", Source::Root(0)),
    ];
    let view = view_of(&RegionTree::new(rules).unwrap());
    let kind = |path: &str| {
        let mut found = view
            .operations
            .iter()
            .filter(|operation| operation.target == path.as_bytes());
        found.next_back().map(|operation| operation.kind)
    };
    assert_eq!(
        (kind("/etc/af"), kind("/etc/bf"), kind("/etc/uf")),
        (Some(ViewOp::Copy), Some(ViewOp::Copy), Some(ViewOp::Bind))
    );
    let ruled: Vec<&[u8]> = view.rules.iter().map(|rule| rule.path.as_slice()).collect();
    assert_eq!(ruled, [b"/etc/uf".as_slice(), b"/etc"]);
}

fn runtime(bundle: &str) -> Source {
    Source::Runtime {
        bundle: bundle.to_owned(),
        why: "a test".to_owned(),
    }
}
