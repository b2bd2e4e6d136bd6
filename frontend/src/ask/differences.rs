//! Rows of the table of differences: grouping, order, filter and texts, the same on the page and in saved tables.

use super::Matched;
use super::allocations::{SortBy, SortColumn};
use super::compare::DiffData;
use shared::analysis::{Category, Change, DiffBy, DiffRow};
use shared::base::{ShortSort, StackLabel, format};
use shared::names;
use std::cmp::{Ordering, Reverse};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Column {
    /// Absolute difference in bytes.
    #[default]
    Delta,
    /// Bytes of the other side.
    Other,
    /// Bytes of this side.
    This,
    /// Difference in the number of allocations.
    Count,
    Title,
}

names!(Column { Delta => "change", Other => "other", This => "this", Count => "count", Title => "title" });

pub type Sort = SortBy<Column>;

impl SortColumn for Column {
    fn rises(self) -> bool {
        self == Self::Title
    }
}

/// One row of the table, before the filter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entry {
    /// Function of the stack, or name of the group.
    pub title: String,
    /// File and line; may be empty.
    pub place: String,
    /// Library's function or operation that it led to; may be empty.
    pub leaf: String,
    /// Frames that tell it apart from rows with the same name; may be empty.
    pub differs: String,
    /// Category of most of the change; may be empty.
    pub category: &'static str,
    /// Remark on how the stack was matched between the sides; may be empty.
    pub note: &'static str,
    /// Bytes and number of allocations on both sides.
    pub change: Change,
    /// Position among the stacks of the difference; `None` for groups.
    pub stack: Option<usize>,
}

/// Returns the rows that differ.
pub fn entries(diff: &DiffData, by: DiffBy) -> Vec<Entry> {
    match by {
        DiffBy::Stack => diff.found.rows.iter().zip(&diff.headings).enumerate().map(stack).collect(),
        DiffBy::Category => {
            diff.found.by_category.iter().filter_map(|(of, change)| group(of.plural(), *change)).collect()
        }
        DiffBy::Module => {
            let name = |of: &String| if of.is_empty() { "unknown module".to_owned() } else { of.clone() };
            diff.found.by_module.iter().filter_map(|(of, change)| group(&name(of), *change)).collect()
        }
    }
}

fn stack((position, (row, heading)): (usize, (&DiffRow, &StackLabel))) -> Entry {
    let StackLabel { title, place, leaf, differs } = heading.clone();
    Entry {
        title,
        place,
        leaf,
        differs,
        category: row.category.plural(),
        note: match row.matched {
            Matched::Same => "",
            Matched::MovedLines => "lines moved",
            Matched::Place => "other calls",
            Matched::OnlyBefore => "only other",
            Matched::OnlyAfter => "only this",
        },
        change: row.change,
        stack: Some(position),
    }
}

fn group(name: &str, change: Change) -> Option<Entry> {
    (!change.is_none()).then(|| Entry { title: name.to_owned(), change, ..Entry::default() })
}

/// Returns the positions of the entries that pass a filter, sorted.
///
/// The filter is searched in titles, places, leaves, differences, categories and notes; without capitals it ignores case.
pub fn shown(entries: &[Entry], filter: &str, sort: Sort) -> Vec<usize> {
    let is_plain = filter == filter.to_lowercase();
    let has = |text: &str| if is_plain { text.to_lowercase().contains(filter) } else { text.contains(filter) };
    let is_left = |entry: &Entry| {
        filter.is_empty()
            || [&entry.title, &entry.place, &entry.leaf, &entry.differs].into_iter().any(|text| has(text))
            || [entry.category, entry.note].into_iter().any(has)
    };
    let mut left: Vec<usize> = (0..entries.len()).filter(|&position| is_left(&entries[position])).collect();
    // Equal rows keep the order of the difference.
    sort.sort(&mut left, &|one, other| compare(&entries[one], &entries[other], sort.column));
    left
}

fn compare(one: &Entry, other: &Entry, by: Column) -> Ordering {
    let (a, b) = (&one.change, &other.change);
    match by {
        Column::Delta => a.bytes().unsigned_abs().cmp(&b.bytes().unsigned_abs()),
        Column::Other => a.before_bytes.cmp(&b.before_bytes),
        Column::This => a.after_bytes.cmp(&b.after_bytes),
        Column::Count => a.count().cmp(&b.count()),
        Column::Title => one.title.cmp(&other.title),
    }
}

/// Returns the left end and the length of a bar that starts in the middle of 100 units; `largest_bytes` fills a half.
pub fn bar(delta_bytes: i64, largest_bytes: u64) -> (f64, f64) {
    let length = 50.0 * delta_bytes.unsigned_abs() as f64 / largest_bytes.max(1) as f64;
    // Any difference at all must be visible.
    let length = if delta_bytes == 0 { 0.0 } else { length.clamp(0.6, 50.0) };
    (if delta_bytes < 0 { 50.0 - length } else { 50.0 }, length)
}

/// Formats a difference with its sign: `+1.50 GiB`, `−3`, `±0 B`.
pub fn delta_text(delta: i64, text: fn(u64) -> String) -> String {
    let sign = match delta.cmp(&0) {
        Ordering::Greater => "+",
        Ordering::Less => "−",
        Ordering::Equal => "±",
    };
    format!("{sign}{}", text(delta.unsigned_abs()))
}

