//! Formats a difference for the terminal: both sides, the difference in words, and a table.

use shared::analysis::{DiffBy, Matched};
use shared::base::Moment;
use shared::base::format::{bytes, count, counted, signed};
use shared::report::{
    ComparedChange, ComparedGroup, ComparedPlace, ComparedSide, ComparedStack, Comparison, TracedComparison, TracedSide,
};

use crate::commands::text;

pub(super) fn page(report: &Comparison, by: DiffBy, top: usize) -> String {
    let lines = match by {
        DiffBy::Stack => report.rows.iter().map(stack_line).collect(),
        DiffBy::Category => group_lines(&report.by_category, |category| category.plural().to_owned()),
        DiffBy::Module => group_lines(&report.by_module, |module| match module.as_str() {
            "" => "no module known".to_owned(),
            module => module.to_owned(),
        }),
    };
    let (shown, mut left) = split(&lines, top);
    if by == DiffBy::Stack {
        left = (report.other_rows, report.other_delta_bytes);
    }
    let total = total(report.delta_bytes, report.delta_count, "allocation");
    with_table([side_line(&report.a), side_line(&report.b)], &total, shown, left)
}

/// Formats the comparison of two snapshots of tracemalloc, by line or by file.
pub(super) fn traced_page(report: &TracedComparison, by_file: bool, top: usize) -> String {
    let places = if by_file { &report.files } else { &report.lines };
    let lines: Vec<Line> = places.iter().map(place_line).collect();
    let (shown, mut left) = split(&lines, top);
    if !by_file {
        left = (report.other_lines, report.other_delta_bytes);
    }
    let side =
        |side: &TracedSide| format!("{} · {} in {}", side.file, bytes(side.bytes), counted(side.blocks, "block"));
    let total = total(report.delta_bytes, report.delta_count, "block");
    with_table([side(&report.a), side(&report.b)], &total, shown, left)
}

/// Splits the lines behind the first `top`; of the others, returns their number and the sum of their bytes.
fn split(lines: &[Line], top: usize) -> (&[Line], (u64, i64)) {
    let (shown, others) = lines.split_at(top.min(lines.len()));
    (shown, (others.len() as u64, others.iter().map(|line| line.change.delta_bytes).sum()))
}

fn with_table([a, b]: [String; 2], total: &str, shown: &[Line], left: (u64, i64)) -> String {
    let mut page = format!("A  {a}\nB  {b}\n\nCompared with A, B has {total}\n");
    if !shown.is_empty() || left.0 > 0 {
        page += "\n";
    }
    table(shown, left).into_iter().fold(page, |page, line| page + &line + "\n")
}

struct Line {
    change: ComparedChange,
    name: String,
    note: &'static str,
}

fn stack_line(stack: &ComparedStack) -> Line {
    Line { change: stack.change, name: name(stack), note: note(stack.matched) }
}

fn place_line(place: &ComparedPlace) -> Line {
    let name = match place.line {
        0 => place.filename.clone(),
        line => format!("{}:{line}", place.filename),
    };
    Line { change: place.change, name, note: "" }
}

/// Returns the lines of the groups that differ.
fn group_lines<N>(groups: &[ComparedGroup<N>], name: impl Fn(&N) -> String) -> Vec<Line> {
    let differ = groups.iter().filter(|group| (group.change.delta_bytes, group.change.delta_count) != (0, 0));
    differ.map(|group| Line { change: group.change, name: name(&group.name), note: "" }).collect()
}

fn side_line(side: &ComparedSide) -> String {
    let moment = Moment::of_event_number(side.event);
    let at = match (side.step, moment.event()) {
        (Some(step), Some(_)) => format!("at the peak of step {step}, {moment}"),
        _ => moment.to_string(),
    };
    format!("{} · GPU {} · {} live {at}", side.file, side.device, bytes(side.live_bytes))
}

/// Puts the difference into words; `noun` is what is counted.
fn total(delta_bytes: i64, delta_count: i64, noun: &str) -> String {
    let counts = match delta_count {
        0 => format!("the same number of {noun}s"),
        more => format!("{} {}", counted(more.unsigned_abs(), noun), if more > 0 { "more" } else { "fewer" }),
    };
    match delta_bytes {
        0 => format!("the same number of bytes and {counts}"),
        more => format!("{} {} and {counts}", bytes(more.unsigned_abs()), if more > 0 { "more" } else { "less" }),
    }
}

/// Returns the rows of the table; `left` has the number of rows that are left out, and the sum of their bytes.
fn table(shown: &[Line], left: (u64, i64)) -> Vec<String> {
    const BAR_WIDTH: usize = 12;
    let largest = shown.first().map_or(0, |line| line.change.delta_bytes.unsigned_abs());
    let row = |line: &Line| {
        let ComparedChange { a_bytes, b_bytes, delta_bytes, delta_count, .. } = line.change;
        let bar = text::bar(delta_bytes.unsigned_abs(), largest, BAR_WIDTH);
        let from_to = format!("{} → {}", bytes(a_bytes), bytes(b_bytes));
        let times = format!("{}×", signed(delta_count, count));
        vec![signed(delta_bytes, bytes), bar, times, from_to, line.name.clone(), line.note.to_owned()]
    };
    let mut rows: Vec<Vec<String>> = shown.iter().map(row).collect();
    if left.0 > 0 {
        let name = format!("in {}", counted(left.0, "smaller row"));
        rows.push(vec![signed(left.1, bytes), String::new(), String::new(), String::new(), name]);
    }
    text::table(&rows, &[0, 2])
}

fn note(matched: Matched) -> &'static str {
    match matched {
        Matched::Same => "",
        Matched::MovedLines => "(lines moved)",
        Matched::Place => "(other calls)",
        Matched::OnlyBefore => "(only in A)",
        Matched::OnlyAfter => "(only in B)",
    }
}

/// Returns the title of a stack with what tells it apart from others.
fn name(stack: &ComparedStack) -> String {
    format!("{} {}", stack.title, stack.label.tail()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::Change;

    fn line(name: &str, before: (u64, u64), after: (u64, u64)) -> Line {
        let change =
            Change { before_bytes: before.0, after_bytes: after.0, before_count: before.1, after_count: after.1 };
        Line { change: change.into(), name: name.to_owned(), note: "" }
    }

    #[test]
    fn totals_are_words() {
        assert_eq!(total(2048, 2, "allocation"), "2.00 KiB more and 2 allocations more");
        assert_eq!(total(-2048, -1, "allocation"), "2.00 KiB less and 1 allocation fewer");
        assert_eq!(total(0, 0, "allocation"), "the same number of bytes and the same number of allocations");
    }

    #[test]
    fn lines_have_signs_and_what_is_left_is_summed() {
        let table = table(&[line("a", (0, 0), (2048, 1))], (2, -1023));
        assert_eq!(table[0], " +2.00 KiB  ████████████  +1×  0 B → 2.00 KiB  a");
        assert!(table[1].contains("−0.999 KiB") && table[1].ends_with("in 2 smaller rows"), "{}", table[1]);
    }
}
