//! Texts and numbers of the table of allocations or of groups of them.

use crate::ask::{AllocationRow, Column, GroupKeyData, GroupRow, Kind, NameMark, Sort, TablePage, TableRows};
use crate::views::selection::model::category_text;
use shared::base::format;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// Key by which a click on the head sorts.
    pub column: Column,
    pub label: &'static str,
    /// Tooltip that explains the label.
    pub hint: &'static str,
}

const fn head(column: Column, label: &'static str, hint: &'static str) -> Head {
    Head { column, label, hint }
}

/// Columns of a table of single allocations.
const OF_ALLOCATIONS: &[Head] = &[
    head(Column::Bytes, "Size", "Requested size, and its share of the listed total"),
    head(Column::Born, "Allocated", "Event of the allocation"),
    head(Column::Lifetime, "Lifetime", "Number of events until it is freed, or until the trace ends"),
    head(Column::Category, "Category", "Purpose of the memory, as far as the trace shows"),
    head(Column::Title, "Stack", "Code that allocated it"),
];

/// Columns of a table of groups.
const OF_GROUPS: &[Head] = &[
    head(Column::Bytes, "Size", "Sum of requested sizes, and its share of the listed total"),
    head(Column::Count, "Count", "Number of allocations"),
    head(Column::Title, "Group", "Property that these allocations share"),
];

/// Returns the columns of a table.
pub fn heads(has_groups: bool) -> &'static [Head] {
    if has_groups { OF_GROUPS } else { OF_ALLOCATIONS }
}

/// Destination of a click on a row.
#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Position of an allocation.
    Allocation(u32),
    /// The allocations of a group, with its title, its mark, and the kind that they form.
    Group(GroupKeyData, String, NameMark, Kind),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub size: String,
    /// Share of the bytes of all rows.
    pub share: String,
    /// Length of the bar, in percent of the longest one.
    pub bar: f64,
    /// Cells between the size and the title.
    pub cells: Vec<String>,
    pub title: String,
    /// Text that tells apart rows with the same title; may be empty.
    pub detail: String,
    pub target: Target,
}

/// Returns the lines of a page.
pub fn lines(page: &TablePage) -> Vec<Line> {
    match &page.rows {
        TableRows::Allocations(rows) => rows.iter().map(|row| allocation_line(page, row)).collect(),
        TableRows::Groups(rows) => rows.iter().map(|row| group_line(page, row)).collect(),
    }
}

fn allocation_line(page: &TablePage, row: &AllocationRow) -> Line {
    let born = if row.born == 0 { "before".to_owned() } else { format::count(u64::from(row.born) - 1) };
    let more = if row.outlives || row.born == 0 { "≥ " } else { "" };
    let lifetime = format!("{more}{}", format::count(row.lifetime.into()));
    Line {
        cells: vec![born, lifetime, category_text(row.category)],
        title: row.title.clone(),
        detail: row.detail.clone(),
        target: Target::Allocation(row.allocation),
        ..sized(page, row.size_bytes)
    }
}

fn group_line(page: &TablePage, row: &GroupRow) -> Line {
    Line {
        cells: vec![format::count(row.count)],
        title: row.title.clone(),
        detail: row.detail.clone(),
        target: Target::Group(row.key, row.title.clone(), row.mark, row.kind()),
        ..sized(page, row.bytes)
    }
}

fn sized(page: &TablePage, size_bytes: u64) -> Line {
    Line {
        size: format::bytes(size_bytes),
        share: format::percent(size_bytes, page.bytes),
        bar: size_bytes as f64 * 100.0 / page.most_bytes.max(1) as f64,
        cells: Vec::new(),
        title: String::new(),
        detail: String::new(),
        target: Target::Allocation(0),
    }
}

/// Returns the order after a click on a column's head.
///
/// A click on the current column reverses the order; another column starts with its usual direction.
pub fn sort_after(sort: Sort, column: Column) -> Sort {
    let is_rising = match column == sort.column {
        true => !sort.is_rising,
        false => matches!(column, Column::Title | Column::Category | Column::Born),
    };
    Sort { column, is_rising }
}

