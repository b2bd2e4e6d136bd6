//! Defines the questions for comparing moments of one file or of two, and ranks, and their answers.
//!
//! Each file has a Web Worker of its own. The page asks the worker of the other file for a profile, which means the
//! same everywhere, and sends it to the worker of this file.

use super::timeline::AllocationKey;
use serde::{Deserialize, Serialize};
use shared::analysis::{AllocationId, Category, Change, Matched, Profile, ProfileFrame, ProfileRow, RankFigures, Side};

/// Asks for the steps that can be chosen, in their order; the answer is empty if no steps were found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetSteps {
    pub device: u32,
}

/// Asks for the profile of a side.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetProfile {
    pub device: u32,
    pub side: CompareSide,
}

/// Asks for the difference between a side and a profile, which may be of another file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetDiff {
    pub device: u32,
    /// Side of this device.
    pub side: CompareSide,
    pub other: ProfileData,
}

/// Asks for the live bytes of the whole trace or of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetCurve {
    pub device: u32,
    /// Position of the step; `None` for the whole trace.
    pub step: Option<u32>,
    /// Number of maxima along the curve.
    pub columns: u32,
}

/// Asks for the figures of this rank for a comparison, with a curve of this many maxima.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetRank {
    pub device: u32,
    pub columns: u32,
}

/// Moment of a device; the message form of `shared::analysis::Side`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CompareSide {
    /// Moment with the highest live bytes.
    #[default]
    Peak,
    /// Moment before the first event.
    Start,
    /// Moment after the last event.
    End,
    Moment(u32),
    /// Peak of a step, which is given by its position.
    Step(u32),
}

impl CompareSide {
    /// Returns the name in addresses and in the values of options.
    pub fn value(self) -> String {
        match self {
            Self::Peak => "peak".to_owned(),
            Self::Start => "start".to_owned(),
            Self::End => "end".to_owned(),
            Self::Moment(moment) => format!("m{moment}"),
            Self::Step(step) => format!("s{step}"),
        }
    }

    /// Parses a value that [`value`](Self::value) returned.
    pub fn of_value(value: &str) -> Option<Self> {
        match value {
            "peak" => Some(Self::Peak),
            "start" => Some(Self::Start),
            "end" => Some(Self::End),
            _ => match value.split_at_checked(1)? {
                ("m", moment) => moment.parse().ok().map(Self::Moment),
                ("s", step) => step.parse().ok().map(Self::Step),
                _ => None,
            },
        }
    }
}

impl From<CompareSide> for Side {
    fn from(side: CompareSide) -> Self {
        match side {
            CompareSide::Peak => Self::Peak,
            CompareSide::Start => Self::Start,
            CompareSide::End => Self::End,
            CompareSide::Moment(moment) => Self::Moment(moment),
            CompareSide::Step(step) => Self::Step(step as usize),
        }
    }
}

/// Training step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepData {
    /// Moment before its first event.
    pub start: u32,
    /// Moment after its last event.
    pub end: u32,
    /// Highest live bytes of the step.
    pub peak_bytes: u64,
}

/// Live bytes along a part of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurveData {
    /// First moment.
    pub start: u32,
    /// Last moment.
    pub end: u32,
    /// Exact maximum of each of `bytes.len()` equal parts of the range.
    pub bytes: Vec<u64>,
}

/// Live memory of a moment; the message form of `shared::analysis::Profile`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileData {
    pub moment: u32,
    /// Distinct frames: function, file and line.
    pub frames: Vec<(String, String, u64)>,
    pub rows: Vec<ProfileRowData>,
}

/// Live memory of one stack and category.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileRowData {
    /// Stack as positions of frames, innermost first.
    pub frames: Vec<u32>,
    /// Position of the category in `Category::ALL`.
    pub category: u8,
    pub bytes: u64,
    /// Number of allocations.
    pub count: u64,
    /// Position of the largest allocation.
    pub largest: u32,
    /// Key of the largest allocation, valid in every copy of its file.
    pub key: AllocationKey,
}

impl ProfileData {
    /// Creates the message form of a profile; `key` returns the key of an allocation.
    pub fn new(moment: u32, profile: &Profile, key: impl Fn(AllocationId) -> AllocationKey) -> Self {
        let row = |row: &ProfileRow| ProfileRowData {
            frames: row.frames.clone(),
            category: row.category as u8,
            bytes: row.bytes,
            count: row.count,
            largest: row.largest.index() as u32,
            key: key(row.largest),
        };
        let frames = profile.frames.iter().map(|frame| (frame.name.clone(), frame.filename.clone(), frame.line));
        Self { moment, frames: frames.collect(), rows: profile.rows.iter().map(row).collect() }
    }

    /// Returns the profile that the message contains.
    pub fn profile(&self) -> Profile {
        let frame = |(name, filename, line): &(String, String, u64)| ProfileFrame {
            name: name.clone(),
            filename: filename.clone(),
            line: *line,
        };
        let row = |row: &ProfileRowData| ProfileRow {
            frames: row.frames.clone(),
            category: category_at(row.category),
            bytes: row.bytes,
            count: row.count,
            largest: AllocationId::from_index(row.largest as usize),
        };
        Profile { frames: self.frames.iter().map(frame).collect(), rows: self.rows.iter().map(row).collect() }
    }
}

