//! Counts the oddities of a file while it is read.

use crate::base::{Diagnostic, Severity, ShortSort, StringId, StringTable, format};
use hashbrown::HashMap;

/// Kind of record that a dictionary holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Record {
    Event,
    Frame,
    Segment,
    Block,
    History,
    Snapshot,
}

impl Record {
    fn name(self) -> &'static str {
        match self {
            Self::Event => "events",
            Self::Frame => "frames",
            Self::Segment => "segments",
            Self::Block => "blocks",
            Self::History => "block histories",
            Self::Snapshot => "the snapshot",
        }
    }
}

/// Counters of all oddities that a builder finds.
#[derive(Debug, Default)]
pub(super) struct Oddities {
    unknown_keys: HashMap<(Record, StringId), u64>,
    unknown_actions: HashMap<StringId, u64>,
    /// Fields whose value has the wrong type, by key.
    malformed: HashMap<(Record, usize), u64>,
    /// Sum of all counts in the tables above.
    noted: u64,
    mended_texts: u64,
    first_mended: Option<u64>,
}

impl Oddities {
    /// Returns the number of odd keys, actions and fields so far.
    #[inline]
    pub(super) fn noted(&self) -> u64 {
        self.noted
    }

    #[cold]
    pub(super) fn unknown_key(&mut self, record: Record, key: StringId) {
        self.noted += 1;
        *self.unknown_keys.entry((record, key)).or_default() += 1;
    }

    #[cold]
    pub(super) fn unknown_action(&mut self, name: StringId) {
        self.noted += 1;
        *self.unknown_actions.entry(name).or_default() += 1;
    }

    #[cold]
    pub(super) fn malformed(&mut self, record: Record, key: usize) {
        self.noted += 1;
        *self.malformed.entry((record, key)).or_default() += 1;
    }

    pub(super) fn mended_text(&mut self, offset: u64) {
        self.mended_texts += 1;
        self.first_mended.get_or_insert(offset);
    }

    /// Returns one diagnostic per kind of oddity; `strings` begin with the keys.
    pub(super) fn diagnostics(self, strings: &StringTable) -> Vec<Diagnostic> {
        let Self { unknown_keys, unknown_actions, malformed, mended_texts, first_mended, noted: _ } = self;
        let quoted = |id: StringId| format!("\"{}\"", strings.get(id));
        let mut all = Vec::new();
        let mut add = |code, severity, offset, count, message: String| {
            if count > 0 {
                all.push(Diagnostic { code, severity, offset, count, message });
            }
        };
        let (names, count) = listed(unknown_keys.iter().map(|(&(record, key), &n)| (record, quoted(key), n)));
        let message =
            format!("Some keys are unknown to this version and were skipped: {names}. No figure depends on them.");
        add("unknown-keys", Severity::Info, None, count, message);

        let (names, count) = listed(unknown_actions.iter().map(|(&name, &n)| (Record::Event, quoted(name), n)));
        let message = format!(
            "Some actions are unknown to this version: {names}. They keep their place in the trace but change no \
             figure."
        );
        add("unknown-actions", Severity::Warning, None, count, message);

        let quoted_key = |key: usize| quoted(StringId::from_index(key));
        let (names, count) = listed(malformed.iter().map(|(&(record, key), &n)| (record, quoted_key(key), n)));
        let message = format!(
            "Some fields have values of an unexpected type and were ignored: {names}. Figures that depend on them are \
             incomplete."
        );
        add("malformed-fields", Severity::Warning, None, count, message);

        let texts = format::counted(mended_texts, "string");
        let message = format!("{texts} contained invalid Unicode, which is shown as \u{fffd}.");
        add("mended-texts", Severity::Info, first_mended, mended_texts, message);
        all
    }
}

/// Lists the most frequent names, and returns the sum of all counts.
fn listed(names: impl Iterator<Item = (Record, String, u64)>) -> (String, u64) {
    const SHOWN: usize = 5;
    let mut names: Vec<_> = names.collect();
    names.short_sort_by(|a, b| b.2.cmp(&a.2).then_with(|| (a.0, &a.1).cmp(&(b.0, &b.1))));
    let count = names.iter().map(|name| name.2).sum();
    let mut words: Vec<String> = names
        .iter()
        .take(SHOWN)
        .map(|(record, name, n)| format!("{name} in {} ({}×)", record.name(), format::count(*n)))
        .collect();
    if names.len() > SHOWN {
        words.push(format!("{} more", names.len() - SHOWN));
    }
    (words.join(", "), count)
}
