//! Finds the names that annotations, and the metadata of our recorder, give to allocations.
//!
//! The Python package puts names into the snapshot in the forms in which PyTorch records texts of users: as the
//! metadata of the event that allocated the memory (since 2.10), or as an `annotate` event at the end (since 2.14). So
//! they need no second file, and other viewers show them.
//! A name that begins as the package's do states a purpose or a holder; names that contradict each other state nothing.

use crate::analysis::track::allocations::{AllocationId, Allocations, Origin};
use crate::analysis::track::category::Category;
use crate::base::frame_rules::ALL_HOOKED;
use crate::base::{ShortSort, StringId};
use crate::trace::{Action, Device, Trace};
use hashbrown::HashMap;

/// Name of an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    pub allocation: AllocationId,
    /// Text of the annotation, or metadata of the event that allocated it.
    pub text: StringId,
    /// Purpose that the text states, as those of our recorder do: `gradient fc.weight`.
    pub category: Option<Category>,
}

/// Names of a device's allocations; an allocation has several if it consists of several tensors.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Names {
    /// Ordered by allocation, without repetitions.
    names: Vec<Name>,
}

impl Names {
    /// Collects the names.
    ///
    /// An annotation names the allocation that is alive at its address. The metadata of an `alloc` event is a name only
    /// if it states a purpose or a holder: users attach other texts to everything that a part of their program allocates.
    pub fn of(trace: &Trace, device: &Device, allocations: &Allocations) -> Self {
        let mut annotations: HashMap<u64, Vec<(u32, StringId)>> = HashMap::new();
        for (event, _) in device.events.actions().iter().enumerate().filter(|row| row.1 == Action::Annotate) {
            let text = trace.contexts.get(device.events.contexts().at(event)).user_metadata;
            if text != StringId::EMPTY {
                annotations.entry(device.events.addrs().at(event)).or_default().push((event as u32, text));
            }
        }
        let stated: Vec<Option<StringId>> =
            trace.contexts.iter().map(|context| stated(trace, context.user_metadata)).collect();
        let has_stated = stated.iter().any(Option::is_some);
        if annotations.is_empty() && !has_stated {
            return Self::default();
        }
        let name = |allocation, text| Name { allocation, text, category: stated_category(trace.strings.get(text)) };
        let mut names = Vec::new();
        for id in allocations.ids() {
            if let (true, Origin::Event(event)) = (has_stated, allocations.origin(id))
                && let Some(text) = stated[device.events.contexts().at(event).index()]
            {
                names.push(name(id, text));
            }
            let allocation = allocations.get(id, device);
            let Some(of_addr) = annotations.get(&allocation.addr) else { continue };
            let of_allocation = of_addr.iter().filter(|row| (allocation.born..allocation.died).contains(&row.0));
            names.extend(of_allocation.map(|&(_, text)| name(id, text)));
        }
        names.short_sort_by(Ord::cmp);
        names.dedup();
        Self { names }
    }

    pub fn iter(&self) -> impl Iterator<Item = Name> + '_ {
        self.names.iter().copied()
    }

    pub fn of_allocation(&self, id: AllocationId) -> &[Name] {
        let start = self.names.partition_point(|name| name.allocation < id);
        let count = self.names[start..].partition_point(|name| name.allocation == id);
        &self.names[start..start + count]
    }

    /// Iterates over the names of each named allocation.
    pub fn by_allocation(&self) -> impl Iterator<Item = (AllocationId, &[Name])> {
        let rows = self.names.chunk_by(|a, b| a.allocation == b.allocation);
        rows.map(|names| (names[0].allocation, names))
    }
}

/// Returns the text if it states a purpose or a holder.
fn stated(trace: &Trace, id: StringId) -> Option<StringId> {
    let text = trace.strings.get(id);
    (stated_category(text).is_some() || stated_holder(text).is_some()).then_some(id)
}

/// Returns the purpose that a text states with its first word, as the recorder writes it.
fn stated_category(text: &str) -> Option<Category> {
    let (kind, _) = text.split_once(' ')?;
    match kind {
        "parameter" | "buffer" => Some(Category::Parameter),
        "gradient" => Some(Category::Gradient),
        "optimizer" => Some(Category::OptimizerState),
        _ => None,
    }
}

/// Returns what an annotation of the recorder says without anybody's names; `None` if nothing is left.
pub fn without_names(text: &str) -> Option<String> {
    if text == ALL_HOOKED {
        return Some(text.to_owned());
    }
    stated_category(text)?;
    let (kind, _) = text.split_once(' ')?;
    Some(format!("{kind} without its name"))
}

