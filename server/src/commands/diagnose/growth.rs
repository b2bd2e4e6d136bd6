//! Formats what stays after steps as a table, with a row for each reason.

use shared::analysis::ClassTotal;
use shared::base::format;
use shared::report::Growth;

use crate::commands::text::table as text_table;

/// Returns the table with a row for each class; empty if nothing stays.
pub(super) fn table(growth: &Growth, device: &str) -> String {
    if growth.classes.is_empty() {
        return String::new();
    }
    let rows = growth.classes.iter().map(row).collect::<Vec<_>>();
    let head = ["", "at the end", "a step", "rises in step", "stacks"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let steps = format::counted(growth.steps, "step");
    let lines = text_table(&rows, &[1, 2, 3, 4]).into_iter().map(|line| format!("  {line}\n"));
    format!("\nMemory that stays allocated on {device} after {steps}\n{}", lines.collect::<String>())
}

fn row(total: &ClassTotal) -> Vec<String> {
    let (first, last) = (total.first_rise + 1, total.last_rise + 1);
    vec![
        total.class.words().to_owned(),
        format::bytes(total.end_bytes),
        if total.bytes_per_step > 0 { format::bytes(total.bytes_per_step) } else { "0 B".to_owned() },
        if first == last { first.to_string() } else { format!("{first} to {last}") },
        format::count(total.groups),
    ]
}
