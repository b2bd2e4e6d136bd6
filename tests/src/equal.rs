//! Equality of traces by content.

use shared::trace::Trace;

pub use shared::trace::difference;

/// Panics with the first difference unless both traces say the same.
///
/// Format and diagnostics are not compared: they are about the file and not about what it says.
#[track_caller]
pub fn assert_same(a: &Trace, b: &Trace) {
    if let Some(difference) = difference(a, b) {
        panic!("the traces differ: {difference}");
    }
}