/// Returns the value of `aria-sort` for a column.
pub fn aria_sort(sort: Sort, column: Column) -> &'static str {
    match (sort.column == column, sort.is_rising) {
        (false, _) => "none",
        (true, true) => "ascending",
        (true, false) => "descending",
    }
}

/// Returns the order for a table of another kind: unchanged if it has the column, else the default.
pub fn sort_for(sort: Sort, has_groups: bool) -> Sort {
    if heads(has_groups).iter().any(|head| head.column == sort.column) { sort } else { Sort::default() }
}

/// Formats the place of a match, such as `3 of 312`, or else the number of matches.
///
/// The text is empty if there is neither a place nor a filter that leaves anything out.
pub fn match_text(position: Option<u32>, count: u64, all_count: u64) -> String {
    match position {
        Some(position) => format!("{} of {}", format::count(u64::from(position) + 1), format::count(count)),
        None if count == all_count => String::new(),
        None if count == 1 => "1 match".to_owned(),
        None => format!("{} matches", format::count(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::GroupBy;
    use shared::analysis::Category;

    #[test]
    fn a_row_says_how_long_it_lived_at_least() {
        let row = AllocationRow {
            size_bytes: 512,
            born: 11,
            lifetime: 1500,
            category: Category::Activation,
            ..AllocationRow::default()
        };
        let old = AllocationRow { born: 0, ..row.clone() };
        let kept = AllocationRow { outlives: true, ..row.clone() };
        let rows = TableRows::Allocations(vec![row, old, kept]);
        let lines = lines(&TablePage { rows, bytes: 2048, most_bytes: 1024, ..TablePage::default() });
        assert_eq!(lines[0].cells, ["10", "1,500", "activation"]);
        assert_eq!(lines[1].cells[..2], ["before", "≥ 1,500"]);
        assert_eq!(lines[2].cells[1], "≥ 1,500");
        assert_eq!((lines[0].size.as_str(), lines[0].share.as_str(), lines[0].bar), ("512 B", "25 %", 50.0));
        assert_eq!(lines[0].cells.len() + 2, heads(false).len());
    }

    #[test]
    fn a_group_leads_to_its_allocations() {
        let key = GroupKeyData { by: GroupBy::Stack, value: Some((2, 0)) };
        let mark = NameMark::of(["f"]);
        let row = GroupRow {
            key,
            bytes: 0,
            count: 1200,
            title: "f".to_owned(),
            detail: String::new(),
            mark,
            stack: Some(mark),
        };
        let page = TablePage { rows: TableRows::Groups(vec![row]), ..TablePage::default() };
        let line = &lines(&page)[0];
        assert_eq!((line.cells.as_slice(), line.share.as_str(), line.bar), (&["1,200".to_owned()][..], "–", 0.0));
        assert_eq!(line.target, Target::Group(key, "f".to_owned(), mark, Kind::Stack(mark)));
        assert_eq!(line.cells.len() + 2, heads(true).len());
    }

    #[test]
    fn a_second_click_turns_the_order_round() {
        let first = sort_after(Sort::default(), Column::Title);
        assert_eq!(first, Sort { column: Column::Title, is_rising: true });
        assert!(!sort_after(first, Column::Title).is_rising);
        assert!(!sort_after(first, Column::Bytes).is_rising);
        assert_eq!((aria_sort(first, Column::Title), aria_sort(first, Column::Bytes)), ("ascending", "none"));
        assert_eq!((sort_for(first, true), sort_for(first, false)), (first, first));
        let born = Sort { column: Column::Born, is_rising: true };
        assert_eq!((sort_for(born, true), sort_for(born, false)), (Sort::default(), born));
    }

    #[test]
    fn matches_are_counted_from_one() {
        assert_eq!(match_text(Some(2), 1312, 1312), "3 of 1,312");
        assert_eq!((match_text(None, 1, 9).as_str(), match_text(None, 0, 9).as_str()), ("1 match", "0 matches"));
        assert_eq!(match_text(None, 9, 9), "");
    }
}
