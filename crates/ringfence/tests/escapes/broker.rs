//! Closed names that do not exist, against whoever changes things while the broker looks at them.

use std::time::Duration;

use crate::ground::Ground;

/// How often each way is tried, unless `RINGFENCE_RACES` says otherwise.
const ROUNDS: u32 = 2_500;

#[test]
fn no_closed_name_is_made_of_what_changes_meanwhile() {
    let rounds = std::env::var("RINGFENCE_RACES").map_or(ROUNDS, |rounds| rounds.parse().unwrap());
    let script = include_str!("attacks/broker_races.py");
    let ground = Ground::new();
    ground.control(script, &["100000"]).all_worked();
    let fence = ground.fence(|_| ());
    assert!(!ground.at("w/.git").is_symlink(), "it is occupied");
    let mut command = fence.attacker(script, &[&rounds.to_string()]);
    command = command.timeout(Duration::from_secs(1800));
    fence.tried(&command.output().unwrap()).none_worked();
    assert!(!ground.at("w/.git").exists());
}
