//! Measures the page, the command line and recordings for `./dev bench`, as ratios within one run on one machine.
//!
//! Other viewers are measured in the same way. Invariant: frame times are those of presented frames, and a crash is a
//! result.

pub mod native;
pub mod options;
pub mod page;
pub mod record;
pub mod report;
pub mod scale;
pub mod trace;
pub mod viewer;

mod devtools;
mod figures;
mod measure;
mod table;

pub use measure::{Measured, measure};
pub use report::{Budget, Unit, table as budget_table};
pub use table::Table;

use std::path::PathBuf;

use shared::pickle::Style;

use testkit::generator::{Config, generate};
use testkit::server::root;

/// Number of generated events in 1 MB: an event takes about 112 bytes.
pub(crate) const EVENTS_PER_MB: usize = 10_000;

/// Returns a generated snapshot file of `events` events, which is written once to `target/bench`.
pub fn snapshot(events: usize, style: Style) -> PathBuf {
    seeded(&Config { seed: 1, events, style })
}

/// Returns a generated snapshot file of about `size_mb` MB.
pub fn snapshot_of(size_mb: u32) -> PathBuf {
    file_of(size_mb, 1)
}

/// Returns one of several snapshot files that differ in their seed.
fn file_of(size_mb: u32, seed: u64) -> PathBuf {
    seeded(&Config { seed, events: size_mb as usize * EVENTS_PER_MB, style: Style::Python })
}

fn seeded(config: &Config) -> PathBuf {
    let style = if matches!(config.style, Style::Torch) { "-torch" } else { "" };
    let seed = if config.seed == 1 { String::new() } else { format!("-seed{}", config.seed) };
    let folder = root().join("target/bench");
    let file = folder.join(format!("{}{style}{seed}.pickle", config.events));
    if !file.is_file() {
        std::fs::create_dir_all(&folder).expect("a folder for snapshots");
        write(&file, config);
    }
    file
}

fn write(file: &std::path::Path, config: &Config) {
    use std::io::Write;
    // An interrupted run must not leave a partial file under the final name, and two runs must not write to one file.
    let partial = file.with_extension(format!("{}.part", std::process::id()));
    let mut out = std::fs::File::create(&partial).expect("a file for the snapshot");
    generate(config, |piece| out.write_all(piece).expect("room for the snapshot"));
    drop(out);
    std::fs::rename(&partial, file).expect("the snapshot to take its name");
}

/// Returns the value at the nearest rank of a percentile; 0 for no values.
///
/// `share` is the percentile as a fraction from 0 to 1.
///
/// # Examples
///
/// ```
/// assert_eq!(tools::bench::percentile(&[4.0, 1.0, 3.0, 2.0], 0.5), 3.0);
/// ```
pub fn percentile(values: &[f64], share: f64) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let index = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(index).copied().unwrap_or(0.0)
}

/// Returns the median, which is the mean of the middle two for an even count; `None` for no values.
pub fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    let mut sorted: Vec<f64> = values.into_iter().collect();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        len if len % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_measured_and_a_median_is_in_the_middle() {
        let values: Vec<f64> = (1..=101).rev().map(f64::from).collect();
        assert_eq!(
            (percentile(&values, 0.5), percentile(&values, 0.95), percentile(&values, 1.0)),
            (51.0, 96.0, 101.0)
        );
        assert_eq!((percentile(&[7.0], 0.95), percentile(&[], 0.5)), (7.0, 0.0));
        assert_eq!(median([3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median([]), None);
    }
}
