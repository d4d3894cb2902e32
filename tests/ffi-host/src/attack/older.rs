//! An older kernel: a filter answers for system calls as a kernel does that does not know them.

use crate::sys::{Arg, Attempt, Errno, Step, call};

pub(crate) const STEPS: &[Step] = &[
    // From here on, in this process and all it starts: `without CALL…`.
    ("without", |args| {
        let known = |name: &String| CALLS.iter().find(|call| call.0 == name);
        for name in args.0 {
            for number in known(name).ok_or(Errno(libc::EINVAL))?.1 {
                refuse(*number)?;
            }
        }
        Ok(())
    }),
];

/// With the version that brought them.
const CALLS: &[(&str, &[libc::c_long])] = &[
    ("open_tree", &[libc::SYS_open_tree]),         // 5.2
    ("openat2", &[libc::SYS_openat2]),             // 5.6
    ("close_range", &[libc::SYS_close_range]),     // 5.9
    ("mount_setattr", &[libc::SYS_mount_setattr]), // 5.12
    (
        "landlock", // 5.13
        &[
            libc::SYS_landlock_create_ruleset,
            libc::SYS_landlock_add_rule,
            libc::SYS_landlock_restrict_self,
        ],
    ),
];

fn refuse(number: libc::c_long) -> Attempt {
    const LOAD_NUMBER: u16 = 0x20;
    const JUMP_IF_EQUAL: u16 = 0x15;
    const RETURN: u16 = 0x06;
    const ALLOW: u32 = 0x7FFF_0000;
    const ERROR: u32 = 0x0005_0000 | libc::ENOSYS.unsigned_abs();
    let number = u32::try_from(number).map_err(|_| Errno(libc::EINVAL))?;
    let mut program = [0; 32];
    let instructions = [
        (LOAD_NUMBER, 0, 0, 0),
        (JUMP_IF_EQUAL, 0, 1, number),
        (RETURN, 0, 0, ERROR),
        (RETURN, 0, 0, ALLOW),
    ];
    for (slot, (code, then, otherwise, value)) in program.chunks_exact_mut(8).zip(instructions) {
        let (head, operand) = slot.split_at_mut(4);
        head[..2].copy_from_slice(&u16::to_ne_bytes(code));
        head[2..].copy_from_slice(&[then, otherwise]);
        operand.copy_from_slice(&u32::to_ne_bytes(value));
    }
    // `struct sock_fprog`: a length, and the address of the instructions.
    let mut description = [0; 16];
    description[..2].copy_from_slice(&4u16.to_ne_bytes());
    description[8..].copy_from_slice(&(program.as_mut_ptr().expose_provenance() as u64).to_ne_bytes());
    call!(libc::SYS_prctl, libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)?;
    let set_filter = Arg::word(u64::from(libc::SECCOMP_SET_MODE_FILTER));
    call!(libc::SYS_seccomp, set_filter, 0, &mut description).map(drop)
}
