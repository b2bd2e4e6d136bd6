//! Texts and selections for a kind of allocations.

use crate::ask::{FilterData, GroupKey, KindFacts};
use crate::state::Selecting;
use shared::base::format;

/// Formats the totals: `48 allocations, 2.25 GiB at the peak (34 %)`.
pub fn totals_text(facts: &KindFacts, is_at_pin: bool) -> String {
    let count = format::counted(facts.count, "allocation");
    let when = if is_at_pin { "at the pin" } else { "at the peak" };
    match facts.count {
        0 => "No allocations".to_owned(),
        _ if facts.bytes == 0 => format!("{count}, none {when}, {} at most", format::bytes(facts.most_bytes)),
        _ => {
            let share = format::percent(facts.bytes, facts.live_bytes);
            format!("{count}, {} {when} ({share})", format::bytes(facts.bytes))
        }
    }
}

/// Returns the selection of the same allocations for tables and flame graphs, `None` if no filter expresses it.
pub fn selecting_of(facts: &KindFacts, selecting: &Selecting) -> Option<Selecting> {
    let all = selecting.without_filter();
    if let Some((text, is_expression)) = &facts.search {
        let filter = FilterData { text: text.clone(), is_expression: *is_expression, ..FilterData::default() };
        return Some(Selecting { filter, ..all });
    }
    let key = facts.key?;
    if let GroupKey::Category(category) = key {
        let filter = FilterData { category: Some(category), ..FilterData::default() };
        return Some(Selecting { filter, ..all });
    }
    Some(all.with_group(Some((key, facts.title.clone(), facts.mark?))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{GroupBy, GroupMark, NameMark};
    use shared::analysis::Category;

    fn facts() -> KindFacts {
        KindFacts { count: 48, bytes: 9 << 28, live_bytes: 27 << 28, most_bytes: 5 << 29, ..KindFacts::default() }
    }

    #[test]
    fn totals_are_of_a_moment() {
        assert_eq!(totals_text(&facts(), false), "48 allocations, 2.25 GiB at the peak (33 %)");
        let gone = KindFacts { bytes: 0, count: 1, ..facts() };
        assert_eq!(totals_text(&gone, true), "1 allocation, none at the pin, 2.50 GiB at most");
        assert_eq!(totals_text(&KindFacts { count: 0, ..facts() }, true), "No allocations");
    }

    #[test]
    fn other_views_show_the_same_allocations() {
        let of = |facts: &KindFacts| selecting_of(facts, &Selecting::default());
        assert_eq!(of(&facts()), None);
        let category = Some(GroupKey::Category(Category::Activation));
        let found = of(&KindFacts { key: category, ..facts() }).unwrap();
        assert_eq!(found.filter.category, Some(Category::Activation));
        let key = GroupKey::Frame(None);
        let mark = NameMark::of(["f"]);
        let frame = KindFacts { key: Some(key), mark: Some(mark), title: "f".to_owned(), ..facts() };
        let found = of(&frame).unwrap();
        let mark = GroupMark { by: GroupBy::Frame, mark };
        assert_eq!((found.filter.group, found.group_mark), (Some(key), Some(mark)));
        let text = KindFacts { search: Some(("adam".to_owned(), false)), ..facts() };
        assert_eq!(of(&text).unwrap().filter.text, "adam");
    }
}
