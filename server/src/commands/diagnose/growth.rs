//! What stays after steps, by why it does: as a table and as JSON.

use shared::analysis::{ClassTotal, GrowthClass, Kept, Study, UntilFull, until_full};
use shared::api::{GrowthClassRow, GrowthGroupRow, GrowthReport, UntilFullRow};
use shared::base::format;

use crate::commands::open::Opened;
use crate::commands::peak;
use crate::commands::text::table as text_table;

/// The growth of a device as it stands in the JSON.
pub(super) fn report(opened: &Opened, study: &Study<'_>, capacity_bytes: Option<u64>) -> GrowthReport {
    let group = |kept: &Kept| Some((kept.class?, kept.clone()));
    let groups = study.growth.kept.iter().filter_map(group).map(|(class, kept)| GrowthGroupRow {
        class: class.name(),
        bytes_per_step: kept.bytes_per_step,
        end_bytes: kept.end_bytes,
        end_count: kept.end_count,
        first_rise: kept.first_rise,
        last_rise: kept.last_rise,
        size_bytes: kept.size_bytes,
        stack: peak::frame_rows(&opened.trace, kept.stack),
    });
    GrowthReport {
        file: opened.file.clone(),
        device: study.device.index,
        steps: study.growth.steps as u64,
        bytes_per_step: study.growth.bytes_per_step(),
        until_full: until_full(study, capacity_bytes).as_ref().map(until_full_row),
        classes: study.growth.by_class().iter().map(class_row).collect(),
        groups: groups.collect(),
    }
}

fn until_full_row(full: &UntilFull) -> UntilFullRow {
    let UntilFull { budget, steps, events, time_us, .. } = *full;
    UntilFullRow { budget_bytes: budget.bytes, source: budget.source.name(), steps, events, time_us }
}

fn class_row(total: &ClassTotal) -> GrowthClassRow {
    let ClassTotal { class, bytes_per_step, end_bytes, end_count, groups, first_rise, last_rise } = *total;
    GrowthClassRow { class: class.name(), bytes_per_step, end_bytes, end_count, groups, first_rise, last_rise }
}

/// The same for people: a row for each class, nothing where nothing stays.
pub(super) fn table(study: &Study<'_>) -> String {
    let classes = study.growth.by_class();
    if classes.is_empty() {
        return String::new();
    }
    let rows = classes.iter().map(row).collect::<Vec<_>>();
    let head = ["", "at the end", "a step", "rises in step", "stacks"].map(str::to_owned).to_vec();
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(rows).collect();
    let steps = format::counted(study.growth.steps as u64, "step");
    let lines = text_table(&rows, &[1, 2, 3, 4]).into_iter().map(|line| format!("  {line}\n"));
    format!("\nWhat stays on GPU {} after {steps}\n{}", study.device.index, lines.collect::<String>())
}

fn row(total: &ClassTotal) -> Vec<String> {
    let name = match total.class {
        GrowthClass::Leak => "grows with each step",
        GrowthClass::OptimizerState => "optimizer state",
        GrowthClass::WarmUp => "first steps only",
        GrowthClass::Cache => "cache, or up and down",
        GrowthClass::OneOff => "came once",
    };
    let (first, last) = (total.first_rise + 1, total.last_rise + 1);
    vec![
        name.to_owned(),
        format::bytes(total.end_bytes),
        if total.bytes_per_step > 0 { format::bytes(total.bytes_per_step) } else { "0 B".to_owned() },
        if first == last { first.to_string() } else { format!("{first} to {last}") },
        format::count(total.groups),
    ]
}
