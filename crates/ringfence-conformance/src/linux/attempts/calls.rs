//! System calls as constants, so that a table of attempts can be read.

use ringfence_zygote::attempt::{Argument, Call};

/// One system call of a table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Step {
    pub(crate) number: libc::c_long,
    pub(crate) arguments: &'static [Argument],
    pub(crate) reached: i32,
    pub(crate) closes: bool,
}

/// The path an attempt is about.
pub(crate) const P: Argument = Argument::Data(0);
/// Another path, or some other text.
pub(crate) const Q: Argument = Argument::Data(1);
/// What is to be written, or an address.
pub(crate) const C: Argument = Argument::Data(2);
/// What the first call gave.
pub(crate) const R: Argument = Argument::Result(0);
/// Room for an answer.
pub(crate) const B: Argument = Argument::Buffer;
/// The working directory.
pub(crate) const HERE: Argument = n(libc::AT_FDCWD);

/// An `int`.
#[expect(
    clippy::cast_sign_loss,
    reason = "the kernel reads the low half as the signed int it was"
)]
pub(crate) const fn n(value: i32) -> Argument {
    Argument::Word(value as i64 as u64)
}

/// A call that must succeed.
pub(crate) const fn sys(number: libc::c_long, arguments: &'static [Argument]) -> Step {
    Step {
        number,
        arguments,
        reached: 0,
        closes: false,
    }
}

/// A call that gives a descriptor.
pub(crate) const fn fd(number: libc::c_long, arguments: &'static [Argument]) -> Step {
    Step {
        closes: true,
        ..sys(number, arguments)
    }
}

/// A call that can't succeed as it is asked, and says so with this errno once it has reached what it is about.
pub(crate) const fn reaches(number: libc::c_long, arguments: &'static [Argument], errno: i32) -> Step {
    Step {
        reached: errno,
        ..sys(number, arguments)
    }
}

impl Step {
    pub(crate) fn call(&self) -> Call {
        Call {
            number: u32::try_from(self.number).unwrap_or(u32::MAX),
            arguments: self.arguments.to_vec(),
            reached: self.reached,
            closes: self.closes,
        }
    }
}

/// A call with arguments that are known only when it is planned.
pub(crate) fn call(number: libc::c_long, arguments: &[Argument]) -> Call {
    Call {
        arguments: arguments.to_vec(),
        ..sys(number, &[]).call()
    }
}

/// The same for one that gives a descriptor.
pub(crate) fn opening(number: libc::c_long, arguments: &[Argument]) -> Call {
    Call {
        closes: true,
        ..call(number, arguments)
    }
}

/// The same for one that is answered by an errno when it was let through.
pub(crate) fn reaching(number: libc::c_long, arguments: &[Argument], errno: i32) -> Call {
    Call {
        reached: errno,
        ..call(number, arguments)
    }
}
