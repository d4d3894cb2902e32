//! ringfence for programs that are not written in Rust: one function with a C interface.
//!
//! It shows that nothing of ringfence needs a call in the host's `main`, a runtime, or a host with one thread.

#![cfg(target_os = "linux")]

use std::ffi::{CStr, OsStr, c_char, c_int};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use ringfence::{
    Access, BundleName, Ending, ExecutorSet, Host, Outcome, Profile, ProfileConfig, Stdio, Verdict, blocking,
};

/// An argument is a null pointer.
const INVALID: c_int = -1;
/// Nothing ran; the output says why.
const NOT_RUN: c_int = -2;
/// A signal, or ringfence itself, ended the command.
const NOT_EXITED: c_int = -3;

/// Has the shell run a text with the workspace writable, system programs readable and nothing else.
///
/// Returns the exit code, or a negative number. The output of the command, both streams as one, or the reason
/// why nothing ran, goes to `out`: cut to fit and ending in a NUL.
///
/// # Safety
/// The three texts end in a NUL; `out` has room for `out_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ringfence_run(
    workspace: *const c_char,
    scratch: *const c_char,
    shell_text: *const c_char,
    out: *mut c_char,
    out_len: usize,
) -> c_int {
    if [workspace, scratch, shell_text].contains(&std::ptr::null()) || out.is_null() || out_len == 0 {
        return INVALID;
    }
    // SAFETY: not null, as was just checked; the caller promises that each ends in a NUL.
    let [workspace, scratch, text] = [workspace, scratch, shell_text]
        .map(|text| OsStr::from_bytes(unsafe { CStr::from_ptr(text) }.to_bytes()));
    let (code, output) = match run(Path::new(workspace), Path::new(scratch), text) {
        Ok(Outcome {
            ended: Ending::Exited(code),
            stdout,
            ..
        }) => (code, stdout.into_bytes()),
        Ok(Outcome { ended, .. }) => (NOT_EXITED, format!("{ended:?}").into_bytes()),
        Err(error) => (NOT_RUN, error.to_string().into_bytes()),
    };
    let length = output.len().min(out_len - 1);
    // SAFETY: not null, and the caller promises room for `out_len` bytes, of which `length + 1` are written.
    let out = unsafe { std::slice::from_raw_parts_mut(out.cast::<u8>(), length + 1) };
    out[..length].copy_from_slice(&output[..length]);
    out[length] = 0;
    code
}

fn run(workspace: &Path, scratch: &Path, text: &OsStr) -> Result<Outcome, Box<dyn std::error::Error>> {
    let config = ProfileConfig {
        workspace: workspace.into(),
        workspace_access: Verdict::READ_WRITE,
        command: Access::Allow,
        ..ProfileConfig::default()
    };
    let set = ExecutorSet::builder(Profile::new(&config, &Host)?)
        .scratch_root(scratch)
        .max_executors(1)
        .bundles([BundleName::Base])
        .build()?;
    let set = blocking::ExecutorSet::from(set);
    let outcome = set
        .executor("foreign")?
        .shell(text)
        .stderr(Stdio::Merged)
        .output()?;
    let closed = set.close();
    if closed.is_clean() {
        Ok(outcome)
    } else {
        Err(format!("{:?}", closed.problems).into())
    }
}
