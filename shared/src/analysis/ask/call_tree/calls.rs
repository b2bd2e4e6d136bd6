//! Sums weighted allocations by the path of sites that their stacks become, with or without frames of the runtime.

use crate::base::{ShortSort, frame_rules, stack_label};
use crate::trace::{Frame, FrameId, StackId, Trace};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::ops::AddAssign;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// Sum of the weights, at most `u64::MAX`: bytes, bytes × time, or any other weight that the caller chose.
    pub weight: u64,
    pub count: u64,
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Self) {
        self.weight = self.weight.saturating_add(other.weight);
        self.count += other.count;
    }
}

/// Allocations of a site, made by itself and by its callees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SiteTotal {
    pub site: Site,
    /// Sum over the stacks that contain the site; each counts once, however often the site calls itself.
    pub total: Tally,
    /// Sum over the stacks whose innermost site it is.
    pub own: Tally,
}

/// Weighted allocations summed by stack, and the stacks as paths, in order of first appearance.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    rows: Vec<(StackId, Tally)>,
    sites: Vec<Site>,
    /// `ends[i]` is the end of the path of row `i` in `sites`.
    ends: Vec<usize>,
}

impl Calls {
    /// Sums allocations by stack; they are given as `(stack, weight)` in order of appearance.
    pub fn new(trace: &Trace, config: PathConfig, allocations: impl Iterator<Item = (StackId, u64)>) -> Self {
        let mut calls = Self::default();
        let paths = Paths::new(trace, config);
        for (stack, tally) in sum_by_stack(trace, allocations) {
            calls.push(stack, tally, paths.of(stack));
        }
        calls
    }

    pub(super) fn push(&mut self, stack: StackId, tally: Tally, path: impl IntoIterator<Item = Site>) {
        self.rows.push((stack, tally));
        self.sites.extend(path);
        self.ends.push(self.sites.len());
    }

    pub fn total(&self) -> Tally {
        self.sum_where(|_| true)
    }

    /// Returns the total of the stacks with a site for which `is_match` holds; each stack counts once.
    pub fn matching(&self, is_match: impl Fn(Site) -> bool) -> Tally {
        self.sum_where(|path| path.iter().any(|&site| is_match(site)))
    }

    pub fn by_site(&self) -> Vec<SiteTotal> {
        // `All` is in no path, so that slot 0 belongs to `NoStack` alone.
        let slot = |site: Site| match site {
            Site::Frame(frame) => frame.index() + 1,
            Site::NoStack | Site::All => 0,
        };
        let slots = self.sites.iter().map(|&site| slot(site) + 1).max().unwrap_or(0);
        let mut totals: Vec<Option<SiteTotal>> = vec![None; slots];
        let mut last_row = vec![usize::MAX; slots];
        for (row, (_, path, tally)) in self.paths().enumerate() {
            for &site in path {
                let empty = SiteTotal { site, total: Tally::default(), own: Tally::default() };
                let total = totals[slot(site)].get_or_insert(empty);
                if std::mem::replace(&mut last_row[slot(site)], row) != row {
                    total.total += tally;
                }
            }
            if let Some(total) = path.last().and_then(|&site| totals[slot(site)].as_mut()) {
                total.own += tally;
            }
        }
        let mut totals: Vec<_> = totals.into_iter().flatten().collect();
        totals.short_sort_by_key(|total| (Reverse(total.total.weight), Reverse(total.total.count), total.site));
        totals
    }

    pub(super) fn rows(&self) -> &[(StackId, Tally)] {
        &self.rows
    }

    /// Returns the path of a row, outermost site first.
    pub(super) fn path(&self, row: usize) -> &[Site] {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.sites[start..self.ends[row]]
    }

    pub(super) fn paths(&self) -> impl Iterator<Item = (StackId, &[Site], Tally)> {
        self.rows.iter().enumerate().map(|(row, &(stack, tally))| (stack, self.path(row), tally))
    }

    fn sum_where(&self, is_counted: impl Fn(&[Site]) -> bool) -> Tally {
        let mut sum = Tally::default();
        self.paths().filter(|(_, path, _)| is_counted(path)).for_each(|(_, _, tally)| sum += tally);
        sum
    }
}

