//! Rows of the table of sites: order, filter and texts, the same on the page and in saved tables.

use super::Weight;
use super::allocations::{SortBy, SortColumn};
use super::flame::{FlameSites, SiteKey, SiteRow, SiteText};
use super::selection::NameMark;
use super::stack::short_place;
use shared::base::format;
use shared::names;
use shared::report::Frame;
use std::cmp::Ordering;
use std::ops::Range;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SiteColumn {
    Name,
    /// Weight of all allocations whose stacks contain the site.
    #[default]
    Total,
    /// Weight of the allocations made by the site itself.
    Own,
    /// Number of allocations in the total.
    Count,
}

// In display order.
names!(SiteColumn { Total => "total", Own => "itself", Count => "count", Name => "name" });

pub type SiteOrder = SortBy<SiteColumn>;

impl SortColumn for SiteColumn {
    fn rises(self) -> bool {
        self == Self::Name
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct SiteLine {
    pub key: SiteKey,
    pub mark: NameMark,
    pub name: String,
    /// File and line; may be empty.
    pub place: String,
    pub total: String,
    /// Share of the total weight, as a percentage.
    pub share: f64,
    pub own: String,
    pub count: String,
}

/// Returns the positions of the rows whose name or file contains a text, sorted.
///
/// The text's case matters if it contains capitals.
pub fn shown(sites: &FlameSites, order: SiteOrder, text: &str) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..sites.rows.len()).filter(|&row| has_text(&sites.rows[row], text)).collect();
    // Equal rows stay as the Web Worker sorted them, by descending total.
    order.sort(&mut shown, &|a, b| compare(&sites.rows[a], &sites.rows[b], order.column));
    shown
}

/// Returns the lines of a range of rows.
pub fn lines(sites: &FlameSites, rows: &[usize], range: Range<usize>, weight: Weight) -> Vec<SiteLine> {
    let all = sites.total.weight.max(1) as f64;
    let line = |&row: &usize| {
        let SiteRow { site, total, own } = &sites.rows[row];
        SiteLine {
            key: site.key,
            mark: mark(site),
            name: site_name(site),
            place: site_place(site),
            total: weight_text(total.weight, weight),
            share: total.weight as f64 * 100.0 / all,
            own: if own.weight == 0 { String::new() } else { weight_text(own.weight, weight) },
            count: format::count(total.count),
        }
    };
    rows[range.start.min(rows.len())..range.end.min(rows.len())].iter().map(line).collect()
}

/// Returns the mark that stands for a site in addresses, made of the function, the name of its file and the line.
pub fn mark(site: &SiteText) -> NameMark {
    let file = site.filename.rsplit(['/', '\\']).next().unwrap_or_default();
    NameMark::of([site.name.as_str(), file, &site.line.to_string()])
}

pub fn marked(sites: &FlameSites, of: NameMark) -> Option<SiteKey> {
    sites.rows.iter().find(|row| mark(&row.site) == of).map(|row| row.site.key)
}

fn has_text(row: &SiteRow, text: &str) -> bool {
    let texts = [site_name(&row.site), row.site.filename.clone()];
    match text.chars().any(char::is_uppercase) {
        true => texts.iter().any(|found| found.contains(text)),
        false => texts.iter().any(|found| found.to_lowercase().contains(text)),
    }
}

fn compare(a: &SiteRow, b: &SiteRow, column: SiteColumn) -> Ordering {
    match column {
        SiteColumn::Name => site_name(&a.site).cmp(&site_name(&b.site)),
        SiteColumn::Total => a.total.weight.cmp(&b.total.weight),
        SiteColumn::Own => a.own.weight.cmp(&b.own.weight),
        SiteColumn::Count => a.total.count.cmp(&b.total.count),
    }
}

/// Formats a sum of weights with its unit.
pub fn weight_text(value: u64, weight: Weight) -> String {
    match weight {
        Weight::Bytes => format::bytes(value),
        Weight::ByteEvents => format!("{} × events", format::bytes(value)),
        Weight::ByteTime => format!("{} × s", format::bytes(value / 1000)),
        Weight::Count => format::counted(value, "allocation"),
    }
}

pub fn site_name(site: &SiteText) -> String {
    if site.key.is_none() { "No stack recorded".to_owned() } else { site.name.clone() }
}

/// Returns the place of a site with the last two folders of its path; may be empty.
pub fn site_place(site: &SiteText) -> String {
    let SiteText { name, filename, line, .. } = site;
    short_place(&Frame { name: name.clone(), filename: filename.clone(), line: *line, fx: None })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::Tally;

    fn sites() -> FlameSites {
        let row = |key, name: &str, total, own| SiteRow {
            site: SiteText { key, name: name.into(), filename: "/srv/train.py".into(), ..SiteText::default() },
            total: Tally { weight: total, count: total / 10 },
            own: Tally { weight: own, count: 1 },
        };
        FlameSites {
            rows: vec![row(Some(1), "main", 100, 0), row(Some(2), "Step", 80, 30), row(None, "", 20, 20)],
            total: Tally { weight: 120, count: 12 },
        }
    }

    #[test]
    fn a_click_sorts_and_another_turns_round() {
        let order = SiteOrder::default().after(SiteColumn::Own);
        assert_eq!(shown(&sites(), order, ""), [1, 2, 0]);
        assert_eq!(shown(&sites(), order.after(SiteColumn::Own), ""), [0, 2, 1]);
        assert_eq!(shown(&sites(), order.after(SiteColumn::Name), ""), [2, 1, 0], "names begin with the first");
        assert_eq!(shown(&sites(), SiteOrder::default(), ""), [0, 1, 2]);
    }

    #[test]
    fn a_mark_leads_to_its_site_in_a_clean_copy_too() {
        let (of, mut clean) = (sites(), sites());
        clean.rows.iter_mut().for_each(|row| row.site.filename = "train.py".into());
        clean.rows.reverse();
        for row in &of.rows {
            assert_eq!(marked(&clean, mark(&row.site)), Some(row.site.key));
        }
        assert_eq!(marked(&clean, NameMark::of(["main"])), None);
    }

    #[test]
    fn a_filter_looks_at_names_and_files() {
        let shown = |text| shown(&sites(), SiteOrder::default(), text);
        assert_eq!((shown("step"), shown("Step"), shown("STEP")), (vec![1], vec![1], vec![]));
        assert_eq!((shown("train.py").len(), shown("no stack")), (3, vec![2]));
    }

    #[test]
    fn lines_are_of_what_is_in_view() {
        let lines = lines(&sites(), &[0, 1, 2], 1..9, Weight::Bytes);
        assert_eq!(lines.len(), 2);
        assert_eq!((lines[0].name.as_str(), lines[0].own.as_str(), lines[0].count.as_str()), ("Step", "30 B", "8"));
        assert!((lines[0].share - 66.666).abs() < 0.01);
    }
}
