//! Names the moments to compare, and describes the live memory of one as text that means the same in every file.

use crate::analysis::study::steps::Steps;
use crate::analysis::track::allocations::{AllocationId, AllocationKey, Allocations};
use crate::analysis::track::category::Category;
use crate::analysis::track::timeline::Timeline;
use crate::base::stack_label::Labelled;
use crate::base::{OwnCode, ShortSort, frame_rules};
use crate::trace::{Device, FrameId, StackId, Trace};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileFrame {
    pub name: String,
    pub filename: String,
    pub line: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProfileRow {
    /// Stack as positions in [`Profile::frames`], innermost first; empty if none was recorded.
    pub frames: Vec<u32>,
    pub category: Category,
    pub bytes: u64,
    pub count: u64,
    /// Largest allocation, the first one of equals.
    pub largest: AllocationKey,
}

/// Live allocations of a moment by stack and category.
///
/// Handles of one trace mean nothing in another. A profile holds text instead, so that it can be compared with that of
/// any file and be sent to the Web Worker that holds the other file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Profile {
    pub moment: u32,
    pub frames: Vec<ProfileFrame>,
    /// Rows, the most bytes first.
    pub rows: Vec<ProfileRow>,
}

impl Profile {
    /// Creates the profile of a moment; `categories` are those of all allocations, by their index.
    pub fn at(trace: &Trace, device: &Device, allocations: &Allocations, categories: &[Category], moment: u32) -> Self {
        let mut sums: HashMap<(StackId, Category), Sum> = HashMap::new();
        for (id, size_bytes) in allocations.alive_at(moment) {
            let stack = allocations.allocation_stack(id, device);
            let stack = if stack.has_frames() { stack } else { StackId::NONE };
            let none = Sum { bytes: 0, count: 0, largest: id, largest_bytes: 0 };
            let sum = sums.entry((stack, categories[id.index()])).or_insert(none);
            sum.bytes += size_bytes;
            sum.count += 1;
            if size_bytes > sum.largest_bytes {
                (sum.largest, sum.largest_bytes) = (id, size_bytes);
            }
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.short_sort_by_key(|&((stack, category), sum)| (Reverse(sum.bytes), stack, category));
        let mut profile = Self { moment, ..Self::default() };
        let mut places = HashMap::new();
        for ((stack, category), Sum { bytes, count, largest, .. }) in sums {
            let ids = trace.stacks.frames(stack);
            let frames = ids.iter().map(|&id| profile.place(trace, &mut places, id)).collect();
            profile.rows.push(ProfileRow { frames, category, bytes, count, largest: allocations.key(largest) });
        }
        profile
    }

    pub fn live_bytes(&self) -> u64 {
        self.rows.iter().map(|row| row.bytes).sum()
    }

    /// Iterates over the frames of a row, innermost first.
    ///
    /// # Panics
    /// Panics if the row does not exist, or if one of its frames is missing.
    pub fn frames_of(&self, row: usize) -> impl Iterator<Item = &ProfileFrame> + Clone {
        self.rows[row].frames.iter().map(|&frame| &self.frames[frame as usize])
    }

    /// Returns the stack of a row with its label.
    ///
    /// # Panics
    /// Panics for the same reasons as [`frames_of`](Self::frames_of).
    pub fn labelled(&self, row: usize, own: &OwnCode) -> Labelled<'_> {
        let frames = self.frames_of(row).map(|frame| (frame.name.as_str(), frame.filename.as_str(), frame.line));
        Labelled::with_rule(frames.collect(), own)
    }

    /// Returns the module to which a row belongs, or an empty text if frames do not identify one.
    ///
    /// In stacks of our recorder it is the path of the `torch.nn` module, in Python stacks the file of the program's
    /// innermost frame.
    ///
    /// # Panics
    /// Panics for the same reasons as [`frames_of`](Self::frames_of).
    pub fn module(&self, row: usize) -> &str {
        let mut frames = self.frames_of(row);
        if let Some(frame) = frames.clone().find(|frame| frame.filename == frame_rules::RECORDED_MODULE) {
            return frame.name.split(" · ").next().unwrap_or_default();
        }
        frames.find(|frame| !frame_rules::is_runtime(&frame.filename)).map_or("", module_of_file)
    }

    fn place(&mut self, trace: &Trace, places: &mut HashMap<FrameId, u32>, id: FrameId) -> u32 {
        *places.entry(id).or_insert_with(|| {
            let frame = trace.frames.get(id);
            let text = |id| trace.strings.get(id).to_owned();
            self.frames.push(ProfileFrame { name: text(frame.name), filename: text(frame.filename), line: frame.line });
            self.frames.len() as u32 - 1
        })
    }
}

/// Returns the last part of a path, because folders differ between machines.
pub(super) fn file_tail(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Returns the file of a frame; recorded phases and operations are not modules.
fn module_of_file(frame: &ProfileFrame) -> &str {
    if frame_rules::is_recorded(&frame.filename) { "" } else { file_tail(&frame.filename) }
}

#[derive(Clone, Copy)]
struct Sum {
    bytes: u64,
    count: u64,
    largest: AllocationId,
    largest_bytes: u64,
}

/// Moment that is one side of a comparison.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Side {
    #[default]
    Peak,
    /// Moment before the first event.
    Start,
    /// Moment after the last event.
    End,
    Moment(u32),
    /// Moment of a step's highest live bytes; the step is given by its position.
    ///
    /// It does not stand for what the step allocates, because most of that is never alive at the same time and its sum
    /// says nothing about the memory of the card.
    Step(u32),
}

impl Side {
    /// Returns the moment of the side, `None` if there is no such moment or step.
    pub fn moment(self, timeline: &Timeline, steps: Option<&Steps>) -> Option<u32> {
        match self {
            Self::Peak => Some(timeline.live_peak().0),
            Self::Start => Some(0),
            Self::End => Some(timeline.events()),
            Self::Moment(moment) => (moment <= timeline.events()).then_some(moment),
            Self::Step(position) => {
                let step = steps?.steps.get(position as usize)?;
                Some(timeline.live_max_in(step.start.saturating_add(1)..step.end.saturating_add(1)).0)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;
    use crate::analysis::study::period::Step;
    use crate::analysis::study::steps::StepSource;

    #[track_caller]
    fn check(side: Side, moment: Option<u32>) {
        let sample = Sample::of("alloc a 5\nalloc b 9\nfree_completed b\nalloc c 1\nfree_completed a");
        let steps = [Step { start: 0, end: 1 }, Step { start: 2, end: 5 }].to_vec();
        let steps = Steps { source: StepSource::Period, steps };
        assert_eq!(side.moment(&sample.timeline, Some(&steps)), moment);
    }

    #[test]
    fn sides_are_moments() {
        check(Side::Peak, Some(2));
        check(Side::Start, Some(0));
        check(Side::End, Some(5));
        check(Side::Moment(5), Some(5));
        check(Side::Moment(6), None);
        // A step is its peak.
        check(Side::Step(0), Some(1));
        // The state before its first event belongs to the step before.
        check(Side::Step(1), Some(4));
        check(Side::Step(2), None);
    }
}
