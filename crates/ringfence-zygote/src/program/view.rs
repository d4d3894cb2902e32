//! The file view: executes the plan's operations on a private root and enters it.

use super::plan::{Operation, Plan};
use super::remount::{self, Table};
use super::sys::{self, Fd, Path};
use super::{At, Outcome};
use crate::wire::{self, Step, ViewOp};

const NONE: Path<'static> = Path::EMPTY;

/// Builds the view and makes it this process's root.
pub(crate) fn build<'a>(plan: &Plan<'a>) -> Outcome<'a, ()> {
    private_mounts(plan)?;
    let masks = mount_over_base(plan, MASKS)?;
    let skeleton = mount_over_base(plan, SKELETON)?;
    // What is bound into the skeleton never contains the skeleton.
    sys::mount(NONE, plan.base, NONE, sys::MS_UNBINDABLE, NONE).at_path(Step::Root, plan.base)?;
    let mut root = None;
    let mut table = Table::new();
    for operation in plan.operations() {
        plan.check(Step::View)?;
        if operation.kind == ViewOp::Bind && operation.target.bytes() == b"/" {
            root = Some(bind_root(plan, &mut table, &operation)?);
        } else {
            let root = root.as_ref().unwrap_or(&skeleton);
            execute(plan, &mut table, &masks, root, &operation)?;
        }
    }
    let root = root.unwrap_or(skeleton);
    if !plan.has(wire::NO_PROC) {
        mount_proc_in(plan, &root)?;
    }
    enter(plan, &root)
}

fn private_mounts<'a>(plan: &Plan<'a>) -> Outcome<'a, ()> {
    plan.check(Step::Root)?;
    let slash = Path::new(b"/\0");
    sys::mount(NONE, slash, NONE, sys::MS_REC | sys::MS_PRIVATE, NONE).at_path(Step::Root, slash)
}

/// Options of the memory filesystem that lends the file masks are clones of.
const MASKS: &[u8] = b"mode=0700,size=64k\0";
/// Options of the one that holds directories to mount onto, and copies.
const SKELETON: &[u8] = b"mode=0755,size=16m\0";

/// A memory filesystem of our own over a directory that exists, and over what is there already.
fn mount_over_base<'a>(plan: &Plan<'a>, options: &[u8]) -> Outcome<'a, Fd> {
    let kind = Path::new(b"tmpfs\0");
    let flags = sys::MS_NOSUID | sys::MS_NODEV;
    sys::mount(kind, plan.base, kind, flags, Path::new(options)).at_path(Step::Root, plan.base)?;
    sys::open(plan.base, sys::O_PATH | sys::O_DIRECTORY | sys::O_CLOEXEC).at_path(Step::Root, plan.base)
}

/// The host's root as the root of the view: on top of the skeleton, which then stays empty.
fn bind_root<'a>(plan: &Plan<'a>, table: &mut Table, operation: &Operation<'a>) -> Outcome<'a, Fd> {
    let tree = open_source(plan, operation)?;
    let open = || sys::open(plan.base, sys::O_PATH | sys::O_DIRECTORY | sys::O_CLOEXEC);
    let base = open().at_path(Step::Root, plan.base)?;
    attach_restricted(table, &tree, &base, operation.attributes).at_path(Step::View, operation.target)?;
    open().at_path(Step::Root, plan.base)
}

fn execute<'a>(
    plan: &Plan<'a>,
    table: &mut Table,
    masks: &Fd,
    root: &Fd,
    operation: &Operation<'a>,
) -> Outcome<'a, ()> {
    let at = operation.target;
    match operation.kind {
        ViewOp::Bind => {
            let tree = open_source(plan, operation)?;
            let target = open_target(plan, root, at)?;
            attach_restricted(table, &tree, &target, operation.attributes).at_path(Step::View, at)
        }
        ViewOp::Pin => {
            let target = open_target(plan, root, at)?;
            sys::clone_tree(&target)
                .and_then(|tree| sys::attach(&tree, &target))
                .at_path(Step::View, at)
        }
        ViewOp::Tmpfs => attach(plan, root, &tmpfs(operation).at_path(Step::View, at)?, at),
        ViewOp::Devpts => attach(plan, root, &devpts().at_path(Step::View, at)?, at),
        ViewOp::MaskFile => mask(table, masks, &open_target(plan, root, at)?, at),
        ViewOp::MaskSocket => match open_target(plan, root, at) {
            Err(failed) if failed.errno == sys::EACCES => Ok(()),
            target => mask(table, masks, &target?, at),
        },
        ViewOp::Seal => {
            let mount = open_target(plan, root, at)?;
            match sys::set_attributes(&mount, wire::ATTR_RDONLY, false) {
                Err(sys::ENOSYS) => remount::restrict(&mount, wire::ATTR_RDONLY),
                set => set,
            }
            .at_path(Step::View, at)
        }
        ViewOp::Copy => copy(plan, root, operation),
        ViewOp::Directory => {
            exists(sys::mkdir(root, at.relative(), operation.mode as usize)).at_path(Step::View, at)
        }
        ViewOp::File => {
            exists(sys::mkfile(root, at.relative(), operation.mode as usize)).at_path(Step::View, at)
        }
        ViewOp::Link => exists(sys::symlink(operation.source, root, at.relative())).at_path(Step::View, at),
    }
}

