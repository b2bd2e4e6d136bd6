//! Formats a difference for the terminal or as Markdown: both sides, the difference in words, and a table.

use std::path::Path;

use logs::tracemalloc::{Flaw, TracemallocSnapshot};
use logs::{ComparedPlace, TracedComparison, TracedSide, traced_comparison};
use shared::analysis::{DiffBy, Matched};
use shared::base::Moment;
use shared::base::format::{bytes, count, counted, signed};
use shared::export::markdown_text;
use shared::report::{ComparedChange, ComparedGroup, ComparedSide, ComparedStack, Comparison};

use super::{DiffArgs, Part};
use crate::Failure;
use crate::commands::output::document;
use crate::commands::text;

/// A difference that is ready to be written.
pub(in crate::commands) struct Table {
    sides: [String; 2],
    /// The difference in words.
    total: String,
    lines: Vec<Line>,
    /// Number of rows that the lines leave out, and the sum of their bytes.
    left: (u64, i64),
}

impl Table {
    /// Describes the comparison of two snapshots, with at most `top` rows.
    pub(in crate::commands) fn of(report: &Comparison, by: DiffBy, top: usize) -> Self {
        let mut lines = match by {
            DiffBy::Stack => report.rows.iter().map(stack_line).collect(),
            DiffBy::Category => group_lines(&report.by_category, |category| category.plural().to_owned()),
            DiffBy::Module => group_lines(&report.by_module, |module| match module.as_str() {
                "" => "no module known".to_owned(),
                module => module.to_owned(),
            }),
        };
        let mut left = cut(&mut lines, top);
        if by == DiffBy::Stack {
            left = (report.other_rows, report.other_delta_bytes);
        }
        let total = total(report.delta_bytes, report.delta_count, "allocation");
        Self { sides: [side_line(&report.a), side_line(&report.b)], total, lines, left }
    }

    /// Describes the comparison of two snapshots of tracemalloc, by line or by file.
    pub(super) fn traced(report: &TracedComparison, by_file: bool, top: usize) -> Self {
        let places = if by_file { &report.files } else { &report.lines };
        let line = |place: &ComparedPlace| {
            let name = match place.line {
                0 => place.filename.clone(),
                line => format!("{}:{line}", place.filename),
            };
            Line { change: place.change, name, note: "" }
        };
        let mut lines: Vec<Line> = places.iter().map(line).collect();
        let mut left = cut(&mut lines, top);
        if !by_file {
            left = (report.other_lines, report.other_delta_bytes);
        }
        let side =
            |side: &TracedSide| format!("{} · {} in {}", side.file, bytes(side.bytes), counted(side.blocks, "block"));
        let total = total(report.delta_bytes, report.delta_count, "block");
        Self { sides: [side(&report.a), side(&report.b)], total, lines, left }
    }

    /// Formats the difference for the terminal.
    pub(in crate::commands) fn text(&self) -> String {
        let [a, b] = &self.sides;
        let mut page = format!("A  {a}\nB  {b}\n\nCompared with A, B has {}\n", self.total);
        if !self.lines.is_empty() || self.left.0 > 0 {
            page += "\n";
        }
        table(&self.lines, self.left).into_iter().fold(page, |page, line| page + &line + "\n")
    }

    /// Formats the difference as Markdown, for tickets and reviews.
    pub(in crate::commands) fn markdown(&self) -> String {
        let [a, b] = self.sides.each_ref().map(|side| markdown_text(side));
        let mut page = format!("A: {a}\\\nB: {b}\n\nCompared with A, B has {}\n", self.total);
        let rows = rows(&self.lines, self.left);
        if !rows.is_empty() {
            page += "\n| difference | allocations | A → B | where |\n| --: | --: | --: | --- |\n";
        }
        for [delta, _, times, from_to, name, note] in rows {
            let place = markdown_text(format!("{name} {note}").trim_end());
            page += &format!("| {delta} | {times} | {from_to} | {place} |\n");
        }
        page
    }
}

/// Removes the lines behind the first `top`; returns their number and the sum of their bytes.
fn cut(lines: &mut Vec<Line>, top: usize) -> (u64, i64) {
    let others = lines.split_off(top.min(lines.len()));
    (others.len() as u64, others.iter().map(|line| line.change.delta_bytes).sum())
}

struct Line {
    change: ComparedChange,
    name: String,
    note: &'static str,
}

