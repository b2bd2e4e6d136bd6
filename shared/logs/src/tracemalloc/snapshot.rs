//! Stores the blocks of a snapshot by stack, sums them by line and by file, and finds what changes from one snapshot
//! to another and what grows through all of them.

use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use shared::base::{ShortSort, StringId, frame_rules};
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Total {
    pub bytes: u64,
    pub blocks: u64,
}

impl Total {
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Place<'a> {
    pub file: &'a str,
    /// Line number from 1; 0 if unknown, and in sums of files.
    pub line: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Placed<'a> {
    pub place: Place<'a>,
    pub total: Total,
    /// Stack with the most bytes of the place.
    pub stack: usize,
}

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
    pub fn total(&self) -> Total {
        let mut sum = Total::default();
        self.by_stack.iter().for_each(|&total| sum.add(total));
        sum
    }

    /// Returns the frames of a stack, innermost first.
    pub fn frames(&self, stack: usize) -> Vec<Place<'_>> {
        let place = |&frame: &u32| {
            let (file, line) = self.stacks.frames[frame as usize];
            Place { file: &self.files[file as usize], line }
        };
        self.stacks.of(stack).iter().map(place).collect()
    }

    /// Returns the innermost line of the user's own code in a stack.
    pub fn own_place(&self, stack: usize) -> Option<Place<'_>> {
        self.frames(stack).into_iter().find(|place| frame_rules::is_own(place.file))
    }

    /// Sums the blocks by a property, the most bytes first; blocks without the property are in no sum.
    ///
    /// The order is that of `Snapshot.statistics`.
    pub fn by(&self, grouping: Grouping) -> Vec<Placed<'_>> {
        let own: Vec<bool> = self.files.iter().map(|file| frame_rules::is_own(file)).collect();
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
        sums.short_sort_by_key(|sum| Reverse((sum.total, sum.place)));
        sums
    }

    /// Returns the file and the line to which a stack belongs; the line is 0 in sums of files. `own` says which files
    /// look like the user's own code.
    fn key(&self, stack: usize, grouping: Grouping, own: &[bool]) -> Option<(u32, u32)> {
        let mut frames = self.stacks.of(stack).iter().map(|&frame| self.stacks.frames[frame as usize]);
        let (file, line) = match grouping {
            Grouping::Line | Grouping::File => frames.next()?,
            Grouping::OwnLine => frames.find(|(file, _)| own[*file as usize])?,
        };
        Some((file, if grouping == Grouping::File { 0 } else { line }))
    }
}

/// Smallest growth of a line from one snapshot to the next that counts, on average, in bytes.
///
/// Caches of the interpreter and of libraries grow by a few objects for a long time.
const LEAST_BYTES: u64 = 10 << 10;

/// Smallest part of the largest rise that the last rise has, so that a cache which fills is not a steady growth.
const LAST_RISE: f64 = 0.25;

/// Blocks of a place in two snapshots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineChange<'a> {
    pub place: Place<'a>,
    pub before: Total,
    pub after: Total,
    /// Stack with the most bytes of the place in the later snapshot, if it has the place.
    pub stack: Option<usize>,
}

impl LineChange<'_> {
    /// Returns the bytes that were added, negative if there are fewer.
    pub fn bytes(&self) -> i64 {
        difference(self.before.bytes, self.after.bytes)
    }

    /// Returns the blocks that were added, negative if there are fewer.
    pub fn blocks(&self) -> i64 {
        difference(self.before.blocks, self.after.blocks)
    }
}

fn difference(before: u64, after: u64) -> i64 {
    i64::try_from(i128::from(after) - i128::from(before)).unwrap_or(if after > before { i64::MAX } else { i64::MIN })
}

