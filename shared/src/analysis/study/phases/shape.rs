//! Infers phases from the shape of the curve of live bytes, if no frames identify them.
//!
//! Idea: backward consumes what forward keeps, so that the bytes of temporary allocations rise and fall in one hill per
//! pass. Allocations with the size of a weight are not part of a hill: gradients accumulate while it falls, and
//! optimizers create copies and state between hills.
//!
//! ```text
//! temporary bytes         /\    /\        /\    /\
//!                        /  \  /  \      /  \  /  \
//! size of a weight     ....ggg...ggg ooo...ggg...ggg ooo
//! phases               ffffBBBfffBBB OOOfffBBBfffBBB OOO
//! ```
//!
//! Cost: linear in events and allocations, except for one sort of the allocations that are alive at the highest moment.

mod hills;

use super::frames::Phase;
use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::category::WORKSPACES_BYTES;
use crate::analysis::track::curve::sums;
use crate::analysis::track::pairing::NEVER;
use crate::base::ShortSort;
use crate::trace::Device;
use hashbrown::HashSet;
use hills::Hill;
use std::ops::Range;

/// The model is complete after 16 consecutive allocations that are freed again.
const MOST_BESIDE_SETUP: usize = 16;

/// A lifetime shapes a hill if it is at least 1/4 as long as a pass; shorter ones lie within a layer.
const LEAST_LASTING: u32 = 4;

/// The longest lifetimes that hold 1/20 of the highest bytes are ignored when the length of a pass is measured.
const LONGEST: u64 = 20;

/// A fall belongs to backward only if it exceeds 1/200 of the whole fall after the top, unless it reaches the lowest
/// bytes.
const LEFT: u64 = 200;

/// Maximum size of a single number, such as a loss; backward begins with the gradient of the loss.
const NUMBER_BYTES: u64 = 8;

/// The gradient of a loss is among the 3 allocations after it.
const MOST_BESIDE_LOSS: usize = 3;

/// At least this many allocations between two hills that are not the optimizer's are an evaluation.
const LEAST_OF_EVALUATION: usize = 16;

/// More than 4 consecutive frees of weight-sized memory free gradients; more than 4 copies of weights are an
/// optimizer's.
const LEAST_OF_MASS: usize = 4;

/// Maximum number of allocations of a batch.
const MOST_OF_DATA: usize = 4;

/// Returns the runs of phases of a device, or none if no bytes rise and fall as in a training pass.
pub(super) fn runs(device: &Device, allocations: &Allocations) -> Vec<(u32, Phase)> {
    let shapes = Shapes::of(device.events.len() as u32, allocations);
    let passing = shapes.curve(0);
    let lasting_len = shapes.pass_len(&passing) / LEAST_LASTING;
    let hills = hills::of(&shapes.curve(lasting_len));
    if hills.is_empty() {
        return Vec::new();
    }
    let mut runs = Runs::default();
    runs.push(shapes.setup_end, Phase::Setup);
    let mut start = shapes.setup_end;
    for (index, hill) in hills.iter().enumerate() {
        let turn = shapes.turn(hill, lasting_len);
        let next = hills.get(index + 1).map_or(shapes.events, |next| next.foot);
        let over = backward_end(&passing, hill, next);
        runs.push(shapes.data_end(start, over, lasting_len), Phase::Data);
        runs.push(turn, Phase::Forward);
        runs.push(over, Phase::Backward);
        start = shapes.between(over..next, index + 1 == hills.len(), &mut runs);
    }
    runs.0
}

/// Runs of phases, each with its last moment.
#[derive(Default)]
struct Runs(Vec<(u32, Phase)>);

impl Runs {
    /// Appends a run that ends at a moment, unless it would be empty.
    fn push(&mut self, end: u32, phase: Phase) {
        match self.0.last_mut() {
            Some(last) if last.0 >= end => {}
            Some(last) if last.1 == phase => last.0 = end,
            _ if end == 0 => {}
            _ => self.0.push((end, phase)),
        }
    }
}

