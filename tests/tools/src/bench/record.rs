//! Measures recordings of one training, a short and a long run: events per second, and the memory that they take.

use std::path::Path;
use std::process::Command;

use super::figures::{bytes, seconds};
use super::native::{Programs, decode};
use super::report::{Budget, Unit};
use super::{Table, median};
use testkit::process;
use testkit::server::root;

/// Training config of the recordings: GPT-2 of 124 million parameters.
const CONFIG: &str = "tests/data/jobs/gpt2.toml";

/// Optimizer steps of the recordings. The longer one has five times as many events and may take no more memory.
const STEPS: [u32; 2] = [200, 1000];

#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    pub steps: u32,
    pub events: usize,
    pub file_bytes: u64,
    /// Seconds of the whole command, one for each run.
    pub seconds: Vec<f64>,
    /// Peak resident memory of its largest process in bytes.
    pub peak_bytes: u64,
}

impl Recorded {
    fn median_s(&self) -> Option<f64> {
        median(self.seconds.iter().copied())
    }
}

/// Records each length `runs` times on the virtual GPU; returns nothing without a recorder.
pub fn measure(programs: &Programs, runs: u16) -> Result<Vec<Recorded>, String> {
    if !programs.snapscope.with_file_name("snapscope-recorder").is_file() {
        eprintln!("bench: recordings are not measured, because snapscope-recorder is not built");
        return Ok(Vec::new());
    }
    STEPS.into_iter().map(|steps| measure_one(programs, steps, runs)).collect()
}

fn measure_one(programs: &Programs, steps: u32, runs: u16) -> Result<Recorded, String> {
    let output = root().join(format!("target/bench/recording-{steps}.pickle"));
    std::fs::create_dir_all(output.parent().expect("a folder")).map_err(|error| error.to_string())?;
    let (mut seconds, mut peak_bytes) = (Vec::new(), 0);
    for run in 1..=runs {
        eprintln!("bench: recording {steps} steps, run {run} of {runs}");
        let mut command = Command::new(&programs.snapscope);
        command.args(["repro", "--json", "--steps", &steps.to_string(), "-o"]).args([&output, &root().join(CONFIG)]);
        let (run_s, peak) = process::measure_all(&mut command)?;
        seconds.push(run_s);
        peak_bytes = peak_bytes.max(peak.unwrap_or(0));
    }
    let events = decode(&output).devices.iter().map(|device| device.events.len()).sum();
    Ok(Recorded { steps, events, file_bytes: size(&output)?, seconds, peak_bytes })
}

fn size(file: &Path) -> Result<u64, String> {
    std::fs::metadata(file).map(|data| data.len()).map_err(|error| format!("{}: {error}", file.display()))
}

pub fn table(all: &[Recorded]) -> Table {
    let headings = ["steps", "events", "file", "time", "events per second", "memory"];
    let mut table = Table::new("snapscope repro, GPT-2 on the virtual GPU", &headings);
    for recorded in all {
        let per_second = recorded.median_s().map(|median_s| recorded.events as f64 / median_s);
        table.row(&[
            recorded.steps.to_string(),
            recorded.events.to_string(),
            bytes(recorded.file_bytes as f64),
            seconds(recorded.median_s()),
            per_second.map_or_else(|| "–".to_owned(), |events| format!("{events:.0}")),
            bytes(recorded.peak_bytes as f64),
        ]);
    }
    table
}

/// Returns the budgets of the recordings: 300,000 events per second, and 0.5 GB whatever their length.
pub fn budgets(all: &[Recorded]) -> Vec<Budget> {
    let of = |recorded: &Recorded| {
        let named = |what: &str| format!("recording of {} steps: {what}", recorded.steps);
        let most_ms = recorded.events as f64 / 300_000.0 * 1e3;
        let ms = recorded.median_s().map(|median_s| median_s * 1e3);
        let peak = Some(recorded.peak_bytes as f64);
        [
            Budget { what: named("time"), at_most: most_ms, figure: ms, unit: Unit::Milliseconds },
            Budget { what: named("memory"), at_most: 5e8, figure: peak, unit: Unit::Bytes },
        ]
    };
    all.iter().flat_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_held_to_its_events() {
        let all = [Recorded {
            steps: 200,
            events: 600_000,
            file_bytes: 1 << 20,
            seconds: vec![9.0, 3.0, 2.5],
            peak_bytes: 1 << 28,
        }];
        let verdicts: Vec<_> = budgets(&all).iter().map(|budget| (budget.what.clone(), budget.verdict())).collect();
        let expected = [("recording of 200 steps: time", "50 % over"), ("recording of 200 steps: memory", "met")];
        assert_eq!(verdicts, expected.map(|(what, verdict)| (what.to_owned(), verdict.to_owned())));
        assert!(table(&all).text(true).contains("| 200000 "), "{}", table(&all).text(true));
    }
}
