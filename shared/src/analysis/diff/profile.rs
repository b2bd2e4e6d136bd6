//! What one moment holds, in words that mean the same in every file.

use crate::analysis::stack_title::title_of;
use crate::analysis::{AllocationId, Allocations, Category};
use crate::base::frame_rules;
use crate::trace::{Device, FrameId, StackId, Trace};
use hashbrown::HashMap;
use std::cmp::Reverse;

/// One stack frame in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProfileFrame {
    /// The function.
    pub name: String,
    /// The file.
    pub filename: String,
    /// The line.
    pub line: u64,
}

/// What one stack holds of one category.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileRow {
    /// The stack as positions in [`Profile::frames`], innermost first; empty where none was recorded.
    pub frames: Vec<u32>,
    /// What the allocations are for.
    pub category: Category,
    /// The sum of their requested sizes.
    pub bytes: u64,
    /// How many they are.
    pub count: u64,
    /// The largest of them, the first of equals.
    pub largest: AllocationId,
}

/// The live allocations of a moment by stack and category.
///
/// Handles of one trace mean nothing in another; a profile has texts instead, so that it can be compared with that of
/// any file and be sent to where the other file is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// The distinct frames of all rows.
    pub frames: Vec<ProfileFrame>,
    /// The rows, the most bytes first.
    pub rows: Vec<ProfileRow>,
}

impl Profile {
    /// The profile of a moment; `categories` are those of all allocations by their index.
    pub fn at(trace: &Trace, device: &Device, allocations: &Allocations, categories: &[Category], moment: u32) -> Self {
        let mut sums: HashMap<(StackId, Category), Sum> = HashMap::new();
        for (id, size_bytes) in allocations.alive_at(moment) {
            let stack = allocations.allocation_stack(id, device);
            let stack = if stack.has_frames() { stack } else { StackId::NONE };
            let sum = sums.entry((stack, categories[id.index()])).or_insert(Sum::new(id));
            sum.add(id, size_bytes);
        }
        let mut sums: Vec<_> = sums.into_iter().collect();
        sums.sort_unstable_by_key(|&((stack, category), sum)| (Reverse(sum.bytes), stack, category));
        let mut profile = Self::default();
        let mut places = HashMap::new();
        for ((stack, category), Sum { bytes, count, largest, .. }) in sums {
            let ids = trace.stacks.frames(stack);
            let frames = ids.iter().map(|&id| profile.place(trace, &mut places, id)).collect();
            profile.rows.push(ProfileRow { frames, category, bytes, count, largest });
        }
        profile
    }

    /// The sum of all rows.
    pub fn live_bytes(&self) -> u64 {
        self.rows.iter().map(|row| row.bytes).sum()
    }

    /// The frames of a row, innermost first.
    ///
    /// # Panics
    /// If there is no such row, or a frame of it is missing.
    pub fn frames_of(&self, row: usize) -> impl Iterator<Item = &ProfileFrame> + Clone {
        self.rows[row].frames.iter().map(|&frame| &self.frames[frame as usize])
    }

    /// What the stack of a row is about, in a few words.
    ///
    /// # Panics
    /// As [`frames_of`](Self::frames_of).
    pub fn title(&self, row: usize) -> String {
        let frames = self.frames_of(row).map(|frame| (frame.name.as_str(), frame.filename.as_str(), frame.line));
        title_of(frames).unwrap_or_else(|| "no stack recorded".to_owned())
    }

    /// The module that a row belongs to, empty where nothing tells.
    ///
    /// It is the path of the `torch.nn` module in stacks of our recorder, and the file of the innermost frame of the
    /// program in those of Python.
    ///
    /// # Panics
    /// As [`frames_of`](Self::frames_of).
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

/// The last part of a path: folders differ from machine to machine.
pub(super) fn file_tail(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The phase of a step is no module.
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

impl Sum {
    fn new(first: AllocationId) -> Self {
        Self { bytes: 0, count: 0, largest: first, largest_bytes: 0 }
    }

    fn add(&mut self, id: AllocationId, size_bytes: u64) {
        self.bytes += size_bytes;
        self.count += 1;
        if size_bytes > self.largest_bytes {
            (self.largest, self.largest_bytes) = (id, size_bytes);
        }
    }
}
