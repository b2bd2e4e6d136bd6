//! Compares the content of traces.

use shared::trace::Trace;

pub use shared::trace::difference;

/// Panics with the first difference unless both traces have the same content.
///
/// Format and diagnostics are not compared, because they describe the file and not its content.
#[track_caller]
pub fn assert_same(a: &Trace, b: &Trace) {
    if let Some(difference) = difference(a, b) {
        panic!("the traces differ: {difference}");
    }
}
