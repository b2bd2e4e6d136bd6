//! Formats what is particular to logs, and growth by reason, for the terminal.

use std::fmt::Write as _;
use std::iter;

use shared::analysis::ClassTotal;
use shared::base::format::{bytes, count, counted, percent};
use shared::report::{Growth, LogCell, LogOwner, LogOwners, LogReport, LogTable};

use crate::commands::text;

/// Largest number of rows of a table that a terminal shows.
const MOST_ROWS: usize = 10;

/// Formats what the log is and how much it has, and the memory of a GPU by owner.
pub(in crate::commands) fn summary(report: &LogReport) -> String {
    let facts: String = report.facts.iter().map(|fact| format!("; {fact}")).collect();
    format!("  {}{facts}\n", report.title) + &report.owners.iter().map(owners).collect::<String>()
}

/// Formats the owners of a GPU's memory, a line each, with a bar.
pub(super) fn owners(owners: &LogOwners) -> String {
    const WIDTH: u64 = 30;
    let mut text = format!("\n  {}, {}\n", owners.title, bytes(owners.capacity_bytes));
    let rows = owners.parts.iter().map(|LogOwner { name, bytes: part }| {
        let whole = owners.capacity_bytes.max(1);
        let bar =
            "█".repeat((u128::from(*part) * u128::from(WIDTH) / u128::from(whole)).min(u128::from(WIDTH)) as usize);
        vec![name.clone(), format!("{:>9}", bytes(*part)), format!("{:>6}", percent(*part, whole)), bar]
    });
    text::table(&rows.collect::<Vec<_>>(), &[]).iter().for_each(|line| text += &format!("    {line}\n"));
    text
}

pub(super) fn table(table: &LogTable) -> String {
    let shown = table.rows.iter().take(MOST_ROWS).map(|row| row.iter().map(cell).collect());
    let rows: Vec<Vec<String>> = iter::once(table.columns.clone()).chain(shown).collect();
    let mut text = format!("\n{}\n", table.title);
    text += &text::section(&rows, &[]);
    let more = table.left_out + table.rows.len().saturating_sub(MOST_ROWS) as u64;
    if more > 0 {
        let _ = writeln!(text, "  and {} more", count(more));
    }
    text
}

fn cell(cell: &LogCell) -> String {
    const LONGEST: usize = 60;
    text::cut(&cell.text(), LONGEST).into_owned()
}

/// Formats what was odd or left out, a line each.
pub(super) fn notices(report: &LogReport) -> String {
    let mut text = if report.notices.is_empty() { String::new() } else { "\n".to_owned() };
    for notice in &report.notices {
        let _ = writeln!(text, "{}: {}", notice.severity.name(), notice.message);
    }
    text
}

/// Returns the table with a row for each class; empty if nothing stays.
pub(super) fn growth(growth: &Growth, device: &str) -> String {
    if growth.classes.is_empty() {
        return String::new();
    }
    let head = ["", "at the end", "a step", "rises in step", "stacks"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = iter::once(head).chain(growth.classes.iter().map(row)).collect();
    let steps = counted(growth.steps, "step");
    let table = text::section(&rows, &[1, 2, 3, 4]);
    format!("\nMemory that stays allocated on {device} after {steps}\n{table}")
}

fn row(total: &ClassTotal) -> Vec<String> {
    let (first, last) = (total.first_rise + 1, total.last_rise + 1);
    vec![
        total.class.words().to_owned(),
        bytes(total.end_bytes),
        if total.bytes_per_step > 0 { bytes(total.bytes_per_step) } else { "0 B".to_owned() },
        if first == last { first.to_string() } else { format!("{first} to {last}") },
        count(total.groups),
    ]
}