/// Describes a stack by its title, with what tells it apart from others.
fn stack_line(stack: &ComparedStack) -> Line {
    let name = format!("{} {}", stack.title, stack.label.tail()).trim_end().to_owned();
    let note = match stack.matched {
        Matched::Same => "",
        Matched::MovedLines => "(lines moved)",
        Matched::Place => "(other calls)",
        Matched::OnlyBefore => "(only in A)",
        Matched::OnlyAfter => "(only in B)",
    };
    Line { change: stack.change, name, note }
}

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

/// Aligns the rows of the table; `left` has the number of rows that are left out, and the sum of their bytes.
fn table(shown: &[Line], left: (u64, i64)) -> Vec<String> {
    let rows: Vec<Vec<String>> = rows(shown, left).into_iter().map(Vec::from).collect();
    text::table(&rows, &[0, 2])
}

/// Returns the cells of the table: difference, bar, allocations, sizes, place and note.
fn rows(shown: &[Line], left: (u64, i64)) -> Vec<[String; 6]> {
    const BAR_WIDTH: usize = 12;
    let largest = shown.first().map_or(0, |line| line.change.delta_bytes.unsigned_abs());
    let row = |line: &Line| {
        let ComparedChange { a_bytes, b_bytes, delta_bytes, delta_count, .. } = line.change;
        let bar = text::bar(delta_bytes.unsigned_abs(), largest, BAR_WIDTH);
        let from_to = format!("{} → {}", bytes(a_bytes), bytes(b_bytes));
        let times = format!("{}×", signed(delta_count, count));
        [signed(delta_bytes, bytes), bar, times, from_to, line.name.clone(), line.note.to_owned()]
    };
    let mut rows: Vec<[String; 6]> = shown.iter().map(row).collect();
    if left.0 > 0 {
        let name = format!("in {}", counted(left.0, "smaller row"));
        let nothing = String::new;
        rows.push([signed(left.1, bytes), nothing(), nothing(), nothing(), name, nothing()]);
    }
    rows
}

impl DiffArgs {
    /// Compares the files by line; at least one of them is a snapshot of tracemalloc.
    pub(super) fn traced(&self, a: Part, b: Part) -> Result<String, Failure> {
        let (a, b) = (side(&self.a, a)?, side(&self.b, b)?);
        self.only_traced_options()?;
        let (of_a, of_b) = (self.a.display().to_string(), self.b.display().to_string());
        let report = traced_comparison((&of_a, &a), (&of_b, &b), self.top);
        if self.json {
            return Ok(document(&report));
        }
        Ok(self.written(&Table::traced(&report, self.by == DiffBy::Module, self.top)))
    }

    /// Refuses options that mean nothing for tracemalloc.
    fn only_traced_options(&self) -> Result<(), Failure> {
        let has_moment = (self.at_a, self.at_b) != (None, None) || (self.step_a, self.step_b) != (None, None);
        if self.device.is_some() || has_moment {
            let message = "snapshots of tracemalloc have no GPUs, events and steps";
            return Err(Failure::new(message, "leave out --device, --at-a, --at-b, --step-a and --step-b"));
        }
        if self.by == DiffBy::Category {
            let message = "snapshots of tracemalloc have no categories";
            return Err(Failure::new(message, "pass --by module to compare files"));
        }
        Ok(())
    }
}

/// Returns a side that can be compared.
fn side(path: &Path, part: Part) -> Result<Box<TracemallocSnapshot>, Failure> {
    let file = path.display();
    let Part::Traced(snapshot) = part else {
        let message = format!("{file}: the other file is a snapshot of tracemalloc, and this one is not");
        return Err(Failure::new(message, "compare two snapshots of the same kind"));
    };
    let rest = "run snapscope diagnose to see what there is of it";
    let (message, hint) = match &snapshot.flaw {
        None => return Ok(snapshot),
        Some(Flaw::Cut) => ("the file ends within the snapshot, so that its figures are lower bounds".to_owned(), rest),
        Some(Flaw::Damaged(offset)) => (format!("the file is damaged from byte {offset} on"), rest),
        Some(Flaw::Foreign(reason)) => {
            let message = format!("the file is no snapshot of tracemalloc: {reason}");
            (message, "pass files that Snapshot.dump has written")
        }
    };
    Err(Failure::new(format!("{file}: {message}"), hint))
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
