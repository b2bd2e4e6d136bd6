//! Defines the answers for comparing moments of one file or of two, and ranks.
//!
//! Each file has a Web Worker of its own. The page asks the worker of the other file for a profile, which means the
//! same everywhere, and sends it to the worker of this file.

use serde::{Deserialize, Serialize};
use shared::analysis::{Diff, RankFigures};
use shared::base::StackLabel;

pub use shared::analysis::Side as CompareSide;

/// Returns the name of a side in addresses and in the values of options.
pub fn side_value(side: CompareSide) -> String {
    match side {
        CompareSide::Peak => "peak".to_owned(),
        CompareSide::Start => "start".to_owned(),
        CompareSide::End => "end".to_owned(),
        CompareSide::Moment(moment) => format!("m{moment}"),
        CompareSide::Step(step) => format!("s{step}"),
    }
}

/// Parses a value that [`side_value`] returned.
pub fn side_of_value(value: &str) -> Option<CompareSide> {
    match value {
        "peak" => Some(CompareSide::Peak),
        "start" => Some(CompareSide::Start),
        "end" => Some(CompareSide::End),
        _ => match value.split_at_checked(1)? {
            ("m", moment) => moment.parse().ok().map(CompareSide::Moment),
            ("s", step) => step.parse().ok().map(CompareSide::Step),
            _ => None,
        },
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepData {
    /// Moment before its first event.
    pub start: u32,
    /// Moment after its last event.
    pub end: u32,
    pub peak_bytes: u64,
}

/// Live bytes along a part of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurveData {
    pub start: u32,
    pub end: u32,
    /// Exact maximum of each of `bytes.len()` equal parts of the range.
    pub bytes: Vec<u64>,
}

/// Difference of the live memory of two sides, of which this one comes second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffData {
    pub moment: u32,
    pub other_moment: u32,
    pub found: Diff,
    /// Titles of the stacks that differ, row by row.
    pub headings: Vec<StackLabel>,
}

/// Figures of a rank for a comparison, with its curve.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankData {
    pub figures: RankFigures,
    /// Live bytes of the whole trace.
    pub curve: CurveData,
}
