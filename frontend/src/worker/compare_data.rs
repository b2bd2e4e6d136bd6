//! Comparing as it travels: moments of one file or of two, and ranks.
//!
//! Each file has a worker of its own.
//! The page asks the other file's worker for a profile, which means the same everywhere, and hands it to this one's.

use super::protocol::AllocationKey;
use serde::{Deserialize, Serialize};
use shared::analysis::{AllocationId, Category, Change, Matched, Profile, ProfileFrame, ProfileRow, RankFigures, Side};

/// What can be asked about comparing, of one device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CompareQuestion {
    /// The steps that can be chosen.
    Steps,
    /// What a side holds.
    Profile(CompareSide),
    /// What a side holds more or less than a profile, perhaps of another file.
    Diff {
        /// The side of this device.
        side: CompareSide,
        /// The other side.
        other: Box<ProfileData>,
    },
    /// The live bytes of the whole trace or of a step.
    Curve {
        /// The step, by position; `None` for the whole trace.
        step: Option<u32>,
        /// How many maxima along it.
        columns: u32,
    },
    /// What is compared of ranks, with a curve of so many maxima.
    Rank(u32),
}

/// An answer to a [`CompareQuestion`] of the same name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CompareAnswer {
    /// The steps in their order; nothing where no steps were found.
    Steps(Vec<StepData>),
    /// A profile.
    Profile(Box<ProfileData>),
    /// A difference.
    Diff(Box<DiffData>),
    /// The maxima in their order.
    Curve(CurveData),
    /// A rank.
    Rank(Box<RankData>),
}

/// A moment of a device: `shared::analysis::Side` as it travels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CompareSide {
    /// The moment with the highest live bytes.
    #[default]
    Peak,
    /// The moment before the first event.
    Start,
    /// The moment after the last event.
    End,
    /// Any moment.
    Moment(u32),
    /// The peak of a step, by position.
    Step(u32),
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

/// One step of training.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StepData {
    /// The moment before its first event.
    pub start: u32,
    /// The moment after its last event.
    pub end: u32,
    /// Its highest live bytes.
    pub peak_bytes: u64,
}

/// The live bytes along a part of a trace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CurveData {
    /// The first moment.
    pub start: u32,
    /// The last moment.
    pub end: u32,
    /// The exact maximum of each of as many equal parts.
    pub bytes: Vec<u64>,
}

/// What a moment holds: `shared::analysis::Profile` as it travels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileData {
    /// The moment.
    pub moment: u32,
    /// The distinct frames: function, file and line.
    pub frames: Vec<(String, String, u64)>,
    /// The rows.
    pub rows: Vec<ProfileRowData>,
}

/// What one stack holds of one category.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileRowData {
    /// The stack as positions of frames, innermost first.
    pub frames: Vec<u32>,
    /// The position of the category in `Category::ALL`.
    pub category: u8,
    /// Bytes.
    pub bytes: u64,
    /// Allocations.
    pub count: u64,
    /// The largest of them, by position.
    pub largest: u32,
    /// The same as it is called in every copy of its file.
    pub key: AllocationKey,
}

impl ProfileData {
    /// A profile of a moment; `key` names allocations.
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

    /// The profile.
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

/// The category at a position of `Category::ALL`.
pub fn category_at(position: u8) -> Category {
    Category::ALL.get(usize::from(position)).copied().unwrap_or(Category::Unknown)
}

/// What a side holds more or less than the other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffData {
    /// The moment of this side.
    pub moment: u32,
    /// The moment of the other side.
    pub other_moment: u32,
    /// All of both sides.
    pub total: ChangeData,
    /// The stacks that differ.
    pub stacks: Vec<DiffRowData>,
    /// How many stacks hold the same on both sides.
    pub equal_stacks: u64,
    /// What those hold.
    pub equal_bytes: u64,
    /// The categories, whether they differ or not.
    pub categories: Vec<GroupData>,
    /// The modules, whether they differ or not.
    pub modules: Vec<GroupData>,
}

/// Bytes and allocations on both sides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangeData {
    /// Bytes on the other side.
    pub other_bytes: u64,
    /// Bytes on this side.
    pub bytes: u64,
    /// Allocations on the other side.
    pub other_count: u64,
    /// Allocations on this side.
    pub count: u64,
}

impl ChangeData {
    /// By how many bytes this side is higher.
    pub fn delta_bytes(&self) -> i64 {
        self.bytes as i64 - self.other_bytes as i64
    }

    /// How many allocations more this side has.
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

/// A category or a module on both sides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupData {
    /// Its name, empty where nothing tells.
    pub name: String,
    /// What it holds.
    pub change: ChangeData,
}

/// A stack that differs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiffRowData {
    /// What the stack is about.
    pub title: String,
    /// What it called, or empty.
    pub callee: String,
    /// Where that is, or empty.
    pub place: String,
    /// How it was found.
    pub matched: Matched,
    /// The position of the category of most of the change in `Category::ALL`.
    pub category: u8,
    /// What it holds.
    pub change: ChangeData,
    /// Its largest allocation on this side.
    pub largest: Option<AllocationKey>,
    /// The row of the other side's profile.
    pub other_row: Option<u32>,
}

/// What is compared of a rank: `shared::analysis::RankFigures` as it travels, with its curve.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankData {
    /// The highest live bytes.
    pub peak_bytes: u64,
    /// The first moment at which they are live.
    pub peak_moment: u32,
    /// The highest reserved bytes.
    pub reserved_bytes: u64,
    /// Live bytes at the peak by positions in `Category::ALL`.
    pub at_peak: Vec<(u8, u64)>,
    /// How many steps were found.
    pub steps: u32,
    /// By how many bytes a step ends higher than the one before.
    pub growth_bytes: Option<u64>,
    /// How often memory was out.
    pub ooms: u64,
    /// The live bytes of the whole trace.
    pub curve: CurveData,
}

impl RankData {
    /// The figures of a rank and its curve.
    pub fn new(figures: &RankFigures, curve: CurveData) -> Self {
        let at_peak = figures.at_peak.iter().map(|&(category, bytes)| (category as u8, bytes)).collect();
        let RankFigures { peak_bytes, peak_moment, reserved_bytes, growth_bytes, ooms, .. } = *figures;
        let steps = figures.steps as u32;
        Self { peak_bytes, peak_moment, reserved_bytes, at_peak, steps, growth_bytes, ooms, curve }
    }

    /// The figures.
    pub fn figures(&self) -> RankFigures {
        let at_peak = self.at_peak.iter().map(|&(category, bytes)| (category_at(category), bytes)).collect();
        let Self { peak_bytes, peak_moment, reserved_bytes, growth_bytes, ooms, .. } = *self;
        RankFigures { peak_bytes, peak_moment, reserved_bytes, at_peak, steps: self.steps as usize, growth_bytes, ooms }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::wire;
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
