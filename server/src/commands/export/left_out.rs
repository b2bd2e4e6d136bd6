//! What a copy leaves out, for people.

use std::fmt::Write as _;

use shared::base::format::counted;
use shared::export::{Change, SanitizeReport};

/// What was left out, with an example of each kind.
pub(super) fn report(report: &SanitizeReport) -> String {
    let mut text = String::new();
    let mut line = |what: &str, change: &Change, noun: &str| {
        if change.count > 0 {
            let _ = writeln!(text, "{what}: {}", counted(change.count, noun));
            for (before, after) in change.examples.iter().take(2) {
                let _ = writeln!(text, "  {before} → {}", if after.is_empty() { "(nothing)" } else { after });
            }
        }
    };
    line("Paths cut", &report.paths, "path");
    line("Names taken out", &report.texts, "text");
    line("Metadata left out", &report.metadata, "text");
    if !report.names.is_empty() {
        let _ = writeln!(text, "Names looked for: {}", report.names.join(", "));
    }
    if report.annotations > 0 {
        let _ = writeln!(text, "Annotations left out: {}", counted(report.annotations, "mark"));
    }
    if report.dropped_frames() > 0 {
        let _ = writeln!(text, "Frames left out: {}", counted(report.dropped_frames(), "frame"));
    }
    text
}
