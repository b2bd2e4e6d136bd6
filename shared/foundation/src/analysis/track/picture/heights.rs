//! Prefix sums of heights that change (a Fenwick tree).

/// Growable list of heights that finds the sum below any place, and the place at any sum, in logarithmic time.
///
/// ```text
/// heights    3  1  4  1  5        tree[i] sums the heights up to the i-th; their number is the lowest set bit of i
/// tree[1..]  3  4  4  9  5        below(4) = tree[4];  place_at(8) = 3, because 8 of 14 bytes lie in the fourth
/// ```
#[derive(Debug)]
pub(super) struct Heights {
    /// Tree, indexed from 1; the first entry is not used.
    tree: Vec<u64>,
}

impl Heights {
    pub(super) fn new() -> Self {
        Self { tree: vec![0] }
    }

    pub(super) fn push(&mut self, height: u64) {
        let node = self.tree.len();
        let covered_from = node - lowest_bit(node);
        let mut sum = height;
        let mut other = node - 1;
        while other > covered_from {
            sum += self.tree[other];
            other -= lowest_bit(other);
        }
        self.tree.push(sum);
    }

    /// Subtracts from the height at a place, which must be at least that high.
    pub(super) fn subtract(&mut self, place: u32, height: u64) {
        // Modulo 2^64 this is a subtraction.
        self.add(place, height.wrapping_neg());
    }

    pub(super) fn add(&mut self, place: u32, change: u64) {
        let mut node = place as usize + 1;
        while let Some(sum) = self.tree.get_mut(node) {
            *sum = sum.wrapping_add(change);
            node += lowest_bit(node);
        }
    }

    /// Returns the sum of the heights below a place.
    pub(super) fn below(&self, place: u32) -> u64 {
        let mut node = place as usize;
        let mut sum = 0;
        while node > 0 {
            sum += self.tree[node];
            node -= lowest_bit(node);
        }
        sum
    }

    /// Returns the place that covers `height`, counted from the bottom; `None` above all of them.
    pub(super) fn place_at(&self, mut height: u64) -> Option<u32> {
        let mut node = 0;
        let mut step = (self.tree.len() - 1).checked_ilog2().map_or(0, |bits| 1 << bits);
        while step > 0 {
            if let Some(&sum) = self.tree.get(node + step)
                && sum <= height
            {
                node += step;
                height -= sum;
            }
            step /= 2;
        }
        (node + 1 < self.tree.len()).then_some(node as u32)
    }
}

fn lowest_bit(node: usize) -> usize {
    node & node.wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::naive::Random;

    #[test]
    fn the_worked_example() {
        let mut heights = Heights::new();
        [3, 1, 4, 1, 5].into_iter().for_each(|height| heights.push(height));
        assert_eq!(heights.tree[1..], [3, 4, 4, 9, 5]);
        assert_eq!((heights.below(4), heights.place_at(8)), (9, Some(3)));
    }

    #[test]
    fn sums_and_places_are_those_of_a_list() {
        let mut random = Random::new(1);
        let (mut heights, mut list) = (Heights::new(), Vec::new());
        assert_eq!(heights.place_at(0), None);
        for _ in 0..2000 {
            let height = random.below(5);
            if list.is_empty() || random.below(4) == 0 {
                heights.push(height);
                list.push(height);
            } else {
                let place = random.below(list.len() as u64) as usize;
                heights.add(place as u32, height);
                list[place] += height;
                let less = random.below(list[place] + 1);
                heights.subtract(place as u32, less);
                list[place] -= less;
            }
            let place = random.below(list.len() as u64) as usize;
            assert_eq!(heights.below(place as u32), list[..place].iter().sum::<u64>());
            let height = random.below(list.iter().sum::<u64>() + 3);
            let covers = |&place: &usize| list[..=place].iter().sum::<u64>() > height;
            assert_eq!(heights.place_at(height), (0..list.len()).find(covers).map(|place| place as u32));
        }
    }
}
