//! View model of a comparison: options, curves, and the table of differences.

mod choices;
mod curves;
mod table;

pub use choices::{Choice, Choices, default_sides, moment_choices, side_name, side_of_value, side_value, step_choices};
pub use curves::{Curve, curve, place_of, sketch};
pub use table::{Column, DiffBy, Entry, Sort, bar, delta_text, entries, equal_text, shown, total_text};
