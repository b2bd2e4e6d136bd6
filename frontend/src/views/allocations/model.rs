//! Texts and numbers of the table of allocations or of groups of them.

use crate::ask::{
    AllocationRow, Column, Columns, GroupKey, GroupRow, Kind, MixedRow, NameMark, Sort, TablePage, TableRows,
};
use crate::views::selection::model::category_text;
use shared::base::format;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub column: Column,
    pub label: &'static str,
    pub hint: &'static str,
}

const fn head(column: Column, label: &'static str, hint: &'static str) -> Head {
    Head { column, label, hint }
}

const SIZE: Head = head(Column::Bytes, "Size", "Requested size, and its share of the listed total");
const STACK: Head = head(Column::Title, "Stack", "Code that allocated it");

const OF_GROUPS: [Head; 3] = [
    head(Column::Bytes, "Size", "Sum of requested sizes, and its share of the listed total"),
    head(Column::Count, "Count", "Number of allocations"),
    head(Column::Title, "Group", "Property that these allocations share"),
];

pub fn optional_head(column: Column) -> Head {
    let (label, hint) = match column {
        Column::Born => ("Allocated", "Event of the allocation"),
        Column::Died => ("Freed", "Event of the free"),
        Column::Lifetime => ("Lifetime", "Number of events until it is freed, or until the trace ends"),
        Column::Category => ("Category", "Purpose of the memory, as far as the trace shows"),
        Column::Phase => ("Phase", "Phase of the training step in which it was allocated"),
        Column::Step => ("Step", "Training step in which it was allocated"),
        Column::Rounded => ("Rounded", "Size of its block, rounded up by the allocator"),
        Column::Address => ("Address", "Device address"),
        Column::Stream => ("Stream", "Stream of the request; 0 is the default stream"),
        Column::Pool => ("Pool", "Memory pool, for example of a CUDA graph"),
        Column::Bytes => (SIZE.label, SIZE.hint),
        Column::Count => (OF_GROUPS[1].label, OF_GROUPS[1].hint),
        Column::Title => (STACK.label, STACK.hint),
    };
    head(column, label, hint)
}

pub fn heads(has_groups: bool, columns: Columns) -> Vec<Head> {
    if has_groups {
        return OF_GROUPS.to_vec();
    }
    std::iter::once(SIZE).chain(columns.iter().map(optional_head)).chain([STACK]).collect()
}

#[derive(Clone, Debug, PartialEq)]
pub enum Target {
    /// Position of an allocation.
    Allocation(u32),
    /// The allocations of a group, with its title, its mark, and the kind that they form.
    Group(GroupKey, String, NameMark, Kind),
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Level {
    #[default]
    Plain,
    /// Group, and true if its allocations follow.
    Group(bool),
    Member,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    pub size: String,
    pub share: String,
    /// Length of the bar, in percent of the longest one.
    pub bar: f64,
    pub cells: Vec<String>,
    pub title: String,
    /// Text that tells apart rows with the same title; may be empty.
    pub detail: String,
    pub level: Level,
    pub target: Target,
}

pub fn lines(page: &TablePage, columns: Columns) -> Vec<Line> {
    match &page.rows {
        TableRows::Allocations(rows) => rows.iter().map(|row| allocation_line(page, row, columns)).collect(),
        TableRows::Groups(rows) => rows.iter().map(|row| mixed_line(page, row)).collect(),
    }
}

fn mixed_line(page: &TablePage, row: &MixedRow) -> Line {
    match row {
        MixedRow::Group(row, is_open) => group_line(page, row, *is_open),
        // In place of the group's count, an allocation has its event.
        MixedRow::Allocation(row) => {
            Line { level: Level::Member, ..allocation_line(page, row, Columns::of([Column::Born])) }
        }
    }
}

fn cell(row: &AllocationRow, column: Column) -> String {
    let facts = &row.facts;
    let unknown = || "–".to_owned();
    match column {
        Column::Born if row.born == 0 => "before".to_owned(),
        Column::Born => format::count(u64::from(row.born) - 1),
        Column::Died => facts.died.map_or_else(|| "not freed".to_owned(), |died| format::count(u64::from(died) - 1)),
        Column::Lifetime => {
            let more = if row.outlives || row.born == 0 { "≥ " } else { "" };
            format!("{more}{}", format::count(row.lifetime.into()))
        }
        Column::Category => category_text(row.category),
        Column::Phase => facts.phase.map_or_else(unknown, |phase| phase.name().to_owned()),
        Column::Step => facts.step.map_or_else(unknown, |step| format::count(u64::from(step) + 1)),
        Column::Rounded => format::bytes(facts.rounded_bytes),
        Column::Address => format::address(facts.addr),
        Column::Stream => facts.stream.map_or_else(unknown, |stream| match stream {
            0 => "0".to_owned(),
            stream => format::address(stream),
        }),
        Column::Pool => facts.pool.map_or_else(unknown, |pool| match pool {
            (0, 0) => "default".to_owned(),
            (capture, handle) => format!("{capture}, {handle}"),
        }),
        Column::Bytes | Column::Count | Column::Title => String::new(),
    }
}

fn allocation_line(page: &TablePage, row: &AllocationRow, columns: Columns) -> Line {
    Line {
        cells: columns.iter().map(|column| cell(row, column)).collect(),
        title: row.title.clone(),
        detail: row.detail.clone(),
        target: Target::Allocation(row.allocation),
        ..sized(page, row.size_bytes)
    }
}

fn group_line(page: &TablePage, row: &GroupRow, is_open: bool) -> Line {
    Line {
        level: Level::Group(is_open),
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
        level: Level::Plain,
        target: Target::Allocation(0),
    }
}

/// Returns the order for a table of another kind: unchanged if it has the column, else the default.
pub fn sort_for(sort: Sort, has_groups: bool, columns: Columns) -> Sort {
    if heads(has_groups, columns).iter().any(|head| head.column == sort.column) { sort } else { Sort::default() }
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
    use crate::ask::{Phase, RowFacts};
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
        let page = TablePage { rows, bytes: 2048, most_bytes: 1024, ..TablePage::default() };
        let lines = lines(&page, Columns::default());
        assert_eq!(lines[0].cells, ["10", "1,500", "activation"]);
        assert_eq!(lines[1].cells[..2], ["before", "≥ 1,500"]);
        assert_eq!(lines[2].cells[1], "≥ 1,500");
        assert_eq!((lines[0].size.as_str(), lines[0].share.as_str(), lines[0].bar), ("512 B", "25 %", 50.0));
        assert_eq!(lines[0].cells.len() + 2, heads(false, Columns::default()).len());
    }

