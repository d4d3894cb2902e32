//! The probe as an executable: `core` only, static, no allocator, one thread.

#![no_std]
#![no_main]

#[path = "body.rs"]
mod body;
#[path = "../entry.rs"]
mod entry;
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
