//! Defines the question for the live bytes by category, and its answer.

use serde::{Deserialize, Serialize};
use shared::analysis::{Category, PhaseBasis};

pub use shared::draw::shade::ColorBy;

/// Asks for the live bytes of a moment by category.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetCategories {
    pub device: u32,
    pub moment: u32,
}

/// Live bytes of a moment by category.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CategoryBytes {
    pub moment: u32,
    /// Bytes from before the trace, of any category, because they are drawn as a single band.
    pub initial_bytes: u64,
    /// Other bytes by category.
    ///
    /// All categories that occur in the trace are listed, even those without bytes at this moment.
    pub rows: Vec<(Category, u64)>,
    /// Evidence for the phases from which categories were inferred.
    pub basis: PhaseBasis,
}
