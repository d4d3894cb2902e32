//! What the host writes the program reads, and whatever else it is sent, it neither panics nor takes for another thing.

#![expect(clippy::panic, reason = "how a fuzz target says what it found")]

use crate::body::plan::{Names, Plan as Parsed};
use crate::body::spare;
use crate::command::{self, Command};
use crate::plan::{Guard, Operation, Plan, Rule};
use crate::wire::{Beginning, Reader, Step, ViewOp};

/// Bytes that are a message, and that a message is made of.
///
/// # Panics
/// Something is read as what it is not.
pub fn wire(data: &[u8]) {
    if let Some(parsed) = Parsed::parse(data)
        && let Some(plan) = of_the_host(&parsed, data)
        // A string that ends early is nothing that the host writes.
        && let Ok(bytes) = plan.encode()
    {
        assert_eq!(bytes, data);
    }
    if let Some(beginning) = Beginning::parse(data) {
        assert_eq!(beginning.encode(), data);
    }
    let mut source = Source { rest: data };
    let plan = source.plan();
    assert_eq!(
        Beginning::parse(&plan.beginning().encode()),
        Some(plan.beginning())
    );
    if let Ok(bytes) = plan.encode() {
        let parsed = Parsed::parse(&bytes).unwrap_or_else(|| panic!("{plan:?} is not read"));
        let again = of_the_host(&parsed, &bytes).map(|again| Plan {
            uid: plan.uid,
            gid: plan.gid,
            ..again
        });
        assert_eq!(format!("{again:?}"), format!("{:?}", Some(&plan)));
        let cut = source.below(bytes.len());
        assert!(
            Parsed::parse(&bytes[..cut]).is_none(),
            "{cut} bytes of {plan:?} are read"
        );
    }
    source.command();
}

/// The host's form of a plan that the program has read; none if the host can't want it.
fn of_the_host(parsed: &Parsed<'_>, bytes: &[u8]) -> Option<Plan> {
    const FAULT: usize = 8;
    let fault = *bytes.get(FAULT)?;
    let step = Step::from_wire(fault);
    let operations = parsed.operations().map(|operation| Operation {
        kind: operation.kind,
        target: operation.target.bytes().to_vec(),
        source: operation.source.bytes().to_vec(),
        device: operation.device,
        inode: operation.inode,
        attributes: operation.attributes,
        size: operation.size,
        mode: operation.mode,
    });
    let rules = parsed.rules().map(|rule| Rule {
        path: rule.path.bytes().to_vec(),
        access: rule.access,
    });
    let names = |names: Names<'_>| names.map(|name| name.bytes().to_vec()).collect();
    let guards = parsed.guards().map(|guard| Guard {
        path: guard.path.bytes().to_vec(),
        names: names(guard.names),
    });
    (fault == 0 || step.is_some()).then(|| Plan {
        flags: parsed.flags,
        fault: step,
        handled: parsed.handled,
        scopes: parsed.scopes,
        proc_access: parsed.proc_access,
        base: parsed.base.bytes().to_vec(),
        filter: parsed.filter.to_vec(),
        operations: operations.collect(),
        rules: rules.collect(),
        asking: parsed.asking.to_vec(),
        making: parsed.making,
        guards: guards.collect(),
        free: names(parsed.free.clone()),
        ..Plan::default()
    })
}

/// Makes values of bytes, zeros when there are no more.
struct Source<'a> {
    rest: &'a [u8],
}

