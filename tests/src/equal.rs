//! Compares the content of traces.

#[path = "../../shared/tests/outside/support/equal.rs"]
mod content;

use shared::trace::Trace;

/// Describes the first difference between the contents of two traces, of which format and diagnostics are no part.
pub fn difference(a: &Trace, b: &Trace) -> Option<String> {
    content::difference(a, b)
}
