//! What a copy leaves out, with examples of it.

/// How many examples of one kind are kept.
const EXAMPLES: usize = 4;

/// What cleaning does to a trace, before anything leaves the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SanitizeReport {
    /// Paths that become shorter.
    pub paths: Change,
    /// Texts that lose a name of a person or a machine.
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
