//! Recognises weights and optimizer state from before the trace by the sizes of the gradients.
//!
//! Idea: a weight is as large as its gradient, and so is each state that an optimizer keeps for it.
//! A block that existed before the trace, outlives it and has the size of a gradient is therefore one of these: as many
//! as there are gradients of that size are weights, up to twice as many more are state.
//! This does not tell which of several blocks of a size is the weight, but it does tell how many bytes the weights
//! have.
//!
//! Cost: linear in the allocations.

use crate::analysis::study::gradients::most_gradients;
use crate::analysis::track::allocations::Allocations;
use crate::analysis::track::category::Category;
use hashbrown::HashMap;

/// States of a weight's size that an optimizer keeps at most, as AdamW does.
const MOST_STATES: usize = 2;

/// Assigns a category to blocks from before the trace that have none.
pub(in crate::analysis) fn mark(allocations: &Allocations, categories: &mut [Category]) {
    let (moment, _) = most_gradients(allocations, categories);
    let alive = allocations.alive_at(moment).filter(|(id, _)| categories[id.index()] == Category::Gradient);
    let mut counts: HashMap<u64, (usize, usize)> = HashMap::new();
    alive.for_each(|(_, size_bytes)| counts.entry(size_bytes).or_default().0 += 1);
    let blocks = categories.iter_mut().zip(&allocations.size_bytes).take(allocations.blocks.len());
    for (category, size_bytes) in blocks.filter(|row| *row.0 == Category::Unknown) {
        let Some((gradients, seen)) = counts.get_mut(size_bytes) else { continue };
        *seen += 1;
        if *seen <= *gradients {
            *category = Category::Parameter;
        } else if *seen <= *gradients * (1 + MOST_STATES) {
            *category = Category::OptimizerState;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::study::categories::categories;
    use crate::analysis::study::phases::Phases;
    use crate::trace::text;

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
        let trace = text::parse(&source).unwrap();
        let device = &trace.devices[0];
        let allocations = Allocations::pair(device);
        let found = categories(device, &allocations, &Phases::find(&trace, device, &allocations));
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
            mark(&allocations, &mut marked);
            for size_bytes in &allocations.size_bytes {
                let count = |category| {
                    let rows = (0..allocations.blocks.len()).filter(|&row| allocations.size_bytes[row] == *size_bytes);
                    rows.filter(|&row| marked[row] == category).count()
                };
                let blocks = allocations.size_bytes[..allocations.blocks.len()].iter();
                let blocks = blocks.filter(|size| *size == size_bytes).count();
                let gradients = alive.iter().filter(|size| *size == size_bytes).count();
                assert_eq!(count(Category::Parameter), blocks.min(gradients), "seed {seed}");
                assert_eq!(
                    count(Category::OptimizerState),
                    (blocks - blocks.min(gradients)).min(2 * gradients),
                    "seed {seed}"
                );
            }
        }
    }
}
