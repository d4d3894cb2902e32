//! What the memory of the host does to the time of a start.

use std::time::Duration;

use ringfence::blocking::Executor;

use crate::candidates::{DYNAMIC, Failure, confined};

const BYTES: usize = 4 << 30;
const PAGE: usize = 4096;
/// So often each way, in turn, and so many commands each time.
const TURNS: usize = 3;
const COMMANDS: usize = 30;

/// The median with 4 GiB in use, divided by that without.
pub(crate) fn measure(executor: &Executor) -> Result<f64, Failure> {
    let (mut light, mut heavy) = (Vec::new(), Vec::new());
    for _ in 0..TURNS {
        time(executor, &mut light)?;
        let mut ballast = vec![0u8; BYTES];
        ballast.iter_mut().step_by(PAGE).for_each(|byte| *byte = 1);
        time(executor, &mut heavy)?;
        drop(std::hint::black_box(ballast));
    }
    let ratio = median(heavy).as_secs_f64() / median(light).as_secs_f64();
    Ok((ratio * 1e3).round() / 1e3)
}

fn time(executor: &Executor, times: &mut Vec<Duration>) -> Result<(), Failure> {
    for _ in 0..COMMANDS {
        std::thread::sleep(Duration::from_millis(5));
        times.push(confined(executor, DYNAMIC.as_ref())?);
    }
    Ok(())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
