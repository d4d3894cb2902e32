//! The zygote as an executable: `core` only, static, no allocator, one thread.

#![no_std]
#![no_main]

#[path = "body.rs"]
mod body;
#[path = "../entry.rs"]
mod entry;
#[path = "../wire.rs"]
#[allow(dead_code, reason = "names are for the host")]
mod wire;

/// A panic means that this program is wrong; dying takes the whole executor down, which fails closed.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    body::sys::exit(101)
}
