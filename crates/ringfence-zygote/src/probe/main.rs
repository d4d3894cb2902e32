//! The probe as an executable: `core` only, static, no allocator, one thread.

#![no_std]
#![no_main]

#[path = "body.rs"]
mod body;
#[path = "../program"]
#[allow(dead_code, unused_imports, reason = "what it shares with the zygote is the zygote's")]
mod program {
    mod memory;
    pub(crate) mod sys;
}
use program::sys;
#[path = "../wire.rs"]
#[allow(dead_code, reason = "what it shares with the zygote is the zygote's")]
mod wire;

/// A panic means that this program is wrong; the list of results then ends too early, which nobody takes for success.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    sys::exit(101)
}

#[cfg(target_arch = "x86_64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "xor ebp, ebp",
    "and rsp, -16",
    "call {main}",
    "ud2",
    main = sym body::main,
);

#[cfg(target_arch = "aarch64")]
core::arch::global_asm!(
    ".globl _start",
    "_start:",
    "mov x29, xzr",
    "mov x30, xzr",
    "bl {main}",
    "brk 1",
    main = sym body::main,
);

/// `core` as shipped was compiled to unwind and names this routine; with `panic=abort` nothing calls it.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
