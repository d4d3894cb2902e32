//! Sizes and times as options give them.

use std::time::Duration;

/// Bytes of each unit of size; a lone letter is the power of 1024.
const SIZES: [(&str, u64); 14] = [
    ("", 1),
    ("B", 1),
    ("K", 1 << 10),
    ("KB", 1000),
    ("KiB", 1 << 10),
    ("M", 1 << 20),
    ("MB", 1_000_000),
    ("MiB", 1 << 20),
    ("G", 1 << 30),
    ("GB", 1_000_000_000),
    ("GiB", 1 << 30),
    ("T", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("TiB", 1 << 40),
];

/// Bytes, from a text such as `64M`.
pub(super) fn size(text: &str) -> Result<u64, String> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    if number.is_empty() {
        return Err(format!("`{text}` has no number; write for example 64M"));
    }
    let (_, factor) = SIZES
        .iter()
        .find(|(name, _)| *name == unit)
        .ok_or_else(|| format!("`{unit}` is no unit; use K, M, G, T, KiB to TiB, or KB to TB"))?;
    let number = number.parse::<u64>().ok();
    let bytes = number.and_then(|number| number.checked_mul(*factor));
    bytes.ok_or_else(|| format!("`{text}` is too much to count; leave the option out to set no limit"))
}

/// A number of things, from a text such as `64`.
pub(super) fn count(text: &str) -> Result<u64, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no number; write for example 64"))
}

/// A time longer than 0, from a text such as `1.5m`.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    let digits = text.len()
        - text
            .trim_start_matches(|c: char| c.is_ascii_digit() || c == '.')
            .len();
    let (number, unit) = text.split_at(digits);
    let number: f64 = number
        .parse()
        .map_err(|_| format!("`{text}` has no number; write for example 30s"))?;
    let seconds = match unit {
        "ms" => number / 1000.0,
        "" | "s" => number,
        "m" => number * 60.0,
        "h" => number * 3600.0,
        _ => return Err(format!("`{unit}` is no unit; use ms, s, m or h")),
    };
    Duration::try_from_secs_f64(seconds)
        .map_err(|error| error.to_string())
        .and_then(|duration| {
            if duration.is_zero() {
                Err("must be longer than 0".to_owned())
            } else {
                Ok(duration)
            }
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units() {
        assert_eq!(duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(duration("30"), Ok(Duration::from_secs(30)));
        assert_eq!(duration("1.5m"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("2h"), Ok(Duration::from_secs(7200)));
        for wrong in ["", "s", "1x", "-1s", "0s", "1e99h"] {
            assert!(duration(wrong).is_err(), "{wrong:?} was accepted");
        }
    }

    #[test]
    fn sizes_have_units() {
        for (text, bytes) in [
            ("0", 0),
            ("4096", 4096),
            ("7B", 7),
            ("512K", 512 << 10),
            ("512KiB", 512 << 10),
            ("512KB", 512_000),
            ("64M", 64 << 20),
            ("2G", 2 << 30),
            ("1TiB", 1 << 40),
            ("1TB", 1_000_000_000_000),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for wrong in ["", "K", "1k", "1.5G", "-1", "1 M", "99999999999T", "0x10"] {
            assert!(size(wrong).is_err(), "{wrong:?} was accepted");
        }
    }
}
