//! Sizes of the batches of a training.
//!
//! The recorder and the comparison with Python draw them by the same algorithm:
//!
//! ```text
//! samples = 10, batch = 4       4 4 2 | 4 4 2 | 4 ...
//! and drop_last                 4 4   | 4 4   | 4 ...
//! and longest_first             the largest of all batches is swapped with the first
//! ```

use std::cmp::Reverse;

use super::data::Spread;
use super::model::Model;
use super::training::Training;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchSize {
    pub samples: u64,
    /// Tokens of each sample, or height and width of the images for residual networks; 1 for other models.
    pub length: u64,
}

impl Training {
    /// Returns the largest [`BatchSize::length`] of a batch.
    pub const fn longest(&self) -> u64 {
        match &self.model {
            Model::ResNet(resnet) => resnet.image_size,
            _ => self.sequence,
        }
    }

    /// Returns the micro batches of the whole training, in order.
    pub fn training_batches(&self) -> Vec<BatchSize> {
        let count = usize::try_from(self.steps * self.accumulation).unwrap_or(usize::MAX);
        let mut dice = SplitMix64(self.data.seed);
        let mut sizes = Vec::new();
        let mut left = u64::MAX;
        while sizes.len() < count {
            if left == 0 || sizes.is_empty() {
                left = self.data.samples.unwrap_or(u64::MAX);
            }
            let wanted = self.data.batches.draw(dice.next(), self.data.smallest, self.batch);
            let length = self.length(dice.next());
            let samples = wanted.min(left);
            left -= samples;
            if samples == wanted || !self.data.drop_last {
                sizes.push(BatchSize { samples, length });
            }
        }
        if self.data.longest_first {
            let area = |index: &usize| (sizes[*index].samples * sizes[*index].length, Reverse(*index));
            let largest = (0..count).max_by_key(area).unwrap_or(0);
            sizes.swap(0, largest);
        }
        sizes
    }

    /// Returns the batches of one evaluation, which are the same each time; all have the same number of samples.
    pub fn evaluation_batches(&self) -> Vec<BatchSize> {
        let Some(evaluation) = self.evaluation else { return Vec::new() };
        let mut dice = SplitMix64(!self.data.seed);
        (0..evaluation.batches)
            .map(|_| BatchSize { samples: evaluation.batch, length: self.length(dice.next()) })
            .collect()
    }

    fn length(&self, random: u64) -> u64 {
        let longest = self.longest();
        let drawn = self.data.lengths.draw(random, self.data.shortest, longest);
        drawn.next_multiple_of(self.data.pad_to_multiple_of).min(longest)
    }
}

impl Spread {
    /// Draws a size from `least` to `most` from 64 random bits.
    fn draw(self, random: u64, least: u64, most: u64) -> u64 {
        // In [0, 1). Products are rounded the same way in any language; powers and logarithms are not.
        let share = (random >> 11) as f64 / (1_u64 << 53) as f64;
        let at = |share: f64| least + (share * (most - least + 1) as f64) as u64;
        match self {
            Self::Fixed => most,
            Self::Uniform => at(share),
            Self::LongTailed => at((share * share) * (share * share)),
        }
    }
}

/// SplitMix64. Source: Steele, Lea and Flood, "Fast splittable pseudorandom number generators", with Vigna's constants.
struct SplitMix64(u64);

