//! Mount attributes on kernels without `mount_setattr(2)`, which came with Linux 5.12.
//!
//! There a mount is remounted by itself, and only once it is attached: nothing confined runs yet that could use the
//! time between. What lies beneath a tree is known from `/proc/self/mountinfo`. The table of this namespace changes by
//! our own doing only, since every mount is private; but others can rename directories meanwhile, so that a path of the
//! table is believed only if it leads to the very mount.

use super::sys::{self, Errno, Fd, Path};

/// The mounts of this namespace, read anew for each use into the same memory.
pub(crate) struct Table(Option<&'static mut [u8]>);

/// Memory is taken as it is filled.
const LARGEST_TABLE: usize = 8 << 20;
/// Mounts in one tree.
const MOST: usize = 4096;

impl Table {
    /// Costs nothing before it is used.
    pub(crate) const fn new() -> Self {
        Self(None)
    }

    /// Adds attributes to an attached mount and to every one beneath it.
    pub(crate) fn restrict_tree(&mut self, top: &Fd, attributes: u64) -> sys::Result<()> {
        if !sys::is_directory(top)? {
            return restrict(top, attributes);
        }
        let id = sys::mount_id(top)?;
        let mounts = self.read()?;
        let line = mounts.find(id).ok_or(sys::ENOENT)?;
        remount(top, line.flags(), attributes)?;
        let tree = Tree::beneath(id, mounts)?;
        for line in mounts.lines().filter(|line| tree.contains(line.id)) {
            restrict_at_path(mounts, &line, attributes)?;
        }
        Ok(())
    }

    fn read(&mut self) -> sys::Result<Mounts<'_>> {
        let path = Path::new(b"/proc/self/mountinfo\0");
        let file = sys::open(path, sys::O_CLOEXEC)?;
        let buffer = match &mut self.0 {
            Some(buffer) => buffer,
            none => none.insert(sys::map(LARGEST_TABLE, None)?),
        };
        let mut filled = 0;
        loop {
            match sys::read(file.raw(), &mut buffer[filled..])? {
                0 if filled == buffer.len() => return Err(sys::E2BIG),
                0 => return Ok(Mounts(&buffer[..filled])),
                count => filled += count,
            }
        }
    }
}

/// Adds attributes to one attached mount, of which there may be thousands. For files, which have nothing beneath them, and
/// filesystems of our own: it asks the filesystem, and one of somebody else's may keep silent.
pub(crate) fn restrict(mount: &Fd, attributes: u64) -> sys::Result<()> {
    remount(mount, sys::mount_flags(mount)?, attributes)
}

/// A mount that is found by its path. One that can't be seen there needs nothing: no command can undo that.
fn restrict_at_path(mounts: Mounts<'_>, line: &Line<'_>, attributes: u64) -> sys::Result<()> {
    if line.flags() & flags_of(attributes) == flags_of(attributes) {
        return Ok(());
    }
    let mut path = Place::of(line.path)?;
    let (nearest, refused) = path.nearest()?;
    let here = sys::mount_id(&nearest)?;
    match refused {
        None if here == line.id => remount(&nearest, line.flags(), attributes),
        _ if mounts.is_covered(line, here) => Ok(()),
        // Commands have no way past a directory that this user can't search, but its mode may change while they run.
        Some(sys::EACCES) => sys::attach(&closed_directory(attributes)?, &nearest),
        // Moved away at this moment.
        _ => Err(sys::ESTALE),
    }
}

fn closed_directory(attributes: u64) -> sys::Result<Fd> {
    sys::new_mount(
        b"tmpfs\0",
        &[(b"size\0", b"4k\0"), (b"mode\0", b"0\0")],
        attributes,
    )
}

/// `mount(2)` sets the flags it is given and clears the others, but for access times, of which it keeps all unless
/// one is given.
fn remount(mount: &Fd, present: usize, attributes: u64) -> sys::Result<()> {
    let mut path = [0; 32];
    let flags = sys::MS_REMOUNT | sys::MS_BIND | present | flags_of(attributes);
    let path = sys::descriptor_path(mount, &mut path);
    sys::mount(Path::EMPTY, path, Path::EMPTY, flags, Path::EMPTY)
}

