//! Writes the comparison of a real and a virtual GPU as a Markdown table.

use shared::base::format::{bytes, count};

use super::sequences::{Agreement, MOST_EDITS, Step};

/// Results of one config on both GPUs.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    pub name: String,
    /// Comparison, or the reason why there is none.
    pub outcome: Result<Comparison, String>,
}

/// Figures of both runs, the real one first.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// Peak of the rounded bytes of allocated blocks.
    pub allocated_bytes: (u64, u64),
    /// Peak of the bytes of segments.
    pub reserved_bytes: (u64, u64),
    pub agreement: Agreement,
}

/// Writes the table in Markdown, with a headline that names both GPUs.
pub fn markdown(real: &str, virtual_card: &str, rows: &[Row]) -> String {
    let mut page = format!("# {real} and the virtual GPU {virtual_card}\n\n");
    page += "| config | peak allocated, real | virtual | peak reserved, real | virtual | events, real | virtual \
             | equal events | first difference |\n";
    page += "|---|---|---|---|---|---|---|---|---|\n";
    for row in rows {
        let cells = match &row.outcome {
            Ok(comparison) => cells(comparison),
            // A cell is one line, and an unescaped bar would end it.
            Err(why) => format!("{} | | | | | | |", why.replace('\n', " ").replace('|', "\\|")),
        };
        page += &format!("| {} | {cells} |\n", row.name);
    }
    page
}

fn cells(Comparison { allocated_bytes, reserved_bytes, agreement }: &Comparison) -> String {
    let beside = |(real, other): (u64, u64)| format!("{} | {} ({})", bytes(real), bytes(other), change(real, other));
    let events = |n: usize| count(n as u64);
    let (real, other) = (events(agreement.events.0), events(agreement.events.1));
    let (allocated, reserved) = (beside(*allocated_bytes), beside(*reserved_bytes));
    let (share, first) = (share(agreement), first_difference(agreement));
    format!("{allocated} | {reserved} | {real} | {other} | {share} | {first}")
}

/// Formats the relative change from the first to the second, such as `+1.25 %`.
fn change(real: u64, other: u64) -> String {
    match (real, other) {
        (real, other) if real == other => "equal".to_owned(),
        (0, _) => "–".to_owned(),
        _ => format!("{:+.2} %", (other as f64 / real as f64 - 1.0) * 100.0),
    }
}

fn share(agreement: &Agreement) -> String {
    match agreement.share() {
        // Rounding up to 100 % would hide a difference.
        Some(share) if agreement.first_difference.is_some() => format!("{:.2} %", (share * 1e4).floor() / 1e2),
        Some(_) => "all".to_owned(),
        None => format!("more than {} edits apart", count(MOST_EDITS as u64)),
    }
}

fn first_difference(agreement: &Agreement) -> String {
    let written = |step: Option<Step>| {
        step.map_or_else(|| "the end".to_owned(), |(action, size)| format!("{} {}", action.name(), count(size)))
    };
    match agreement.first_difference {
        None => "none".to_owned(),
        Some((index, real, other)) => format!("{}: {}, not {}", count(index as u64), written(other), written(real)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::trace::Action;

    #[test]
    fn a_table_says_what_differs() {
        let steps = [(Action::Alloc, 512), (Action::Alloc, 1024)];
        let compared =
            |agreement| Ok(Comparison { allocated_bytes: (1 << 30, 1 << 30), reserved_bytes: (1000, 1010), agreement });
        let rows = [
            Row { name: "same".into(), outcome: compared(Agreement::of(&steps, &steps)) },
            Row { name: "other".into(), outcome: compared(Agreement::of(&steps, &steps[..1])) },
            Row { name: "none".into(), outcome: Err("no | such\nlibrary".into()) },
        ];
        let page = markdown("NVIDIA T4", "t4-16gb", &rows);
        let lines: Vec<&str> = page.lines().skip(4).collect();
        assert_eq!(
            lines,
            [
                "| same | 1.00 GiB | 1.00 GiB (equal) | 0.977 KiB | 0.986 KiB (+1.00 %) | 2 | 2 | all | none |",
                "| other | 1.00 GiB | 1.00 GiB (equal) | 0.977 KiB | 0.986 KiB (+1.00 %) | 2 | 1 | 66.66 % \
                 | 1: the end, not alloc 1,024 |",
                "| none | no \\| such library | | | | | | | |",
            ]
        );
    }
}
