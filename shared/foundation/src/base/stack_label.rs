//! Names stacks by the user's own code, and tells apart those with equal names.
//!
//! A label has the innermost own frame first, then the leaf: the library's function or operation that this frame led to.
//! Where labels of a list are equal, the stacks are cut to the frames in which they differ.
//! They form a tree, first
//! by the frames of the program from the innermost outwards, then by all frames from the outermost inwards; a label
//! shows the frame after each fork on the way to its stack:
//!
//! ```text
//! mm < up   < forward < block 1      block 1
//! mm < up   < forward < block 2      block 2 < first
//!           (called by first and second)     block 2 < second
//! ```
//!
//! Two stacks part at exactly one fork, where they show different frames, so that no two labels are equal.
//! The cost is the number of frames of the stacks with equal labels.

use super::{OwnCode, frame_rules};
use crate::base::ShortSort;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Function, file and line of a frame.
pub type FrameText<'a> = (&'a str, &'a str, u64);

/// What labels need to know about a frame; computed once per frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameKind {
    pub is_own: bool,
    pub is_runtime: bool,
    pub is_backward: bool,
    pub is_operation: bool,
    pub is_python: bool,
}

impl FrameKind {
    pub fn of(name: &str, filename: &str, own: &OwnCode) -> Self {
        let operation = frame_rules::operation(name);
        Self {
            is_own: own.is_own(filename),
            is_runtime: frame_rules::is_runtime(filename),
            is_backward: operation.as_ref().is_some_and(|operation| operation.contains("Backward")),
            is_operation: operation.is_some(),
            is_python: filename.ends_with(".py") || filename.starts_with('<'),
        }
    }
}

/// Returns the position of the frame that names a stack; frames are given innermost first.
///
/// That is the first of these that exists: the innermost frame of the user's own code, the innermost one outside the
/// runtime, the innermost backward operation, the innermost Python frame, the innermost other operation, the innermost
/// frame.
pub fn title_position(kinds: impl Iterator<Item = FrameKind> + Clone) -> Option<usize> {
    let first = |is: fn(FrameKind) -> bool| kinds.clone().position(is);
    first(|kind| kind.is_own)
        .or_else(|| first(|kind| !kind.is_runtime))
        .or_else(|| first(|kind| kind.is_backward))
        .or_else(|| first(|kind| kind.is_python))
        .or_else(|| first(|kind| kind.is_operation))
        .or_else(|| first(|_| true))
}

/// Same as [`title_position`] for names and files, by the automatic rule.
pub fn automatic_position<'a>(frames: impl Iterator<Item = (&'a str, &'a str)>) -> Option<usize> {
    let kinds: Vec<FrameKind> =
        frames.map(|(name, filename)| FrameKind::of(name, filename, &OwnCode::Automatic)).collect();
    title_position(kinds.into_iter())
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct StackLabel {
    /// Function of the user's own frame, or an operation where there is none.
    pub title: String,
    /// File and line of that frame; may be empty.
    pub place: String,
    /// Library's function or operation that the frame led to; may be empty.
    pub leaf: String,
    /// Frames that tell the stack apart from others of the list with the same label; may be empty.
    pub differs: String,
}

