//! What somebody has chosen to look at in the views below the timeline.

use crate::worker::{
    AxisKind, FilterData, GroupKeyData, GroupMark, NameMark, PartKind, ScopeData, SelectionData, WeightKind,
};

/// When the allocations that are looked at are alive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum When {
    /// At the peak.
    #[default]
    Peak,
    /// At the moment of the pinned allocation; at the peak while nothing is pinned.
    Pin,
    /// In the part of the timeline that is in view.
    View(PartKind),
}

impl When {
    /// All of them in the order of their list.
    pub const ALL: [Self; 8] = [
        Self::Peak,
        Self::Pin,
        Self::View(PartKind::Any),
        Self::View(PartKind::Born),
        Self::View(PartKind::BornAndKept),
        Self::View(PartKind::BornAndDied),
        Self::View(PartKind::Died),
        Self::View(PartKind::Survived),
    ];
}

/// What is chosen, the same in every view below the timeline.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Selecting {
    /// When the allocations are alive.
    pub when: When,
    /// What they count for, in views that weigh them.
    pub weight: WeightKind,
    /// Which of them are meant.
    pub filter: FilterData,
    /// What the filter's group is called, or empty.
    pub group_title: String,
    /// The mark of the filter's group; where the filter has none, of the one that is still looked up.
    pub group_mark: Option<GroupMark>,
}

/// What the words "peak", "pin" and "view" mean at the moment.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Meaning {
    /// The moment of the peak.
    pub peak: u32,
    /// The moment at which the pinned allocation was clicked.
    pub pin: Option<u32>,
    /// The part of the axis in view.
    pub view: Option<(AxisKind, f64, f64)>,
}

impl Selecting {
    /// The selection that was chosen.
    pub fn data(&self, meaning: &Meaning) -> SelectionData {
        let scope = match (self.when, meaning) {
            (When::Peak, _) | (When::Pin, Meaning { pin: None, .. }) => ScopeData::At(meaning.peak),
            (When::Pin, Meaning { pin: Some(pin), .. }) => ScopeData::At(*pin),
            (When::View(part), Meaning { view, .. }) => {
                let (axis, x0, x1) = view.unwrap_or((AxisKind::Events, 0.0, f64::MAX));
                ScopeData::Within { axis, x0, x1, part }
            }
        };
        SelectionData { scope, filter: self.filter.clone(), weight: self.weight }
    }

    /// How many filters are set beside the text and the group.
    pub fn filter_count(&self) -> usize {
        let FilterData { min_bytes, min_lifetime, stream, pool, category, .. } = &self.filter;
        let set = [*min_bytes > 0, *min_lifetime > 0, stream.is_some(), pool.is_some(), category.is_some()];
        set.into_iter().filter(|&is_set| is_set).count()
    }

    /// The same with one group only, or with all of them.
    pub fn with_group(&self, group: Option<(GroupKeyData, String, NameMark)>) -> Self {
        let (group, group_title, group_mark) = match group {
            Some((key, title, mark)) => (Some(key), title, Some(GroupMark { by: key.by, mark })),
            None => (None, String::new(), None),
        };
        Self { filter: FilterData { group, ..self.filter.clone() }, group_title, group_mark, ..self.clone() }
    }

    /// The mark that is still to be looked up.
    pub fn awaited_group(&self) -> Option<GroupMark> {
        self.group_mark.filter(|_| self.filter.group.is_none())
    }

    /// The same without any filter.
    pub fn without_filter(&self) -> Self {
        Self { when: self.when, weight: self.weight, ..Self::default() }
    }

    /// The same for another device: its streams, pools and groups are others.
    pub fn for_other_device(&self) -> Self {
        let all = self.with_group(None);
        Self { filter: FilterData { stream: None, pool: None, ..all.filter }, ..all }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::GroupKind;

    fn scope(when: When, meaning: Meaning) -> ScopeData {
        Selecting { when, ..Selecting::default() }.data(&meaning).scope
    }

    #[test]
    fn words_get_their_meaning() {
        let meaning = Meaning { peak: 7, pin: Some(3), view: Some((AxisKind::Time, 1.0, 2.0)) };
        assert_eq!(scope(When::Peak, meaning), ScopeData::At(7));
        assert_eq!(scope(When::Pin, meaning), ScopeData::At(3));
        assert_eq!(scope(When::Pin, Meaning { pin: None, ..meaning }), ScopeData::At(7));
        let part = PartKind::Born;
        let within = ScopeData::Within { axis: AxisKind::Time, x0: 1.0, x1: 2.0, part };
        assert_eq!(scope(When::View(part), meaning), within);
        let all = ScopeData::Within { axis: AxisKind::Events, x0: 0.0, x1: f64::MAX, part };
        assert_eq!(scope(When::View(part), Meaning { view: None, ..meaning }), all);
    }

    #[test]
    fn another_device_has_other_streams_and_groups() {
        let filter = FilterData { text: "adam".to_owned(), min_bytes: 1, stream: Some(7), ..FilterData::default() };
        let key = GroupKeyData { by: GroupKind::Stack, value: Some((3, 0)) };
        let mark = NameMark::of(["f"]);
        let chosen = Selecting { filter, ..Selecting::default() }.with_group(Some((key, "f".to_owned(), mark)));
        assert_eq!(chosen.group_mark, Some(GroupMark { by: GroupKind::Stack, mark }));
        assert_eq!(chosen.awaited_group(), None);
        assert_eq!(chosen.filter_count(), 2);
        let other = chosen.for_other_device();
        assert_eq!((other.filter_count(), other.filter.text.as_str()), (1, "adam"));
        assert_eq!((other.filter.group, other.group_title.as_str(), other.group_mark), (None, "", None));
        assert_eq!(chosen.without_filter(), Selecting::default());
    }
}
