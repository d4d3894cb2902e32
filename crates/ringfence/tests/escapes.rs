//! Escapes: each test is one kind of attack, most of them known from elsewhere. An attack first runs unconfined, where
//! it must work, and then inside, where neither the attacker nor the host may notice any success.

#![cfg(target_os = "linux")]
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that fails says so by panicking"
)]

mod common;

#[path = "escapes/broker.rs"]
mod broker;
#[path = "escapes/files.rs"]
mod files;
#[path = "escapes/ground.rs"]
mod ground;
#[path = "escapes/kernel.rs"]
mod kernel;
#[path = "escapes/mounts.rs"]
mod mounts;
#[path = "escapes/processes.rs"]
mod processes;
#[path = "escapes/sockets.rs"]
mod sockets;
#[path = "escapes/terminal.rs"]
mod terminal;
