//! Lists the tables that the page saves as they are on the screen, with their columns.
//!
//! They are filtered and sorted, and about one moment or selection; [`shared::export::Table`] lists the tables of whole
//! files. No name is in both lists.

use frontend::ask::Weight;
use shared::export::{Rows, Sheet};

/// Writes a table, whose rows a function passes on.
pub(super) type Write<'w> = dyn Fn(Sheet<'_>, &mut dyn FnMut(&mut Rows<'_>)) -> Vec<u8> + 'w;

/// Allocations that the filter leaves.
pub(super) const ALLOCATIONS: Sheet<'_> = Sheet {
    name: "allocations-in-view",
    columns: &[
        "device",
        "bytes",
        "alloc_event",
        "free_event",
        "lifetime_events",
        "category",
        "address",
        "stream",
        "pool",
        "stack",
        "title",
        "callers",
    ],
};

/// Groups of those allocations.
pub(super) const GROUPS: Sheet<'_> =
    Sheet { name: "groups", columns: &["device", "bytes", "count", "title", "detail"] };

/// Segments at a chosen moment.
pub(super) const SEGMENTS: Sheet<'_> = Sheet {
    name: "segments-at-moment",
    columns: &[
        "device",
        "event",
        "address",
        "bytes",
        "used_bytes",
        "free_bytes",
        "largest_free_bytes",
        "blocks",
        "segment_type",
        "stream",
        "pool",
        "expandable_address",
    ],
};

/// Differences of both sides of a comparison.
pub(super) const DIFFERENCES: Sheet<'_> = Sheet {
    name: "differences",
    columns: &[
        "event",
        "other_event",
        "title",
        "calls",
        "place",
        "category",
        "matched",
        "change_bytes",
        "other_bytes",
        "bytes",
        "change_count",
        "other_count",
        "count",
        "differs",
    ],
};

/// Functions of the flame graph's table.
pub(super) const FUNCTIONS: &str = "functions";

/// Returns the columns of the table of functions, whose unit is chosen in the view.
///
/// `itself` is the memory that a function allocates itself, in the unit of the total.
pub(super) fn functions(weight: Weight) -> [&'static str; 7] {
    let unit = match weight {
        Weight::Bytes => "bytes",
        Weight::ByteEvents => "byte_events",
        Weight::ByteTime => "byte_milliseconds",
        Weight::Count => "allocations",
    };
    ["device", "function", "filename", "line", unit, "itself", "count"]
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::export::Table;

    #[test]
    fn no_table_has_the_name_of_another_one() {
        let sheets = [ALLOCATIONS, GROUPS, SEGMENTS, DIFFERENCES].map(|sheet| sheet.name);
        let mut names: Vec<&str> = sheets.into_iter().chain([FUNCTIONS]).chain(Table::ALL.map(Table::name)).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
    }
}
