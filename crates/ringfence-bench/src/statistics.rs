//! Percentiles and how they are shown.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::{Map, Value, json};

/// The measured times of every candidate.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    rows: Vec<Row>,
    /// What is not a time.
    pub(crate) facts: Vec<(&'static str, f64)>,
}

#[derive(Debug)]
struct Row {
    name: &'static str,
    /// The row it is compared with.
    beside: &'static str,
    sorted: Vec<Duration>,
}

impl Figures {
    pub(crate) fn push(&mut self, name: &'static str, beside: &'static str, mut times: Vec<Duration>) {
        times.sort_unstable();
        self.rows.push(Row {
            name,
            beside,
            sorted: times,
        });
    }

    /// Keys `NAME_p50_us`, `NAME_p95_us`, `NAME_p99_us`, in microseconds, and the facts.
    pub(crate) fn to_json(&self) -> Value {
        let mut keys = Map::new();
        for row in &self.rows {
            for (label, percent) in [("p50", 50), ("p95", 95), ("p99", 99)] {
                keys.insert(format!("{}_{label}_us", row.name), json!(row.micros(percent)));
            }
        }
        keys.extend(
            self.facts
                .iter()
                .map(|(name, value)| ((*name).to_owned(), json!(value))),
        );
        Value::Object(keys)
    }

    /// A table with the ratio of each median to that of what it is compared with.
    pub(crate) fn to_text(&self) -> String {
        let mut text = format!(
            "{:<16} {:>9} {:>9} {:>9} {:>8}\n",
            "microseconds", "p50", "p95", "p99", "ratio to"
        );
        for row in &self.rows {
            let other = self.rows.iter().find(|other| other.name == row.beside);
            let other = other.map_or(1.0, |other| other.micros(50));
            let (p50, p95, p99) = (row.micros(50), row.micros(95), row.micros(99));
            let _ = writeln!(
                text,
                "{:<16} {p50:>9.2} {p95:>9.2} {p99:>9.2} {:>8.2} {}",
                row.name,
                p50 / other,
                row.beside
            );
        }
        for (name, value) in &self.facts {
            let _ = writeln!(text, "{name:<26} {value:>9.1}");
        }
        text
    }
}

impl Row {
    fn micros(&self, percent: usize) -> f64 {
        let last = self.sorted.len().saturating_sub(1);
        let at = (self.sorted.len() * percent / 100).min(last);
        self.sorted
            .get(at)
            .map_or(0.0, |time| (time.as_secs_f64() * 1e8).round() / 100.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_times() {
        let mut figures = Figures::default();
        figures.push(
            "plain",
            "plain",
            (1..=100).rev().map(Duration::from_micros).collect(),
        );
        let json = figures.to_json();
        assert_eq!(json["plain_p50_us"], json!(51.0));
        assert_eq!(json["plain_p99_us"], json!(100.0));
    }
}
