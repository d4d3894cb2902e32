//! The plan of one executor, as the host writes it.

use crate::wire::{BEGINNING_MAGIC, Beginning, NAMESPACES, PLAN_MAGIC, Step, ViewOp};
use crate::{Put, Unencodable, count};

/// Everything the zygote needs to serve one executor.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Flags of [`crate::wire`].
    pub flags: u32,
    /// Effective user id of the host, mapped to itself.
    pub uid: u32,
    /// Effective group id of the host, mapped to itself.
    pub gid: u32,
    /// Step at which the zygote shall fail instead of acting; only tests set it.
    pub fault: Option<Step>,
    /// Landlock filesystem rights to handle; 0 without Landlock.
    pub handled: u64,
    /// Landlock scopes.
    pub scopes: u64,
    /// Landlock rights beneath the spawn's `/proc`.
    pub proc_access: u64,
    /// An existing directory of the host, over which the zygote mounts the new root in its own namespace.
    pub base: Vec<u8>,
    /// The system-call filter, 8 bytes an instruction.
    pub filter: Vec<u8>,
    /// View operations, executed in order.
    pub operations: Vec<Operation>,
    /// Landlock rules.
    pub rules: Vec<Rule>,
    /// The filter that leaves calls that make names to process 1 of the spawn, the broker, 8 bytes an instruction.
    pub asking: Vec<u8>,
    /// Landlock rights that the command lacks but in free directories, and process 1 has.
    pub making: u64,
    /// Directories in which the broker makes the names; with none there is no broker.
    pub guards: Vec<Guard>,
    /// Directories of the view, as far as they exist, beneath which names can be made without the broker.
    pub free: Vec<Vec<u8>>,
}

/// One view operation; which fields count depends on the kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// What to do.
    pub kind: ViewOp,
    /// Where, as an absolute path of the view.
    pub target: Vec<u8>,
    /// Source of a bind, content of a link.
    pub source: Vec<u8>,
    /// Device the source must have.
    pub device: u64,
    /// Inode the source must have.
    pub inode: u64,
    /// Mount attributes.
    pub attributes: u64,
    /// Size of a tmpfs in bytes.
    pub size: u64,
    /// Mode of what is created.
    pub mode: u32,
}

impl Operation {
    /// An operation with nothing but a place.
    #[must_use]
    pub const fn at(kind: ViewOp, target: Vec<u8>) -> Self {
        Self {
            kind,
            target,
            source: Vec::new(),
            device: 0,
            inode: 0,
            attributes: 0,
            size: 0,
            mode: 0,
        }
    }
}

/// Landlock rights beneath one path of the view.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// An existing path of the view.
    pub path: Vec<u8>,
    /// `LANDLOCK_ACCESS_FS_*`.
    pub access: u64,
}

/// A directory of the view, the root of a mount, beneath which names are made by the broker alone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Guard {
    /// Where it is.
    pub path: Vec<u8>,
    /// Names in it that nobody makes.
    pub names: Vec<Vec<u8>>,
}

impl Beginning {
    /// The message.
    #[must_use]
    pub fn encode(self) -> [u8; size_of::<Self>()] {
        let words = [self.magic, self.flags, self.uid, self.gid, self.fault];
        let mut message = [0; size_of::<Self>()];
        for (bytes, word) in message.chunks_mut(size_of::<u32>()).zip(words) {
            bytes.copy_from_slice(&word.to_ne_bytes());
        }
        message
    }
}

impl Plan {
    /// What of it the namespaces depend on.
    #[must_use]
    pub fn beginning(&self) -> Beginning {
        Beginning {
            magic: BEGINNING_MAGIC,
            flags: self.flags & NAMESPACES,
            uid: self.uid,
            gid: self.gid,
            fault: self.fault.map_or(0, |step| step as u32),
        }
    }

