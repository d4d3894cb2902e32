//! From table to classic BPF.
//!
//! The kernel runs the program once for every system-call number when it is loaded, so its shape matters: a
//! balanced tree over the numbers, each leaf with its own code.

use ringfence_policy::NestedNamespaces;

use super::making;
use super::table::{ENOSYS, ENTRIES, Entry, LAST_REVIEWED, MAKE_NAMESPACES, X32_BIT};
use super::{Action, Architecture, Check};
use crate::mutation::{self, Layer};

/// `struct sock_filter`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Instruction {
    pub(crate) code: u16,
    pub(crate) if_true: u8,
    pub(crate) if_false: u8,
    pub(crate) value: u32,
}

pub(crate) const LOAD: u16 = 0x20;
pub(crate) const AND: u16 = 0x54;
pub(crate) const JUMP: u16 = 0x05;
pub(crate) const JUMP_EQUAL: u16 = 0x15;
pub(crate) const JUMP_AT_LEAST: u16 = 0x35;
pub(crate) const JUMP_ANY_BIT: u16 = 0x45;
pub(crate) const RETURN: u16 = 0x06;

const OFFSET_NUMBER: u32 = 0;
const OFFSET_ARCHITECTURE: u32 = 4;
const OFFSET_ARGUMENTS: u32 = 16;

/// The whole filter, as `seccomp(2)` takes it: eight bytes an instruction.
pub(crate) fn assemble(architecture: Architecture, namespaces: NestedNamespaces) -> Vec<u8> {
    bytes(program(architecture, namespaces))
}

/// The filter that leaves the calls that make names to whoever listens, and allows everything else.
pub(crate) fn asking(architecture: Architecture) -> Vec<u8> {
    let entries = making::ENTRIES
        .iter()
        .filter(|entry| mutation::keeps(Layer::Broker, || format!("call {}", entry.name)));
    let ranges = listed(entries, architecture);
    bytes(on(architecture, &ranges, Action::Allow))
}

fn bytes(program: Vec<Instruction>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for instruction in program {
        bytes.extend_from_slice(&instruction.code.to_ne_bytes());
        bytes.extend_from_slice(&[instruction.if_true, instruction.if_false]);
        bytes.extend_from_slice(&instruction.value.to_ne_bytes());
    }
    bytes
}

pub(crate) fn program(architecture: Architecture, namespaces: NestedNamespaces) -> Vec<Instruction> {
    on(architecture, &ranges(architecture, namespaces), Action::Kill)
}

/// What calls of this architecture get, and those of others.
fn on(architecture: Architecture, ranges: &[NumberRange], others: Action) -> Vec<Instruction> {
    let mut native = vec![load(OFFSET_NUMBER)];
    native.extend(decide(ranges));
    let mut program = vec![load(OFFSET_ARCHITECTURE)];
    program.extend(branch(
        JUMP_EQUAL,
        architecture.audit_number(),
        native,
        vec![end(others)],
    ));
    program
}

/// What happens to the numbers from `first` up to the next range.
struct NumberRange {
    first: u32,
    check: &'static Check,
}

fn ranges(architecture: Architecture, namespaces: NestedNamespaces) -> Vec<NumberRange> {
    static NOT_REVIEWED: Check = Check::Always(Action::Fail(ENOSYS));
    static KILL: Check = Check::Always(Action::Kill);
    let is_open = |name| namespaces == NestedNamespaces::Allow && MAKE_NAMESPACES.contains(&name);
    let entries = ENTRIES
        .iter()
        .filter(|entry| !is_open(entry.name))
        .filter(|entry| mutation::keeps(Layer::Filter, || entry.name.to_owned()));
    let mut ranges = listed(entries, architecture);
    push(&mut ranges, LAST_REVIEWED + 1, &NOT_REVIEWED);
    if architecture == Architecture::X86_64 && mutation::keeps(Layer::Filter, || "x32".to_owned()) {
        push(&mut ranges, X32_BIT, &KILL);
    }
    ranges
}