/// Sums allocations to one row per stack, in order of first appearance; stacks without frames share one row.
fn sum_by_stack(trace: &Trace, allocations: impl Iterator<Item = (StackId, u64)>) -> Vec<(StackId, Tally)> {
    const UNSEEN: u32 = u32::MAX;
    let mut row_of = vec![UNSEEN; trace.stacks.len()];
    let mut rows: Vec<(StackId, Tally)> = Vec::new();
    for (stack, weight) in allocations {
        let stack = if stack.has_frames() { stack } else { StackId::NONE };
        let row = &mut row_of[stack.index()];
        if *row == UNSEEN {
            *row = rows.len() as u32;
            rows.push((stack, Tally::default()));
        }
        rows[*row as usize].1 += Tally { weight, count: 1 };
    }
    rows
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum MergeBy {
    /// Frames with the same function name and file.
    Function,
    /// Frames with the same function name, file and line.
    #[default]
    Line,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PathConfig {
    pub merge: MergeBy,
    /// True to leave out the frames of the runtime below the program.
    ///
    /// The runtime function that the program calls stays, because it says which operation allocates.
    pub folds_runtime: bool,
}

/// Place in the program that a node of a call tree stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Site {
    /// Root of a tree of whole stacks.
    All,
    /// All frames merged with this one, which is the first of them in the trace's table.
    Frame(FrameId),
    NoStack,
}

/// Properties of each frame of a trace, computed once.
#[derive(Debug)]
struct Paths<'a> {
    trace: &'a Trace,
    folds_runtime: bool,
    merged: Vec<FrameId>,
    roles: Vec<Role>,
}

#[derive(Clone, Copy, Debug)]
struct Role {
    is_runtime: bool,
    /// True for a frame that is left out, unless it is the title of its stack or the title's callee.
    folds: bool,
    /// True for a Python function that is more than a wrapper.
    is_function: bool,
    is_operation: bool,
}

impl<'a> Paths<'a> {
    fn new(trace: &'a Trace, config: PathConfig) -> Self {
        let roles = if config.folds_runtime {
            trace.frames.iter().map(|frame| role(trace, frame)).collect()
        } else {
            Vec::new()
        };
        Self { trace, folds_runtime: config.folds_runtime, merged: merged(trace, config.merge), roles }
    }

    /// Returns the sites of a stack, outermost first; at least one.
    fn of(&self, stack: StackId) -> Vec<Site> {
        let frames = self.trace.stacks.frames(stack);
        if frames.is_empty() {
            return vec![Site::NoStack];
        }
        let title = if self.folds_runtime { self.title(frames) } else { None };
        let callee = title.and_then(|title| self.callee(&frames[..title]));
        let is_shown = |position| {
            !self.folds_runtime
                || !self.role(frames, position).folds
                || Some(position) == title
                || Some(position) == callee
        };
        let shown = (0..frames.len()).rev().filter(|&position| is_shown(position));
        shown.map(|position| Site::Frame(self.merged[frames[position].index()])).collect()
    }

    fn role(&self, frames: &[FrameId], position: usize) -> Role {
        self.roles[frames[position].index()]
    }

    fn title(&self, frames: &[FrameId]) -> Option<usize> {
        let of_program = (0..frames.len()).find(|&position| !self.role(frames, position).is_runtime);
        of_program.or_else(|| {
            let strings = &self.trace.strings;
            let frames = frames.iter().map(|&id| self.trace.frames.get(id));
            stack_label::automatic_position(frames.map(|frame| (strings.get(frame.name), strings.get(frame.filename))))
        })
    }

    /// Returns the position of the function or operation that the title calls; `called` are the frames inside it.
    fn callee(&self, called: &[FrameId]) -> Option<usize> {
        let function = (0..called.len()).rfind(|&position| self.role(called, position).is_function);
        function.or_else(|| (0..called.len()).rfind(|&position| self.role(called, position).is_operation))
    }
}

fn role(trace: &Trace, frame: &Frame) -> Role {
    let (name, filename) = (trace.strings.get(frame.name), trace.strings.get(frame.filename));
    let is_runtime = frame_rules::is_runtime(filename);
    Role {
        is_runtime,
        folds: is_runtime && !frame_rules::is_recorded(filename),
        is_function: filename.ends_with(".py") && !frame_rules::is_plumbing(name),
        is_operation: frame_rules::operation(name).is_some(),
    }
}

/// Returns, for each frame, the first of those that it is merged with.
pub(in crate::analysis::ask) fn merged(trace: &Trace, merge: MergeBy) -> Vec<FrameId> {
    let mut firsts = HashMap::new();
    let first = |(index, frame): (usize, &Frame)| {
        let line = if merge == MergeBy::Line { frame.line } else { 0 };
        *firsts.entry((frame.name, frame.filename, line)).or_insert(FrameId::from_index(index))
    };
    trace.frames.iter().enumerate().map(first).collect()
}