/// Returns the category at a position of `Category::ALL`, `Unknown` if there is none.
pub fn category_at(position: u8) -> Category {
    Category::ALL.get(usize::from(position)).copied().unwrap_or(Category::Unknown)
}

/// Difference of the live memory of two sides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffData {
    /// Moment of this side.
    pub moment: u32,
    /// Moment of the other side.
    pub other_moment: u32,
    /// Sums over all stacks of both sides.
    pub total: ChangeData,
    /// Stacks that differ.
    pub stacks: Vec<DiffRowData>,
    /// Number of stacks that hold the same on both sides.
    pub equal_stacks: u64,
    /// Bytes of those stacks on each side.
    pub equal_bytes: u64,
    /// Categories, including those that do not differ.
    pub categories: Vec<GroupData>,
    /// Modules, including those that do not differ.
    pub modules: Vec<GroupData>,
}

/// Bytes and allocations on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeData {
    /// Bytes on the other side.
    pub other_bytes: u64,
    /// Bytes on this side.
    pub bytes: u64,
    /// Number of allocations on the other side.
    pub other_count: u64,
    /// Number of allocations on this side.
    pub count: u64,
}

impl ChangeData {
    /// Returns the bytes of this side minus those of the other.
    pub fn delta_bytes(&self) -> i64 {
        self.bytes as i64 - self.other_bytes as i64
    }

    /// Returns the number of allocations of this side minus that of the other.
    pub fn delta_count(&self) -> i64 {
        self.count as i64 - self.other_count as i64
    }
}

impl From<&Change> for ChangeData {
    fn from(change: &Change) -> Self {
        Self {
            other_bytes: change.before_bytes,
            bytes: change.after_bytes,
            other_count: change.before_count,
            count: change.after_count,
        }
    }
}

/// Category or module on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupData {
    /// Name of the group, empty if unknown.
    pub name: String,
    pub change: ChangeData,
}

/// Stack that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffRowData {
    /// Title of the stack.
    pub title: String,
    /// Function that it called, or empty.
    pub callee: String,
    /// Place in the code, or empty.
    pub place: String,
    pub matched: Matched,
    /// Position in `Category::ALL` of the category with the largest change.
    pub category: u8,
    pub change: ChangeData,
    /// Its largest allocation on this side.
    pub largest: Option<AllocationKey>,
    /// Its row in the other side's profile.
    pub other_row: Option<u32>,
}

/// Figures of a rank for a comparison: the message form of `shared::analysis::RankFigures`, with its curve.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankData {
    /// Highest live bytes.
    pub peak_bytes: u64,
    /// First moment with the highest live bytes.
    pub peak_moment: u32,
    /// Highest reserved bytes.
    pub reserved_bytes: u64,
    /// Live bytes at the peak, by position in `Category::ALL`.
    pub at_peak: Vec<(u8, u64)>,
    /// Number of steps that were found.
    pub steps: u32,
    /// Average rise in bytes from the end of a step to the end of the next; `None` without steps.
    pub growth_bytes: Option<u64>,
    /// Number of out-of-memory errors.
    pub ooms: u64,
    /// Live bytes of the whole trace.
    pub curve: CurveData,
}

impl RankData {
    /// Creates the message form of a rank's figures.
    pub fn new(figures: &RankFigures, curve: CurveData) -> Self {
        let at_peak = figures.at_peak.iter().map(|&(category, bytes)| (category as u8, bytes)).collect();
        let RankFigures { peak_bytes, peak_moment, reserved_bytes, growth_bytes, ooms, .. } = *figures;
        let steps = figures.steps as u32;
        Self { peak_bytes, peak_moment, reserved_bytes, at_peak, steps, growth_bytes, ooms, curve }
    }

    /// Returns the figures that the message contains.
    pub fn figures(&self) -> RankFigures {
        let at_peak = self.at_peak.iter().map(|&(category, bytes)| (category_at(category), bytes)).collect();
        let Self { peak_bytes, peak_moment, reserved_bytes, growth_bytes, ooms, .. } = *self;
        RankFigures { peak_bytes, peak_moment, reserved_bytes, at_peak, steps: self.steps as usize, growth_bytes, ooms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::wire;
    use shared::analysis::diff;

    fn row(frames: Vec<u32>, category: Category, bytes: u64) -> ProfileRow {
        ProfileRow { frames, category, bytes, count: 2, largest: AllocationId::from_index(7) }
    }

    #[test]
    fn profiles_and_ranks_come_back_from_their_travels() {
        let frame = |name: &str| ProfileFrame { name: name.into(), filename: "/srv/a.py".into(), line: 3 };
        let frames = vec![frame("f"), frame("main")];
        let rows = vec![row(vec![0, 1], Category::Gradient, 9), row(vec![], Category::Unknown, 4)];
        let profile = Profile { frames, rows };
        let data = ProfileData::new(5, &profile, |id| AllocationKey::Event(id.index() as u32));
        assert_eq!(data.rows[0].key, AllocationKey::Event(7));
        let data: ProfileData = wire::read(&wire::write(&data)).expect("a profile");
        assert_eq!(data.profile(), profile);
        assert_eq!(diff(&data.profile(), &profile).rows, []);

        let figures = RankFigures {
            peak_bytes: 9,
            at_peak: vec![(Category::Collective, 9)],
            steps: 3,
            growth_bytes: Some(1),
            ..RankFigures::default()
        };
        assert_eq!(RankData::new(&figures, CurveData::default()).figures(), figures);
    }
}
