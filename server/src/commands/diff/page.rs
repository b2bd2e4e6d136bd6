//! Formats a difference for the terminal: both sides, the difference in words, and a table.

use shared::analysis::{Change, Diff, DiffRow, Matched, Profile, place};
use shared::api::DiffSide;
use shared::base::format::{bytes, count, counted};

use super::{Chosen, GroupBy, title, told};
use crate::commands::text;
use shared::base::Moment;

pub(super) fn page((a, b): (&Chosen, &Chosen), found: &Diff, by: GroupBy, top: usize) -> String {
    let named = |name: &str, fallback: &str| if name.is_empty() { fallback.to_owned() } else { name.to_owned() };
    let mut lines: Vec<Line> = match by {
        GroupBy::Stack => {
            let stack = |row: &DiffRow| {
                let name = name(&a.profile, &b.profile, row);
                Line { change: row.change, name, note: note(row) }
            };
            found.rows.iter().map(stack).collect()
        }
        GroupBy::Category => found.by_category.iter().map(|(of, change)| line(of.plural(), change)).collect(),
        GroupBy::Module => {
            found.by_module.iter().map(|(of, change)| line(&named(of, "no module known"), change)).collect()
        }
    };
    lines.retain(|line| !line.change.is_none());
    let mut page = format!("A  {}\nB  {}\n", side_line(&a.side), side_line(&b.side));
    page += &format!("\nCompared with A, B has {}\n", total(&found.total));
    if !lines.is_empty() {
        page += "\n";
    }
    table(&lines, top).into_iter().fold(page, |page, line| page + &line + "\n")
}

struct Line {
    change: Change,
    name: String,
    note: &'static str,
}

fn line(name: &str, change: &Change) -> Line {
    Line { change: *change, name: name.to_owned(), note: "" }
}

fn side_line(side: &DiffSide) -> String {
    let moment = Moment::of_event_number(side.event);
    let at = match (side.step, moment.event()) {
        (Some(step), Some(_)) => format!("at the peak of step {step}, {moment}"),
        _ => moment.to_string(),
    };
    format!("{} · GPU {} · {} live {at}", side.file, side.device, bytes(side.live_bytes))
}

fn total(change: &Change) -> String {
    let allocations = match change.count() {
        0 => "the same number of allocations".to_owned(),
        more => format!("{} {}", counted(more.unsigned_abs(), "allocation"), if more > 0 { "more" } else { "fewer" }),
    };
    match change.bytes() {
        0 => format!("the same number of bytes and {allocations}"),
        more => format!("{} {} and {allocations}", bytes(more.unsigned_abs()), if more > 0 { "more" } else { "less" }),
    }
}

fn table(lines: &[Line], top: usize) -> Vec<String> {
    const BAR_WIDTH: usize = 12;
    let (shown, others) = lines.split_at(top.min(lines.len()));
    let largest = shown.first().map_or(0, |line| line.change.bytes().unsigned_abs());
    let row = |line: &Line| {
        let Change { before_bytes, after_bytes, .. } = line.change;
        let bar = text::bar(line.change.bytes().unsigned_abs(), largest, BAR_WIDTH);
        let from_to = format!("{} → {}", bytes(before_bytes), bytes(after_bytes));
        let times = format!("{}×", signed(line.change.count(), count));
        vec![signed(line.change.bytes(), bytes), bar, times, from_to, line.name.clone(), line.note.to_owned()]
    };
    let mut rows: Vec<Vec<String>> = shown.iter().map(row).collect();
    if !others.is_empty() {
        let left: i64 = others.iter().map(|line| line.change.bytes()).sum();
        let name = format!("in {}", counted(others.len() as u64, "smaller row"));
        rows.push(vec![signed(left, bytes), String::new(), String::new(), String::new(), name]);
    }
    text::table(&rows, &[0, 2])
}

fn signed(value: i64, text: fn(u64) -> String) -> String {
    let sign = match value.signum() {
        1 => "+",
        -1 => "−",
        _ => "±",
    };
    format!("{sign}{}", text(value.unsigned_abs()))
}

fn note(row: &DiffRow) -> &'static str {
    match row.matched {
        Matched::Same => "",
        Matched::MovedLines => "(lines moved)",
        Matched::Place => "(other calls)",
        Matched::OnlyBefore => "(only in A)",
        Matched::OnlyAfter => "(only in B)",
    }
}

/// Returns the title of a row and its innermost Python frame if that differs, because many stacks share a title.
fn name(a: &Profile, b: &Profile, row: &DiffRow) -> String {
    let title = title(a, b, row);
    let mut frames = told(a, b, row).into_iter().flat_map(|(profile, position)| profile.frames_of(position));
    let called = frames.find(|frame| frame.filename.ends_with(".py"));
    let called = called.map(|frame| place(&frame.name, &frame.filename, frame.line)).filter(|called| *called != title);
    called.map_or_else(|| title.clone(), |called| format!("{title} > {called}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(before_bytes: u64, after_bytes: u64, before_count: u64, after_count: u64) -> Change {
        Change { before_bytes, after_bytes, before_count, after_count }
    }

    #[test]
    fn totals_are_words() {
        assert_eq!(total(&change(1024, 3072, 1, 3)), "2.00 KiB more and 2 allocations more");
        assert_eq!(total(&change(3072, 1024, 3, 2)), "2.00 KiB less and 1 allocation fewer");
        assert_eq!(total(&change(5, 5, 1, 1)), "the same number of bytes and the same number of allocations");
    }

    #[test]
    fn lines_have_signs_and_what_is_left_is_summed() {
        let lines =
            [line("a", &change(0, 2048, 0, 1)), line("b", &change(1024, 0, 2, 0)), line("c", &change(0, 1, 0, 1))];
        let table = table(&lines, 1);
        assert_eq!(table[0], "+2.00 KiB  ████████████  +1×  0 B → 2.00 KiB  a");
        assert!(table[1].contains("−1023 B") && table[1].ends_with("in 2 smaller rows"), "{}", table[1]);
    }
}
