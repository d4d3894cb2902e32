//! What comes back from a spawn, whoever sends it: it is read as what it is, or not at all.

#![expect(clippy::panic, reason = "how a fuzz target says what it found")]

use std::os::unix::ffi::OsStrExt;

use ringfence_backend::{Event, ExitStatus};
use ringfence_zygote::wire::{EXIT_TAG, FAILURE_TAG, Step};

use crate::process::{exit, failure};
use crate::zygote::{decode_failure, tag};
use crate::{kernel_mounts, probe};

/// A message, and the bytes of a table of mounts.
///
/// # Panics
/// Something is read as what it is not.
pub fn report(data: &[u8]) {
    assert_eq!(tag(data).is_some(), data.len() >= 4);
    if let Some(failed) = decode_failure(data) {
        assert!(Step::ALL.iter().any(|step| step.name() == failed.step));
        let path = failed
            .path
            .as_ref()
            .map_or(&b""[..], |path| path.as_os_str().as_bytes());
        assert!(data[16..].starts_with(path));
        assert!(!failed.to_string().contains(char::is_control), "{failed}");
        assert!(!probe::advice(&failed).contains(char::is_control));
    }
    // Whatever a command's process says before the program runs, it did not start.
    assert!(matches!(
        failure(data),
        Event::SetupFailed(_) | Event::Changed { .. }
    ));
    if let Some((status, _)) = exit(data) {
        assert!(tag(data) == Some(EXIT_TAG) && data.len() >= 12);
        match status {
            ExitStatus::Exited(code) => assert!((0..256).contains(&code)),
            ExitStatus::Signaled { signal, .. } => assert!((1..128).contains(&signal)),
            ExitStatus::Killed => panic!("nobody who was killed says so"),
        }
    }
    written(data);
    let lines = data.split(|byte| *byte == b'\n').count();
    assert!(kernel_mounts::parse(data).len() <= lines);
}

/// What the program writes is read as that.
fn written(data: &[u8]) {
    let (Some(first), Some(errno)) = (data.first(), data.get(1..5)) else {
        return;
    };
    let step = Step::ALL[usize::from(*first) % Step::ALL.len()];
    let path = &data[5..data.len().min(5 + 1024)];
    let length = u32::try_from(path.len()).unwrap_or_default();
    let words = [FAILURE_TAG, step as u32].map(u32::to_ne_bytes).concat();
    let message = [&words, errno, &length.to_ne_bytes(), path].concat();
    let read = decode_failure(&message).unwrap_or_else(|| panic!("{message:?} is not read"));
    let read_path = read
        .path
        .as_ref()
        .map_or(&b""[..], |path| path.as_os_str().as_bytes());
    assert_eq!(
        (read.step, read.errno.to_ne_bytes().as_slice(), read_path),
        (step.name(), errno, path)
    );
    assert!(path.is_empty() || decode_failure(&message[..message.len() - 1]).is_none());
}

#[cfg(test)]
mod tests {
    use std::fs;

    use proptest::collection::vec;
    use proptest::prelude::*;

    #[test]
    fn known_messages_are_read_as_what_they_are() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fuzz/corpus/report");
        assert_ne!(fs::read_dir(corpus).unwrap().count(), 0);
        for entry in fs::read_dir(corpus).unwrap() {
            super::report(&fs::read(entry.unwrap().path()).unwrap());
        }
    }

    proptest! {
        #[test]
        fn any_messages_are_read_as_what_they_are(words in vec(0_u32..32, 0..5), rest in vec(any::<u8>(), 0..64)) {
            let words: Vec<u8> = words.into_iter().flat_map(u32::to_ne_bytes).collect();
            super::report(&[words, rest].concat());
        }
    }
}