    #[track_caller]
    fn check_cell(column: Column, text: &str) {
        let facts = RowFacts {
            died: Some(21),
            addr: 0x7f00,
            stream: Some(0),
            pool: Some((0, 0)),
            phase: Some(Phase::Backward),
            step: Some(2),
            rounded_bytes: 1024,
        };
        assert_eq!(cell(&AllocationRow { size_bytes: 700, born: 11, facts, ..AllocationRow::default() }, column), text);
    }

    #[test]
    fn each_optional_column_has_a_text() {
        check_cell(Column::Died, "20");
        check_cell(Column::Phase, "backward");
        check_cell(Column::Step, "3");
        check_cell(Column::Rounded, "1.00 KiB");
        check_cell(Column::Address, "0x7f00");
        check_cell(Column::Stream, "0");
        check_cell(Column::Pool, "default");
        let unknown = AllocationRow::default();
        let texts = [Column::Died, Column::Phase, Column::Pool].map(|column| cell(&unknown, column));
        assert_eq!(texts, ["not freed", "–", "–"]);
    }

    fn group(stack: Option<NameMark>) -> GroupRow {
        let key = GroupKey::SizeClass(2);
        let (title, mark) = ("f".to_owned(), NameMark::of(["f"]));
        GroupRow { key, bytes: 0, count: 1200, title, detail: String::new(), mark, stack }
    }

    #[test]
    fn an_open_group_is_followed_by_its_allocations() {
        let member = AllocationRow { born: 11, title: "f".to_owned(), ..AllocationRow::default() };
        let rows = TableRows::Groups(vec![MixedRow::Group(group(None), true), MixedRow::Allocation(member)]);
        let lines = lines(&TablePage { rows, ..TablePage::default() }, Columns::default());
        assert_eq!((lines[0].level, lines[1].level), (Level::Group(true), Level::Member));
        assert_eq!(lines[1].cells, ["10"]);
    }

    #[test]
    fn a_group_leads_to_its_allocations() {
        let mark = NameMark::of(["f"]);
        let row = group(Some(mark));
        let key = row.key;
        let page = TablePage { rows: TableRows::Groups(vec![MixedRow::Group(row, false)]), ..TablePage::default() };
        let line = &lines(&page, Columns::default())[0];
        assert_eq!((line.cells.as_slice(), line.share.as_str(), line.bar), (&["1,200".to_owned()][..], "–", 0.0));
        assert_eq!(line.target, Target::Group(key, "f".to_owned(), mark, Kind::Stack(mark)));
        assert_eq!(line.cells.len() + 2, heads(true, Columns::default()).len());
    }

    #[test]
    fn a_second_click_turns_the_order_round() {
        let first = Sort::default().after(Column::Title);
        assert_eq!(first, Sort { column: Column::Title, is_rising: true });
        assert!(!first.after(Column::Title).is_rising);
        assert!(!first.after(Column::Bytes).is_rising);
        assert_eq!((first.aria(Column::Title), first.aria(Column::Bytes)), ("ascending", "none"));
        let columns = Columns::default();
        assert_eq!((sort_for(first, true, columns), sort_for(first, false, columns)), (first, first));
        let born = Sort { column: Column::Born, is_rising: true };
        assert_eq!((sort_for(born, true, columns), sort_for(born, false, columns)), (Sort::default(), born));
        assert_eq!(sort_for(born, false, Columns::of([])), Sort::default(), "a hidden column does not sort");
    }

    #[test]
    fn matches_are_counted_from_one() {
        assert_eq!(match_text(Some(2), 1312, 1312), "3 of 1,312");
        assert_eq!((match_text(None, 1, 9).as_str(), match_text(None, 0, 9).as_str()), ("1 match", "0 matches"));
        assert_eq!(match_text(None, 9, 9), "");
    }
}
