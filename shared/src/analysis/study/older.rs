//! Recognises weights, gradients and optimizer state from before the trace by their sizes.
//!
//! Idea: a weight is as large as its gradient, and so is each state that an optimizer keeps for it. The sizes of the
//! gradients, counted, are therefore the shape of the model, and memory from before the trace contains that shape once
//! for the weights and once for each gradient and state. Where the trace has no backward, the shape follows from the
//! blocks themselves:
//!
//! ```text
//! size      blocks         a model of 32 layers: 2 embeddings, 128 projections, 96 feed-forward weights, 65 norms
//! 100 MiB        8  = 4 ×  2
//!  25 MiB      512  = 4 ×128   all counts are multiples of 4, and 2, 128, 96, 65 have no common divisor:
//! 100 KiB      384  = 4 × 96   the model is there four times, as weights, gradients and two states of Adam
//!  10 KiB      260  = 4 × 65
//! ```
//!
//! This does not tell which of several blocks of a size is the weight, but it does tell how many bytes the weights
//! have. Blocks that live longer are taken first, since weights outlive what is computed for them.
//!
//! Cost: linear in the allocations.

use crate::analysis::study::flat_buffers::most_gradients;
use crate::analysis::study::phases::{Phase, Phases};
use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::category::Category;
use crate::analysis::track::pairing::NEVER;
use hashbrown::HashMap;

/// States of a weight's size that an optimizer keeps at most, as AdamW does.
const MOST_STATES: usize = 2;

/// Copies of a model in memory at most: weights, gradients and the states.
const MOST_COPIES: usize = 2 + MOST_STATES;

/// Fewer sizes than this can have counts with a common divisor by chance.
const LEAST_SIZES: usize = 3;

/// At most 1/20 of the bytes may have a count that is no multiple of the number of copies.
const LEAST_MATCHED: u64 = 20;

/// Assigns a category to allocations from before the trace that have none.
pub(in crate::analysis) fn mark(allocations: &Allocations, phases: &Phases, categories: &mut [Category]) {
    match gradients_by_size(allocations, categories) {
        Some(shape) => mark_by_gradients(allocations, &shape, categories),
        None if keeps_graph(allocations, categories) => mark_by_counts(allocations, categories),
        None => {}
    }
    mark_saved_for_backward(allocations, phases, categories);
}

/// Sizes of the gradients of a trace.
struct Gradients {
    /// Number of gradients of each size at the moment of the most gradients.
    counts: HashMap<u64, usize>,
    /// Moment of the first gradient of the trace.
    first: u32,
}

fn gradients_by_size(allocations: &Allocations, categories: &[Category]) -> Option<Gradients> {
    let is_gradient = |row: usize| categories[row] == Category::Gradient;
    let first = (allocations.initial_count()..allocations.len()).find(|&row| is_gradient(row))?;
    let (moment, _) = most_gradients(allocations, categories);
    let mut counts: HashMap<u64, usize> = HashMap::new();
    let alive = allocations.alive_at(moment).filter(|(id, _)| is_gradient(id.index()));
    alive.for_each(|(_, size_bytes)| *counts.entry(size_bytes).or_default() += 1);
    Some(Gradients { counts, first: allocations.born_at(first as u32) })
}

/// Assigns as many blocks of a size as there are gradients to the weights, and up to twice as many to state.
///
/// What was freed before the first gradient of the trace was a gradient of the step before (`zero_grad`).
fn mark_by_gradients(allocations: &Allocations, gradients: &Gradients, categories: &mut [Category]) {
    let mut seen: HashMap<(u64, bool), usize> = HashMap::new();
    for row in unknown(allocations, categories) {
        let size_bytes = allocations.size_bytes[row];
        let count = gradients.counts.get(&size_bytes).copied().unwrap_or(0);
        let is_early = allocations.died[row] <= gradients.first;
        let seen = seen.entry((size_bytes, is_early)).or_default();
        *seen += 1;
        categories[row] = match (is_early, *seen) {
            (true, seen) if seen <= count => Category::Gradient,
            (false, seen) if seen <= count => Category::Parameter,
            (false, seen) if seen <= count * (1 + MOST_STATES) => Category::OptimizerState,
            _ => continue,
        };
    }
}

