//! Building blocks without knowledge of pickles or traces.

mod column;
mod diagnostic;
pub mod format;
mod interner;

pub use column::Column;
pub use diagnostic::{Diagnostic, Severity};
pub use interner::{StringId, StringTable};