/// Returns the moment at which the backward of a hill ends.
///
/// A loss and an output may remain until the next pass replaces them. The curve then has its last falls close together,
/// long after backward, and the longest interval without a fall belongs to the optimizer.
fn backward_end(passing: &[u64], hill: &Hill, next: u32) -> u32 {
    let after = &passing[hill.top.end as usize..=next as usize];
    let base = after.iter().copied().min().unwrap_or(0);
    let highest = after.first().copied().unwrap_or(0);
    let least = (highest - base) / LEFT;
    let mut falls: Vec<u32> = vec![hill.top.end];
    let mut lowest = highest;
    for (position, &bytes) in after.iter().enumerate() {
        if bytes + least < lowest || bytes == base && bytes < lowest {
            lowest = bytes;
            falls.push(hill.top.end + position as u32);
        }
    }
    let longest = (1..falls.len()).max_by_key(|&index| falls[index] - falls[index - 1]).unwrap_or(0);
    let last = falls[falls.len() - 1];
    let is_late = longest > 1 && last - falls[longest] < falls[longest] - falls[longest - 1];
    if is_late { falls[longest - 1] } else { last }
}

/// Marks the rows that have the size of a weight and are freed among many such rows.
///
/// Nothing is allocated between these frees.
fn going_with_others(allocations: &Allocations, weights: &HashSet<u64>) -> Vec<bool> {
    let mut goes = vec![false; allocations.len()];
    let is_weight = |row: u32| weights.contains(&allocations.size_bytes[row as usize]);
    let died = |row: u32| allocations.died[row as usize];
    let is_together =
        |one: &u32, next: &u32| is_weight(*next) && allocations.born_by(died(*one)) == allocations.born_by(died(*next));
    for rows in allocations.deaths.chunk_by(is_together) {
        if rows.len() > LEAST_OF_MASS {
            // The first row belongs to the chunk whatever its size.
            rows.iter().filter(|&&row| is_weight(row)).for_each(|&row| goes[row as usize] = true);
        }
    }
    goes
}

/// Lifetimes of a device, and what their sizes indicate.
struct Shapes<'a> {
    allocations: &'a Allocations,
    events: u32,
    /// Moment after which the model is complete.
    setup_end: u32,
    /// Sizes of allocations that are made before the first pass and are never freed.
    weights: HashSet<u64>,
    /// True for rows that have the size of a weight and are freed among many such rows.
    goes_with_others: Vec<bool>,
}

impl<'a> Shapes<'a> {
    fn of(events: u32, allocations: &'a Allocations) -> Self {
        let first = allocations.initial_count();
        let stays = |row: usize| allocations.died[row] == NEVER;
        let is_workspace = |row: usize| WORKSPACES_BYTES.contains(&allocations.size_bytes[row]);
        let mut setup = 0;
        for position in 0..allocations.len() - first {
            let row = first + position;
            // Libraries allocate their workspaces during the first operations of a pass, not while the model is built.
            if stays(row) && !(is_workspace(row) && position > setup) {
                setup = position + 1;
            } else if position + 1 >= setup + MOST_BESIDE_SETUP {
                break;
            }
        }
        let older = (0..first + setup).filter(|&row| stays(row));
        let weights = older.map(|row| allocations.size_bytes[row]).collect();
        let setup_end = if setup == 0 { 0 } else { allocations.born_at((first + setup - 1) as u32) };
        let goes_with_others = going_with_others(allocations, &weights);
        Self { allocations, events, setup_end, weights, goes_with_others }
    }

