//! Builds the comparisons of the live memory of two moments, and of the processes or devices of one job.

use super::event::Frame;
use crate::analysis::{
    Category, Change, Diff, DiffRow, Matched, Outlier, Profile, ProfileFrame, RankFigures, Timeline, Unlike,
    diff_labels, outliers,
};
use crate::base::{Moment, OwnCode, StackLabel};
use serde::Serialize;

/// Difference of the live memory of side `b` from that of side `a`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Comparison {
    pub a: ComparedSide,
    pub b: ComparedSide,
    /// Live bytes of `b` minus those of `a`, which is the sum of the deltas of all stacks.
    pub delta_bytes: i64,
    pub delta_count: i64,
    /// Stacks that differ, the largest difference first.
    pub rows: Vec<ComparedStack>,
    /// Number of differing stacks that are left out.
    pub other_rows: u64,
    /// Sum of their deltas.
    pub other_delta_bytes: i64,
    /// Number of stacks that hold the same on both sides.
    pub equal_stacks: u64,
    /// Bytes that those stacks hold.
    pub equal_bytes: u64,
    /// All live bytes by category.
    pub by_category: Vec<ComparedGroup<Category>>,
    /// All live bytes by the `torch.nn` module, or by the file of the program where no module is known; the name is
    /// empty where neither is.
    pub by_module: Vec<ComparedGroup<String>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedSide {
    /// File as named on the command line.
    pub file: String,
    pub device: i64,
    /// Event after which the figures hold, -1 for the initial state.
    pub event: i64,
    /// Step whose peak that is, counted from 1, if a step was requested.
    pub step: Option<u64>,
    pub live_bytes: u64,
    pub reserved_bytes: u64,
    pub allocations: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedStack {
    pub matched: Matched,
    pub title: String,
    pub label: StackLabel,
    /// Category of most of the difference.
    pub category: Category,
    /// `torch.nn` module, or else the file of the program; empty if neither is known.
    pub module: String,
    #[serde(flatten)]
    pub change: ComparedChange,
    /// Stack in `a`, innermost frame first; of several stacks that were matched by their place, the largest.
    pub a_frames: Vec<Frame>,
    /// Stack in `b`, likewise.
    pub b_frames: Vec<Frame>,
}

/// All live bytes of one category or module.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedGroup<N> {
    pub name: N,
    #[serde(flatten)]
    pub change: ComparedChange,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ComparedChange {
    pub a_bytes: u64,
    pub b_bytes: u64,
    pub delta_bytes: i64,
    pub a_count: u64,
    pub b_count: u64,
    pub delta_count: i64,
}

impl ComparedSide {
    /// Describes the moment of a profile; `step` is the step whose peak it is, counted from 1.
    pub fn new(file: &str, device: i64, timeline: &Timeline, profile: &Profile, step: Option<u64>) -> Self {
        Self {
            file: file.to_owned(),
            device,
            event: Moment(profile.moment).event_number(),
            step,
            live_bytes: profile.live_bytes(),
            reserved_bytes: timeline.reserved_at(profile.moment),
            allocations: profile.rows.iter().map(|row| row.count).sum(),
        }
    }
}

/// Builds the comparison with at most `top` stacks; the profiles are those that were compared, `own` names their stacks.
pub fn comparison(
    (a, of_a): (ComparedSide, &Profile),
    (b, of_b): (ComparedSide, &Profile),
    found: &Diff,
    (top, own): (usize, &OwnCode),
) -> Comparison {
    let (shown, others) = found.rows.split_at(top.min(found.rows.len()));
    let labels = diff_labels((of_a, of_b), shown, own);
    Comparison {
        a,
        b,
        delta_bytes: found.total.bytes(),
        delta_count: found.total.count(),
        rows: shown.iter().zip(labels).map(|(row, label)| stack((of_a, of_b), row, label)).collect(),
        other_rows: others.len() as u64,
        other_delta_bytes: others.iter().map(|row| row.change.bytes()).sum(),
        equal_stacks: found.equal_stacks as u64,
        equal_bytes: found.equal_bytes,
        by_category: found.by_category.iter().map(group).collect(),
        by_module: found.by_module.iter().map(group).collect(),
    }
}

fn stack((a, b): (&Profile, &Profile), row: &DiffRow, label: Option<StackLabel>) -> ComparedStack {
    let frame = |frame: &ProfileFrame| Frame {
        name: frame.name.clone(),
        filename: frame.filename.clone(),
        line: frame.line,
        fx: None,
    };
    let frames = |profile: &Profile, position: usize| profile.frames_of(position).map(frame).collect();
    let told = row.told(a, b);
    ComparedStack {
        matched: row.matched,
        title: label.as_ref().map_or_else(|| "no stack recorded".to_owned(), StackLabel::head),
        label: label.unwrap_or_default(),
        category: row.category,
        module: told.map(|(profile, position)| profile.module(position).to_owned()).unwrap_or_default(),
        change: row.change.into(),
        a_frames: row.before.map_or_else(Vec::new, |stack| frames(a, stack.row)),
        b_frames: row.after.map_or_else(Vec::new, |stack| frames(b, stack.row)),
    }
}

fn group<N: Clone>((name, change): &(N, Change)) -> ComparedGroup<N> {
    ComparedGroup { name: name.clone(), change: (*change).into() }
}

impl From<Change> for ComparedChange {
    fn from(change: Change) -> Self {
        Self {
            a_bytes: change.before_bytes,
            b_bytes: change.after_bytes,
            delta_bytes: change.bytes(),
            a_count: change.before_count,
            b_count: change.after_count,
            delta_count: change.count(),
        }
    }
}

/// Comparison of the processes or devices of one job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Ranks {
    pub ranks: Vec<Rank>,
    /// Unusual properties of some ranks.
    pub outliers: Vec<RankOutlier>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Rank {
    /// Number of the rank, from the file's name or else from the order.
    pub rank: u64,
    /// File as named on the command line, or as found in a folder.
    pub file: String,
    pub device: i64,
    #[serde(flatten)]
    pub figures: RankFigures,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RankOutlier {
    pub rank: u64,
    /// `peak`, `growth` or `out-of-memory`.
    pub kind: &'static str,
    /// Bytes above the median of all ranks; `None` for `out-of-memory`.
    pub delta_bytes: Option<i64>,
    /// Category that differs most, for `peak`.
    pub category: Option<Category>,
    /// Bytes of that category above its median.
    pub category_delta_bytes: Option<i64>,
    /// Sentence that says the same.
    pub message: String,
}

impl Ranks {
    pub fn new(ranks: Vec<Rank>) -> Self {
        let outliers = rank_outliers(ranks.iter().map(|rank| (rank.rank, &rank.figures)));
        Self { ranks, outliers }
    }
}

/// Compares ranks, each given by its number and its figures.
pub fn rank_outliers<'a>(ranks: impl Iterator<Item = (u64, &'a RankFigures)>) -> Vec<RankOutlier> {
    let (numbers, figures): (Vec<u64>, Vec<RankFigures>) = ranks.map(|(number, of)| (number, of.clone())).unzip();
    outliers(&figures).iter().map(|found| outlier(numbers[found.rank], found)).collect()
}

fn outlier(rank: u64, found: &Outlier) -> RankOutlier {
    let (kind, delta_bytes, most) = match found.unlike {
        Unlike::Peak { bytes, most } => ("peak", Some(bytes), most),
        Unlike::Growth { bytes } => ("growth", Some(bytes), None),
        Unlike::OutOfMemory { .. } => ("out-of-memory", None, None),
    };
    RankOutlier {
        rank,
        kind,
        delta_bytes,
        category: most.map(|(category, _)| category),
        category_delta_bytes: most.map(|(_, bytes)| bytes),
        message: found.sentence(&format!("rank {rank}")),
    }
}
