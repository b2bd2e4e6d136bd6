//! Formats bars, sparklines and aligned columns for a terminal.

use std::borrow::Cow;
use std::io::IsTerminal as _;
use std::sync::LazyLock;

use shared::analysis::Timeline;
use shared::base::markup::deceives;

use crate::config::Terminal;

/// Escapes characters that act on a terminal, because names in a snapshot may contain any characters.
///
/// Control characters, except newline and tab, and characters that [deceive](deceives) become `\u001b` and the like,
/// which JSON reads as the same characters.
pub fn printable(text: &str) -> Cow<'_, str> {
    let acts = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || deceives(c);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match acts(c) {
            true => shown.extend(c.encode_utf16(&mut [0; 2]).iter().map(|unit| format!("\\u{unit:04x}"))),
            false => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// Draws a horizontal bar of at most `width` characters, exact to an eighth of a character.
pub(super) fn bar(part: u64, whole: u64, width: usize) -> String {
    const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
    let share = if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
    let eighths = (share * width as f64 * 8.0).round() as usize;
    // Any amount above zero is visible.
    let eighths = eighths.clamp(usize::from(part > 0), width * 8);
    format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8])
}

/// Draws the live bytes of a whole trace as one line; each character shows the maximum of its part of the events.
pub(super) fn sparkline(timeline: &Timeline, width: u32) -> String {
    curve(timeline, width, 1).concat()
}

/// Draws the live bytes of a whole trace as lines of at most `width` characters, from the top; each column shows the
/// maximum of its part of the events.
pub(super) fn curve(timeline: &Timeline, width: u32, height: usize) -> Vec<String> {
    const LEVELS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let (_, peak) = timeline.live_peak();
    let moments = u64::from(timeline.events()) + 1;
    let columns = u64::from(width).min(moments);
    let bound = |column: u64| (column * moments / columns) as u32;
    let eighths = |column| {
        let (_, bytes) = timeline.live_max_in(bound(column)..bound(column + 1));
        (bytes as f64 / peak.max(1) as f64 * 8.0 * height as f64).ceil() as usize
    };
    let heights: Vec<usize> = (0..columns).map(eighths).collect();
    let line = |row: usize| heights.iter().map(|eighths| LEVELS[eighths.saturating_sub(8 * row).min(8)]).collect();
    (0..height).rev().map(line).collect()
}

/// Shortens a line to at most `width` characters.
pub(super) fn cut(line: &str, width: usize) -> Cow<'_, str> {
    if line.chars().count() <= width {
        return Cow::Borrowed(line);
    }
    Cow::Owned(line.chars().take(width.saturating_sub(1)).chain(['…']).collect())
}

/// Maximum width of a column: a longer cell moves the rest of its row, so that one name does not lengthen all rows.
const WIDEST: usize = 200;

/// Aligns the cells of rows in columns; the columns in `right` are aligned to the right.
///
/// The last cell of a row is not padded unless its column is in `right`.
/// Rust's own padding panics above 65,535 characters, and a name may have more.
pub(super) fn table(rows: &[Vec<String>], right: &[usize]) -> Vec<String> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width =
        |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell: &String| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0).min(WIDEST)).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let gap = " ".repeat(widths[column].saturating_sub(cell.chars().count()));
            if right.contains(&column) { gap + cell } else { cell.to_owned() + &gap }
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}

/// Aligns rows as [`table`] does, each an indented line of a page.
pub(super) fn section(rows: &[Vec<String>], right: &[usize]) -> String {
    indented(&table(rows, right))
}

pub(super) fn indented(lines: &[String]) -> String {
    lines.iter().map(|line| format!("  {line}\n")).collect()
}

/// Breaks a paragraph into lines that fit the terminal, or 96 characters if that is wider or the output is a file.
pub(super) fn lines(text: &str) -> Vec<String> {
    const WIDEST: usize = 96;
    const NARROWEST: usize = 40;
    // Paragraphs are indented by up to four characters.
    static WIDTH: LazyLock<usize> = LazyLock::new(|| match std::io::stdout().is_terminal() {
        true => Terminal::from_environment().columns.saturating_sub(4).clamp(NARROWEST, WIDEST),
        false => WIDEST,
    });
    wrapped(text, *WIDTH)
}

/// Breaks a paragraph into lines of at most `width` characters, between words.
pub(super) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::trace::text;

    #[test]
    fn bars_have_eighths() {
        let bars = [(1, 2), (3, 16), (1, 1_000_000), (0, 0), (9, 9)].map(|(part, whole)| bar(part, whole, 4));
        assert_eq!(bars, ["██", "▊", "▏", "", "████"]);
    }

    #[test]
    fn a_sparkline_keeps_the_peak_and_a_curve_has_lines() {
        let trace = text::parse("alloc a 8\nalloc b 8\nfree b\nfree a").unwrap();
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        assert_eq!(sparkline(&timeline, 100), " ▄██▄▄ ");
        assert_eq!(sparkline(&timeline, 2), "██");
        assert_eq!(curve(&timeline, 100, 2), ["  ██   ", " █████ "].map(|line| line.to_owned()));
    }

    #[test]
    fn columns_line_up_and_long_lines_are_cut() {
        assert_eq!([cut("größe", 5), cut("größe", 4), cut("x", 0)], ["größe", "grö…", "…"]);
        let rows = [vec!["a".to_owned(), "1".to_owned(), "x".to_owned()], vec!["bb".to_owned(), "22".to_owned()]];
        assert_eq!(table(&rows, &[1]), ["a    1  x", "bb  22"]);
        // A long name widens no other row.
        let rows = [vec!["a".repeat(70_000), "1".to_owned()], vec!["b".to_owned(), "2".to_owned()]];
        for right in [&[][..], &[0, 1]] {
            let lines = table(&rows, right);
            assert_eq!(lines[0], format!("{}  1", "a".repeat(70_000)));
            assert_eq!((lines[1].trim_start().chars().next(), lines[1].len()), (Some('b'), WIDEST + 3));
        }
    }

    #[test]
    fn what_commands_a_terminal_is_shown() {
        assert_eq!(
            printable("a\u{1b}]0;owned\u{7}\r\n\tb\u{9b}2J\u{202e}\u{200b}\u{e0041}"),
            "a\\u001b]0;owned\\u0007\\u000d\n\tb\\u009b2J\\u202e\\u200b\\udb40\\udc41"
        );
        assert!(matches!(printable("größe · ▁▂ é"), Cow::Borrowed(_)));
    }

    #[test]
    fn paragraphs_are_broken_between_words() {
        let text = "word ".repeat(40);
        let broken = lines(&text);
        assert_eq!(broken.len(), 3);
        assert!(broken.iter().all(|line| line.len() <= 96 && !line.ends_with(' ')));
        assert_eq!(broken.join(" "), text.trim());
        assert_eq!(lines(""), [""; 0]);
    }
}
