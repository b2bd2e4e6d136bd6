//! Defines the questions about the areas and categories that a picture shows, with their bytes at a moment.

use super::kind::Kind;
use serde::{Deserialize, Serialize};
use shared::analysis::{AreaBy, Category, PhaseBasis};
pub use shared::draw::shade::ColorBy;

/// Asks for the areas of a device, and their bytes at a moment.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GetAreas {
    pub device: u32,
    pub by: AreaBy,
    pub moment: u32,
    pub selected: Option<Kind>,
}

/// Area of a picture at a moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AreaRow {
    pub label: String,
    /// Number from which the colour is chosen.
    pub color: u32,
    pub bytes: u64,
    /// Kind that selects its allocations; the rest has none.
    pub kind: Option<Kind>,
    /// True if that kind is the selected one.
    pub is_selected: bool,
}

/// Returns the property by which the areas of a colouring are formed; `None` for colourings without areas.
pub fn area_by(color: ColorBy) -> Option<AreaBy> {
    match color {
        ColorBy::Stack | ColorBy::Category => None,
        ColorBy::AreaCategory => Some(AreaBy::Category),
        ColorBy::AreaModule => Some(AreaBy::Module),
        ColorBy::AreaFunction => Some(AreaBy::Function),
    }
}

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
