//! What allocations are for, as it travels from the worker to the page.

use serde::{Deserialize, Serialize};
use shared::analysis::PhaseBasis;

pub use shared::draw::shade::ColorBy;

/// The live bytes of a moment by what they are for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CategoryBytes {
    /// The moment.
    pub moment: u32,
    /// What is from before the trace: it is drawn as one, whatever it is for.
    pub initial_bytes: u64,
    /// The others by category, a place in `shared::analysis::Category::ALL`: in this order all that the trace has, also
    /// those without bytes at this moment.
    pub rows: Vec<(u8, u64)>,
    /// What the phases behind the categories were told by.
    pub basis: PhaseBasis,
}
