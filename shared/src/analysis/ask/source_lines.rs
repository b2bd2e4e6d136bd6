//! Sums allocations by the lines of source files in their stacks.
//!
//! Idea: allocations are summed by stack first, then each stack gives its sums once to every line in it (*through*),
//! and to its innermost line in the files of interest (*own*).
//!
//! ```text
//! stacks, innermost frame first            line       own  through
//! linear.py:9 < model.py:4 < train.py:7    model.py:4   50       50
//! linear.py:9 < model.py:4 < train.py:7    train.py:7   20       70
//! train.py:7                               linear.py:9   0       50
//! ```
//!
//! The first two stacks have 50 bytes together, the third has 20; `linear.py` is of PyTorch.
//!
//! Cost: linear in the allocations of the window and in the frames of their stacks, plus sorting the lines.
//!
//! Invariant: what lines own and what no line owns add up to all; a naive sum over the frames of every allocation
//! agrees.

use super::selection::{Filter, Part, Population, Scope, select};
use crate::analysis::track::allocations::AllocationId;
use crate::base::{ShortSort, StringId, frame_rules};
use crate::trace::{FrameId, StackId, Trace};
use hashbrown::{HashMap, HashSet};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::ops::{AddAssign, Range};

/// Allocations that are summed by line, and the files whose lines can own them.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceConfig {
    pub moment: u32,
    /// Moments whose events allocate.
    pub window: Range<u32>,
    /// Part of the allocations in the window to which all sums are limited.
    pub part: Part,
    pub filter: Filter,
    /// Files whose lines own allocations, as stacks name them; `None` for all that are not of the runtime.
    pub focus: Option<HashSet<String>>,
}

impl SourceConfig {
    /// Creates the settings for a scope: for a moment, the window is the whole trace; for a range, the moment is that of
    /// its peak.
    pub fn of(population: &Population<'_>, scope: &Scope, filter: Filter) -> Self {
        let timeline = population.timeline;
        let (moment, window, part) = match scope {
            Scope::At(moment) => (*moment, 0..timeline.events() + 1, Part::Any),
            Scope::Within { moments, part } => (timeline.live_max_in(moments.clone()).0, moments.clone(), *part),
        };
        Self { moment, window, part, filter, focus: None }
    }
}

/// Memory of a set of allocations: what is live at the moment, and what the events of the window allocated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LineTotals {
    pub live_bytes: u64,
    pub allocated_bytes: u64,
    pub live_count: u64,
    /// Number of allocations in the window.
    pub allocated_count: u64,
}

impl AddAssign for LineTotals {
    /// Adds with saturation, because a damaged file may claim more than 2^64 bytes.
    fn add_assign(&mut self, other: Self) {
        self.live_bytes = self.live_bytes.saturating_add(other.live_bytes);
        self.allocated_bytes = self.allocated_bytes.saturating_add(other.allocated_bytes);
        self.live_count += other.live_count;
        self.allocated_count += other.allocated_count;
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CodeKind {
    #[default]
    Own,
    /// Library on top of PyTorch, such as `transformers`.
    Library,
    /// PyTorch, the interpreter and compiled code.
    Runtime,
}

crate::names!(CodeKind { Own => "own", Library => "library", Runtime => "runtime" });

/// Allocations of a device by the lines of source files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceLines {
    pub totals: LineTotals,
    /// Sums over the allocations that no line owns.
    pub unowned: LineTotals,
    /// Files with a line in a stack of these allocations: first those that own the most live bytes.
    pub files: Vec<CodeFile>,
}

/// Allocations whose stacks pass a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CodeFile {
    /// Path as stacks name it.
    pub name: StringId,
    pub kind: CodeKind,
    /// Allocations that a line of the file owns.
    pub own: LineTotals,
    /// Allocations with a frame in the file.
    pub through: LineTotals,
    /// Lines in ascending order.
    pub lines: Vec<CodeLine>,
}

/// Allocations whose stacks pass a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodeLine {
    /// Line number from 1.
    pub line: u64,
    /// Function around the line; if there are several, a lambda or a comprehension is named only without others.
    pub function: StringId,
    /// Allocations whose innermost line in the files of interest this is.
    pub own: LineTotals,
    /// Allocations with a frame on the line; each counts once, however often the line is in its stack.
    pub through: LineTotals,
}

