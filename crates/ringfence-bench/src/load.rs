//! How many commands a second, from one caller or several at once.

use std::process::Command;
use std::time::{Duration, Instant};

use ringfence::blocking::Executor;

use crate::candidates::{DYNAMIC, Failure, confined, plain};

/// How many callers, and what the rates are called: plain, and confined.
const CALLERS: [(usize, &str, &str); 4] = [
    (1, "plain1_per_s", "serial_per_s"),
    (2, "plain2_per_s", "parallel2_per_s"),
    (16, "plain16_per_s", "parallel16_per_s"),
    (64, "plain64_per_s", "parallel64_per_s"),
];

/// Commands in each batch, at least one from each caller.
const BATCH: usize = 128;

/// The rates, each the median of some batches that were run in turn.
pub(crate) fn measure(executor: &Executor, batches: usize) -> Result<Vec<(&'static str, f64)>, Failure> {
    let mut rates: Vec<(&'static str, Vec<f64>)> = Vec::new();
    for (_, plain, confined) in CALLERS {
        rates.extend([(plain, Vec::new()), (confined, Vec::new())]);
    }
    for _ in 0..batches {
        for ((callers, ..), pair) in CALLERS.iter().zip(rates.chunks_mut(2)) {
            let run = || plain(Command::new(DYNAMIC)).map(drop);
            let confine = || confined(executor, DYNAMIC.as_ref()).map(drop);
            for ((_, rates), command) in pair.iter_mut().zip([&run as &(dyn Fn() -> _ + Sync), &confine]) {
                rates.push(rate(*callers, command)?);
            }
        }
    }
    Ok(rates
        .into_iter()
        .map(|(name, rates)| (name, median(rates)))
        .collect())
}

fn rate(callers: usize, command: &(dyn Fn() -> Result<(), Failure> + Sync)) -> Result<f64, Failure> {
    std::thread::sleep(Duration::from_millis(50));
    let each = BATCH.div_ceil(callers);
    let began = Instant::now();
    let failed = std::thread::scope(|scope| {
        // Told as text: an error of any kind can't leave its thread.
        let call = || (0..each).try_for_each(|_| command().map_err(|error| error.to_string()));
        let callers: Vec<_> = (0..callers).map(|_| scope.spawn(call)).collect();
        let mut ended = callers.into_iter().map(std::thread::ScopedJoinHandle::join);
        ended.try_for_each(|ended| ended.unwrap_or_else(|_| Err("a caller panicked".to_owned())))
    });
    let failed: Result<(), String> = failed;
    failed?;
    #[expect(clippy::cast_precision_loss, reason = "a few hundred")]
    let commands = (each * callers) as f64;
    Ok((commands / began.elapsed().as_secs_f64()).round())
}

fn median(mut rates: Vec<f64>) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates.get(rates.len() / 2).copied().unwrap_or_default()
}