impl Source<'_> {
    fn byte(&mut self) -> u8 {
        let Some((first, rest)) = self.rest.split_first() else {
            return 0;
        };
        self.rest = rest;
        *first
    }

    fn u32(&mut self) -> u32 {
        u32::from_ne_bytes([(); 4].map(|()| self.byte()))
    }

    fn u64(&mut self) -> u64 {
        u64::from_ne_bytes([(); 8].map(|()| self.byte()))
    }

    fn below(&mut self, end: usize) -> usize {
        (usize::from(self.byte()) * 256 + usize::from(self.byte())) % end
    }

    fn bytes(&mut self) -> Vec<u8> {
        let length = usize::from(self.byte() % 32).min(self.rest.len());
        let (bytes, rest) = self.rest.split_at(length);
        self.rest = rest;
        bytes.to_vec()
    }

    fn list<T>(&mut self, mut item: impl FnMut(&mut Self) -> T) -> Vec<T> {
        (0..self.byte() % 8).map(|_| item(self)).collect()
    }

    fn plan(&mut self) -> Plan {
        Plan {
            flags: self.u32(),
            uid: self.u32(),
            gid: self.u32(),
            fault: Step::from_wire(self.byte()),
            handled: self.u64(),
            scopes: self.u64(),
            proc_access: self.u64(),
            base: self.bytes(),
            filter: self.bytes(),
            operations: self.list(|source| Operation {
                kind: ViewOp::ALL[usize::from(source.byte()) % ViewOp::ALL.len()],
                target: source.bytes(),
                source: source.bytes(),
                device: source.u64(),
                inode: source.u64(),
                attributes: source.u64(),
                size: source.u64(),
                mode: source.u32(),
            }),
            rules: self.list(|source| Rule {
                path: source.bytes(),
                access: source.u64(),
            }),
            asking: self.bytes(),
            making: self.u64(),
            guards: self.list(|source| Guard {
                path: source.bytes(),
                names: source.list(Self::bytes),
            }),
            free: self.list(Self::bytes),
        }
    }

    /// Writes a command as the host does, and reads it as the program does.
    fn command(&mut self) {
        let directory = self.bytes();
        let lists = [(); 3].map(|()| self.list(Self::bytes));
        let limits = self.list(|source| (source.u32(), source.u64()));
        let [programs, arguments, environment] = &lists;
        let command = Command {
            directory: &directory,
            identity: (self.u64(), self.u64()),
            programs,
            arguments,
            environment,
            limits: &limits,
            terminal: self.u32(),
        };
        let Ok(bytes) = command::encode(&command) else {
            return;
        };
        let mut reader = Reader::new(&bytes);
        let read = read_command(&mut reader).filter(|_| reader.is_empty());
        let expected = (
            limits.clone(),
            directory.clone(),
            command.identity,
            lists.to_vec(),
            command.terminal,
        );
        assert_eq!(read, Some(expected));
        let cut = self.below(bytes.len());
        assert_eq!(
            read_command(&mut Reader::new(&bytes[..cut])),
            None,
            "{cut} bytes of {command:?}"
        );
    }
}

type Read = (Vec<(u32, u64)>, Vec<u8>, (u64, u64), Vec<Vec<Vec<u8>>>, u32);

fn read_command(reader: &mut Reader<'_>) -> Option<Read> {
    let header = spare::header(reader)?;
    let limits = (0..header.limits).map(|_| Some((reader.u32()?, reader.u64()?)));
    let limits = limits.collect::<Option<_>>()?;
    let mut string = || reader.bytes().map(|bytes| bytes[..bytes.len() - 1].to_vec());
    let directory = string()?;
    let identity = (reader.u64()?, reader.u64()?);
    let mut strings = |count| (0..count).map(|_| reader.bytes()).collect::<Option<Vec<_>>>();
    let lists = [
        strings(header.programs)?,
        strings(header.arguments)?,
        strings(header.environment)?,
    ];
    let lists = lists.map(|list| {
        list.iter()
            .map(|bytes| bytes[..bytes.len() - 1].to_vec())
            .collect()
    });
    Some((limits, directory, identity, lists.to_vec(), header.terminal))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn known_messages_are_what_they_are() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/wire");
        assert_ne!(fs::read_dir(corpus).unwrap().count(), 0);
        for entry in fs::read_dir(corpus).unwrap() {
            super::wire(&fs::read(entry.unwrap().path()).unwrap());
        }
    }

    proptest! {
        #[test]
        fn any_messages_are_what_they_are(data in vec(any::<u8>(), 0..600)) {
            super::wire(&data);
        }
    }
}