/// Formats the whole difference: `2.10 GiB more: activations +2.00 GiB, gradients +0.10 GiB`.
pub fn total_text(diff: &DiffData) -> String {
    const NAMED: usize = 3;
    let delta = diff.found.total.bytes();
    let all = match delta {
        0 => "The same number of bytes".to_owned(),
        _ => format!("{} {}", format::bytes(delta.unsigned_abs()), if delta > 0 { "more" } else { "less" }),
    };
    let mut changed: Vec<_> = diff.found.by_category.iter().filter(|(_, change)| change.bytes() != 0).collect();
    changed.short_sort_by_key(|(_, change)| Reverse(change.bytes().unsigned_abs()));
    let name =
        |(of, change): &&(Category, Change)| format!("{} {}", of.plural(), delta_text(change.bytes(), format::bytes));
    let named: Vec<String> = changed.iter().take(NAMED).map(name).collect();
    if named.is_empty() { all } else { format!("{all}: {}", named.join(", ")) }
}

/// Formats what does not differ: `212 stacks with 3.20 GiB are the same`.
pub fn equal_text(diff: &DiffData) -> Option<String> {
    (diff.found.equal_stacks > 0).then(|| {
        let verb = if diff.found.equal_stacks == 1 { "is" } else { "are" };
        let stacks = format::counted(diff.found.equal_stacks as u64, "stack");
        format!("{stacks} with {} {verb} the same", format::bytes(diff.found.equal_bytes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::Diff;

    fn change(before_bytes: u64, after_bytes: u64) -> Change {
        Change { before_bytes, after_bytes, before_count: 1, after_count: 2 }
    }

    fn diff() -> DiffData {
        let row = |matched, before_bytes, after_bytes| DiffRow {
            matched,
            before: None,
            after: None,
            category: Category::Activation,
            change: change(before_bytes, after_bytes),
        };
        let found = Diff {
            total: change(150, 160),
            rows: vec![row(Matched::Same, 0, 60), row(Matched::OnlyBefore, 50, 0), row(Matched::MovedLines, 100, 100)],
            by_category: vec![(Category::Activation, change(50, 110)), (Category::Gradient, change(100, 50))],
            by_module: vec![(String::new(), change(150, 160)), (String::new(), Change::default())],
            equal_stacks: 1,
            equal_bytes: 7,
        };
        let heading = |title: &str| StackLabel { title: title.to_owned(), ..StackLabel::default() };
        DiffData { found, headings: ["forward", "Loss", "cat"].map(heading).to_vec(), ..DiffData::default() }
    }

    #[track_caller]
    fn check(filter: &str, sort: Sort, expected: &[&str]) {
        let entries = entries(&diff(), DiffBy::Stack);
        let titles: Vec<&str> =
            shown(&entries, filter, sort).into_iter().map(|position| entries[position].title.as_str()).collect();
        assert_eq!(titles, expected);
    }

    #[test]
    fn rows_are_sorted_and_filtered() {
        let sort = Sort::default();
        check("", sort, &["forward", "Loss", "cat"]);
        check("", sort.after(Column::Delta), &["cat", "Loss", "forward"]);
        check("", sort.after(Column::This), &["cat", "forward", "Loss"]);
        check("", sort.after(Column::Other), &["cat", "Loss", "forward"]);
        check("", sort.after(Column::Title), &["Loss", "cat", "forward"]);
        check("", sort.after(Column::Count), &["forward", "Loss", "cat"]);
        check("loss", sort, &["Loss"]);
        check("LOSS", sort, &[]);
        check("moved", sort, &["cat"]);
        check("activations", sort, &["forward", "Loss", "cat"]);
    }

    #[test]
    fn heads_tell_the_order() {
        let sort = Sort::default();
        assert_eq!((sort.aria(Column::Delta), sort.aria(Column::This)), ("descending", "none"));
        assert_eq!(sort.after(Column::Title).aria(Column::Title), "ascending");
    }

    #[test]
    fn groups_that_are_alike_are_left_out() {
        let titles = |by| entries(&diff(), by).into_iter().map(|entry| entry.title).collect::<Vec<_>>();
        assert_eq!(titles(DiffBy::Category), ["activations", "gradients"]);
        assert_eq!(titles(DiffBy::Module), ["unknown module"]);
    }

    #[test]
    fn bars_go_both_ways_from_the_middle() {
        assert_eq!(bar(100, 100), (50.0, 50.0));
        assert_eq!(bar(-50, 100), (25.0, 25.0));
        assert_eq!(bar(1, 1_000_000), (50.0, 0.6));
        assert_eq!(bar(0, 0), (50.0, 0.0));
    }

    #[test]
    fn differences_are_words() {
        assert_eq!(delta_text(1536, format::bytes), "+1.50 KiB");
        assert_eq!(delta_text(-3, format::count), "−3");
        assert_eq!(delta_text(0, format::bytes), "±0 B");
        assert_eq!(total_text(&diff()), "10 B more: activations +60 B, gradients −50 B");
        assert_eq!(equal_text(&diff()).as_deref(), Some("1 stack with 7 B is the same"));
        assert_eq!(
            (total_text(&DiffData::default()).as_str(), equal_text(&DiffData::default())),
            ("The same number of bytes", None)
        );
    }
}
