//! Describes an allocation by its kind and by the events around it.

use super::kind::alike;
use super::ready::Ready;
use super::selection::population;
use frontend::ask::stack::stack_mark;
use frontend::ask::{Around, BandName, GetAround, NearEvent};
use shared::analysis::{
    Allocation, AllocationId, Filter, GroupBy, GroupKey, Population, Scope, Weigher, Weight, group, label,
    recorded_settings, select, stack_callers, stack_labels, stack_title,
};
use shared::base::{StackLabel, StringId};
use shared::report::{Frame, frames};
use shared::trace::{Action, StackId};

/// Number of events before and after an event that are listed.
const NEAR: usize = 3;

/// Maximum number of events that are searched for the start of a free.
const MOST_EVENTS: usize = 1 << 16;

/// Returns what an allocation was for and what happened around it, `None` if there is none at this position.
pub(super) fn around(ready: Ready<'_>, ask: &GetAround) -> Option<Around> {
    let Ready { trace, device, timeline, .. } = ready;
    let id = ready.id(ask.allocation)?;
    let row = timeline.allocations.get(id, device);
    let population = population(ready, true);
    let of_kind = select(&population, &Scope::all(timeline), &alike(ready, id));
    let is_alive = |id: &&AllocationId| ready.is_alive(**id, ask.moment);
    let size = |id: &AllocationId| timeline.allocations.size_bytes_of(*id);
    let died = (row.died != u32::MAX).then_some(row.died);
    Some(Around {
        allocation: ask.allocation,
        category: population.category(id),
        module: module(&population, id),
        rounded_bytes: recorded_settings(trace).ok().map(|settings| settings.block_bytes(row.size_bytes)),
        kind_count: of_kind.len() as u64,
        kind_bytes: of_kind.iter().filter(is_alive).map(size).fold(0, u64::saturating_add),
        is_kind_by_size: !timeline.allocations.allocation_stack(id, device).has_frames(),
        free_frames: died.map(|died| free_frames(ready, &row, died)).unwrap_or_default(),
        near_alloc: row.born.checked_sub(1).map(|event| near(ready, event, id)).unwrap_or_default(),
        near_free: died.and_then(|died| died.checked_sub(1)).map(|event| near(ready, event, id)).unwrap_or_default(),
    })
}

/// Returns the module of an allocation, or an empty text.
fn module(population: &Population<'_>, id: AllocationId) -> String {
    let weigher = Weigher::new(population, &Scope::all(population.timeline), Weight::Bytes);
    let groups = group(population, &[id], &weigher, GroupBy::Module);
    let key = groups.rows.first().map(|row| row.key).filter(|&key| key != GroupKey::Module(StringId::EMPTY));
    key.map(|key| label(population.trace, &groups, key).title).unwrap_or_default()
}

/// Returns the stack of the request that freed an allocation, which may come long before the block is back in its pool.
fn free_frames(ready: Ready<'_>, row: &Allocation, died: u32) -> Vec<Frame> {
    let events = &ready.device.events;
    let last = died.saturating_sub(1) as usize;
    let first = (row.born as usize).max(last.saturating_sub(MOST_EVENTS));
    let is_request =
        |event: &usize| events.actions().at(*event) == Action::FreeRequested && events.addrs().at(*event) == row.addr;
    let requested = (first..=last).rev().find(is_request).filter(|&event| events.stacks().at(event).has_frames());
    frames(ready.trace, events.stacks().at(requested.unwrap_or(last)))
}

/// Returns the allocations and frees around an event, with the event itself.
fn near(ready: Ready<'_>, event: u32, own: AllocationId) -> Vec<NearEvent> {
    let changes = |events: &mut dyn Iterator<Item = usize>| -> Vec<NearEvent> {
        events.filter_map(|event| near_event(ready, event, own)).take(NEAR).collect()
    };
    let event = event as usize;
    let mut before = changes(&mut (event.saturating_sub(MOST_EVENTS)..event).rev());
    before.reverse();
    let after = changes(&mut (event + 1..ready.device.events.len().min(event + MOST_EVENTS)));
    debug_assert!(ready.timeline.allocations.of_event(event).is_some(), "the event begins or ends an allocation");
    before.into_iter().chain(near_event(ready, event, own)).chain(after).collect()
}

/// Describes an event, `None` if no allocation begins or ends with it.
fn near_event(ready: Ready<'_>, event: usize, own: AllocationId) -> Option<NearEvent> {
    let Ready { trace, device, timeline, .. } = ready;
    let id = timeline.allocations.of_event(event)?;
    let row = timeline.allocations.get(id, device);
    Some(NearEvent {
        event: event as u32,
        is_alloc: row.born as usize == event + 1,
        is_own: id == own,
        size_bytes: row.size_bytes,
        title: stack_title(trace, timeline.allocations.allocation_stack(id, device)).unwrap_or_default(),
        key: Some(timeline.allocations.key(id)),
    })
}

/// Names the stacks that hold the most bytes at a moment, without memory from before the trace, which has one pattern.
pub(super) fn band_names(ready: Ready<'_>, moment: u32, limit: u32) -> Vec<BandName> {
    let Ready { trace, device, timeline, .. } = ready;
    let allocations = &timeline.allocations;
    let population = population(ready, false);
    let alive = select(&population, &Scope::At(moment.min(timeline.events())), &Filter::default());
    let weigher = Weigher::new(&population, &Scope::At(moment), Weight::Bytes);
    let groups = group(&population, &alive, &weigher, GroupBy::Stack);
    // Allocations without a stack have many colours.
    let of_rows = groups.rows.iter().filter_map(|row| match row.key {
        GroupKey::Stack(stack) if stack.has_frames() => Some((stack, row.totals.bytes)),
        _ => None,
    });
    let stacks: Vec<(StackId, u64)> = of_rows.take(limit as usize).collect();
    let labels = stack_labels(trace, stacks.iter().map(|&(stack, _)| stack));
    let labels: Vec<StackLabel> = labels.into_iter().map(Option::unwrap_or_default).collect();
    let name = |(&(stack, bytes), label): (&(StackId, u64), &StackLabel)| {
        let is_drawn = |id: &AllocationId| !allocations.is_initial(*id);
        let mut of_stack = alive.iter().copied().filter(|id| allocations.allocation_stack(*id, device) == stack);
        let one = of_stack.find(is_drawn);
        let (lead, rest) = label.split(&labels);
        BandName {
            color: one.map(|id| timeline.color(device, id)),
            lead,
            rest,
            callers: stack_callers(trace, stack),
            bytes,
            stack: stack_mark(&frames(trace, stack)),
        }
    };
    stacks.iter().zip(&labels).map(name).collect()
}