/// A small file costs less as a copy than as a mount, which every spawn would have to clone and tear down.
fn copy<'a>(plan: &Plan<'a>, root: &Fd, operation: &Operation<'a>) -> Outcome<'a, ()> {
    let from = open_checked(plan, operation, sys::O_CLOEXEC)?;
    let at = operation.target;
    let to = sys::create_file(root, at.relative(), operation.mode as usize).at_path(Step::View, at)?;
    // Read, not mapped: others may change the file meanwhile, also shorten it. What it was then is all that is copied.
    let mut left = usize::try_from(operation.size)
        .map_err(|_| sys::EINVAL)
        .at_path(Step::View, at)?;
    let mut buffer = [0; 4096];
    while left > 0 {
        let room = left.min(buffer.len());
        let count = sys::read(from.raw(), &mut buffer[..room]).at_path(Step::Source, operation.source)?;
        if count == 0 {
            break;
        }
        left -= count;
        let mut rest = &buffer[..count];
        while !rest.is_empty() {
            let count = sys::write(to.raw(), rest).at_path(Step::View, at)?;
            rest = &rest[count..];
        }
    }
    Ok(())
}

/// The mount tree at the source, if the object there is still the one the policy was compiled for.
fn open_source<'a>(plan: &Plan<'a>, operation: &Operation<'a>) -> Outcome<'a, Fd> {
    let object = open_checked(plan, operation, sys::O_PATH | sys::O_CLOEXEC)?;
    sys::clone_tree(&object).at_path(Step::Source, operation.source)
}

/// Opens the source without following a link, and makes sure that it is what it was.
fn open_checked<'a>(plan: &Plan<'a>, operation: &Operation<'a>, flags: u64) -> Outcome<'a, Fd> {
    let source = operation.source;
    plan.check(Step::Source)?;
    let resolve = sys::RESOLVE_NO_SYMLINKS | sys::RESOLVE_NO_MAGICLINKS;
    let object = sys::open_resolving(sys::CWD, source, flags, resolve).at_path(Step::Source, source)?;
    plan.check(Step::Changed)?;
    let stat = sys::stat(object.raw()).at_path(Step::Changed, source)?;
    if (stat.device, stat.inode) != (operation.device, operation.inode) {
        return Err(sys::ESTALE).at_path(Step::Changed, source);
    }
    Ok(object)
}

fn open_target<'a>(plan: &Plan<'a>, root: &Fd, target: Path<'a>) -> Outcome<'a, Fd> {
    plan.check(Step::Target)?;
    let resolve = sys::RESOLVE_BENEATH | sys::RESOLVE_NO_SYMLINKS | sys::RESOLVE_NO_MAGICLINKS;
    // Without following: a link can be a target itself.
    let flags = sys::O_PATH | sys::O_NOFOLLOW | sys::O_CLOEXEC;
    sys::open_resolving(root.raw(), target.relative(), flags, resolve).at_path(Step::Target, target)
}

fn attach<'a>(plan: &Plan<'a>, root: &Fd, tree: &Fd, target: Path<'a>) -> Outcome<'a, ()> {
    sys::attach(tree, &open_target(plan, root, target)?).at_path(Step::View, target)
}

/// Attaches a tree, each of whose mounts gets the attributes.
fn attach_restricted(table: &mut Table, tree: &Fd, target: &Fd, attributes: u64) -> sys::Result<()> {
    match sys::set_attributes(tree, attributes, true) {
        Err(sys::ENOSYS) => {
            sys::attach(tree, target)?;
            table.restrict_tree(tree, attributes)
        }
        set => set.and_then(|()| sys::attach(tree, target)),
    }
}

