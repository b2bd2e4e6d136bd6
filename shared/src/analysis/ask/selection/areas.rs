//! Divides the allocations of a device into at most ten named areas and the rest, for a stacked area chart.
//!
//! Named are the groups that reach the most live bytes at any moment; the largest at the live peak is at the bottom.
//!
//! Cost: one label per stack, one number per allocation, and one pass over births and deaths.

use super::Population;
use super::module_names::ModuleNames;
use crate::analysis::track::category::Category;
use crate::analysis::track::picture::{AREAS, AreaBytes};
use crate::analysis::track::stack_title::own_frame;
use crate::analysis::track::timeline::Timeline;
use crate::base::{ShortSort, stack_label};
use crate::trace::{FrameId, StackId, Trace};
use hashbrown::HashMap;
use std::cmp::Reverse;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum AreaBy {
    #[default]
    Category,
    Module,
    /// Function of the user's own code, or else of a library.
    Function,
}

crate::names!(AreaBy { Category => "category", Module => "module", Function => "function" });

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Area {
    pub label: String,
    /// Number by which its colour is chosen, from 1 on; that of a category is the same in every trace.
    pub color: u32,
    pub group: AreaGroup,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AreaGroup {
    Category(Category),
    /// Module by its name; empty for allocations outside of modules.
    Module(String),
    /// Function of a frame; `None` for allocations without a stack.
    Function(Option<FrameId>),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Areas {
    /// Area of each allocation, by its index.
    pub of: Vec<u8>,
    /// Named areas, from the bottom up; the last of all areas has the rest.
    pub named: Vec<Area>,
}

pub const REST_COLOR: u32 = AREAS as u32;

impl Areas {
    pub fn new(population: &Population<'_>, by: AreaBy) -> Self {
        let (groups, of_rows) = match by {
            AreaBy::Category => by_category(population),
            AreaBy::Module | AreaBy::Function => by_stack(population, by),
        };
        let ranked = largest(population.timeline, &of_rows);
        let place: HashMap<u32, u8> = ranked.iter().enumerate().map(|(at, &key)| (key, at as u8)).collect();
        let rest = (AREAS - 1) as u8;
        let of = of_rows.iter().map(|key| place.get(key).copied().unwrap_or(rest)).collect();
        let area = |(rank, &key): (u32, &u32)| {
            let (label, group) = groups[key as usize].clone();
            Area { label, color: if by == AreaBy::Category { key + 1 } else { rank }, group }
        };
        let named = (1..).zip(&ranked).map(area).collect();
        Self { of, named }
    }

    pub fn colors(&self) -> [u32; AREAS] {
        std::array::from_fn(|area| self.named.get(area).map_or(REST_COLOR, |named| named.color))
    }

    pub fn bytes_at(&self, population: &Population<'_>, moment: u32) -> AreaBytes {
        population.timeline.area_bytes(&self.of, moment)
    }
}

#[derive(Clone, Copy, Default)]
struct Course {
    now: u64,
    most: u64,
    /// Bytes at the live peak of the device.
    at_peak: u64,
}

/// Returns the keys that reach the most live bytes, given the key of each allocation.
///
/// They are in the order of their bytes at the live peak, the largest first.
fn largest(timeline: &Timeline, of_rows: &[u32]) -> Vec<u32> {
    let mut courses: HashMap<u32, Course> = HashMap::new();
    let allocations = &timeline.allocations;
    let mut deaths = allocations.deaths().peekable();
    for id in allocations.ids() {
        let born = allocations.born_at(id.index() as u32);
        while let Some((_, dead)) = deaths.next_if(|&(died, _)| died <= born) {
            let course = courses.entry(of_rows[dead.index()]).or_default();
            course.now = course.now.saturating_sub(allocations.size_bytes(dead));
        }
        let course = courses.entry(of_rows[id.index()]).or_default();
        course.now = course.now.saturating_add(allocations.size_bytes(id));
        course.most = course.most.max(course.now);
    }
    for (id, size_bytes) in allocations.alive_at(timeline.live_peak().0) {
        let course = courses.entry(of_rows[id.index()]).or_default();
        course.at_peak = course.at_peak.saturating_add(size_bytes);
    }
    let mut ranked: Vec<(u32, Course)> = courses.into_iter().collect();
    ranked.short_sort_by_key(|&(key, course)| (Reverse(course.most), key));
    ranked.truncate(AREAS - 1);
    ranked.short_sort_by_key(|&(_, course)| Reverse((course.at_peak, course.most)));
    ranked.into_iter().map(|(key, _)| key).collect()
}

/// Labels and groups, and the position of its group for each allocation.
type Grouped = (Vec<(String, AreaGroup)>, Vec<u32>);

fn by_category(population: &Population<'_>) -> Grouped {
    let group = |category: Category| {
        let label = if category == Category::Unknown { "unknown purpose" } else { category.plural() };
        (label.to_owned(), AreaGroup::Category(category))
    };
    let of_rows = population.timeline.allocations.ids().map(|id| population.category(id) as u32);
    (Category::ALL.map(group).to_vec(), of_rows.collect())
}

fn by_stack(population: &Population<'_>, by: AreaBy) -> Grouped {
    let Population { trace, device, timeline, .. } = *population;
    let modules = (by == AreaBy::Module).then(|| ModuleNames::of(trace));
    let group = |stack: StackId| match &modules {
        Some(modules) => module_group(modules.name(modules.of_stack(stack.index()))),
        None => function_group(trace, stack),
    };
    let (mut groups, mut places) = (Vec::new(), HashMap::new());
    let of_stacks = (0..trace.stacks.len()).map(|index| {
        let (label, group) = group(StackId::from_index(index));
        *places.entry(label).or_insert_with_key(|label: &String| {
            groups.push((label.clone(), group));
            groups.len() as u32 - 1
        })
    });
    let of_stacks: Vec<u32> = of_stacks.collect();
    let of = |id| of_stacks.get(timeline.allocations.allocation_stack(id, device).index()).copied().unwrap_or_default();
    let of_rows = timeline.allocations.ids().map(of).collect();
    (groups, of_rows)
}

fn module_group(name: &str) -> (String, AreaGroup) {
    let label = if name.is_empty() { "no module" } else { name };
    (label.to_owned(), AreaGroup::Module(name.to_owned()))
}

/// Returns the function that a stack comes from: the user's own, or else the one that describes the stack best.
fn function_group(trace: &Trace, stack: StackId) -> (String, AreaGroup) {
    let text = |id| trace.strings.get(id);
    let frames = trace.stacks.frames(stack);
    let names = frames.iter().map(|&id| trace.frames.get(id)).map(|frame| (text(frame.name), text(frame.filename)));
    let titled = || stack_label::automatic_position(names).and_then(|position| frames.get(position).copied());
    let Some(id) = own_frame(trace, stack, false).or_else(titled) else {
        return ("no stack recorded".to_owned(), AreaGroup::Function(None));
    };
    let (name, filename) = (text(trace.frames.get(id).name), text(trace.frames.get(id).filename));
    let file = filename.rsplit(['/', '\\']).next().filter(|file| !file.is_empty() && *file != "??");
    let label = file.map_or_else(|| name.to_owned(), |file| format!("{name} ({file})"));
    (label, AreaGroup::Function(Some(id)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;

    #[track_caller]
    fn check(lines: &str, by: AreaBy, expected: &[(&str, u64)], rest_bytes: u64) {
        let sample = Sample::of(lines);
        let areas = Areas::new(&sample.population(), by);
        let bytes = areas.bytes_at(&sample.population(), sample.timeline.live_peak().0);
        let found: Vec<_> = areas.named.iter().map(|area| area.label.as_str()).zip(bytes).collect();
        assert_eq!((found.as_slice(), bytes[AREAS - 1]), (expected, rest_bytes));
        assert_eq!(areas.of.len(), sample.allocations().len());
    }

    const LINES: &str = "alloc a 100 @relu<main\nalloc b 300 @norm<main\nalloc c 50\nalloc d 20 @relu<main\nfree c\n";

    #[test]
    fn the_largest_at_the_peak_is_at_the_bottom() {
        check(LINES, AreaBy::Category, &[("unknown purpose", 470)], 0);
        let sample = Sample::of(LINES);
        let areas = Areas::new(&sample.population(), AreaBy::Function);
        assert_eq!(areas.bytes_at(&sample.population(), 4)[..3], [300, 120, 50]);
        assert_eq!(areas.named[2].label, "no stack recorded");
        assert_eq!(areas.colors()[..4], [1, 2, 3, REST_COLOR]);
    }

    #[test]
    fn a_group_that_is_large_only_away_from_the_peak_has_a_name() {
        let lines: String = (1..=11).map(|number| format!("alloc n{number} 20 @f{number}\n")).collect();
        let frees: String = (1..=11).map(|number| format!("free n{number}\n")).collect();
        let sample = Sample::of(&format!("{lines}{frees}alloc late 150 @late\n"));
        let areas = Areas::new(&sample.population(), AreaBy::Function);
        assert_eq!(
            areas.named.last().map(|area| area.label.as_str()),
            Some("late (main.py)"),
            "the last from the bottom up"
        );
        assert_eq!(areas.bytes_at(&sample.population(), sample.timeline.events())[9], 150);
    }

    #[test]
    fn at_most_ten_have_names() {
        let lines: String = (1..=13).map(|number| format!("alloc n{number} {number} @f{number}\n")).collect();
        let sample = Sample::of(&lines);
        let areas = Areas::new(&sample.population(), AreaBy::Function);
        let bytes = areas.bytes_at(&sample.population(), 13);
        assert_eq!((areas.named.len(), bytes), (10, [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 1 + 2 + 3]));
    }
}
