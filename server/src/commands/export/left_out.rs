//! Describes for people what a sanitized copy leaves out and which texts it still has.

use std::fmt::Write as _;

use shared::base::format::counted;
use shared::export::{Change, SanitizeReport};

/// Lists what was left out, with up to two examples of each kind.
pub(in crate::commands) fn report(report: &SanitizeReport) -> String {
    let mut text = String::new();
    let mut line = |what: &str, change: &Change, noun: &str| {
        if change.count > 0 {
            let _ = writeln!(text, "{what}: {}", counted(change.count, noun));
            for (before, after) in change.examples.iter().take(2) {
                let _ = writeln!(text, "  {before} → {}", if after.is_empty() { "(nothing)" } else { after });
            }
        }
    };
    line("Paths shortened", &report.paths, "path");
    line("Names removed", &report.texts, "text");
    line("Metadata removed", &report.metadata, "text");
    if !report.names.is_empty() {
        let _ = writeln!(text, "Names searched for: {}", report.names.join(", "));
    }
    if report.annotations > 0 {
        let _ = writeln!(text, "Annotations removed: {}", counted(report.annotations, "mark"));
    }
    if report.dropped_frames() > 0 {
        let _ = writeln!(text, "Frames removed: {}", counted(report.dropped_frames(), "frame"));
    }
    let counts = report.remaining_counts();
    let kinds: Vec<String> = counts.iter().map(|(kind, count)| counted(*count, kind.name())).collect();
    let texts = counted(report.remaining.len() as u64, "text");
    let _ = writeln!(text, "The copy still has {texts}: {}", kinds.join(", "));
    text
}

/// Lists every text that others will read, one per line: its kind, a tab, the text.
pub(super) fn list(report: &SanitizeReport) -> String {
    let mut lines = String::new();
    for remaining in &report.remaining {
        // Control characters could act on the terminal that shows the text.
        let text = remaining.text.replace(char::is_control, "\u{fffd}");
        let _ = writeln!(lines, "{}\t{text}", remaining.kind.name());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::export::{Remaining, TextKind};

    #[test]
    fn what_remains_is_counted_and_listed() {
        let remaining = |kind, text: &str| Remaining { kind, text: text.to_owned() };
        let remaining = vec![
            remaining(TextKind::Annotation, "step\u{1b}[2J"),
            remaining(TextKind::ProjectFile, "a.py"),
            remaining(TextKind::ProjectFile, "b.py"),
        ];
        let left = SanitizeReport { remaining, ..SanitizeReport::default() };
        assert_eq!(report(&left), "The copy still has 3 texts: 1 annotation, 2 project files\n");
        assert_eq!(list(&left), "annotation\tstep\u{fffd}[2J\nproject file\ta.py\nproject file\tb.py\n");
    }
}
