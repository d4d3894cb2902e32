//! Sizes and times, which are whole numbers with a unit.

use std::time::Duration;

use super::reason::FileReason;

/// Bytes of each unit of size.
const SIZES: [(&str, u64); 9] = [
    ("B", 1),
    ("KB", 1000),
    ("KiB", 1 << 10),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("TB", 1_000_000_000_000),
    ("TiB", 1 << 40),
];

/// Milliseconds of each unit of time.
const TIMES: [(&str, u64); 4] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000)];

/// The bytes that a text such as `512MiB` means.
pub(super) fn bytes(text: &str) -> Result<u64, FileReason> {
    let not_a_size = || FileReason::Size {
        text: text.to_owned(),
    };
    amount(text, &SIZES, not_a_size)
}

/// The time that a text such as `30s` means.
pub(super) fn time(text: &str) -> Result<Duration, FileReason> {
    let not_a_time = || FileReason::Time {
        text: text.to_owned(),
    };
    amount(text, &TIMES, not_a_time).map(Duration::from_millis)
}

fn amount(text: &str, units: &[(&str, u64)], malformed: impl Fn() -> FileReason) -> Result<u64, FileReason> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let (_, factor) = units
        .iter()
        .find(|(name, _)| *name == unit && !number.is_empty())
        .ok_or_else(malformed)?;
    let number = number.parse::<u64>().ok();
    let amount = number.and_then(|number| number.checked_mul(*factor));
    amount.ok_or_else(|| FileReason::TooMuch {
        text: text.to_owned(),
    })
}

#[cfg(test)]
#[path = "amount_tests.rs"]
mod tests;
