//! The plan as the zygote reads it: in place, from the sealed file.

use super::sys::{self, Fd, Path};
use super::{At, Failed, Outcome};
use crate::wire::{self, Beginning, Reader, Step, ViewOp};

/// A mapped, parsed plan.
#[derive(Clone)]
pub(crate) struct Plan<'a> {
    pub(crate) flags: u32,
    /// Step at which a test wants a failure; 0 for none.
    fault: u8,
    /// Landlock rights to handle; 0 where the kernel has no Landlock.
    pub(crate) handled: u64,
    pub(crate) scopes: u64,
    /// Rights beneath the spawn's own `/proc`.
    pub(crate) proc_access: u64,
    /// Existing directory of the host on which the new root is mounted.
    pub(crate) base: Path<'a>,
    pub(crate) filter: &'a [u8],
    operations: Reader<'a>,
    operation_count: u32,
    rules: Reader<'a>,
    rule_count: u32,
    pub(crate) asking: &'a [u8],
    /// Landlock rights that the command lacks but in free directories, and process 1 has.
    pub(crate) making: u64,
    guards: Reader<'a>,
    guard_count: u32,
    /// Directories beneath which names can be made without the broker.
    pub(crate) free: Names<'a>,
}

/// One view operation.
pub(crate) struct Operation<'a> {
    pub(crate) kind: ViewOp,
    pub(crate) target: Path<'a>,
    pub(crate) source: Path<'a>,
    pub(crate) device: u64,
    pub(crate) inode: u64,
    pub(crate) attributes: u64,
    pub(crate) size: u64,
    pub(crate) mode: u32,
}

/// One Landlock rule.
pub(crate) struct Rule<'a> {
    pub(crate) path: Path<'a>,
    pub(crate) access: u64,
}

/// One guarded directory.
pub(crate) struct Guard<'a> {
    pub(crate) path: Path<'a>,
    /// Names in it that nobody makes.
    pub(crate) names: Names<'a>,
}

/// A list of names or paths.
#[derive(Clone)]
pub(crate) struct Names<'a> {
    reader: Reader<'a>,
    left: u32,
}

impl<'a> Names<'a> {
    fn read(reader: &mut Reader<'a>) -> Option<Self> {
        let left = reader.u32()?;
        let names = Self {
            reader: reader.clone(),
            left,
        };
        for _ in 0..left {
            reader.bytes()?;
        }
        Some(names)
    }
}

impl<'a> Iterator for Names<'a> {
    type Item = Path<'a>;

    fn next(&mut self) -> Option<Path<'a>> {
        self.left = self.left.checked_sub(1)?;
        self.reader.bytes().map(Path::new)
    }
}

impl Plan<'static> {
    /// Maps and parses the plan behind a descriptor.
    pub(crate) fn map(file: &Fd) -> Outcome<'static, Self> {
        let size = sys::stat(file.raw()).at(Step::Plan)?.size;
        let size = usize::try_from(size).map_err(|_| sys::EINVAL).at(Step::Plan)?;
        let bytes: &'static [u8] = sys::map(size, Some(file)).at(Step::Plan)?;
        Plan::parse(bytes).ok_or(sys::EPROTO).at(Step::Plan)
    }
}

impl<'a> Plan<'a> {
    pub(crate) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(bytes);
        if reader.u32()? != wire::PLAN_MAGIC {
            return None;
        }
        let flags = reader.u32()?;
        let fault = reader.u8()?;
        let handled = reader.u64()?;
        let scopes = reader.u64()?;
        let proc_access = reader.u64()?;
        let base = Path::new(reader.bytes()?);
        let filter = program(&mut reader)?;
        let operation_count = reader.u32()?;
        let operations = reader.clone();
        for _ in 0..operation_count {
            operation(&mut reader)?;
        }
        let rule_count = reader.u32()?;
        let rules = reader.clone();
        for _ in 0..rule_count {
            rule(&mut reader)?;
        }
        let asking = program(&mut reader)?;
        let making = reader.u64()?;
        let guard_count = reader.u32()?;
        let guards = reader.clone();
        for _ in 0..guard_count {
            guard(&mut reader)?;
        }
        let free = Names::read(&mut reader)?;
        reader.is_empty().then_some(Self {
            flags,
            fault,
            handled,
            scopes,
            proc_access,
            base,
            filter,
            operations,
            operation_count,
            rules,
            rule_count,
            asking,
            making,
            guards,
            guard_count,
            free,
        })
    }

    pub(crate) const fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    pub(crate) fn operations(&self) -> impl Iterator<Item = Operation<'a>> {
        let mut reader = self.operations.clone();
        (0..self.operation_count).map_while(move |_| operation(&mut reader))
    }

    pub(crate) fn rules(&self) -> impl Iterator<Item = Rule<'a>> {
        let mut reader = self.rules.clone();
        (0..self.rule_count).map_while(move |_| rule(&mut reader))
    }

    pub(crate) fn guards(&self) -> impl Iterator<Item = Guard<'a>> {
        let mut reader = self.guards.clone();
        (0..self.guard_count).map_while(move |_| guard(&mut reader))
    }

    /// How many there are.
    pub(crate) const fn guard_count(&self) -> usize {
        self.guard_count as usize
    }

    /// Fails where a test asked for it, before the step does anything.
    pub(crate) fn check(&self, step: Step) -> Outcome<'a, ()> {
        inject(u32::from(self.fault), step)
    }
}

fn inject<'a>(fault: u32, step: Step) -> Outcome<'a, ()> {
    if fault == step as u32 {
        return Err(Failed {
            step,
            errno: sys::EPERM,
            path: b"injected",
        });
    }
    Ok(())
}

impl Beginning {
    /// Reads it from the control socket.
    pub(crate) fn receive(control: &Fd) -> Outcome<'static, Self> {
        let mut message = [0u8; size_of::<Self>()];
        let (count, _) = sys::receive(control.raw(), &mut message).at(Step::Plan)?;
        let beginning = Self::parse(message.get(..count).unwrap_or_default());
        beginning.ok_or(sys::EPROTO).at(Step::Plan)
    }

    pub(crate) fn parse(message: &[u8]) -> Option<Self> {
        let mut reader = Reader::new(message);
        let beginning = Self {
            magic: reader.u32()?,
            flags: reader.u32()?,
            uid: reader.u32()?,
            gid: reader.u32()?,
            fault: reader.u32()?,
        };
        (beginning.magic == wire::BEGINNING_MAGIC && reader.is_empty()).then_some(beginning)
    }

    pub(crate) const fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// As [`Plan::check`].
    pub(crate) fn check<'a>(&self, step: Step) -> Outcome<'a, ()> {
        inject(self.fault, step)
    }
}

fn program<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    reader.bytes()?.split_last().map(|(_, filter)| filter)
}

fn guard<'a>(reader: &mut Reader<'a>) -> Option<Guard<'a>> {
    Some(Guard {
        path: Path::new(reader.bytes()?),
        names: Names::read(reader)?,
    })
}

fn operation<'a>(reader: &mut Reader<'a>) -> Option<Operation<'a>> {
    Some(Operation {
        kind: ViewOp::from_wire(reader.u8()?)?,
        target: Path::new(reader.bytes()?),
        source: Path::new(reader.bytes()?),
        device: reader.u64()?,
        inode: reader.u64()?,
        attributes: reader.u64()?,
        size: reader.u64()?,
        mode: reader.u32()?,
    })
}

fn rule<'a>(reader: &mut Reader<'a>) -> Option<Rule<'a>> {
    Some(Rule {
        path: Path::new(reader.bytes()?),
        access: reader.u64()?,
    })
}