impl SplitMix64 {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Job, RawJob};

    fn job(text: &str) -> Job {
        RawJob::from_toml(text).unwrap().resolve().unwrap()
    }

    fn samples(text: &str) -> Vec<u64> {
        job(text).training_batches().iter().map(|size| size.samples).collect()
    }

    fn lengths(text: &str) -> Vec<u64> {
        job(text).training_batches().iter().map(|size| size.length).collect()
    }

    #[test]
    fn the_generator_is_the_published_one() {
        let mut dice = SplitMix64(1_234_567);
        let published = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert_eq!([dice.next(), dice.next(), dice.next()], published);
    }

    #[test]
    fn batches_are_of_one_size_unless_said() {
        assert_eq!(samples("model = 'gpt2'\nbatch = 4\nsteps = 2\naccumulation = 2"), [4; 4]);
        assert_eq!(lengths("model = 'gpt2'\nsequence = 9\nsteps = 2"), [9; 2]);
        assert_eq!(lengths("model = 'resnet18'\nsteps = 1"), [224]);
        assert_eq!(lengths("model = 'mlp'\nsteps = 1"), [1]);
    }

    #[test]
    fn the_last_batch_of_an_epoch_has_what_is_left() {
        assert_eq!(samples("model = 'mlp'\nbatch = 4\nsteps = 7\ndata = { samples = 10 }"), [4, 4, 2, 4, 4, 2, 4]);
        assert_eq!(samples("model = 'mlp'\nbatch = 4\nsteps = 3\ndata = { samples = 8 }"), [4; 3]);
        assert_eq!(samples("model = 'mlp'\nbatch = 4\nsteps = 5\ndata = { samples = 10, drop_last = true }"), [4; 5]);
        assert_eq!(samples("model = 'mlp'\nbatch = 4\nsteps = 2\ndata = { samples = 3 }"), [3; 2]);
    }

    #[test]
    fn sizes_stay_within_their_bounds_and_reach_them() {
        let bounds = |sizes: Vec<u64>| (sizes.iter().copied().min().unwrap(), sizes.iter().copied().max().unwrap());
        let table = |rest: &str| format!("model = 'mlp'\nbatch = 5\nsteps = 200\ndata = {{ {rest} }}");
        assert_eq!(bounds(samples(&table("batches = 'uniform', smallest = 2"))), (2, 5));
        assert_eq!(bounds(samples(&table("batches = 'long-tailed'"))), (1, 5));
        let table = |rest: &str| format!("model = 'gpt2'\nsequence = 60\nsteps = 900\ndata = {{ {rest} }}");
        assert_eq!(bounds(lengths(&table("lengths = 'uniform'"))), (1, 60));
        let padded = lengths(&table("lengths = 'uniform', shortest = 7, pad_to_multiple_of = 16"));
        assert_eq!(bounds(padded.clone()), (16, 60), "never longer than the longest");
        assert!(padded.iter().all(|length| length % 16 == 0 || *length == 60));
    }

    #[test]
    fn half_of_a_long_tail_lies_in_its_lowest_sixteenth() {
        let mut lengths = lengths("model = 'gpt2'\nsteps = 1001\ndata = { lengths = 'long-tailed', seed = 3 }");
        lengths.sort_unstable();
        assert!((50..80).contains(&lengths[500]), "{}", lengths[500]);
        assert!(lengths[1000] > 1000, "{}", lengths[1000]);
    }

    #[test]
    fn the_largest_batch_changes_places_with_the_first() {
        let table = |rest: &str| {
            lengths(&format!("model = 'gpt2'\nsteps = 9\ndata = {{ lengths = 'uniform', seed = 1, {rest} }}"))
        };
        let (plain, mut swapped) = (table("longest_first = false"), table("longest_first = true"));
        let largest = plain.iter().position(|length| length == plain.iter().max().unwrap()).unwrap();
        assert!(largest > 0, "{plain:?}");
        swapped.swap(0, largest);
        assert_eq!(plain, swapped);
    }

    #[test]
    fn evaluations_have_lengths_of_their_own() {
        let job =
            job("model = 'gpt2'\nsteps = 3\ndata = { lengths = 'uniform' }\nevaluation = { batches = 3, batch = 2 }");
        let (training, evaluation) = (job.training_batches(), job.evaluation_batches());
        assert!(evaluation.iter().all(|size| size.samples == 2));
        assert!(evaluation.iter().zip(&training).all(|(a, b)| a.length != b.length), "{evaluation:?}");
    }
}
