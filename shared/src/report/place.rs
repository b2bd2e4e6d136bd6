//! Lines of the user's own code in reports on logs.

use crate::analysis::SourceLine;
use crate::printed::SourcePlace;

/// Returns the line that a traceback names.
pub(super) fn source_line(place: Option<&SourcePlace>) -> Option<SourceLine> {
    let SourcePlace { file, function, line } = place?;
    Some(SourceLine { file: file.clone(), function: function.clone(), line: *line })
}
