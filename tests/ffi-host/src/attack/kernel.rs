//! Interfaces of the kernel that no view and no capability fences off, and those of the machine's administrator.

use crate::sys::{Arg, Attempt, Step, call, put, reaches};

const USER_KEYRING: i32 = -4;
const TIOCSTI: i32 = 0x5412;
const TIOCLINUX: i32 = 0x541C;
const TIOCSETD: i32 = 0x5423;

pub(crate) const STEPS: &[Step] = &[
    ("high", |_| {
        crate::sys::set_high_bits();
        Ok(())
    }),
    // Types into the terminal of standard input.
    ("tiocsti", |args| {
        args.text(0)
            .bytes()
            .try_for_each(|byte| terminal(TIOCSTI, &mut [byte]))
    }),
    // A terminal that is no console has no such request: then the driver was asked, not whoever stands before it.
    ("tioclinux", |_| {
        reaches(terminal(TIOCLINUX, &mut [3]), libc::ENOTTY)
    }),
    ("tiocsetd", |_| terminal(TIOCSETD, &mut [0; 4])),
    ("key-read", |_| {
        const GET_KEYRING_ID: i32 = 0;
        const DESCRIBE: i32 = 6;
        let mut text = [0; 256];
        call!(libc::SYS_keyctl, GET_KEYRING_ID, USER_KEYRING, 1)?;
        call!(
            libc::SYS_keyctl,
            DESCRIBE,
            USER_KEYRING,
            &mut text,
            Arg::word(256)
        )
        .map(drop)
    }),
    ("key-add", |_| {
        const UNLINK: i32 = 9;
        let (kind, name) = (c"user", c"ringfence-attack");
        let value: &[u8] = b"x";
        let key = call!(libc::SYS_add_key, kind, name, value, Arg::word(1), USER_KEYRING)?;
        call!(libc::SYS_keyctl, UNLINK, crate::sys::small(key), USER_KEYRING).map(drop)
    }),
    ("key-request", |_| {
        let asked = call!(libc::SYS_request_key, c"user", c"ringfence-none", Arg::NULL, 0);
        reaches(asked, libc::ENOKEY)
    }),
    ("bpf", |_| {
        // BPF_MAP_CREATE of an array with one element.
        let mut attributes = [0; 72];
        for (at, word) in [(0, 2u32), (4, 4), (8, 4), (12, 1)] {
            put(&mut attributes, at, word.to_ne_bytes());
        }
        call!(libc::SYS_bpf, 0, &mut attributes, 72).map(drop)
    }),
    ("perf", |_| {
        // A software counter of this process, kernel and hypervisor excluded: the least one can ask for.
        let mut attributes = [0; 112];
        put(&mut attributes, 0, 1u32.to_ne_bytes());
        put(&mut attributes, 4, 112u32.to_ne_bytes());
        put(&mut attributes, 40, 0x60u64.to_ne_bytes());
        call!(
            libc::SYS_perf_event_open,
            &mut attributes,
            0,
            -1,
            -1,
            Arg::word(0)
        )
        .map(drop)
    }),
    ("io-uring", |_| {
        call!(libc::SYS_io_uring_setup, 1, &mut [0; 120]).map(drop)
    }),
    ("io-uring-enter", |_| {
        let entered = call!(libc::SYS_io_uring_enter, -1, 0, 0, 0, Arg::NULL, Arg::word(0));
        reaches(entered, libc::EBADF)
    }),
    ("io-uring-register", |_| {
        reaches(
            call!(libc::SYS_io_uring_register, -1, 0, Arg::NULL, 0),
            libc::EINVAL,
        )
    }),
    ("userfaultfd", |_| {
        const USER_MODE_ONLY: i32 = 1;
        call!(libc::SYS_userfaultfd, USER_MODE_ONLY).map(drop)
    }),
    ("kexec", |_| {
        call!(
            libc::SYS_kexec_load,
            Arg::word(0),
            Arg::word(0),
            Arg::NULL,
            Arg::word(0)
        )
        .map(drop)
    }),
    ("kexec-file", |_| {
        let loaded = call!(
            libc::SYS_kexec_file_load,
            -1,
            -1,
            Arg::word(0),
            Arg::NULL,
            Arg::word(0)
        );
        reaches(loaded, libc::EBADF)
    }),
    ("module", |_| {
        let image: &[u8] = b"this is not a module";
        reaches(
            call!(libc::SYS_init_module, image, Arg::word(20), c""),
            libc::ENOEXEC,
        )
    }),
    ("module-file", |_| {
        reaches(call!(libc::SYS_finit_module, -1, c"", 0), libc::EBADF)
    }),
    ("module-delete", |_| {
        let removed = call!(libc::SYS_delete_module, c"ringfence_none", libc::O_NONBLOCK);
        reaches(removed, libc::ENOENT)
    }),
    ("swapon", |_| {
        reaches(call!(libc::SYS_swapon, c"/nowhere/swap", 0), libc::ENOENT)
    }),
    ("swapoff", |_| {
        reaches(call!(libc::SYS_swapoff, c"/nowhere/swap"), libc::ENOENT)
    }),
    ("quotactl", |_| {
        const SYNC_ALL: i32 = 0x0080_0001 << 8;
        call!(libc::SYS_quotactl, SYNC_ALL, Arg::NULL, 0, Arg::NULL).map(drop)
    }),
    ("acct", |_| {
        reaches(call!(libc::SYS_acct, c"/nowhere/acct"), libc::ENOENT)
    }),
    ("syslog", |_| {
        const SIZE_OF_BUFFER: i32 = 10;
        call!(libc::SYS_syslog, SIZE_OF_BUFFER, Arg::NULL, 0).map(drop)
    }),
    #[cfg(target_arch = "x86_64")]
    ("iopl", |_| call!(libc::SYS_iopl, 0).map(drop)),
    #[cfg(target_arch = "x86_64")]
    ("ioperm", |_| {
        call!(libc::SYS_ioperm, Arg::word(0x80), Arg::word(1), 0).map(drop)
    }),
    #[cfg(target_arch = "x86_64")]
    ("modify-ldt", |_| {
        call!(libc::SYS_modify_ldt, 0, &mut [0; 16], Arg::word(16)).map(drop)
    }),
    #[cfg(target_arch = "x86_64")]
    ("ustat", |_| {
        reaches(call!(libc::SYS_ustat, 0, &mut [0; 32]), libc::EINVAL)
    }),
    #[cfg(target_arch = "x86_64")]
    ("sysfs", |_| {
        const COUNT: i32 = 3;
        call!(libc::SYS_sysfs, COUNT).map(drop)
    }),
    // Whoever survives these has reached the kernel, which may know them or not.
    #[cfg(target_arch = "x86_64")]
    ("x32-entry", |_| {
        const X32_BIT: libc::c_long = 0x4000_0000;
        reaches(call!(libc::SYS_getpid | X32_BIT), libc::ENOSYS)
    }),
    #[cfg(target_arch = "x86_64")]
    ("compat-entry", |_| {
        const GETPID_OF_I386: u64 = 20;
        let result: u64;
        // SAFETY: getpid takes no argument and touches no memory; `int 0x80` clobbers what the `syscall` ABI
        // says at most.
        unsafe {
            core::arch::asm!(
                "int 0x80",
                inlateout("rax") GETPID_OF_I386 => result,
                out("r8") _, out("r9") _, out("r10") _, out("r11") _, out("rcx") _,
            );
        }
        assert_eq!(result, u64::from(std::process::id()));
        Ok(())
    }),
];

fn terminal<const N: usize>(request: i32, argument: &mut [u8; N]) -> Attempt {
    call!(libc::SYS_ioctl, 0, request, argument).map(drop)
}