pub fn source_lines(population: &Population<'_>, config: &SourceConfig) -> SourceLines {
    let mut lines = Lines::new(population.trace, config.focus.as_ref());
    let mut found = SourceLines::default();
    for (stack, totals) in totals_by_stack(population, config) {
        found.totals += totals;
        if !lines.add(population.trace.stacks.frames(stack), totals) {
            found.unowned += totals;
        }
    }
    found.files = lines.finish(population.trace);
    found
}

/// Returns the source files in the stacks of a trace, in order of first appearance.
pub fn source_files(trace: &Trace) -> Vec<&str> {
    let mut seen = HashSet::new();
    let names = trace.frames.iter().map(|frame| frame.filename).filter(|&name| seen.insert(name));
    names.map(|name| trace.strings.get(name)).filter(|name| kind_of_source(name).is_some()).collect()
}

/// Sums allocations by stack.
fn totals_by_stack(population: &Population<'_>, config: &SourceConfig) -> Vec<(StackId, LineTotals)> {
    let allocations = &population.timeline.allocations;
    let mut sums = vec![LineTotals::default(); population.trace.stacks.len()];
    let mut add = |id: AllocationId, of: fn(u64) -> LineTotals| {
        let stack = allocations.allocation_stack(id, population.device);
        sums[stack.index()] += of(allocations.size_bytes_of(id));
    };
    let of_part = is_of_part(population, config);
    for id in select(population, &Scope::At(config.moment), &config.filter) {
        if of_part.as_ref().is_none_or(|of_part| of_part[id.index()]) {
            add(id, |bytes| LineTotals { live_bytes: bytes, live_count: 1, ..LineTotals::default() });
        }
    }
    if let Some(part) = born_of(config.part) {
        let born = Scope::Within { moments: config.window.clone(), part };
        for id in select(population, &born, &config.filter) {
            add(id, |bytes| LineTotals { allocated_bytes: bytes, allocated_count: 1, ..LineTotals::default() });
        }
    }
    let used = sums.into_iter().enumerate().filter(|(_, totals)| *totals != LineTotals::default());
    used.map(|(index, totals)| (StackId::from_index(index), totals)).collect()
}

/// Returns, for each allocation, whether it is of the part; `None` if all are.
fn is_of_part(population: &Population<'_>, config: &SourceConfig) -> Option<Vec<bool>> {
    if config.part == Part::Any {
        return None;
    }
    let mut is_of_part = vec![false; population.timeline.allocations.len()];
    let scope = Scope::Within { moments: config.window.clone(), part: config.part };
    select(population, &scope, &Filter::default()).into_iter().for_each(|id| is_of_part[id.index()] = true);
    Some(is_of_part)
}

/// Returns the allocations of a part that are also born in the range; `None` if none is.
fn born_of(part: Part) -> Option<Part> {
    match part {
        Part::Any | Part::Born => Some(Part::Born),
        Part::Died | Part::BornAndDied => Some(Part::BornAndDied),
        Part::BornAndKept => Some(Part::BornAndKept),
        Part::Survived => None,
    }
}

/// Lines and files of a trace with the sums so far.
struct Lines {
    /// Line of each frame; `None` for compiled code without a source line, and for frames of our recorder.
    of_frame: Vec<Option<u32>>,
    lines: Vec<Sums<CodeLine>>,
    files: Vec<Sums<CodeFile>>,
    /// Number of the stack that is added.
    stack: u32,
}

/// Row with the file that it belongs to, and the last stack that was added to it.
struct Sums<T> {
    row: T,
    file: u32,
    is_focus: bool,
    last_stack: u32,
}

