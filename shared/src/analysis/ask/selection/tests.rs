//! Compares selections and groups with naive ones on random traces.

use super::*;
use crate::analysis::naive;
use crate::analysis::naive::Random;
use crate::analysis::track::allocations::Allocation;
use crate::analysis::track::category::Category;
use crate::analysis::track::spans::{Span, spans};
use crate::analysis::track::stack_title::stack_title;
use crate::analysis::track::timeline::{Axis, Timeline};
use crate::trace::{StackId, Trace, text};
use hashbrown::HashMap;
use std::ops::Range;

/// Random trace with everything that selections need.
struct Sample {
    trace: Trace,
    timeline: Timeline,
    spans: Vec<Span>,
    categories: Vec<Category>,
}

impl Sample {
    fn new(trace: Trace, random: &mut Random) -> Self {
        let timeline = Timeline::new(&trace, &trace.devices[0]);
        let spans = spans(&trace, &trace.devices[0]);
        let categories = timeline.allocations.ids().map(|_| Category::ALL[random.below(10) as usize]).collect();
        Self { trace, timeline, spans, categories }
    }

    fn population(&self) -> Population<'_> {
        let Self { trace, timeline, spans, categories } = self;
        Population { trace, device: &trace.devices[0], timeline, spans, categories }
    }

    /// Returns all allocations of a scope.
    fn all(&self, scope: &Scope) -> Vec<AllocationId> {
        select(&self.population(), scope, &Filter::default())
    }

    fn rows(&self) -> Vec<(AllocationId, Allocation)> {
        let device = &self.trace.devices[0];
        self.timeline.allocations.ids().map(|id| (id, self.timeline.allocations.get(id, device))).collect()
    }
}

fn samples() -> impl Iterator<Item = (Random, Sample)> {
    (0..60).map(|seed| {
        let mut random = Random::new(seed);
        let sample = Sample::new(naive::random_trace(seed, 20 + 5 * seed), &mut random);
        (random, sample)
    })
}

fn random_range(random: &mut Random, timeline: &Timeline) -> Range<u32> {
    let end = u64::from(timeline.events()) + 2;
    let start = random.below(end) as u32;
    start..start + random.below(end) as u32
}

/// Returns true if an allocation is in a scope, by examining every moment.
fn is_of_scope(row: &Allocation, scope: &Scope) -> bool {
    let is_alive = |moment| row.born <= moment && moment < row.died;
    match scope {
        Scope::At(moment) => is_alive(*moment),
        Scope::Within { moments, part } => {
            let is_initial = row.born == 0;
            let is_born = !is_initial && moments.contains(&row.born);
            let is_dying = moments.contains(&row.died);
            let is_meant = match part {
                Part::Any => true,
                Part::Born => is_born,
                Part::Died => is_dying,
                Part::Survived => !is_born && !is_dying,
                Part::BornAndDied => is_born && is_dying,
                Part::BornAndKept => is_born && !is_dying,
            };
            moments.clone().any(is_alive) && is_meant
        }
    }
}

#[test]
fn scopes_agree_with_the_obvious_ones() {
    for (mut random, sample) in samples() {
        let moments = random_range(&mut random, &sample.timeline);
        let within = Part::ALL.map(|part| Scope::Within { moments: moments.clone(), part });
        for scope in within.into_iter().chain([Scope::At(moments.start), Scope::all(&sample.timeline)]) {
            let found = sample.all(&scope);
            let expected: Vec<_> = sample.rows().into_iter().filter(|(_, row)| is_of_scope(row, &scope)).collect();
            assert_eq!(found, expected.iter().map(|(id, _)| *id).collect::<Vec<_>>(), "{scope:?}");
            assert_eq!(scope.count(&sample.timeline), expected.len(), "{scope:?}");
        }
    }
}

#[test]
fn streams_and_pools_are_those_of_each_allocation() {
    for (_, sample) in samples() {
        let (trace, device, allocations) = (&sample.trace, &sample.trace.devices[0], &sample.timeline.allocations);
        let origins = || allocations.ids().map(|id| allocations.origin(id));
        let streams = origins().filter_map(|origin| stream_of(trace, device, origin)).collect();
        let pools = origins().filter_map(|origin| pool_of(trace, device, origin)).collect();
        assert_eq!(streams_and_pools(trace, device, allocations), (streams, pools));
    }
}

#[test]
fn parts_are_all_there_is_once() {
    for (mut random, sample) in samples() {
        let moments = random_range(&mut random, &sample.timeline);
        let of = |part| sample.all(&Scope::Within { moments: moments.clone(), part });
        let born = of(Part::Born);
        let older = of(Part::Died).into_iter().filter(|id| !born.contains(id));
        let mut all: Vec<_> = older.chain(of(Part::Survived)).collect();
        all.extend(of(Part::BornAndDied).into_iter().chain(of(Part::BornAndKept)));
        all.sort_unstable();
        assert_eq!(all, of(Part::Any));
    }
}

