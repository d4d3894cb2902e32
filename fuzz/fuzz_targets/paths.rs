#![no_main]

use libfuzzer_sys::fuzz_target;
use tempfile::TempDir;

fuzz_target!(|data: &[u8]| {
    let root = TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap();
    ringfence_host::fuzzing::paths(data, &root.path().canonicalize().unwrap());
});
