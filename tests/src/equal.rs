//! Compares the content of traces.

#[path = "../../shared/tests/outside/support/equal.rs"]
mod content;

use shared::trace::Trace;

/// Describes the first difference between the contents of two traces.
pub fn difference(a: &Trace, b: &Trace) -> Option<String> {
    content::difference(a, b)
}

/// Panics with the first difference unless both traces have the same content.
///
/// Format and diagnostics are not compared, because they describe the file and not its content.
#[track_caller]
pub fn assert_same(a: &Trace, b: &Trace) {
    if let Some(difference) = difference(a, b) {
        panic!("the traces differ: {difference}");
    }
}