/// The attributes in use have the values of the flags.
#[expect(clippy::cast_possible_truncation, reason = "64-bit targets only")]
const fn flags_of(attributes: u64) -> usize {
    attributes as usize
}

/// The table as text.
#[derive(Clone, Copy)]
struct Mounts<'a>(&'a [u8]);

impl<'a> Mounts<'a> {
    fn lines(self) -> impl Iterator<Item = Line<'a>> {
        self.0.split(|byte| *byte == b'\n').filter_map(Line::parse)
    }

    fn find(self, id: u64) -> Option<Line<'a>> {
        self.lines().find(|line| line.id == id)
    }

    /// Whether what is seen at the path of a mount belongs to one that lies over it, or over a directory above it.
    fn is_covered(self, line: &Line<'_>, seen: u64) -> bool {
        let mut above = Some(*line);
        for _ in 0..MOST {
            match above {
                Some(mount) if mount.id == seen => return false,
                Some(mount) if mount.parent != mount.id => above = self.find(mount.parent),
                _ => break,
            }
        }
        self.find(seen)
            .is_some_and(|cover| is_at_or_beneath(line.path, cover.path))
    }
}

fn is_at_or_beneath(path: &[u8], above: &[u8]) -> bool {
    let above = above.strip_suffix(b"/").unwrap_or(above);
    matches!(path.strip_prefix(above), Some([] | [b'/', ..]))
}

/// `ID PARENT MAJOR:MINOR ROOT MOUNT-POINT OPTIONS …`, see proc_pid_mountinfo(5).
#[derive(Clone, Copy)]
struct Line<'a> {
    id: u64,
    parent: u64,
    /// With escapes.
    path: &'a [u8],
    options: &'a [u8],
}

impl<'a> Line<'a> {
    fn parse(line: &'a [u8]) -> Option<Self> {
        let mut fields = line.split(|byte| *byte == b' ');
        Some(Self {
            id: number(fields.next()?, 10)?,
            parent: number(fields.next()?, 10)?,
            path: fields.nth(2)?,
            options: fields.next()?,
        })
    }

    /// What a remount has to repeat.
    fn flags(&self) -> usize {
        let flag = |option: &[u8]| match option {
            b"ro" => sys::MS_RDONLY,
            b"nosuid" => sys::MS_NOSUID,
            b"nodev" => sys::MS_NODEV,
            b"noexec" => sys::MS_NOEXEC,
            b"nosymfollow" => sys::MS_NOSYMFOLLOW,
            _ => 0,
        };
        let options = self.options.split(|byte| *byte == b',');
        options.fold(0, |flags, option| flags | flag(option))
    }
}

fn number(digits: &[u8], base: u64) -> Option<u64> {
    let add = |sum: u64, byte: &u8| {
        let digit = u64::from(byte.wrapping_sub(b'0'));
        (digit < base).then(|| sum.checked_mul(base)?.checked_add(digit))?
    };
    digits.first()?;
    digits.iter().try_fold(0, add)
}

/// The mounts beneath one.
struct Tree {
    top: u64,
    ids: [u64; MOST],
    length: usize,
}

impl Tree {
    fn beneath(top: u64, mounts: Mounts<'_>) -> sys::Result<Self> {
        let mut tree = Self {
            top,
            ids: [0; MOST],
            length: 0,
        };
        // Nobody promises that parents come first.
        loop {
            let before = tree.length;
            for line in mounts.lines() {
                let is_child = line.parent == top || tree.contains(line.parent);
                if is_child && line.id != top && !tree.contains(line.id) {
                    *tree.ids.get_mut(tree.length).ok_or(sys::E2BIG)? = line.id;
                    tree.length += 1;
                }
            }
            if tree.length == before {
                return Ok(tree);
            }
        }
    }

    fn contains(&self, id: u64) -> bool {
        id != self.top && self.ids[..self.length].contains(&id)
    }
}

/// A path without escapes, which can be shortened.
struct Place {
    bytes: [u8; 4096],
    length: usize,
}

