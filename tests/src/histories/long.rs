//! Runs `./dev faults`: random histories on both backends in turn, up to a number of kills.

use std::fs;
use std::path::Path;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use super::{Figures, Log, Plan, Programs, Violation, run as run_one};

/// Environment variable with the seed of the first history.
const SEED: &str = "SNAPSCOPE_FAULTS_SEED";

/// Kills per history: few enough for a readable log, and enough to hit the same jobs repeatedly.
const KILLS_EACH: usize = 25;

/// Returns the seed from the environment, or else one from the current time.
pub fn seed() -> u64 {
    let named = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok());
    named.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

/// Runs histories until a number of processes was killed, and prints their results; returns true without a violation.
pub fn run(most_kills: usize, folder: &Path, programs: &Programs) -> bool {
    let (first, start) = (seed(), Instant::now());
    let mut all = Figures::default();
    println!("{most_kills} kills from seed {first} on; {SEED}={first} does the same again");
    for seed in first.. {
        let kills = KILLS_EACH.min(most_kills.saturating_sub(all.kills));
        if kills == 0 {
            break;
        }
        let plan = Plan::new(seed, kills);
        match check(&plan, programs, folder) {
            Ok(figures) => {
                all = all.and(&figures);
                println!("{:5.0} s  {plan}: {figures}", start.elapsed().as_secs_f64());
            }
            Err(told) => {
                println!("{told}");
                return false;
            }
        }
    }
    println!("nothing was lost, nothing happened twice: {all}");
    true
}

/// Runs one history; its folder is kept only after a violation.
///
/// # Errors
///
/// Returns a violation with its log, the folder of further logs, and the command that repeats it.
pub fn check(plan: &Plan, programs: &Programs, folder: &Path) -> Result<Figures, String> {
    let folder = folder.join(plan.seed.to_string());
    fs::create_dir_all(&folder).expect("room");
    let log = Log::new();
    let done = run_one(plan, programs, Some(&folder), &log);
    if done.is_ok() {
        fs::remove_dir_all(&folder).expect("the folder that was made");
    }
    done.map_err(|Violation { subject, what }| {
        fs::write(folder.join("history.txt"), log.text()).expect("room");
        let (seed, kills) = (plan.seed, plan.kills);
        format!(
            "violation in {plan}\n{subject}: {what}\n\n{}\neverything is in {}\n{SEED}={seed} ./dev faults {kills} \
             does the same again",
            log.about(&subject),
            folder.display()
        )
    })
}
