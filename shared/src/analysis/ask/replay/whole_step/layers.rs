//! Finds equal layers in lists of tensors, and what a loss over a vocabulary keeps.

use crate::analysis::study::studied::Study;
use crate::trace::StackId;
use hashbrown::HashMap;
use std::ops::Range;

/// Tensors of the shortest layer: fewer that repeat can be a part of one, such as three equal matrices.
const SHORTEST_LAYER: usize = 4;

const LONGEST_LAYER: usize = 512;

/// Layers that have to repeat, done or in all.
const LEAST_LAYERS: usize = 2;

/// A matrix has at least 64 times the numbers of a vector.
const MATRIX: u64 = 64;

/// Words of the smallest vocabulary; fewer outputs are classes, which take little.
const LEAST_WORDS: u64 = 1000;

/// Numbers for stacks that differ in more than the numbers in their names, such as those of layers.
#[derive(Default)]
pub(super) struct Symbols {
    of_stacks: HashMap<StackId, u64>,
    of_names: HashMap<String, u64>,
}

impl Symbols {
    pub(super) fn of(&mut self, study: &Study<'_>, stack: StackId) -> u64 {
        let Self { of_stacks, of_names } = self;
        *of_stacks.entry(stack).or_insert_with(|| {
            let trace = study.trace;
            let frames = trace.stacks.frames(stack).iter().map(|&frame| trace.frames.get(frame));
            let name = |frame| trace.strings.get(frame).chars().filter(|c| !c.is_ascii_digit());
            let names =
                frames.flat_map(|frame| name(frame.name).chain(frame.line.to_string().chars().collect::<Vec<_>>()));
            let next = of_names.len() as u64;
            *of_names.entry(names.collect()).or_insert(next)
        })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Repeated {
    /// Positions of its tensors; the last round can be cut.
    pub(super) run: Range<usize>,
    pub(super) period: usize,
}

impl Repeated {
    pub(super) fn rounds(&self) -> usize {
        self.run.len() / self.period
    }

    pub(super) fn first_round(&self) -> Range<usize> {
        self.run.start..self.run.start + self.period
    }
}

/// Number that identifies a tensor in its layer, and its bytes.
pub(super) type Tensor = (u64, u64);

pub(super) fn bytes_of(tensors: &[Tensor]) -> u64 {
    tensors.iter().map(|(_, bytes)| bytes).sum()
}

/// Finds the run of equal rounds with the most bytes, of equal ones that with the shortest round.
pub(super) fn repeated(tensors: &[Tensor]) -> Option<Repeated> {
    let (mut best, mut most) = (None, 0);
    for period in SHORTEST_LAYER..=LONGEST_LAYER.min(tensors.len() / LEAST_LAYERS) {
        let mut start = 0;
        for at in period..=tensors.len() {
            if at < tensors.len() && tensors[at] == tensors[at - period] {
                continue;
            }
            let found = Repeated { run: start..at, period };
            let bytes = bytes_of(&tensors[start..at]);
            if found.rounds() >= LEAST_LAYERS && bytes > most {
                (best, most) = (Some(found), bytes);
            }
            start = at + 1 - period;
        }
    }
    best
}

/// Estimates what a loss over a vocabulary keeps: its logits in 32 bits, three times.
///
/// The sizes of tensors tell it, whatever their common type: the embedding has `words` × `width` numbers, a vector of a
/// layer `width` and a tensor of forward `tokens` × `width`, so that 4 bytes for each of `tokens` × `words` are
/// 4 × tensor × embedding / vector².
pub(super) fn loss_bytes((kept, layers): (&[Tensor], &Repeated), (weights, of_model): (&[Tensor], &Repeated)) -> u64 {
    let outside = [&weights[..of_model.run.start], &weights[of_model.run.end..]].concat();
    let embedding = outside.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let of_layer = &weights[of_model.first_round()];
    let matrix = of_layer.iter().map(|(_, bytes)| *bytes).max().unwrap_or(0);
    let vector = commonest(of_layer.iter().map(|(_, bytes)| *bytes).filter(|bytes| bytes * MATRIX <= matrix));
    let tensor = commonest(kept[layers.first_round()].iter().map(|(_, bytes)| *bytes));
    match (vector, tensor) {
        (Some(vector), Some(tensor)) if embedding / vector >= LEAST_WORDS => {
            (3.0 * 4.0 * tensor as f64 * embedding as f64 / (vector as f64).powi(2)) as u64
        }
        _ => 0,
    }
}

/// Returns the most frequent size, of equally frequent ones the largest.
fn commonest(sizes: impl Iterator<Item = u64>) -> Option<u64> {
    let mut counts: HashMap<u64, usize> = HashMap::new();
    sizes.for_each(|size| *counts.entry(size).or_default() += 1);
    counts.into_iter().filter(|(size, _)| *size > 0).max_by_key(|&(size, count)| (count, size)).map(|(size, _)| size)
}