/// Returns true if most of what the trace itself allocated and holds at the peak is kept for a backward.
///
/// Without that, memory from before the trace may be a cache of an inference instead of a model.
fn keeps_graph(allocations: &Allocations, categories: &[Category]) -> bool {
    let (mut kept, mut most) = ((0_u64, 0_u64), 0);
    let mut deaths = allocations.deaths.iter().map(|&row| row as usize).peekable();
    let (mut live, mut activations) = (0_u64, 0_u64);
    let bytes_of = |row: usize| (allocations.size_bytes[row], categories[row] == Category::Activation);
    for row in allocations.initial_count()..allocations.len() {
        while let Some(dead) = deaths.next_if(|&dead| allocations.died[dead] <= allocations.born_at(row as u32)) {
            if dead >= allocations.initial_count() {
                let (bytes, is_activation) = bytes_of(dead);
                live = live.saturating_sub(bytes);
                activations = activations.saturating_sub(if is_activation { bytes } else { 0 });
            }
        }
        let (bytes, is_activation) = bytes_of(row);
        live = live.saturating_add(bytes);
        activations = activations.saturating_add(if is_activation { bytes } else { 0 });
        if live > most {
            (kept, most) = ((activations, live), live);
        }
    }
    kept.0 > kept.1 / 2
}

/// Assigns the blocks that outlive the trace to as many copies of a model as their counts show.
fn mark_by_counts(allocations: &Allocations, categories: &mut [Category]) {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    let lasting = |row: &usize| allocations.died[*row] == NEVER;
    let rows: Vec<usize> = unknown(allocations, categories).into_iter().filter(lasting).collect();
    rows.iter().for_each(|&row| *counts.entry(allocations.size_bytes[row]).or_default() += 1);
    let Some(copies) = copies(&counts) else { return };
    let mut seen: HashMap<u64, usize> = HashMap::new();
    for row in rows {
        let size_bytes = allocations.size_bytes[row];
        let count = counts[&size_bytes];
        let seen = seen.entry(size_bytes).or_default();
        let copy = if count.is_multiple_of(copies) { *seen / (count / copies) } else { continue };
        *seen += 1;
        categories[row] = match (copies, copy) {
            (_, 0) => Category::Parameter,
            (3, _) | (MOST_COPIES, 1 | 2) => Category::OptimizerState,
            (MOST_COPIES, _) => Category::Gradient,
            // Gradients, or the state of an optimizer that has one.
            _ => continue,
        };
    }
}

/// Returns the number of copies of a model, from the number of blocks of each size; `None` if it is not certain.
fn copies(counts: &HashMap<u64, usize>) -> Option<usize> {
    let bytes = |row: (&u64, &usize)| row.0.saturating_mul(*row.1 as u64);
    let all_bytes = counts.iter().map(bytes).fold(0, u64::saturating_add);
    let is_copied = |copies: usize| {
        let matched = || counts.iter().filter(|row| row.1 % copies == 0);
        let matched_bytes = matched().map(bytes).fold(0, u64::saturating_add);
        let repeated = counts.values().filter(|count| **count >= 2 * copies);
        matched().count() >= LEAST_SIZES
            && (all_bytes - matched_bytes) <= all_bytes / LEAST_MATCHED
            && repeated.clone().all(|count| count % copies == 0)
            && matched().map(|row| row.1 / copies).fold(0, gcd) == 1
            && matched().any(|row| Some(row.1) != matched().next().map(|row| row.1))
    };
    if counts.len() < LEAST_SIZES || has_master_weights(counts) {
        return None;
    }
    Some((2..=MOST_COPIES).rev().find(|&copies| is_copied(copies)).unwrap_or(1))
}

