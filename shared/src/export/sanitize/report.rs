//! Holds the clean tables of a copy, and reports what it leaves out, with examples, and which texts it still has.
//!
//! All texts of a copy are listed, for people to read before it leaves their machine.

use super::hosts::is_project;
use crate::base::{ShortSort, StringId, StringTable};
use crate::trace::{Annotation, ContextId, ContextTable, FrameTable, Settings, StackId, StackTable};
use hashbrown::HashMap;

use serde::{Deserialize, Serialize};

/// Maximum number of examples of one kind.
const EXAMPLES: usize = 4;

/// Effect of cleaning on a trace, known before anything leaves the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SanitizeReport {
    /// Paths that become shorter.
    pub paths: Change,
    /// Texts that lose a name of a person, a machine or a project, an address or a key.
    pub texts: Change,
    /// Names that are looked for.
    pub names: Vec<String>,
    /// Numbers of distinct frames by package, the largest first.
    pub packages: Vec<Package>,
    /// Distinct metadata texts of users that are left out.
    pub metadata: Change,
    /// Number of annotations that are left out.
    pub annotations: u64,
    /// Number of entries of the file that no copy has, because this version does not know their keys.
    pub unknown_keys: u64,
    /// Every distinct text that others will see, sorted by kind, then alphabetically.
    pub remaining: Vec<Remaining>,
}

/// Text that is in the copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Remaining {
    /// Place of the text; of several places, the one most likely to name somebody.
    pub kind: TextKind,
    /// One line of the text.
    pub text: String,
}

/// Place of a text in a copy, in order of how likely it is to name somebody.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextKind {
    /// Name of an annotation, such as a step.
    Annotation,
    /// Metadata, compile context or category of an event.
    Event,
    /// Setting of the allocator.
    Setting,
    /// Line of the forward pass, or text of a graph node.
    Source,
    /// File of the user's own code.
    ProjectFile,
    /// Function of the user's own code.
    ProjectFunction,
    /// File of a package or of compiled code.
    PackageFile,
    /// Function of a package or of compiled code.
    PackageFunction,
}

// The names for people, in the singular.
crate::names!(TextKind {
    Annotation => "annotation",
    Event => "event text",
    Setting => "setting",
    Source => "source line",
    ProjectFile => "project file",
    ProjectFunction => "project function",
    PackageFile => "package file",
    PackageFunction => "package function",
});

/// Texts that are changed or left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Number of distinct texts.
    pub count: u64,
    /// Some of the texts, each before and after.
    pub examples: Vec<(String, String)>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Package {
    /// Name of the package, or the kind of code.
    pub name: String,
    /// Number of distinct frames.
    pub frames: u64,
    /// True if the copy contains the frames.
    pub is_kept: bool,
}

impl Change {
    pub(super) fn add(&mut self, before: &str, after: &str) {
        self.count += 1;
        // Consecutive paths are mostly of one folder: an example that loses the same prefix as another shows nothing
        // new.
        let removed = |before: &str, after: &str| before.strip_suffix(after).map(str::to_owned);
        let is_new =
            !self.examples.iter().any(|(b, a)| removed(b, a).is_some() && removed(b, a) == removed(before, after));
        if is_new && self.examples.len() < EXAMPLES {
            self.examples.push((before.to_owned(), after.to_owned()));
        }
    }
}

impl SanitizeReport {
    /// Returns the number of distinct frames that the copy leaves out.
    pub fn dropped_frames(&self) -> u64 {
        self.packages.iter().filter(|package| !package.is_kept).map(|package| package.frames).sum()
    }

    /// Counts the texts of each kind that others will see, without kinds that have none.
    pub fn remaining_counts(&self) -> Vec<(TextKind, u64)> {
        let count = |kind| self.remaining.iter().filter(|text| text.kind == kind).count() as u64;
        TextKind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, count)| *count > 0).collect()
    }
}

/// Returns every distinct line of the texts in clean tables, sorted by [`TextKind`], then alphabetically.
pub(super) fn remaining(tables: &Tables) -> Vec<Remaining> {
    let mut kinds: HashMap<&str, TextKind> = HashMap::new();
    for (kind, id) in texts(tables) {
        for line in tables.strings.whole(id).split('\n').filter(|line| !line.trim().is_empty()) {
            kinds.entry(line).and_modify(|known| *known = kind.min(*known)).or_insert(kind);
        }
    }
    let mut all: Vec<Remaining> =
        kinds.into_iter().map(|(text, kind)| Remaining { kind, text: text.to_owned() }).collect();
    let settings = tables.settings.entries.iter();
    all.extend(settings.map(|(name, value)| Remaining { kind: TextKind::Setting, text: format!("{name}: {value}") }));
    all.short_sort_by(Ord::cmp);
    all
}

/// Returns each text of the tables with its kind, some texts several times.
fn texts(tables: &Tables) -> Vec<(TextKind, StringId)> {
    let mut texts: Vec<_> =
        tables.annotations.iter().map(|annotation| (TextKind::Annotation, annotation.name)).collect();
    for context in tables.contexts.iter() {
        let written = [context.compile_context, context.user_metadata, context.internal_metadata, context.category];
        texts.extend(written.map(|id| (TextKind::Event, id)));
        let lines = tables.contexts.lines(context.forward_frames);
        texts.extend(lines.iter().map(|&line| (TextKind::Source, line)));
    }
    for frame in tables.frames.iter() {
        let (file, function) = match is_project(tables.strings.whole(frame.filename)) {
            true => (TextKind::ProjectFile, TextKind::ProjectFunction),
            false => (TextKind::PackageFile, TextKind::PackageFunction),
        };
        texts.extend([(file, frame.filename), (function, frame.name)]);
        let nodes = frame.fx.map(|fx| [fx.op, fx.name, fx.target, fx.original_trace]);
        texts.extend(nodes.into_iter().flatten().map(|id| (TextKind::Source, id)));
    }
    texts
}

/// Clean tables, and the handles in them, indexed by the trace's own handles.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) strings: StringTable,
    pub(super) frames: FrameTable,
    pub(super) stacks: StackTable,
    pub(super) contexts: ContextTable,
    pub(super) annotations: Vec<Annotation>,
    pub(super) settings: Settings,
    pub(super) stack_ids: Vec<StackId>,
    pub(super) context_ids: Vec<ContextId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn examples_differ_in_what_is_cut() {
        let mut change = Change::default();
        for (before, after) in [("/a/x", "x"), ("/a/y", "y"), ("/b/z", "z"), ("ada", "*"), ("ada 2", "* 2"), ("c", "")]
        {
            change.add(before, after);
        }
        let befores: Vec<_> = change.examples.iter().map(|(before, _)| before.as_str()).collect();
        assert_eq!((change.count, befores), (6, vec!["/a/x", "/b/z", "ada", "ada 2"]));
    }
}
