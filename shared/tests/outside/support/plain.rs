//! Reads a pickle of any data, of which nothing is taken while it is read.

use shared::base::{StringId, StringTable};
use shared::pickle::{Build, Error, Finished, Reader};

/// Builder that takes nothing.
#[derive(Debug, Default)]
pub(crate) struct KeepAll(pub(crate) StringTable);

impl Build for KeepAll {
    fn intern(&mut self, text: &str) -> StringId {
        self.0.intern(text)
    }
}

pub(crate) fn read(bytes: &[u8]) -> Result<Finished<KeepAll>, Error> {
    let mut reader = Reader::new(KeepAll::default());
    reader.push(bytes)?;
    reader.finish()
}