fn stack_text(trace: &Trace, stack: StackId) -> Vec<String> {
    let frames = trace.stacks.frames(stack).iter().map(|&id| trace.frames.get(id));
    frames.map(|frame| trace.strings.get(frame.name).to_owned()).collect()
}

#[test]
fn filters_agree_with_the_obvious_ones() {
    for (mut random, sample) in samples() {
        let population = sample.population();
        let name = format!("f{}", random.below(5));
        let sizes = random.below(500)..=random.below(4000);
        let lifetimes = random.below(20) as u32..=20 + random.below(100) as u32;
        let category = Category::ALL[random.below(10) as usize];
        let filter = Filter {
            text: Some(TextFilter::plain(&name)),
            size_bytes: sizes.clone(),
            lifetime_events: lifetimes.clone(),
            categories: Some(vec![category, Category::Unknown]),
            ..Filter::default()
        };
        let is_meant = |(id, row): &(AllocationId, Allocation)| {
            let lifetime = row.died.min(sample.timeline.events() + 1) - row.born;
            let stack = sample.timeline.allocations.allocation_stack(*id, population.device);
            sizes.contains(&row.size_bytes)
                && lifetimes.contains(&lifetime)
                && [category, Category::Unknown].contains(&sample.categories[id.index()])
                && stack_text(&sample.trace, stack).contains(&name)
        };
        let expected: Vec<_> = sample.rows().into_iter().filter(is_meant).map(|(id, _)| id).collect();
        assert_eq!(select(&population, &Scope::all(&sample.timeline), &filter), expected);
    }
}

#[test]
fn weights_agree_with_the_obvious_ones() {
    for (mut random, sample) in samples() {
        let population = sample.population();
        let moments = random_range(&mut random, &sample.timeline);
        let scope = Scope::Within { moments: moments.clone(), part: Part::Any };
        let start_us = |moment: u32| match moment > sample.timeline.events() {
            true => sample.timeline.x_of_moment(population.device, Axis::Time, sample.timeline.events()),
            false => sample.timeline.x_of_moment(population.device, Axis::Time, moment),
        };
        let of = |weight| Weigher::new(&population, &scope, weight);
        let weighers = [Weight::Bytes, Weight::Count, Weight::ByteEvents, Weight::ByteTime].map(of);
        for (id, row) in sample.rows() {
            let moments = moments.start..moments.end.min(sample.timeline.events() + 1);
            let alive: Vec<u32> = moments.filter(|&moment| row.born <= moment && moment < row.died).collect();
            let time_us: f64 = alive.iter().map(|&moment| start_us(moment + 1) - start_us(moment)).sum();
            let expected =
                [row.size_bytes, 1, row.size_bytes * alive.len() as u64, row.size_bytes * time_us as u64 / 1000];
            assert_eq!(weighers.each_ref().map(|weigher| weigher.weigh(id)), expected, "{row:?} in {scope:?}");
        }
    }
}

/// Returns the keys of one allocation as text.
fn keys_of(sample: &Sample, id: AllocationId, by: GroupBy) -> Vec<String> {
    let population = sample.population();
    let allocations = &sample.timeline.allocations;
    let stack = allocations.allocation_stack(id, population.device);
    let names = stack_text(&sample.trace, stack);
    match by {
        GroupBy::Stack => vec![names.join("<")],
        GroupBy::Frame | GroupBy::Function if names.is_empty() => vec![String::new()],
        GroupBy::Frame | GroupBy::Function => names,
        GroupBy::Module => vec![String::new()],
        GroupBy::Category => vec![sample.categories[id.index()].name().to_owned()],
        GroupBy::Stream => vec!["0".to_owned()],
        GroupBy::Pool => vec![String::new()],
        GroupBy::SizeClass => {
            let size_bytes = allocations.get(id, population.device).size_bytes;
            vec![(0..64).rev().find(|&power| size_bytes >> power > 0).unwrap_or(0).to_string()]
        }
    }
}