/// The ranges for these entries, with everything else allowed.
fn listed<'a>(entries: impl Iterator<Item = &'a Entry>, architecture: Architecture) -> Vec<NumberRange> {
    static ALLOW: Check = Check::Always(Action::Allow);
    let mut listed: Vec<(u32, &'static Check)> = entries
        .filter_map(|entry| Some((entry.number(architecture)?, entry.check)))
        .collect();
    listed.sort_unstable_by_key(|(number, _)| *number);
    let mut ranges = vec![NumberRange {
        first: 0,
        check: &ALLOW,
    }];
    for (number, check) in listed {
        push(&mut ranges, number, check);
        push(&mut ranges, number + 1, &ALLOW);
    }
    ranges
}

fn push(ranges: &mut Vec<NumberRange>, first: u32, check: &'static Check) {
    ranges.pop_if(|last| last.first == first);
    ranges.push(NumberRange { first, check });
}

fn decide(ranges: &[NumberRange]) -> Vec<Instruction> {
    match ranges {
        [] => Vec::new(),
        [only] => check(only.check),
        _ => {
            let (lower, upper) = ranges.split_at(ranges.len() / 2);
            let pivot = upper.first().map_or(0, |range| range.first);
            branch(JUMP_AT_LEAST, pivot, decide(upper), decide(lower))
        }
    }
}

fn check(check: &Check) -> Vec<Instruction> {
    match check {
        Check::Always(action) => vec![end(*action)],
        Check::AnyBit {
            argument,
            mask,
            then,
            otherwise,
        } => {
            let mut code = vec![load_argument(*argument)];
            code.extend(branch(
                JUMP_ANY_BIT,
                *mask,
                self::check(then),
                self::check(otherwise),
            ));
            code
        }
        Check::OneOf {
            argument,
            mask,
            values,
            then,
            otherwise,
        } => {
            let mut code = vec![load_argument(*argument)];
            if *mask != u32::MAX {
                code.push(Instruction {
                    code: AND,
                    if_true: 0,
                    if_false: 0,
                    value: *mask,
                });
            }
            let mut tail = self::check(otherwise);
            for value in values.iter().rev() {
                tail = branch(JUMP_EQUAL, *value, self::check(then), tail);
            }
            code.extend(tail);
            code
        }
    }
}

/// A test followed by the code for "no" and the code for "yes". Conditional jumps reach 255 instructions; a
/// longer way takes an unconditional one.
fn branch(code: u16, value: u32, yes: Vec<Instruction>, no: Vec<Instruction>) -> Vec<Instruction> {
    let mut program = Vec::with_capacity(2 + yes.len() + no.len());
    match u8::try_from(no.len()) {
        Ok(distance) => program.push(Instruction {
            code,
            if_true: distance,
            if_false: 0,
            value,
        }),
        Err(_) => {
            program.push(Instruction {
                code,
                if_true: 0,
                if_false: 1,
                value,
            });
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a filter has at most 4096 instructions"
            )]
            program.push(Instruction {
                code: JUMP,
                if_true: 0,
                if_false: 0,
                value: no.len() as u32,
            });
        }
    }
    program.extend(no);
    program.extend(yes);
    program
}

const fn load(offset: u32) -> Instruction {
    Instruction {
        code: LOAD,
        if_true: 0,
        if_false: 0,
        value: offset,
    }
}

/// Loads the low half of an argument; both architectures are little-endian.
const fn load_argument(argument: u8) -> Instruction {
    load(OFFSET_ARGUMENTS + 8 * argument as u32)
}

const fn end(action: Action) -> Instruction {
    const ALLOW: u32 = 0x7FFF_0000;
    const ERRNO: u32 = 0x0005_0000;
    const KILL_PROCESS: u32 = 0x8000_0000;
    const USER_NOTIF: u32 = 0x7FC0_0000;
    let value = match action {
        Action::Allow => ALLOW,
        Action::Fail(errno) => ERRNO | errno as u32,
        Action::Kill => KILL_PROCESS,
        Action::Ask => USER_NOTIF,
    };
    Instruction {
        code: RETURN,
        if_true: 0,
        if_false: 0,
        value,
    }
}

#[cfg(test)]
#[path = "assemble_tests.rs"]
mod tests;
