use super::*;

#[test]
fn sizes_count_bytes_in_powers_of_1000_or_of_1024() {
    for (text, expected) in [
        ("0B", 0),
        ("4096B", 4096),
        ("1KB", 1000),
        ("1KiB", 1024),
        ("5MB", 5_000_000),
        ("512MiB", 512 << 20),
        ("2GB", 2_000_000_000),
        ("1GiB", 1 << 30),
        ("3TB", 3_000_000_000_000),
        ("2TiB", 2 << 40),
        ("007B", 7),
        ("18446744073709551615B", u64::MAX),
    ] {
        assert_eq!(bytes(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_could_mean_two_sizes_means_none() {
    let wrong = [
        "", "MiB", "512", "512M", "1G", "1kb", "1KIB", "1.5GiB", "-1B", "+1B", "1 MiB", " 1B", "1B ", "1_0B",
        "٣B", "1MiB1B",
    ];
    for text in wrong {
        let text = text.to_owned();
        assert_eq!(bytes(&text), Err(FileReason::Size { text }));
    }
}

#[test]
fn times_have_a_unit() {
    for (text, expected) in [
        ("0ms", Duration::ZERO),
        ("500ms", Duration::from_millis(500)),
        ("30s", Duration::from_secs(30)),
        ("10m", Duration::from_secs(600)),
        ("2h", Duration::from_secs(7200)),
    ] {
        assert_eq!(time(text), Ok(expected), "{text}");
    }
    for text in [
        "", "s", "30", "1.5m", "1m30s", "1d", "30S", "30 s", "-1s", "1us", "1M",
    ] {
        let text = text.to_owned();
        assert_eq!(time(&text), Err(FileReason::Time { text }));
    }
}

#[test]
fn what_can_not_be_counted_is_said_to_be_too_much() {
    let too_much = |text: &str| FileReason::TooMuch {
        text: text.to_owned(),
    };
    for text in [
        "18446744073709551616B",
        "16777216TiB",
        "99999999999999999999999MB",
    ] {
        assert_eq!(bytes(text), Err(too_much(text)));
    }
    assert_eq!(bytes("16777215TiB"), Ok(16_777_215 << 40));
    for text in ["18446744073709551615s", "99999999999999999999h"] {
        assert_eq!(time(text), Err(too_much(text)));
    }
}