/// Returns the places of two snapshots, the largest change first, also those without a change.
///
/// The order is that of `Snapshot.compare_to`.
pub fn changes<'a>(
    before: &'a TracemallocSnapshot,
    after: &'a TracemallocSnapshot,
    grouping: Grouping,
) -> Vec<LineChange<'a>> {
    let nothing = |place| LineChange { place, before: Total::default(), after: Total::default(), stack: None };
    let mut by_place: HashMap<Place<'a>, LineChange<'a>> = HashMap::new();
    for Placed { place, total, .. } in before.by(grouping) {
        by_place.entry(place).or_insert_with(|| nothing(place)).before = total;
    }
    for Placed { place, total, stack } in after.by(grouping) {
        let change = by_place.entry(place).or_insert_with(|| nothing(place));
        (change.after, change.stack) = (total, Some(stack));
    }
    let mut changes: Vec<LineChange<'a>> = by_place.into_values().collect();
    changes.short_sort_by_key(|change| {
        let LineChange { place, after, .. } = *change;
        Reverse((change.bytes().unsigned_abs(), after.bytes, change.blocks().unsigned_abs(), after.blocks, place))
    });
    changes
}

/// Line that holds more memory in each snapshot than in the one before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteadyGrowth<'a> {
    pub place: Place<'a>,
    pub totals: Vec<Total>,
    /// Stack with the most bytes of the place in the last snapshot.
    pub stack: usize,
}

impl SteadyGrowth<'_> {
    /// Returns the bytes that one snapshot has more than the one before, on average.
    pub fn bytes_per_snapshot(&self) -> u64 {
        self.mean_rise(|total| total.bytes)
    }

    /// Returns the blocks that one snapshot has more than the one before, on average.
    pub fn blocks_per_snapshot(&self) -> u64 {
        self.mean_rise(|total| total.blocks)
    }

    fn mean_rise(&self, figure: fn(&Total) -> u64) -> u64 {
        let rise = self.totals.last().map_or(0, figure).saturating_sub(self.totals.first().map_or(0, figure));
        rise / (self.totals.len() as u64).saturating_sub(1).max(1)
    }

    /// Returns true if the line grows in each interval, by a size that matters, and does not level off.
    fn is_steady(&self) -> bool {
        let rises: Vec<u64> = self.totals.windows(2).map(|pair| pair[1].bytes.saturating_sub(pair[0].bytes)).collect();
        let (last, most) = (rises.last().copied().unwrap_or(0), rises.iter().copied().max().unwrap_or(0));
        rises.iter().all(|&rise| rise > 0)
            && last as f64 >= LAST_RISE * most as f64
            && self.bytes_per_snapshot() >= LEAST_BYTES
    }
}

/// Returns the lines that grow through all snapshots, those that grow most first; at least three snapshots tell.
///
/// Lines of tracemalloc itself are left out, because they are the snapshots that the program keeps, and those of importlib,
/// because they are the code of modules.
pub fn steady_growth<'a>(snapshots: &[&'a TracemallocSnapshot]) -> Vec<SteadyGrowth<'a>> {
    let Some((last, earlier)) = snapshots.split_last().filter(|(_, earlier)| earlier.len() >= 2) else {
        return Vec::new();
    };
    let totals = |snapshot: &&'a TracemallocSnapshot| -> HashMap<Place<'a>, Total> {
        snapshot.by(Grouping::Line).into_iter().map(|placed| (placed.place, placed.total)).collect()
    };
    let earlier: Vec<HashMap<Place<'a>, Total>> = earlier.iter().map(totals).collect();
    let growth = |placed: Placed<'a>| {
        let of = |totals: &HashMap<Place<'a>, Total>| totals.get(&placed.place).copied().unwrap_or_default();
        let totals = earlier.iter().map(of).chain([placed.total]).collect();
        SteadyGrowth { place: placed.place, totals, stack: placed.stack }
    };
    let is_of_program = |placed: &Placed<'a>| !placed.place.is_of_tracemalloc() && !placed.place.is_of_importlib();
    let lines = last.by(Grouping::Line).into_iter().filter(is_of_program);
    let mut growing: Vec<SteadyGrowth<'a>> = lines.map(growth).filter(SteadyGrowth::is_steady).collect();
    growing.short_sort_by_key(|line| Reverse(line.bytes_per_snapshot()));
    growing
}

impl Place<'_> {
    pub fn is_of_importlib(&self) -> bool {
        self.file.starts_with("<frozen importlib")
    }

    pub fn is_of_tracemalloc(&self) -> bool {
        self.file.rsplit(['/', '\\']).next() == Some("tracemalloc.py") && !frame_rules::is_own(self.file)
    }
}
