//! What allocations are for, as it travels from the worker to the page.

use super::parts_data::PhasesBasis;
use serde::{Deserialize, Serialize};

/// What the colours of a picture tell apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum ColorBy {
    /// Stacks.
    #[default]
    Stack,
    /// What allocations are for.
    Category,
}

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
    pub basis: PhasesBasis,
}