/// Holder of a tensor's memory, as the recorder states it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatedHolder<'a> {
    /// Path to the tensor, such as `trainer (local of train, train.py).losses[…]`.
    pub path: &'a str,
    /// True if the tensor leads to an autograd graph, which it keeps in memory.
    pub has_graph: bool,
}

pub fn stated_holder(text: &str) -> Option<StatedHolder<'_>> {
    let rest = text.strip_prefix("held ")?;
    let (rest, has_graph) = rest.strip_prefix("with its graph ").map_or((rest, false), |rest| (rest, true));
    Some(StatedHolder { path: rest.strip_prefix("by ")?, has_graph })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    /// Returns each name as `allocation: text`.
    fn names(trace: &Trace) -> Vec<String> {
        let device = &trace.devices[0];
        let names = Names::of(trace, device, &Allocations::pair(device));
        names.iter().map(|name| format!("{}: {}", name.allocation.0, trace.strings.get(name.text))).collect()
    }

    #[test]
    fn an_annotation_names_what_is_alive_at_its_address() {
        let trace = text::parse(
            "
            annotate 0x1000 1KiB note=before
            alloc 0x1000 1KiB
            annotate 0x1000 1KiB note=first
            free 0x1000
            annotate 0x1000 1KiB note=between
            alloc 0x1000 2KiB
            annotate 0x1000 2KiB note=second
            annotate 0x1200 2KiB note=inside
            annotate 0x1000 2KiB note=second
            annotate 0x1000 2KiB note=third
            annotate w 1KiB note=parameter/fc.weight
            segment S 1MiB
            block w 1KiB
            ",
        );
        assert_eq!(names(&trace.unwrap()), ["0: parameter fc.weight", "1: first", "2: second", "2: third"]);
    }

    #[test]
    fn metadata_is_a_name_if_it_says_what_memory_is_for() {
        let source =
            "alloc a 1 note=epoch/3\nalloc b 1 note=gradient/fc.weight\nalloc c 1 note=held/by/losses[…]\nfree b";
        assert_eq!(names(&text::parse(source).unwrap()), ["1: gradient fc.weight", "2: held by losses[…]"]);
    }

    #[test]
    fn names_of_an_allocation_are_found() {
        let trace =
            text::parse("alloc a 1\nalloc b 1\nannotate a note=x\nannotate a note=y\nannotate b note=z").unwrap();
        let device = &trace.devices[0];
        let names = Names::of(&trace, device, &Allocations::pair(device));
        for (row, expected) in [(0, &["x", "y"][..]), (1, &["z"]), (2, &[])] {
            let found = names.of_allocation(AllocationId(row)).iter().map(|name| trace.strings.get(name.text));
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
        assert_eq!(names.by_allocation().map(|(id, names)| (id.0, names.len())).collect::<Vec<_>>(), [(0, 2), (1, 1)]);
    }

    #[test]
    fn a_purpose_is_nobodys_name() {
        let alone = "gradient without its name";
        for (text, expected) in [("gradient fc.weight", Some(alone)), (alone, Some(alone)), ("held by x", None)] {
            assert_eq!(without_names(text).as_deref(), expected, "{text}");
        }
        assert_eq!(without_names(ALL_HOOKED).as_deref(), Some(ALL_HOOKED));
        assert_eq!(stated_category(alone), Some(Category::Gradient));
    }

    #[test]
    fn a_holder_is_read() {
        let holder = |path, has_graph| Some(StatedHolder { path, has_graph });
        assert_eq!(stated_holder("held by cache[…]"), holder("cache[…]", false));
        assert_eq!(stated_holder("held with its graph by losses[…]"), holder("losses[…]", true));
        assert_eq!(
            (stated_holder("held by"), stated_holder("upheld by x"), stated_holder("held off")),
            (None, None, None)
        );
    }

    #[test]
    fn the_first_word_states_the_purpose() {
        let cases = [
            ("parameter fc.weight", Some(Category::Parameter)),
            ("buffer bn.running_mean", Some(Category::Parameter)),
            ("gradient fc.weight", Some(Category::Gradient)),
            ("optimizer fc.weight.exp_avg", Some(Category::OptimizerState)),
            ("gradient", None),
            ("my gradient fc", None),
        ];
        for (text, expected) in cases {
            assert_eq!(stated_category(text), expected, "{text}");
        }
    }
}
