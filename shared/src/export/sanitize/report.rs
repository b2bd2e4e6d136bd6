//! What a copy leaves out, with examples of it, and what it still says.

/// How many examples of one kind are kept.
const EXAMPLES: usize = 4;

/// What cleaning does to a trace, before anything leaves the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SanitizeReport {
    /// Paths that become shorter.
    pub paths: Change,
    /// Texts that lose a name of a person, a machine or a project, an address or a key.
    pub texts: Change,
    /// The names that are looked for.
    pub names: Vec<String>,
    /// Distinct frames by whose code they are, the most frequent first.
    pub packages: Vec<Package>,
    /// Distinct texts of users that are left out.
    pub metadata: Change,
    /// Annotations that are left out.
    pub annotations: u64,
    /// Entries of the file that no copy has, since this version does not know them.
    pub unknown_keys: u64,
    /// Every distinct text that others will see, what people write first, then in the order of the alphabet.
    pub remaining: Vec<Remaining>,
}

/// A text that is in the copy.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Remaining {
    /// Where it stands; of several places the one that is most likely to name somebody.
    pub kind: TextKind,
    /// The text; of several lines one.
    pub text: String,
}

/// Where a text stands in a copy, what names somebody most easily first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TextKind {
    /// An annotation, such as a step.
    Annotation,
    /// Metadata and categories of events.
    Event,
    /// A setting of the allocator.
    Setting,
    /// A line of the forward pass, or a node of a graph.
    Source,
    /// A file of the user's own.
    ProjectFile,
    /// A function of the user's own.
    ProjectFunction,
    /// A file of a package or of compiled code.
    PackageFile,
    /// A function of a package or of compiled code.
    PackageFunction,
}

impl TextKind {
    /// All of them, in the order of the report.
    pub const ALL: [Self; 8] = [
        Self::Annotation,
        Self::Event,
        Self::Setting,
        Self::Source,
        Self::ProjectFile,
        Self::ProjectFunction,
        Self::PackageFile,
        Self::PackageFunction,
    ];

    /// What it is called, in the singular.
    pub fn name(self) -> &'static str {
        match self {
            Self::Annotation => "annotation",
            Self::Event => "event text",
            Self::Setting => "setting",
            Self::Source => "source line",
            Self::ProjectFile => "own file",
            Self::ProjectFunction => "own function",
            Self::PackageFile => "package file",
            Self::PackageFunction => "package function",
        }
    }
}

/// Texts that become others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Change {
    /// How many distinct ones.
    pub count: u64,
    /// Some of them, before and after.
    pub examples: Vec<(String, String)>,
}

/// Frames of one package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// The package's name, or what kind of code it is.
    pub name: String,
    /// Distinct frames.
    pub frames: u64,
    /// Whether the copy has them.
    pub is_kept: bool,
}

impl Change {
    pub(super) fn add(&mut self, before: &str, after: &str) {
        self.count += 1;
        // Neighbours are of one folder mostly, and say the same about what is cut.
        let removed = |before: &str, after: &str| before.strip_suffix(after).map(str::to_owned);
        let is_new =
            !self.examples.iter().any(|(b, a)| removed(b, a).is_some() && removed(b, a) == removed(before, after));
        if is_new && self.examples.len() < EXAMPLES {
            self.examples.push((before.to_owned(), after.to_owned()));
        }
    }
}

impl SanitizeReport {
    /// Distinct frames that the copy does not have.
    pub fn dropped_frames(&self) -> u64 {
        self.packages.iter().filter(|package| !package.is_kept).map(|package| package.frames).sum()
    }

    /// How many texts of each kind others will see, without kinds that have none.
    pub fn remaining_counts(&self) -> Vec<(TextKind, u64)> {
        let count = |kind| self.remaining.iter().filter(|text| text.kind == kind).count() as u64;
        TextKind::ALL.into_iter().map(|kind| (kind, count(kind))).filter(|(_, count)| *count > 0).collect()
    }
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