    /// Iterates over the temporary rows after the set-up, without gradients, which have sizes of weights and are freed
    /// together.
    fn passing(&self) -> impl Iterator<Item = usize> + '_ {
        let first = self.allocations.born_by(self.setup_end).max(self.allocations.initial) as usize;
        let rows = first..self.allocations.len();
        rows.filter(|&row| self.allocations.died[row] <= self.events && !self.goes_with_others[row])
    }

    fn is_weight(&self, row: usize) -> bool {
        self.weights.contains(&self.allocations.size_bytes[row])
    }

    fn born(&self, row: usize) -> u32 {
        self.allocations.born_at(row as u32)
    }

    /// Returns the bytes of temporary allocations at every moment, counting only lifetimes of at least `least` events.
    fn curve(&self, least: u32) -> Vec<u64> {
        let mut changes = vec![0_i64; self.events as usize + 1];
        for row in self.passing().filter(|&row| self.allocations.died[row] - self.born(row) >= least) {
            changes[self.born(row) as usize] += self.allocations.size_bytes[row] as i64;
            changes[self.allocations.died[row] as usize] -= self.allocations.size_bytes[row] as i64;
        }
        sums(changes)
    }

    /// Estimates the number of events of a pass: at its top, most of what is alive has been alive since its start.
    fn pass_len(&self, passing: &[u64]) -> u32 {
        let highest = (0..passing.len()).max_by_key(|&moment| passing[moment]).unwrap_or(0) as u32;
        let is_alive = |&row: &usize| self.born(row) <= highest && highest < self.allocations.died[row];
        let mut alive: Vec<(u32, u64)> = self
            .passing()
            .filter(is_alive)
            .map(|row| (self.allocations.died[row] - self.born(row), self.allocations.size_bytes[row]))
            .collect();
        alive.short_sort_by(|one, other| other.cmp(one));
        let mut bytes = 0_u64;
        let is_reached = |&&(_, size_bytes): &&(u32, u64)| {
            bytes = bytes.saturating_add(size_bytes);
            bytes.saturating_mul(LONGEST) >= passing[highest as usize]
        };
        alive.iter().find(is_reached).map_or(0, |&(len, _)| len)
    }

    /// Returns the moment at which forward turns into backward: before the gradient of the loss, or else the middle of
    /// the top.
    ///
    /// A loss is a single number that remains alive for a while; its gradient is a single number among the next
    /// allocations.
    fn turn(&self, hill: &Hill, lasting_len: u32) -> u32 {
        let mut rows = self.born_in(hill.top.clone()).rev();
        let stays = |row: usize| self.allocations.died[row].saturating_sub(self.born(row)) >= lasting_len;
        let Some(loss) = rows.find(|&row| self.is_number(row) && stays(row)) else {
            return hill.top.start.midpoint(hill.top.end);
        };
        let next = (loss + 1..self.allocations.len()).take(MOST_BESIDE_LOSS).rev().find(|&row| self.is_number(row));
        self.born(next.unwrap_or(loss)) - 1
    }

    fn is_number(&self, row: usize) -> bool {
        self.allocations.size_bytes[row] <= NUMBER_BYTES
    }

    /// Returns the rows born after the start of a range of moments, up to and including its end.
    fn born_in(&self, moments: Range<u32>) -> Range<usize> {
        let by = |moment| self.allocations.born_by(moment) as usize;
        by(moments.start)..by(moments.end)
    }

    /// Returns the moment at which the batch of a forward pass is complete: its first allocations that outlive
    /// backward.
    fn data_end(&self, start: u32, over: u32, lasting_len: u32) -> u32 {
        let is_data = |&row: &usize| {
            let died = self.allocations.died[row];
            !self.is_weight(row) && died >= over && died - self.born(row) >= lasting_len
        };
        let data = self.born_in(start..over).take(MOST_OF_DATA).take_while(is_data).last();
        data.map_or(start, |row| self.born(row))
    }

    /// Adds the runs between two hills, and returns the moment at which the next pass begins with its batch.
    fn between(&self, moments: Range<u32>, is_last: bool, runs: &mut Runs) -> u32 {
        let rows = self.born_in(moments.clone());
        let mut copies = rows.clone().rev().filter(|&row| self.is_weight(row) && !self.is_number(row));
        let update = copies.next().filter(|_| copies.count() >= LEAST_OF_MASS);
        let updated = update.map_or(moments.start, |row| self.born(row));
        let rest = update.map_or(rows.start, |row| row + 1)..rows.end;
        let others = rest.clone().filter(|&row| !self.is_number(row)).count();
        // A batch replaces the one before, or waits for the pass that reads it.
        let outlives = |&row: &usize| self.allocations.died[row] > moments.end && !self.is_number(row);
        let data = if is_last { 0 } else { rest.clone().rev().take(MOST_OF_DATA).take_while(outlives).count() };
        let data_start = match data {
            0 => moments.end,
            _ => self.born(rows.end - data) - 1,
        };
        if update.is_some() {
            runs.push(if others >= LEAST_OF_EVALUATION { updated } else { data_start }, Phase::Optimizer);
        }
        let last = if others >= LEAST_OF_EVALUATION { Phase::Evaluation } else { Phase::Backward };
        runs.push(data_start, if update.is_some() && last == Phase::Backward { Phase::Optimizer } else { last });
        data_start
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::study::phases::{PhaseBasis, Phases};
    use crate::analysis::track::allocations::Allocations;
    use crate::trace::text;

    /// Number of layers of a small model; each has a weight of a different size.
    const LAYERS: usize = 8;

    fn lines(layers: impl Iterator<Item = usize>, line: impl Fn(usize) -> String) -> String {
        layers.map(|layer| line(layer) + "\n").collect()
    }

    /// Returns one pass: activations are allocated, then a loss, then gradients while activations are freed.
    fn pass(name: &str) -> String {
        let forward = lines(0..LAYERS, |layer| {
            format!("alloc a{layer}.{name} 100KiB\nalloc t{layer}.{name} 90KiB\nfree t{layer}.{name}")
        });
        let loss = format!("alloc l.{name} 4\nalloc one.{name} 4\n");
        let backward = lines((0..LAYERS).rev(), |layer| {
            format!(
                "alloc g{layer}.{name} {}KiB\nalloc d{layer}.{name} 80KiB\nfree a{layer}.{name}\nfree d{layer}.{name}",
                10 + layer
            )
        });
        forward + &loss + &backward + &format!("free one.{name}\nfree l.{name}\n")
    }

    fn update(names: &[&str], step: usize) -> String {
        let state = if step == 0 {
            lines(0..LAYERS, |layer| format!("alloc s{layer} {}KiB", 10 + layer))
        } else {
            String::new()
        };
        let copies = lines(0..LAYERS, |layer| format!("alloc c{layer}.{step} {}KiB", 10 + layer));
        let freed = lines(0..LAYERS, |layer| format!("free c{layer}.{step}"));
        let gradients = |name: &&str| lines(0..LAYERS, |layer| format!("free g{layer}.{name}"));
        state + &copies + &freed + &names.iter().map(gradients).collect::<String>()
    }

    /// Checks the phases of a trace without frames, written as the first letter of each run's phase.
    #[track_caller]
    fn check(passes: &str, runs: &str) {
        let weights = lines(0..LAYERS, |layer| format!("alloc w{layer} {}KiB", 10 + layer));
        let trace = text::parse(&(weights + passes)).unwrap();
        let device = &trace.devices[0];
        let phases = Phases::find(&trace, device, &Allocations::pair(device));
        assert_eq!(phases.basis(), PhaseBasis::Curve);
        let letters = phases.runs().iter().map(|run| format!("{:?}", run.1).remove(0));
        assert_eq!(letters.collect::<String>(), runs);
    }

    #[test]
    fn a_hill_is_a_pass_and_copies_of_weights_an_update() {
        let step = |step: usize| pass(&step.to_string()) + &update(&[&step.to_string()], step);
        check(&(0..3).map(step).collect::<String>(), "SFBOFBOFBO");
    }

    #[test]
    fn several_hills_come_before_an_update() {
        let step = |step: usize| {
            let names = [format!("{step}x"), format!("{step}y")];
            names.iter().map(|name| pass(name)).collect::<String>() + &update(&[&names[0], &names[1]], step)
        };
        check(&(0..2).map(step).collect::<String>(), "SFBFBOFBFBO");
    }

    #[test]
    fn without_hills_nothing_is_told() {
        check("alloc a 1KiB\n", "");
    }
}
