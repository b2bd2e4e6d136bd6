//! A config that was read, with a note on each foreign key.

use super::super::document::KeyPlaces;
use super::super::raw::RawJob;

/// A config that was read, with a note on each foreign key.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Import {
    /// The config in the keys of this project.
    pub job: RawJob,
    /// Foreign keys that have a meaning here.
    pub understood: Vec<ImportNote>,
    /// Foreign keys that have none.
    pub ignored: Vec<ImportNote>,
    /// Positions of the config's keys; empty for a foreign config, whose keys are not those of the job.
    pub places: KeyPlaces,
}

/// What became of a foreign key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImportNote {
    pub key: String,
    /// What the key became, such as `model.hidden = 768`, or why it was ignored; without a full stop.
    pub note: String,
}

impl Import {
    /// Returns true if the model belongs to a family.
    pub(super) fn is_of(&self, family: &str) -> bool {
        self.job.model.as_ref().is_some_and(|model| model.family.as_deref() == Some(family))
    }

    pub(super) fn reads_images(&self) -> bool {
        self.is_of("resnet")
    }

    pub(super) fn understood(&mut self, key: &str, note: impl Into<String>) {
        self.understood.push(ImportNote { key: key.to_owned(), note: note.into() });
    }

    pub(super) fn ignored(&mut self, key: &str, note: impl Into<String>) {
        self.ignored.push(ImportNote { key: key.to_owned(), note: note.into() });
    }
}
