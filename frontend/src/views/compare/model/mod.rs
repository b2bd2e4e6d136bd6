//! Texts and numbers of a comparison: options, curves, and the table of differences.

mod choices;
mod curves;

pub use crate::ask::differences::{Column, Entry, Sort, bar, delta_text, entries, equal_text, shown, total_text};
pub use choices::{Choice, Choices, default_sides, moment_choices, side_name, step_choices};
pub use curves::{sides, strip};