    /// The rest in wire format.
    ///
    /// # Errors
    /// A path that contains a NUL, or more than 4 GiB of anything.
    pub fn encode(&self) -> Result<Vec<u8>, Unencodable> {
        let mut out = Vec::with_capacity(4096 + self.filter.len());
        for word in [PLAN_MAGIC, self.flags] {
            out.put_u32(word);
        }
        out.push(self.fault.map_or(0, |step| step as u8));
        for word in [self.handled, self.scopes, self.proc_access] {
            out.put_u64(word);
        }
        out.put_bytes(&self.base)?;
        put_filter(&mut out, &self.filter)?;
        out.put_u32(count(self.operations.len())?);
        for operation in &self.operations {
            out.push(operation.kind as u8);
            out.put_bytes(&operation.target)?;
            out.put_bytes(&operation.source)?;
            for word in [
                operation.device,
                operation.inode,
                operation.attributes,
                operation.size,
            ] {
                out.put_u64(word);
            }
            out.put_u32(operation.mode);
        }
        out.put_u32(count(self.rules.len())?);
        for rule in &self.rules {
            out.put_bytes(&rule.path)?;
            out.put_u64(rule.access);
        }
        put_filter(&mut out, &self.asking)?;
        out.put_u64(self.making);
        out.put_u32(count(self.guards.len())?);
        for guard in &self.guards {
            out.put_bytes(&guard.path)?;
            put_list(&mut out, &guard.names)?;
        }
        put_list(&mut out, &self.free)?;
        Ok(out)
    }
}

fn put_list(out: &mut Vec<u8>, list: &[Vec<u8>]) -> Result<(), Unencodable> {
    out.put_u32(count(list.len())?);
    list.iter().try_for_each(|bytes| out.put_bytes(bytes))
}

/// A filter is binary; it gets the same frame as a string, without the check for NULs.
fn put_filter(out: &mut Vec<u8>, filter: &[u8]) -> Result<(), Unencodable> {
    out.put_u32(count(filter.len())?);
    out.extend_from_slice(filter);
    out.push(0);
    Ok(())
}

#[cfg(all(
    test,
    target_os = "linux",
    any(target_arch = "x86_64", target_arch = "aarch64")
))]
mod tests {
    use super::*;
    use crate::body::plan::{Names, Plan as Parsed};

    fn sample() -> Plan {
        let mut operation = Operation::at(ViewOp::Bind, b"/w\n[x]".to_vec());
        operation.source = b"/source".to_vec();
        operation.inode = u64::MAX;
        Plan {
            flags: 3,
            uid: 65_534,
            base: b"/base".to_vec(),
            filter: vec![0; 16],
            operations: vec![operation],
            rules: vec![Rule {
                path: b"/w".to_vec(),
                access: 1 << 40,
            }],
            asking: vec![0; 8],
            guards: vec![Guard {
                path: b"/w".to_vec(),
                names: vec![b".git".to_vec(), b"HEAD".to_vec()],
            }],
            free: vec![b"/w/src".to_vec()],
            ..Plan::default()
        }
    }

    #[test]
    fn what_the_host_writes_the_zygote_reads() {
        let bytes = sample().encode().unwrap();
        let parsed = Parsed::parse(&bytes).unwrap();
        assert_eq!((parsed.flags, parsed.filter.len()), (3, 16));
        let operation = parsed.operations().next().unwrap();
        assert_eq!(operation.target.bytes(), b"/w\n[x]");
        assert_eq!((operation.kind, operation.inode), (ViewOp::Bind, u64::MAX));
        assert_eq!(parsed.rules().next().unwrap().access, 1 << 40);
        let guard = parsed.guards().next().unwrap();
        assert_eq!((guard.path.bytes(), parsed.asking.len()), (&b"/w"[..], 8));
        let names = |names: Names<'_>| names.map(|name| name.bytes().to_vec()).collect::<Vec<_>>();
        assert_eq!(names(guard.names), [&b".git"[..], b"HEAD"]);
        assert_eq!(names(parsed.free.clone()), [b"/w/src"]);
    }

    #[test]
    fn no_truncated_plan_parses() {
        let bytes = sample().encode().unwrap();
        for length in 0..bytes.len() {
            assert!(
                Parsed::parse(&bytes[..length]).is_none(),
                "{length} of {} bytes parsed",
                bytes.len()
            );
        }
    }

    #[test]
    fn a_nul_in_a_path_is_refused() {
        let mut plan = sample();
        plan.base = b"/a\0b".to_vec();
        assert_eq!(plan.encode(), Err(Unencodable::Nul));
    }
}
