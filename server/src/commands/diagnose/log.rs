//! Formats what is particular to logs for the terminal.

use std::fmt::Write as _;

use shared::base::format::{bytes, count, percent};
use shared::report::{LogCell, LogOwner, LogOwners, LogReport, LogTable};

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
    let mut text = format!("\n  {} of {}\n", owners.title, bytes(owners.capacity_bytes));
    let width = owners.parts.iter().map(|owner| owner.name.chars().count()).max().unwrap_or(0);
    for LogOwner { name, bytes: part } in &owners.parts {
        let whole = owners.capacity_bytes.max(1);
        let bar =
            "█".repeat((u128::from(*part) * u128::from(WIDTH) / u128::from(whole)).min(u128::from(WIDTH)) as usize);
        let _ = writeln!(text, "    {name:width$}  {:>9}  {:>6}  {bar}", bytes(*part), percent(*part, whole));
    }
    text
}

/// Formats tables.
pub(super) fn tables(tables: &[LogTable]) -> String {
    tables.iter().map(table).collect()
}

fn table(table: &LogTable) -> String {
    let rows: Vec<Vec<String>> = table.rows.iter().take(MOST_ROWS).map(|row| row.iter().map(cell).collect()).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([table.columns[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..table.columns.len()).map(width).collect();
    let line = |cells: &[String]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut text = format!("\n{}\n{}", table.title, line(&table.columns));
    text.extend(rows.iter().map(|row| line(row)));
    let more = table.left_out + table.rows.len().saturating_sub(MOST_ROWS) as u64;
    if more > 0 {
        let _ = writeln!(text, "  and {} more", count(more));
    }
    text
}

fn cell(cell: &LogCell) -> String {
    const LONGEST: usize = 60;
    let text = cell.text();
    if text.chars().count() > LONGEST { text.chars().take(LONGEST - 1).chain(['…']).collect() } else { text }
}

/// Formats what was odd or left out, a line each.
pub(super) fn notices(report: &LogReport) -> String {
    let mut text = if report.notices.is_empty() { String::new() } else { "\n".to_owned() };
    for notice in &report.notices {
        let _ = writeln!(text, "{}: {}", notice.severity.name(), notice.message);
    }
    text
}
