//! What every embedded program begins with: from the kernel's first instruction to `body::main`.

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call {main}",
    "ud2",
    main = sym crate::body::main,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, xzr",
    "mov x30, xzr",
    "bl {main}",
    "brk 1",
    main = sym crate::body::main,
);

/// `core` as shipped was compiled to unwind and names this routine; with `panic=abort` nothing calls it.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