impl Lines {
    fn new(trace: &Trace, focus: Option<&HashSet<String>>) -> Self {
        let mut new = Self { of_frame: Vec::with_capacity(trace.frames.len()), lines: vec![], files: vec![], stack: 0 };
        let mut files: HashMap<StringId, Option<u32>> = HashMap::new();
        let mut lines: HashMap<(u32, u64), u32> = HashMap::new();
        for frame in trace.frames.iter() {
            let (name, own, through) = (frame.filename, LineTotals::default(), LineTotals::default());
            let file = *files.entry(name).or_insert_with(|| {
                let path = trace.strings.get(name);
                let kind = kind_of_source(path)?;
                let is_focus = focus.map_or(kind != CodeKind::Runtime, |focus| focus.contains(path));
                let file = new.files.len() as u32;
                let row = CodeFile { name, kind, own, through, lines: Vec::new() };
                new.files.push(Sums { row, file, is_focus, last_stack: 0 });
                Some(file)
            });
            let line = file.filter(|_| frame.line > 0).map(|file| {
                *lines.entry((file, frame.line)).or_insert_with(|| {
                    let is_focus = new.files[file as usize].is_focus;
                    let row = CodeLine { line: frame.line, function: frame.name, own, through };
                    new.lines.push(Sums { row, file, is_focus, last_stack: 0 });
                    new.lines.len() as u32 - 1
                })
            });
            if let Some(line) = line {
                let function = &mut new.lines[line as usize].row.function;
                let is_inner = |name: StringId| trace.strings.get(name).starts_with('<');
                if is_inner(*function) && !is_inner(frame.name) {
                    *function = frame.name;
                }
            }
            new.of_frame.push(line);
        }
        new
    }

    /// Adds the sums of a stack to its lines and files; returns true if a line owns them.
    fn add(&mut self, frames: &[FrameId], totals: LineTotals) -> bool {
        self.stack += 1;
        let mut is_owned = false;
        for frame in frames {
            let Some(line) = self.of_frame[frame.index()] else { continue };
            let line = &mut self.lines[line as usize];
            let file = &mut self.files[line.file as usize];
            if std::mem::replace(&mut line.last_stack, self.stack) != self.stack {
                line.row.through += totals;
            }
            if std::mem::replace(&mut file.last_stack, self.stack) != self.stack {
                file.row.through += totals;
            }
            if line.is_focus && !is_owned {
                is_owned = true;
                line.row.own += totals;
                file.row.own += totals;
            }
        }
        is_owned
    }

    fn finish(mut self, trace: &Trace) -> Vec<CodeFile> {
        self.lines.retain(|line| line.last_stack > 0);
        self.lines.short_sort_by_key(|line| (line.file, line.row.line));
        for line in &self.lines {
            self.files[line.file as usize].row.lines.push(line.row);
        }
        let mut files: Vec<CodeFile> =
            self.files.into_iter().filter(|file| file.last_stack > 0).map(|file| file.row).collect();
        let name = |file: &CodeFile| trace.strings.get(file.name);
        files.short_sort_by(|one, other| {
            let size = |file: &CodeFile| Reverse((file.own, file.through));
            (size(one), one.kind, name(one)).cmp(&(size(other), other.kind, name(other)))
        });
        files
    }
}

