//! Stores what a snapshot says: the blocks of each stack, and their sums by line and by file.

use crate::base::{StringId, frame_rules};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// Memory that a program held at one moment, by the stack that allocated it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TracemallocSnapshot {
    /// Number of frames after which stacks are cut; 0 if the file ends before it says so.
    pub traceback_limit: u64,
    /// Sums of the address spaces, by ascending number; Python's own memory is 0.
    pub domains: Vec<(u32, Total)>,
    /// Number of items in the list of traces that are no traces.
    pub unread: u64,
    /// Number of bytes behind the snapshot.
    pub trailing_bytes: u64,
    /// What is wrong with the file.
    pub flaw: Option<Flaw>,
    /// Texts, of which those that are names of files have frames.
    pub(super) files: Vec<String>,
    pub(super) stacks: Stacks,
    /// Blocks of each stack.
    pub(super) by_stack: Vec<Total>,
}

/// Reason why a snapshot is not complete.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Flaw {
    /// The file ends before the snapshot does.
    Cut,
    /// The bytes from this offset on are not those of a snapshot.
    Damaged(u64),
    /// The pickle is something else, and this is the reason.
    Foreign(String),
}

/// Blocks of memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Total {
    pub bytes: u64,
    pub blocks: u64,
}

impl Total {
    /// Adds blocks.
    pub fn add(&mut self, more: Self) {
        self.bytes = self.bytes.saturating_add(more.bytes);
        self.blocks = self.blocks.saturating_add(more.blocks);
    }
}

/// Property by which blocks are summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Line that allocated them, the innermost of their stack.
    Line,
    /// File of that line.
    File,
    /// Innermost line of the user's own code in their stack.
    OwnLine,
}

/// Line of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place<'a> {
    pub file: &'a str,
    /// Line number from 1; 0 if unknown, and in sums of files.
    pub line: u32,
}

/// Blocks of one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed<'a> {
    pub place: Place<'a>,
    pub total: Total,
    /// Stack with the most bytes of the place.
    pub stack: usize,
}

/// Frames of a stack, innermost first.
pub type Frames<'a> = Vec<Place<'a>>;

/// Frames and stacks, each once.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Stacks {
    /// Position in the files, and line.
    frames: Vec<(u32, u32)>,
    /// Frames of all stacks in turn.
    members: Vec<u32>,
    /// End of each stack in `members`.
    ends: Vec<usize>,
}

impl Stacks {
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Adds a frame that is new, and returns its number.
    pub(super) fn add_frame(&mut self, file: StringId, line: u32) -> u32 {
        self.frames.push((file.index() as u32, line));
        number(self.frames.len() - 1)
    }

    /// Adds a stack, and returns its number.
    pub(super) fn add(&mut self, frames: impl Iterator<Item = u32>) -> u32 {
        self.members.extend(frames);
        self.ends.push(self.members.len());
        number(self.ends.len() - 1)
    }

    /// Returns the frames of a stack, innermost first.
    fn of(&self, stack: usize) -> &[u32] {
        let start = stack.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.members[start..self.ends[stack]]
    }
}

fn number(index: usize) -> u32 {
    u32::try_from(index).expect("fewer than 2^32 frames and stacks")
}

impl TracemallocSnapshot {
    /// Returns all blocks.
    pub fn total(&self) -> Total {
        let mut sum = Total::default();
        self.by_stack.iter().for_each(|&total| sum.add(total));
        sum
    }

    /// Returns the frames of a stack, innermost first.
    pub fn frames(&self, stack: usize) -> Frames<'_> {
        self.stacks.of(stack).iter().map(|&frame| self.place(frame)).collect()
    }

    /// Returns the innermost line of the user's own code in a stack.
    pub fn own_place(&self, stack: usize) -> Option<Place<'_>> {
        let mut places = self.stacks.of(stack).iter().map(|&frame| self.place(frame));
        places.find(|place| frame_rules::is_own(place.file))
    }

    /// Sums the blocks by a property, the most bytes first; blocks without the property are in no sum.
    ///
    /// The order is that of `Snapshot.statistics`.
    pub fn by(&self, grouping: Grouping) -> Vec<Placed<'_>> {
        let own = self.own_files();
        let mut sums: HashMap<(u32, u32), (Total, usize)> = HashMap::new();
        for (stack, &total) in self.by_stack.iter().enumerate().filter(|(_, total)| total.blocks > 0) {
            let Some(key) = self.key(stack, grouping, &own) else { continue };
            let (sum, largest) = sums.entry(key).or_insert((Total::default(), stack));
            sum.add(total);
            if self.by_stack[*largest].bytes < total.bytes {
                *largest = stack;
            }
        }
        let placed = |((file, line), (total, stack)): ((u32, u32), (Total, usize))| Placed {
            place: Place { file: &self.files[file as usize], line },
            total,
            stack,
        };
        let mut sums: Vec<Placed<'_>> = sums.into_iter().map(placed).collect();
        sums.sort_unstable_by_key(|sum| Reverse((sum.total, sum.place)));
        sums
    }

    /// Returns the file and the line to which a stack belongs; the line is 0 in sums of files.
    fn key(&self, stack: usize, grouping: Grouping, own: &[bool]) -> Option<(u32, u32)> {
        let frame = match grouping {
            Grouping::Line | Grouping::File => *self.stacks.of(stack).first()?,
            Grouping::OwnLine => self.own_frame(stack, own)?,
        };
        let (file, line) = self.stacks.frames[frame as usize];
        Some((file, if grouping == Grouping::File { 0 } else { line }))
    }

    fn own_frame(&self, stack: usize, own: &[bool]) -> Option<u32> {
        let is_own = |frame: &u32| own[self.stacks.frames[*frame as usize].0 as usize];
        self.stacks.of(stack).iter().copied().find(is_own)
    }

    /// Returns which files look like the user's own code.
    fn own_files(&self) -> Vec<bool> {
        self.files.iter().map(|file| frame_rules::is_own(file)).collect()
    }

    fn place(&self, frame: u32) -> Place<'_> {
        let (file, line) = self.stacks.frames[frame as usize];
        Place { file: &self.files[file as usize], line }
    }
}
