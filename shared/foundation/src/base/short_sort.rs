//! Sorts short lists, such as findings and rows of a report, by little code.
//!
//! Each call of the standard sorts compiles to 5 to 20 KiB for its type and key, which a browser has to load.

use std::cmp::Ordering;

/// Stable sorts for lists of up to some thousand items; all calls share the code that sorts.
pub trait ShortSort<T> {
    fn short_sort_by(&mut self, compare: impl FnMut(&T, &T) -> Ordering);

    /// Sorts by a key, which is made once for each item.
    fn short_sort_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K);
}

impl<T> ShortSort<T> for [T] {
    fn short_sort_by(&mut self, mut compare: impl FnMut(&T, &T) -> Ordering) {
        let order = sorted(self.len(), &mut |one, other| compare(&self[one], &self[other]));
        arrange(self, order);
    }

    fn short_sort_by_key<K: Ord>(&mut self, key: impl FnMut(&T) -> K) {
        let keys: Vec<K> = self.iter().map(key).collect();
        arrange(self, sorted(keys.len(), &mut |one, other| keys[one].cmp(&keys[other])));
    }
}

/// Puts at each place the item that `order` names for it, along each cycle of the permutation once.
fn arrange<T>(items: &mut [T], mut order: Vec<usize>) {
    for start in 0..order.len() {
        let mut place = start;
        while order[place] != start {
            let next = order[place];
            items.swap(place, next);
            order[place] = place;
            place = next;
        }
        order[place] = place;
    }
}

/// Returns the positions of a list in the order of its items.
fn sorted(length: usize, compare: &mut dyn FnMut(usize, usize) -> Ordering) -> Vec<usize> {
    let mut order: Vec<usize> = (0..length).collect();
    order.sort_by(|&one, &other| compare(one, other));
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_sorted_as_by_the_standard_library() {
        let mut state = 1_u32;
        for length in 0..200 {
            let mut next = || {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                state >> 28
            };
            let list: Vec<(u32, usize)> = (0..length).map(|position| (next(), position)).collect();
            let (mut sorted, mut expected) = (list.clone(), list);
            sorted.short_sort_by_key(|&(key, _)| key);
            expected.sort_by_key(|&(key, _)| key);
            assert_eq!(sorted, expected);
        }
    }
}
