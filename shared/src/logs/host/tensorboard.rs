//! Reads the table of a scalar that TensorBoard saves as CSV: `Wall time,Step,Value`.
//!
//! It names neither the metric, which is in the file's name only, nor a unit. Sizes are logged in bytes, so that a value of
//! less than 1 MiB is taken for something else, such as a loss.

use crate::base::stamp::{self, Stamp};

/// Head of the table.
const HEAD: &str = "Wall time,Step,Value";

/// Smallest value that is taken for a size, 1 MiB.
const LEAST_BYTES: f64 = 1_048_576.0;

/// Row of the table.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scalar {
    pub(super) stamp: Stamp,
    pub(super) step: u64,
    pub(super) bytes: u64,
}

/// Returns true for the head of the table.
pub(super) fn is_head(line: &str) -> bool {
    line.trim_matches(['\u{feff}', ' ', '\r']) == HEAD
}

/// Reads a row; `None` for other lines and for values that are no sizes.
pub(super) fn row(line: &str) -> Option<Scalar> {
    let mut cells = line.trim().split(',');
    let (time, step, value) = (cells.next()?, cells.next()?, cells.next()?);
    let stamp = stamp::stamp(time).filter(|stamp| stamp.day.is_some())?;
    // Steps can be beyond 2^53 or written as 1.0.
    let step = step.parse::<f64>().ok().filter(|step| *step >= 0.0)?;
    let bytes = value.parse::<f64>().ok().filter(|value| (LEAST_BYTES..1e15).contains(value))?;
    cells.next().is_none().then_some(Scalar { stamp, step: step as u64, bytes: bytes as u64 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_a_time_a_step_and_a_size() {
        assert!(is_head("Wall time,Step,Value\r") && !is_head("Wall time,Step,Value,run"));
        let found = row("1795448812.25,12,3221225472.0").unwrap();
        assert_eq!((found.stamp.epoch_ms(), found.step, found.bytes), (Some(1_795_448_812_250), 12, 3 << 30));
        for line in
            ["1795448812.25,12,0.31", "a,12,3221225472.0", "1795448812.25,12", "1795448812.25,-1,3221225472", ""]
        {
            assert_eq!(row(line), None, "{line}");
        }
    }
}