#[test]
fn groups_agree_with_the_obvious_ones() {
    for (mut random, sample) in samples() {
        let population = sample.population();
        let moments = random_range(&mut random, &sample.timeline);
        let scope = Scope::Within { moments, part: Part::Any };
        let selection = sample.all(&scope);
        let weigher = Weigher::new(&population, &scope, Weight::ByteEvents);
        for by in GroupBy::ALL {
            let mut expected: HashMap<String, (u64, u64, u64)> = HashMap::new();
            for &id in &selection {
                for key in keys_of(&sample, id, by) {
                    let sums = expected.entry(key).or_default();
                    sums.0 += sample.timeline.allocations.get(id, population.device).size_bytes;
                    sums.1 += 1;
                    sums.2 += weigher.weigh(id);
                }
            }
            let mut expected: Vec<_> = expected.into_values().collect();
            let groups = group(&population, &selection, &weigher, by);
            let sums = |totals: Totals| (totals.bytes, totals.count, totals.weight);
            let mut found: Vec<_> = groups.rows.iter().map(|row| sums(row.totals)).collect();
            assert!(found.is_sorted_by(|a, b| a.2 >= b.2), "{by:?}");
            expected.sort_unstable();
            found.sort_unstable();
            assert_eq!(found, expected, "{by:?}");
            assert_eq!(groups.totals, Totals::of(&population, &selection, &weigher));
        }
    }
}

#[test]
fn a_function_that_calls_itself_counts_once() {
    let sample = Sample::new(text::parse("alloc a 8 @f<f<main\nalloc b 1 @g<f").unwrap(), &mut Random::new(1));
    let population = sample.population();
    let scope = Scope::all(&sample.timeline);
    let groups =
        group(&population, &sample.all(&scope), &Weigher::new(&population, &scope, Weight::Count), GroupBy::Frame);
    let found: Vec<_> = groups.rows.iter().map(|row| (row.totals.weight, row.totals.bytes)).collect();
    assert_eq!(found, [(2, 9), (1, 8), (1, 1)]);
}

#[test]
fn a_group_is_a_filter_of_its_own() {
    for (_, sample) in samples() {
        let population = sample.population();
        let scope = Scope::all(&sample.timeline);
        let selection = sample.all(&scope);
        let weigher = Weigher::new(&population, &scope, Weight::Bytes);
        for by in GroupBy::ALL {
            for row in group(&population, &selection, &weigher, by).rows {
                assert_eq!(row.key.by(), by);
                let filter = Filter { group: Some(row.key), ..Filter::default() };
                let of_group = select(&population, &scope, &filter);
                assert_eq!(Totals::of(&population, &of_group, &weigher), row.totals, "{:?}", row.key);
            }
        }
    }
}

#[test]
fn stacks_at_a_moment_are_those_of_the_peak() {
    for (mut random, sample) in samples() {
        let population = sample.population();
        let moment = random.below(u64::from(sample.timeline.events()) + 1) as u32;
        let scope = Scope::At(moment);
        let weigher = Weigher::new(&population, &scope, Weight::Bytes);
        let groups = group(&population, &sample.all(&scope), &weigher, GroupBy::Stack);
        let found: Vec<_> =
            groups.rows.iter().map(|row| (row.key, row.totals.bytes, row.totals.initial_bytes)).collect();
        let expected = crate::analysis::live_by_stack(population.device, &sample.timeline.allocations, moment);
        let expected: Vec<_> =
            expected.iter().map(|row| (GroupKey::Stack(row.stack), row.bytes, row.initial_bytes)).collect();
        assert_eq!(found, expected);
        assert_eq!(groups.totals.bytes, sample.timeline.live_at(moment));
    }
}

/// Checks which allocations a text matches, by the titles of their stacks.
#[track_caller]
fn check_text(text: &TextFilter, expected: &[&str]) {
    let trace = text::parse(
        "
        alloc a 1 @relu@app/Model.py<main t=10
        start load t=20
        alloc b 1 @read t=30
        alloc c 1 t=35
        end load t=40
        alloc d 1 @mm@operator<head@module t=50
        ",
    );
    let sample = Sample::new(trace.unwrap(), &mut Random::new(1));
    let population = Population { categories: &[], ..sample.population() };
    let filter = Filter { text: Some(text.clone()), ..Filter::default() };
    let found = select(&population, &Scope::all(&sample.timeline), &filter);
    let title = |id| stack_title(&sample.trace, sample.timeline.allocations.allocation_stack(id, population.device));
    let found: Vec<_> = found.into_iter().map(|id| title(id).unwrap_or_default()).collect();
    assert_eq!(found, expected);
}

#[test]
fn a_text_is_found_in_names_places_and_spans() {
    check_text(&TextFilter::plain("model.py:1"), &["relu (Model.py:1)"]);
    check_text(&TextFilter::plain("relu (Model"), &["relu (Model.py:1)"]);
    check_text(&TextFilter::plain("load"), &["read (main.py:1)", ""]);
    check_text(&TextFilter::plain("head"), &["head"]);
    check_text(&TextFilter::expression("^(mm|read)$").unwrap(), &["read (main.py:1)", "head"]);
    check_text(&TextFilter::plain("unknown"), &[]);
}
