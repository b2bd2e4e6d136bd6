//! Selection of allocations in the views below the timeline.

use crate::ask::{Axis, FilterData, GroupKey, GroupMark, NameMark, Part, ScopeData, SelectionData, Weight};
use shared::analysis::Category;

/// Time at which the selected allocations are alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    #[default]
    Peak,
    /// The moment of the pinned allocation; the peak if nothing is pinned.
    Pin,
    /// The part of the timeline that is in view.
    View(Part),
}

impl When {
    /// All values in the order of their list.
    pub const ALL: [Self; 8] = [
        Self::Peak,
        Self::Pin,
        Self::View(Part::Any),
        Self::View(Part::Born),
        Self::View(Part::BornAndKept),
        Self::View(Part::BornAndDied),
        Self::View(Part::Died),
        Self::View(Part::Survived),
    ];
}

/// Selection that all views below the timeline share.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selecting {
    pub when: When,
    /// Weight of an allocation, in views that weigh them.
    pub weight: Weight,
    pub filter: FilterData,
    /// Title of the filter's group; empty if there is none.
    pub group_title: String,
    /// Mark of the filter's group; without a group, of the one that is still being looked up.
    pub group_mark: Option<GroupMark>,
}

/// Current meaning of the words "peak", "pin" and "view".
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Meaning {
    pub peak: u32,
    /// Moment at which the pinned allocation was clicked.
    pub pin: Option<u32>,
    /// Part of the axis in view.
    pub view: Option<(Axis, f64, f64)>,
}

impl Selecting {
    /// Resolves the selection with the current meaning of its words.
    pub fn data(&self, meaning: &Meaning) -> SelectionData {
        let scope = match (self.when, meaning) {
            (When::Peak, _) | (When::Pin, Meaning { pin: None, .. }) => ScopeData::At(meaning.peak),
            (When::Pin, Meaning { pin: Some(pin), .. }) => ScopeData::At(*pin),
            (When::View(part), Meaning { view, .. }) => {
                let (axis, x0, x1) = view.unwrap_or((Axis::Events, 0.0, f64::MAX));
                ScopeData::Within { axis, x0, x1, part }
            }
        };
        SelectionData { scope, filter: self.filter.clone(), weight: self.weight }
    }

    /// Returns the number of filters that are set, apart from the text and the group.
    pub fn filter_count(&self) -> usize {
        let FilterData { min_bytes, min_lifetime, stream, pool, category, .. } = &self.filter;
        let set = [*min_bytes > 0, *min_lifetime > 0, stream.is_some(), pool.is_some(), category.is_some()];
        set.into_iter().filter(|&is_set| is_set).count()
    }

    /// Returns the selection restricted to one group, or with all groups.
    pub fn with_group(&self, group: Option<(GroupKey, String, NameMark)>) -> Self {
        let (group, group_title, group_mark) = match group {
            Some((key, title, mark)) => (Some(key), title, Some(GroupMark { by: key.by(), mark })),
            None => (None, String::new(), None),
        };
        Self { filter: FilterData { group, ..self.filter.clone() }, group_title, group_mark, ..self.clone() }
    }

    /// Returns the mark that is still to be looked up.
    pub fn awaited_group(&self) -> Option<GroupMark> {
        self.group_mark.filter(|_| self.filter.group.is_none())
    }

    /// Returns the selection of a category's allocations that are alive at the peak.
    pub fn of_category(category: Category) -> Self {
        Self { filter: FilterData { category: Some(category), ..FilterData::default() }, ..Self::default() }
    }

    pub fn without_filter(&self) -> Self {
        Self { when: self.when, weight: self.weight, ..Self::default() }
    }

    /// Returns the selection for another device, whose streams, pools and groups differ.
    pub fn for_other_device(&self) -> Self {
        let all = self.with_group(None);
        Self { filter: FilterData { stream: None, pool: None, ..all.filter }, ..all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::GroupBy;

    fn scope(when: When, meaning: Meaning) -> ScopeData {
        Selecting { when, ..Selecting::default() }.data(&meaning).scope
    }

    #[test]
    fn words_get_their_meaning() {
        let meaning = Meaning { peak: 7, pin: Some(3), view: Some((Axis::Time, 1.0, 2.0)) };
        assert_eq!(scope(When::Peak, meaning), ScopeData::At(7));
        assert_eq!(scope(When::Pin, meaning), ScopeData::At(3));
        assert_eq!(scope(When::Pin, Meaning { pin: None, ..meaning }), ScopeData::At(7));
        let part = Part::Born;
        let within = ScopeData::Within { axis: Axis::Time, x0: 1.0, x1: 2.0, part };
        assert_eq!(scope(When::View(part), meaning), within);
        let all = ScopeData::Within { axis: Axis::Events, x0: 0.0, x1: f64::MAX, part };
        assert_eq!(scope(When::View(part), Meaning { view: None, ..meaning }), all);
    }

    #[test]
    fn another_device_has_other_streams_and_groups() {
        let filter = FilterData { text: "adam".to_owned(), min_bytes: 1, stream: Some(7), ..FilterData::default() };
        let key = GroupKey::Frame(None);
        let mark = NameMark::of(["f"]);
        let chosen = Selecting { filter, ..Selecting::default() }.with_group(Some((key, "f".to_owned(), mark)));
        assert_eq!(chosen.group_mark, Some(GroupMark { by: GroupBy::Frame, mark }));
        assert_eq!(chosen.awaited_group(), None);
        assert_eq!(chosen.filter_count(), 2);
        let other = chosen.for_other_device();
        assert_eq!((other.filter_count(), other.filter.text.as_str()), (1, "adam"));
        assert_eq!((other.filter.group, other.group_title.as_str(), other.group_mark), (None, "", None));
        assert_eq!(chosen.without_filter(), Selecting::default());
    }
}