impl Place {
    fn of(escaped: &[u8]) -> sys::Result<Self> {
        let mut place = Self {
            bytes: [0; 4096],
            length: 0,
        };
        let mut rest = escaped;
        while let [first, tail @ ..] = rest {
            let octal = (*first == b'\\').then(|| tail.split_at_checked(3)).flatten();
            let (byte, tail) = match octal {
                Some((digits, tail)) => {
                    let code = number(digits, 8).and_then(|code| u8::try_from(code).ok());
                    (code.ok_or(sys::EINVAL)?, tail)
                }
                None => (*first, tail),
            };
            place.push(byte)?;
            rest = tail;
        }
        place.push(0)?;
        place.length -= 1;
        Ok(place)
    }

    fn push(&mut self, byte: u8) -> sys::Result<()> {
        *self.bytes.get_mut(self.length).ok_or(sys::ENAMETOOLONG)? = byte;
        self.length += 1;
        Ok(())
    }

    /// What is there, or the nearest thing above it and why not itself.
    fn nearest(&mut self) -> sys::Result<(Fd, Option<Errno>)> {
        let resolve = sys::RESOLVE_NO_SYMLINKS | sys::RESOLVE_NO_MAGICLINKS;
        let flags = sys::O_PATH | sys::O_NOFOLLOW | sys::O_CLOEXEC;
        let mut refused = None;
        loop {
            let path = Path::new(&self.bytes[..=self.length]);
            match sys::open_resolving(sys::CWD, path, flags, resolve) {
                Err(errno @ (sys::EACCES | sys::ENOENT | sys::ENOTDIR)) if self.shorten() => {
                    refused = refused.or(Some(errno));
                }
                opened => return Ok((opened?, refused)),
            }
        }
    }

    /// Leaves the last name out; `false` where there is none.
    fn shorten(&mut self) -> bool {
        let slash = self.bytes[..self.length].iter().rposition(|byte| *byte == b'/');
        let length = match slash {
            Some(0) if self.length > 1 => 1,
            Some(at) if at > 0 => at,
            _ => return false,
        };
        self.bytes[length] = 0;
        self.length = length;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: Mounts<'static> = Mounts(
        b"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/vda rw\n\
        25 24 0:7 / /w/a/b\\040c ro,nosuid,nodev,noexec,noatime - tmpfs t rw\n\
        24 21 0:6 / /w rw,nosuid,relatime - tmpfs t rw\n\
        26 24 0:8 / /w/a rw,nosymfollow - tmpfs t rw\n\
        27 21 0:9 / /other rw - tmpfs t rw\nnonsense\n",
    );

    #[test]
    fn a_tree_is_what_is_beneath_whatever_the_order() {
        let tree = Tree::beneath(24, TABLE).ok().unwrap();
        assert_eq!(
            [21, 24, 25, 26, 27].map(|id| tree.contains(id)),
            [false, false, true, true, false]
        );
        let whole = Tree::beneath(21, TABLE).ok().unwrap();
        assert!([24, 25, 26, 27].iter().all(|id| whole.contains(*id)));
    }

    #[test]
    fn a_remount_repeats_what_is_set() {
        let flags = |id| TABLE.find(id).unwrap().flags();
        assert_eq!(flags(21), 0);
        assert_eq!(
            flags(25),
            sys::MS_RDONLY | sys::MS_NOSUID | sys::MS_NODEV | sys::MS_NOEXEC
        );
        assert_eq!(flags(26), sys::MS_NOSYMFOLLOW);
    }

    #[test]
    fn only_what_lies_over_a_mount_covers_it() {
        let line = TABLE.find(25).unwrap();
        let covered = |by| TABLE.is_covered(&line, by);
        assert!(covered(26), "mounted over a directory above it");
        assert!(
            !covered(24) && !covered(25) && !covered(21),
            "itself and what it lies in"
        );
        assert!(!covered(27), "elsewhere: it was moved");
        assert!(!covered(99));
    }

    #[test]
    fn paths_are_unescaped_and_shortened_to_the_root() {
        let mut place = Place::of(b"/w/b\\040c\\134").ok().unwrap();
        assert_eq!(&place.bytes[..=place.length], b"/w/b c\\\0");
        let mut lengths = Vec::new();
        while place.shorten() {
            lengths.push(place.length);
        }
        assert_eq!(lengths, [2, 1]);
        assert!(Place::of(b"/\\999").is_err());
        assert!(Place::of(&[b'x'; 4096]).is_err());
    }
}