/// Returns the origin of a source file, or `None` if the name is not that of a source file.
fn kind_of_source(filename: &str) -> Option<CodeKind> {
    const NATIVE_SOURCES: [&str; 8] = [".cpp", ".cc", ".c", ".cu", ".h", ".hpp", ".pyx", ".rs"];
    let is_source = |name: &str| NATIVE_SOURCES.iter().any(|suffix| name.ends_with(suffix));
    if frame_rules::is_recorded(filename) || (frame_rules::is_native(filename) && !is_source(filename)) {
        None
    } else if frame_rules::is_own(filename) {
        Some(CodeKind::Own)
    } else if frame_rules::is_runtime(filename) {
        Some(CodeKind::Runtime)
    } else {
        Some(CodeKind::Library)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;
    use crate::trace::Frame;

    /// Formats each line as `file:line own/through of the live bytes, own/through of the allocated bytes`.
    #[track_caller]
    fn check(source: &str, scope: &Scope, focus: Option<&[&str]>, expected: &[&str]) -> SourceLines {
        let sample = Sample::of(source);
        let focus = focus.map(|files| files.iter().map(|&file| file.to_owned()).collect());
        let config = SourceConfig { focus, ..SourceConfig::of(&sample.population(), scope, Filter::default()) };
        let found = source_lines(&sample.population(), &config);
        let text = |file: &CodeFile, CodeLine { line, own, through, .. }: &CodeLine| {
            let name = sample.trace.strings.get(file.name);
            let live = format!("{}/{}", own.live_bytes, through.live_bytes);
            format!("{name}:{line} {live}, {}/{}", own.allocated_bytes, through.allocated_bytes)
        };
        let lines = found.files.iter().flat_map(|file| file.lines.iter().map(move |line| text(file, line)));
        assert_eq!(lines.collect::<Vec<_>>(), expected);
        found
    }

    const LINEAR: &str = "/v/site-packages/torch/nn/modules/linear.py";

    fn example() -> String {
        format!(
            "
            alloc a 30 @forward@{LINEAR}:9<forward@model.py:4<main@train.py:7
            alloc b 20 @forward@{LINEAR}:9<forward@model.py:4<main@train.py:7
            alloc c 20 @main@train.py:7
            free c
            alloc d 8
            "
        )
    }

    #[test]
    fn a_line_owns_what_it_allocates_and_passes_on_what_it_calls() {
        let linear = format!("{LINEAR}:9 0/50, 0/50");
        let expected = ["model.py:4 50/50, 50/50", "train.py:7 20/70, 20/70", &linear];
        let found = check(&example(), &Scope::At(3), None, &expected);
        assert_eq!((found.totals.live_bytes, found.totals.allocated_bytes, found.totals.allocated_count), (70, 78, 4));
        assert_eq!((found.unowned.live_bytes, found.unowned.allocated_bytes), (0, 8));
        assert_eq!(found.files[0].own, found.files[0].lines[0].own);
        assert_eq!(
            found.files.iter().map(|file| file.kind).collect::<Vec<_>>()[1..],
            [CodeKind::Own, CodeKind::Runtime]
        );
    }

    #[test]
    fn a_range_counts_its_own_events_at_its_own_peak() {
        let scope = Scope::Within { moments: 2..4, part: Part::Any };
        let linear = format!("{LINEAR}:9 0/50, 0/20");
        check(&example(), &scope, None, &["model.py:4 50/50, 20/20", "train.py:7 20/70, 20/40", &linear]);
    }

    #[test]
    fn lines_outside_the_files_of_interest_own_nothing() {
        let linear = format!("{LINEAR}:9 0/50, 0/50");
        let expected = ["train.py:7 70/70, 70/70", "model.py:4 0/50, 0/50", &linear];
        check(&example(), &Scope::At(3), Some(&["train.py"]), &expected);
        let found = check(&example(), &Scope::At(3), Some(&[]), &["train.py:7 0/70, 0/70", expected[1], &linear]);
        assert_eq!(found.unowned, found.totals);
    }

    #[test]
    fn recursion_counts_once() {
        let source = "alloc a 8 @f:2<f:2<f:3<f:2<main:9";
        let expected = ["main.py:2 8/8, 8/8", "main.py:3 0/8, 0/8", "main.py:9 0/8, 0/8"];
        let found = check(source, &Scope::At(1), None, &expected);
        let file = &found.files[0];
        assert_eq!((file.own.live_bytes, file.through.live_bytes, file.through.live_count), (8, 8, 1));
    }

    #[test]
    fn only_frames_of_source_files_are_lines() {
        let source = "alloc a 8 @aten::mm@operator<malloc@libc10.so:77<f@kernel.cu:3<f@<string>:0<main:9";
        check(source, &Scope::At(1), None, &["main.py:9 8/8, 8/8", "kernel.cu:3 0/8, 0/8"]);
    }

    #[test]
    fn a_line_has_the_name_of_its_function() {
        let mut trace = Trace::default();
        let filename = trace.strings.intern("main.py");
        for name in ["<lambda>", "step", "main"] {
            let name = trace.strings.intern(name);
            trace.frames.intern(Frame { name, filename, line: 2, fx: None });
        }
        let lines = Lines::new(&trace, None);
        let functions: Vec<&str> = lines.lines.iter().map(|line| trace.strings.get(line.row.function)).collect();
        assert_eq!(functions, ["step"]);
    }
}