/// Returns true if most sizes also occur doubled and at least twice as often: 32-bit copies and states of 16-bit weights.
fn has_master_weights(counts: &HashMap<u64, usize>) -> bool {
    let is_doubled = |(size_bytes, count): &(&u64, &usize)| {
        counts.get(&size_bytes.saturating_mul(2)).is_some_and(|doubled| doubled / 2 >= **count)
    };
    counts.iter().filter(is_doubled).count() * 3 >= counts.len()
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// Assigns what a backward of the trace frees to the activations that were saved for it.
fn mark_saved_for_backward(allocations: &Allocations, phases: &Phases, categories: &mut [Category]) {
    for row in unknown(allocations, categories) {
        let died = allocations.died[row];
        if died != NEVER && phases.at(died) == Phase::Backward {
            categories[row] = Category::Activation;
        }
    }
}

/// Returns the rows from before the trace without a category, those that live longest first.
fn unknown(allocations: &Allocations, categories: &[Category]) -> Vec<usize> {
    (0..allocations.initial_count()).filter(|&row| categories[row] == Category::Unknown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive;

    /// Checks the categories of the blocks of a trace with one step that has these gradients; sizes are in KiB.
    #[track_caller]
    fn check(blocks_kib: &[u64], gradients_kib: &[u64], expected: &[&str]) {
        let forward = "@_call_impl@torch/nn/modules/module.py";
        let mut source = format!("alloc a 9KiB {forward}\n");
        let gradients = gradients_kib.iter().enumerate();
        source += &gradients.clone().map(|(index, kib)| format!("alloc g{index} {kib}KiB\n")).collect::<String>();
        source += &format!("free a\n{}", gradients.map(|(index, _)| format!("free g{index}\n")).collect::<String>());
        source += "segment S 1MiB\n";
        let blocks = blocks_kib.iter().enumerate();
        source += &blocks.map(|(index, kib)| format!("block w{index} {kib}KiB\n")).collect::<String>();
        let found = naive::categories_of(&source);
        let names = found[..blocks_kib.len()].iter().map(|category| category.name());
        assert_eq!(names.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn as_many_as_gradients_are_weights() {
        check(&[64, 32], &[64, 32], &["parameter", "parameter"]);
        check(&[64, 64, 64], &[64], &["parameter", "optimizer-state", "optimizer-state"]);
        check(&[64, 64, 64, 64], &[64], &["parameter", "optimizer-state", "optimizer-state", "unknown"]);
        check(&[64, 48], &[64], &["parameter", "unknown"]);
        check(&[64], &[], &["unknown"]);
    }

    /// Checks the categories of blocks from before a trace that has one forward pass without a backward.
    #[track_caller]
    fn check_forward(blocks: &[(u64, usize)], expected: &[(Category, usize)]) {
        let mut source = "alloc a 9MiB @_call_impl@torch/nn/modules/module.py\nsegment S 1GiB\n".to_owned();
        for &(kib, count) in blocks {
            source += &(0..count).map(|index| format!("block w{kib}.{index} {kib}KiB\n")).collect::<String>();
        }
        let found = naive::categories_of(&source);
        let older: usize = blocks.iter().map(|row| row.1).sum();
        let count = |category| found[..older].iter().filter(|&&told| told == category).count();
        let counts: Vec<_> = Category::ALL.map(|category| (category, count(category))).into_iter().collect();
        let counts: Vec<_> = counts.into_iter().filter(|row| row.1 > 0).collect();
        assert_eq!(counts, expected);
    }

    #[test]
    fn without_gradients_the_counts_of_sizes_tell_how_often_a_model_is_there() {
        use Category::{Gradient, OptimizerState, Parameter, Unknown};
        let model = |copies: usize| [(400, 2), (100, 12), (300, 9), (1, 7)].map(|(kib, count)| (kib, count * copies));
        check_forward(&model(1), &[(Parameter, 30)]);
        check_forward(&model(2), &[(Parameter, 30), (Unknown, 30)]);
        check_forward(&model(3), &[(Parameter, 30), (OptimizerState, 60)]);
        check_forward(&model(4), &[(Parameter, 30), (Gradient, 30), (OptimizerState, 60)]);
        // A batch does not hide the copies.
        let batch = [&model(4)[..], &[(40, 1)]].concat();
        check_forward(&batch, &[(Parameter, 30), (Gradient, 30), (OptimizerState, 60), (Unknown, 1)]);
    }

    #[test]
    fn counts_that_prove_nothing_are_left_alone() {
        use Category::{Parameter, Unknown};
        // Four equal layers look like four copies of one layer, but two sizes are too few.
        check_forward(&[(256, 4), (1, 4)], &[(Unknown, 8)]);
        check_forward(&[(256, 4), (64, 4), (1, 4)], &[(Parameter, 12)]);
        // Weights in 16 bits with copies and states in 32 bits.
        check_forward(&[(50, 3), (100, 9), (13, 2), (26, 6), (7, 1)], &[(Unknown, 21)]);
    }

    #[test]
    fn what_a_step_frees_was_a_gradient_or_an_activation_of_the_step_before() {
        let source = "
            alloc a 9KiB @forward@phase
            free old 64KiB
            alloc g 64KiB @backward@phase
            free saved 3KiB
            alloc h 1KiB @backward@phase
            alloc s 2KiB @optimizer@phase
            segment S 1MiB
            block w 64KiB
            block m 64KiB
        ";
        let found = naive::categories_of(source);
        let names = found[..4].iter().map(|category| category.name());
        assert_eq!(names.collect::<Vec<_>>(), ["parameter", "optimizer-state", "activation", "gradient"]);
    }

    #[test]
    fn copies_agree_with_the_definition() {
        let shape = [(4096_u64, 2_usize), (1024, 32), (3072, 24), (16, 17)];
        for copies_made in 1..=MOST_COPIES {
            let counts = shape.map(|(size, count)| (size, count * copies_made)).into_iter().collect();
            assert_eq!(copies(&counts), Some(copies_made));
        }
        assert_eq!(copies(&HashMap::new()), None);
        assert_eq!((gcd(12, 18), gcd(0, 5), gcd(7, 0)), (6, 5, 7));
    }

    #[test]
    fn blocks_agree_with_counting_each_size() {
        for seed in 0..60 {
            let trace = crate::analysis::naive::random_trace(seed, 120);
            let allocations = Allocations::pair(&trace.devices[0]);
            let mut marked = vec![Category::Unknown; allocations.len()];
            (allocations.initial_count()..allocations.len())
                .step_by(2)
                .for_each(|row| marked[row] = Category::Gradient);
            let (moment, _) = most_gradients(&allocations, &marked);
            let is_gradient =
                |row: usize| row >= allocations.initial_count() && row % 2 == allocations.initial_count() % 2;
            let alive: Vec<u64> =
                allocations.alive_at(moment).filter(|(id, _)| is_gradient(id.index())).map(|row| row.1).collect();
            let first = (allocations.initial_count()..allocations.len()).find(|&row| is_gradient(row));
            mark(&allocations, &Phases::default(), &mut marked);
            let Some(first) = first.map(|row| allocations.born_at(row as u32)) else { continue };
            for size_bytes in &allocations.size_bytes {
                let rows = (0..allocations.initial_count()).filter(|&row| allocations.size_bytes[row] == *size_bytes);
                let (early, late): (Vec<_>, Vec<_>) = rows.partition(|&row| allocations.died[row] <= first);
                let gradients = alive.iter().filter(|size| *size == size_bytes).count();
                let count = |rows: &[usize], category| rows.iter().filter(|&&row| marked[row] == category).count();
                assert_eq!(count(&early, Category::Gradient), early.len().min(gradients), "seed {seed}");
                assert_eq!(count(&late, Category::Parameter), late.len().min(gradients), "seed {seed}");
                assert_eq!(
                    count(&late, Category::OptimizerState),
                    (late.len() - late.len().min(gradients)).min(2 * gradients),
                    "seed {seed}"
                );
            }
        }
    }
}