fn tmpfs(operation: &Operation<'_>) -> sys::Result<Fd> {
    let mut size = [0; 24];
    let mut mode = [0; 24];
    let options: [(&[u8], &[u8]); 2] = [
        (b"size\0", format(&mut size, operation.size, 10)),
        (b"mode\0", format(&mut mode, u64::from(operation.mode), 8)),
    ];
    sys::new_mount(b"tmpfs\0", &options, operation.attributes)
}

const SEALED: u64 = wire::ATTR_RDONLY | wire::ATTR_NOSUID | wire::ATTR_NODEV | wire::ATTR_NOEXEC;

fn mask<'a>(table: &mut Table, masks: &Fd, target: &Fd, at: Path<'a>) -> Outcome<'a, ()> {
    let mask = masked_file(masks).at_path(Step::View, at)?;
    attach_restricted(table, &mask, target, SEALED).at_path(Step::View, at)
}

/// A mount of an empty file that nobody may open, and that has no name in the view.
fn masked_file(masks: &Fd) -> sys::Result<Fd> {
    let name = Path::new(b"masked\0");
    exists(sys::mkfile(masks, name, 0))?;
    let file = sys::open_resolving(
        masks.raw(),
        name,
        sys::O_PATH | sys::O_CLOEXEC,
        sys::RESOLVE_NO_SYMLINKS,
    )?;
    sys::clone_tree(&file)
}

/// A terminal multiplexer of its own: the caller's terminals have no name in it.
pub(crate) fn devpts() -> sys::Result<Fd> {
    let options: [(&[u8], &[u8]); 2] = [(b"mode\0", b"0620\0"), (b"ptmxmode\0", b"0666\0")];
    sys::new_mount(b"devpts\0", &options, wire::ATTR_NOSUID | wire::ATTR_NOEXEC)
}

/// Writes a number with its NUL at the end of the buffer and returns that part.
fn format(buffer: &mut [u8; 24], mut number: u64, base: u64) -> &[u8] {
    let mut start = buffer.len() - 1;
    loop {
        start -= 1;
        #[expect(clippy::cast_possible_truncation, reason = "a digit")]
        let digit = b'0' + (number % base) as u8;
        buffer[start] = digit;
        number /= base;
        if number == 0 {
            return &buffer[start..];
        }
    }
}

fn exists(result: sys::Result<()>) -> sys::Result<()> {
    match result {
        Err(sys::EEXIST) => Ok(()),
        other => other,
    }
}

/// Later `/proc` mounts of spawns are allowed only while a whole one is visible in the executor's view.
fn mount_proc_in<'a>(plan: &Plan<'a>, root: &Fd) -> Outcome<'a, ()> {
    plan.check(Step::ExecutorProc)?;
    let at = Path::new(b"/proc\0");
    let mount = new_proc(plan).at_path(Step::ExecutorProc, at)?;
    attach(plan, root, &mount, at)
}

/// A fresh procfs of the current pid namespace.
pub(crate) fn new_proc(plan: &Plan<'_>) -> sys::Result<Fd> {
    let read_only = if plan.has(wire::READ_ONLY_PROC) {
        wire::ATTR_RDONLY
    } else {
        0
    };
    sys::new_mount(
        b"proc\0",
        &[],
        wire::ATTR_NOSUID | wire::ATTR_NODEV | wire::ATTR_NOEXEC | read_only,
    )
}

fn enter<'a>(plan: &Plan<'a>, root: &Fd) -> Outcome<'a, ()> {
    plan.check(Step::Pivot)?;
    let here = Path::new(b".\0");
    sys::fchdir(root).at(Step::Pivot)?;
    sys::pivot_root_here().at(Step::Pivot)?;
    sys::unmount_detached(here).at(Step::Pivot)?;
    let slash = Path::new(b"/\0");
    sys::chdir(slash).at_path(Step::Pivot, slash)
}

#[cfg(test)]
mod tests {
    use super::format;

    #[test]
    fn numbers_are_formatted_with_their_terminator() {
        let mut buffer = [0; 24];
        assert_eq!(format(&mut buffer, 0, 10), b"0\0");
        assert_eq!(format(&mut buffer, 0o1777, 8), b"1777\0");
        assert_eq!(format(&mut buffer, u64::MAX, 10), b"18446744073709551615\0");
    }
}