impl StackLabel {
    /// Returns the label of a stack, given its frames and their kinds innermost first; `None` without frames.
    pub fn of(frames: &[FrameText<'_>], kinds: &[FrameKind]) -> Option<Self> {
        let position = title_position(kinds.iter().copied())?;
        let (name, filename, line) = *frames.get(position)?;
        let title = title(frames[position]);
        let leaf = leaf(frames, kinds, position).filter(|leaf| *leaf != title).unwrap_or_default();
        // The place of an operation is that of PyTorch's source.
        let place = if title == name { file_place(filename, line) } else { String::new() };
        Some(Self { title, place, leaf, differs: String::new() })
    }

    /// Returns the title with its place: `forward (model.py:12)`.
    pub fn head(&self) -> String {
        let Self { title, place, .. } = self;
        match place.as_str() {
            "" => title.clone(),
            place => format!("{title} ({place})"),
        }
    }

    /// Returns what follows the head: `→ einsum (_backends.py:288) · block (model.py:40)`.
    pub fn tail(&self) -> String {
        let leaf = if self.leaf.is_empty() { String::new() } else { format!("→ {}", self.leaf) };
        match (leaf.is_empty(), self.differs.is_empty()) {
            (_, true) => leaf,
            (true, false) => format!("· {}", self.differs),
            (false, false) => format!("{leaf} · {}", self.differs),
        }
    }

    /// Returns the label in two parts, the first of which tells it apart from the others of a list.
    ///
    /// That is its head if no other label has it, or else what only this one has: its leaf, or where its stack differs,
    /// and else the lines of both.
    pub fn split(&self, list: &[Self]) -> (String, String) {
        let Self { leaf, differs, .. } = self;
        let is_alone = |of: fn(&Self) -> &String| {
            !of(self).is_empty() && list.iter().filter(|other| of(other) == of(self)).count() == 1
        };
        if list.iter().filter(|other| other.head() == self.head()).count() == 1 {
            return (self.head(), self.tail());
        }
        let lead = match () {
            () if is_alone(|label| &label.leaf) => leaf.clone(),
            () if is_alone(|label| &label.differs) => differs.clone(),
            () => [leaf, differs]
                .iter()
                .filter(|part| !part.is_empty())
                .map(|part| lines(part))
                .collect::<Vec<_>>()
                .join(" · "),
        };
        if lead.is_empty() { (self.head(), String::new()) } else { (lead, self.head()) }
    }

    /// Returns all of the label on one line.
    pub fn text(&self) -> String {
        format!("{} {}", self.head(), self.tail()).trim_end().to_owned()
    }
}

/// Returns the files and lines of functions, `a.py:1 < b.py:2` of `f (a.py:1) < g (b.py:2)`.
fn lines(functions: &str) -> String {
    let line =
        |function: &str| function.rsplit_once('(').map_or(function, |(_, line)| line.trim_end_matches(')')).to_owned();
    functions.split(" < ").map(line).collect::<Vec<_>>().join(" < ")
}

/// Returns the leaf: the innermost function of a library inside the title's frame, or else what that frame called.
fn leaf(frames: &[FrameText<'_>], kinds: &[FrameKind], position: usize) -> Option<String> {
    let of_library = (0..position).find(|&at| !kinds[at].is_runtime).map(|at| {
        let (name, filename, line) = frames[at];
        place(name, filename, line)
    });
    of_library.or_else(|| callee(&frames[..position]))
}

/// Returns what a frame called in the runtime: `layer_norm`, `aten::bmm`; `called` are the frames inside it.
pub fn callee(called: &[FrameText<'_>]) -> Option<String> {
    let is_function =
        |(name, filename, _): &&FrameText<'_>| filename.ends_with(".py") && !frame_rules::is_plumbing(name);
    let function = called.iter().rev().find(is_function).map(|&(name, filename, _)| {
        // The file of a module's `forward` says more than its name.
        let file = file_name(filename).trim_end_matches(".py");
        if name == "forward" { file.to_owned() } else { name.to_owned() }
    });
    function.or_else(|| called.iter().rev().find_map(|&(name, filename, _)| operation(name, filename)))
}

/// Returns the operation of PyTorch that a frame of the runtime stands for, such as `aten::cat`.
pub fn operation(name: &str, filename: &str) -> Option<String> {
    if filename == frame_rules::RECORDED_OPERATOR { Some(name.to_owned()) } else { frame_rules::operation(name) }
}

/// Returns the name of a frame, which is an operation for PyTorch's compiled code.
pub fn title((name, filename, _): FrameText<'_>) -> String {
    let operation = if frame_rules::is_runtime(filename) { frame_rules::operation(name) } else { None };
    operation.unwrap_or_else(|| name.to_owned())
}

/// Returns a file without its folders, and a line.
///
/// The place is empty if the line is unknown, because the name of an object file alone is no help.
pub fn file_place(filename: &str, line: u64) -> String {
    let file = file_name(filename);
    let is_unknown = matches!(file, "" | "??") || frame_rules::is_recorded(filename);
    match line {
        _ if is_unknown => String::new(),
        0 if file.ends_with(".py") => file.to_owned(),
        0 => String::new(),
        line => format!("{file}:{line}"),
    }
}

/// Formats a function with its file and line, as far as they are known.
pub fn place(name: &str, filename: &str, line: u64) -> String {
    match (file_name(filename), line) {
        ("" | "??", _) => name.to_owned(),
        _ if frame_rules::is_recorded(filename) => name.to_owned(),
        // Snapshots of tracemalloc have no functions.
        (file, _) if name.is_empty() => format!("{file}:{line}"),
        (file, 0) => format!("{name} ({file})"),
        (file, _) => format!("{name} ({file}:{line})"),
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// One stack of a list: its label, its frames innermost first, and their kinds.
pub struct Labelled<'a> {
    pub label: Option<StackLabel>,
    pub frames: Vec<FrameText<'a>>,
    pub kinds: Vec<FrameKind>,
}

impl<'a> Labelled<'a> {
    pub fn new(frames: Vec<FrameText<'a>>, kinds: Vec<FrameKind>) -> Self {
        Self { label: StackLabel::of(&frames, &kinds), frames, kinds }
    }

    /// Creates it without known kinds.
    pub fn with_rule(frames: Vec<FrameText<'a>>, own: &OwnCode) -> Self {
        let kinds = frames.iter().map(|&(name, filename, _)| FrameKind::of(name, filename, own)).collect();
        Self::new(frames, kinds)
    }

    /// Returns the frames in the order in which differences are looked for: those of the program, then all but those of
    /// the interpreter, then these; `None` separates the passes.
    fn path(&self) -> Vec<Option<FrameText<'a>>> {
        let of_program = self.frames.iter().zip(&self.kinds).filter(|(_, kind)| !kind.is_runtime);
        let outward = || self.frames.iter().rev().map(|&frame| Some(frame));
        let (of_interpreter, others): (Vec<_>, Vec<_>) =
            outward().partition(|frame| frame.is_some_and(is_of_interpreter));
        let of_program = of_program.map(|(&frame, _)| Some(frame));
        of_program.chain([None]).chain(others).chain([None]).chain(of_interpreter).collect()
    }
}

/// Tells apart the labels of a list that are equal though their stacks differ.
pub fn distinguish(list: &mut [Labelled<'_>]) {
    let mut equal: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (position, one) in list.iter().enumerate() {
        if let Some(label) = &one.label {
            equal.entry(label.text()).or_default().push(position);
        }
    }
    for group in equal.into_values().filter(|group| group.len() > 1) {
        let paths: Vec<_> = group.iter().map(|&position| list[position].path()).collect();
        let mut texts = vec![Vec::new(); group.len()];
        fork(&paths, (0..group.len()).collect(), 0, &mut texts);
        for (position, texts) in group.into_iter().zip(texts) {
            if let Some(label) = &mut list[position].label {
                label.differs = texts.join(" < ");
            }
        }
    }
}

type Path<'a> = Vec<Option<FrameText<'a>>>;

/// Returns true for frames of CPython itself, which say nothing about a program.
fn is_of_interpreter((_, filename, _): FrameText<'_>) -> bool {
    filename.ends_with(".c")
}

/// Appends to each text the frame after every fork of the paths behind `depth`.
fn fork(paths: &[Path<'_>], group: Vec<usize>, depth: usize, texts: &mut [Vec<String>]) {
    // Groups that wait for their forks; recursion would be as deep as the stacks.
    let mut waiting = vec![(group, depth)];
    while let Some((group, mut depth)) = waiting.pop() {
        let first = &paths[group[0]];
        while depth < first.len() && group.iter().all(|&one| paths[one].get(depth) == Some(&first[depth])) {
            depth += 1;
        }
        let mut parts: BTreeMap<Option<Option<FrameText<'_>>>, Vec<usize>> = BTreeMap::new();
        for &one in &group {
            parts.entry(paths[one].get(depth).copied()).or_default().push(one);
        }
        if parts.len() < 2 {
            continue;
        }
        let names = names(parts.keys().map(|frame| frame.flatten()));
        for (name, part) in names.into_iter().zip(parts.into_values()) {
            part.iter().for_each(|&one| texts[one].push(name.clone()));
            if part.len() > 1 {
                waiting.push((part, depth + 1));
            }
        }
    }
}

/// Names the frames after a fork, with their whole paths if they are equal otherwise.
fn names<'a>(frames: impl Iterator<Item = Option<FrameText<'a>>>) -> Vec<String> {
    let frames: Vec<_> = frames.collect();
    let number = |frame: &Option<FrameText<'_>>| frames.iter().position(|other| other == frame).unwrap_or(0) + 1;
    let short = |frame: &Option<FrameText<'_>>| match *frame {
        None => "no further caller".to_owned(),
        Some(inner) if is_of_interpreter(inner) => format!("variant {}", number(frame)),
        Some(frame) => match title(frame) {
            operation if operation != frame.0 => operation,
            name => place(&name, frame.1, frame.2),
        },
    };
    let names: Vec<String> = frames.iter().map(short).collect();
    let mut sorted = names.clone();
    sorted.short_sort_by(Ord::cmp);
    sorted.dedup();
    if sorted.len() == names.len() {
        return names;
    }
    let whole = |frame: &Option<FrameText<'_>>| match frame {
        Some((name, filename, line)) => format!("{name} ({filename}:{line})"),
        None => short(frame),
    };
    frames.iter().map(whole).collect()
}

#[cfg(test)]
mod tests;
