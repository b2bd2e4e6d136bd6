//! Searches for the fewest and cheapest remedies that fit together, with few runs.
//!
//! Remedies are put in order: those that change the mathematics last, then by slowdown, then by what they save, the most
//! first. Of those up to a slowdown, if some fit alone, the mildest of them is the answer. Otherwise the shortest
//! beginning of the order that fits is found by bisection, starting from a guess by the sum of the savings: its last
//! remedy is needed, and all others are cheaper. The same search among those others, with the needed ones fixed, finds
//! the next needed one, until those that are needed fit. At last, milder remedies take the place of those that exclude
//! them, where that is enough.
//!
//! Where a further remedy never takes more memory, none of the result can be left out.
//! With `n` remedies of which `k` are needed and none excludes another it makes about `2k + 1` runs, and at most
//! `k (log2 n + 2)`.

use crate::api::{FixCostClass, FixFigures, FixRemedy};
use crate::base::ShortSort;
use std::cmp::Reverse;

/// Remedies that were run together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Together {
    /// Indices of the remedies.
    pub members: Vec<usize>,
    /// Figures of the run; if it does not fit, no set does.
    pub figures: FixFigures,
}

/// Finds the smallest set of remedies that fits, or returns all that go together if they do not fit.
///
/// Each remedy has the figures of its own run. `try_together` runs a set of them, given by their indices in order;
/// `excludes` is true for two that cannot be applied together, of which the one that saves more is taken.
/// `missing_bytes` is what the training as it is takes beyond what fits. Without remedies, there is no set.
///
/// # Errors
///
/// Returns the first error of `try_together`.
pub fn smallest_set<E>(
    remedies: &[FixRemedy],
    missing_bytes: u64,
    excludes: impl Fn(usize, usize) -> bool,
    try_together: impl FnMut(&[usize]) -> Result<FixFigures, E>,
) -> Result<Option<Together>, E> {
    let mut search = Search { remedies, missing_bytes, excludes, try_together, tried: Vec::new() };
    let mut order: Vec<usize> = (0..remedies.len()).collect();
    order.short_sort_by_key(|&index| (search.rank(index), Reverse(remedies[index].saves_bytes)));
    let ranks: Vec<_> = order.iter().map(|&index| search.rank(index)).collect();
    // Several cheap remedies come before one that costs more.
    let ends = (1..=order.len()).filter(|&end| ranks.get(end) != Some(&ranks[end - 1]));
    for pool in ends.map(|end| &order[..end]) {
        let alone = pool.iter().filter(|&&index| remedies[index].figures.fits);
        let mildest = alone.min_by_key(|&&index| (search.rank(index), remedies[index].saves_bytes));
        if let Some(single) = mildest
            && search.fits(&[*single])?
        {
            return search.told(&[*single]).map(Some);
        }
        let all = search.compatible(pool);
        if !all.is_empty() && search.fits(&all)? {
            let count = search.shortest(pool.len(), |search, count| search.compatible(&pool[..count]))?;
            let set = search.compatible(&pool[..count]);
            let needed = search.minimal(set)?;
            // A milder remedy may save more at another moment, where less is needed besides it.
            let milder = search.milder(needed, pool)?;
            let needed = search.minimal(milder)?;
            return search.told(&needed).map(Some);
        }
    }
    if order.is_empty() {
        return Ok(None);
    }
    let all = search.compatible(&order);
    search.told(&all).map(Some)
}

struct Search<'a, X, T> {
    remedies: &'a [FixRemedy],
    missing_bytes: u64,
    excludes: X,
    try_together: T,
    /// Sets that were run.
    tried: Vec<Together>,
}

impl<E, X: Fn(usize, usize) -> bool, T: FnMut(&[usize]) -> Result<FixFigures, E>> Search<'_, X, T> {
    /// Returns what comes before savings in the order of remedies.
    fn rank(&self, index: usize) -> (bool, FixCostClass) {
        (self.remedies[index].changes.is_some(), self.remedies[index].cost.class)
    }

    /// Runs a set, unless it was run before.
    fn told(&mut self, set: &[usize]) -> Result<Together, E> {
        let mut members = set.to_vec();
        members.sort_unstable();
        if let Some(known) = self.tried.iter().find(|known| known.members == members) {
            return Ok(known.clone());
        }
        let figures = (self.try_together)(&members)?;
        self.tried.push(Together { members, figures });
        Ok(self.tried.last().cloned().unwrap_or_default())
    }

    /// Returns true if a set fits; a remedy whose own run did not fit is not run again.
    fn fits(&mut self, set: &[usize]) -> Result<bool, E> {
        match set {
            [] => Ok(false),
            [single] if !self.remedies[*single].figures.fits => Ok(false),
            set => Ok(self.told(set)?.figures.fits),
        }
    }

    /// Returns the remedies that can be applied together, in their order.
    fn compatible(&self, pool: &[usize]) -> Vec<usize> {
        let mut by_saving = pool.to_vec();
        by_saving.short_sort_by_key(|&index| Reverse(self.remedies[index].saves_bytes));
        let mut taken: Vec<usize> = Vec::new();
        for index in by_saving {
            if !taken.iter().any(|&other| self.clash(index, other)) {
                taken.push(index);
            }
        }
        pool.iter().copied().filter(|index| taken.contains(index)).collect()
    }

    /// Returns the least number for which a set fits; that of `most` is known to fit.
    fn shortest(&mut self, most: usize, set: impl Fn(&Self, usize) -> Vec<usize>) -> Result<usize, E> {
        let saved = |search: &Self, count| {
            set(search, count).iter().map(|&index| search.remedies[index].saves_bytes).sum::<u64>()
        };
        let (mut low, mut high) = (0, most);
        let mut guess = (1..=most).find(|&count| saved(self, count) >= self.missing_bytes).unwrap_or(most);
        while low + 1 < high {
            let members = set(self, guess.clamp(low + 1, high - 1));
            let count = guess.clamp(low + 1, high - 1);
            if self.fits(&members)? {
                (high, guess) = (count, count - 1);
            } else {
                (low, guess) = (count, low.midpoint(high).max(count + 1));
            }
        }
        Ok(high)
    }

    /// Leaves out of a set that fits what is not needed.
    fn minimal(&mut self, mut rest: Vec<usize>) -> Result<Vec<usize>, E> {
        let mut needed: Vec<usize> = Vec::new();
        while !self.fits(&needed)? {
            let with = |count: usize| needed.iter().chain(&rest[..count]).copied().collect::<Vec<_>>();
            let count = self.shortest(rest.len(), |_, count| with(count))?;
            needed.push(rest[count - 1]);
            rest.truncate(count - 1);
            if rest.is_empty() {
                break;
            }
        }
        Ok(needed)
    }

    /// Replaces members of a set by milder remedies that exclude them, the mildest that is enough.
    fn milder(&mut self, mut set: Vec<usize>, pool: &[usize]) -> Result<Vec<usize>, E> {
        for position in 0..set.len() {
            let member = set[position];
            let others: Vec<usize> = set.iter().copied().filter(|&other| other != member).collect();
            let is_milder = |&index: &usize| {
                let saves = |index: usize| self.remedies[index].saves_bytes;
                let clashes = others.iter().any(|&other| self.clash(index, other));
                index != member
                    && self.clash(index, member)
                    && !clashes
                    && (self.rank(index), saves(index)) < (self.rank(member), saves(member))
            };
            let mut milder: Vec<usize> = pool.iter().copied().filter(is_milder).collect();
            milder.short_sort_by_key(|&index| (self.rank(index), self.remedies[index].saves_bytes));
            for index in milder {
                let replaced: Vec<usize> = others.iter().copied().chain([index]).collect();
                if self.fits(&replaced)? {
                    set[position] = index;
                    break;
                }
            }
        }
        Ok(set)
    }

    fn clash(&self, one: usize, other: usize) -> bool {
        (self.excludes)(one, other) || (self.excludes)(other, one)
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::*;
    use crate::api::{FixCost, FixCostClass};

    /// A training whose peak is the highest of three phases, and remedies that lower some of them.
    struct Case {
        phases: [u64; 3],
        limit: u64,
        remedies: Vec<FixRemedy>,
        lowers: Vec<[u64; 3]>,
        /// Remedies of equal groups exclude each other.
        groups: Vec<u64>,
    }

    impl Case {
        fn random(seed: u64) -> Self {
            let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
            let mut next = move |most: u64| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                state % most
            };
            let phases = [60 + next(40), 60 + next(40), 60 + next(40)];
            let limit = 20 + next(50);
            let count = 1 + next(7) as usize;
            let classes = [FixCostClass::None, FixCostClass::Small, FixCostClass::Moderate, FixCostClass::Large];
            let mut case = Self { phases, limit, remedies: Vec::new(), lowers: Vec::new(), groups: Vec::new() };
            for index in 0..count {
                case.lowers.push([next(30), next(30), next(30)]);
                case.groups.push(if next(3) == 0 { next(2) } else { 10 + index as u64 });
                let cost = FixCost { class: classes[next(4) as usize], reason: String::new() };
                let changes = (next(4) == 0).then(|| "something".to_owned());
                case.remedies.push(FixRemedy { cost, changes, ..FixRemedy::default() });
            }
            for index in 0..count {
                let figures = case.run(&[index]);
                case.remedies[index].saves_bytes = case.peak() - figures.peak_reserved_bytes;
                case.remedies[index].figures = figures;
            }
            case
        }

        fn peak(&self) -> u64 {
            self.run(&[]).peak_reserved_bytes
        }

        fn run(&self, set: &[usize]) -> FixFigures {
            let phase =
                |at: usize| self.phases[at].saturating_sub(set.iter().map(|&index| self.lowers[index][at]).sum());
            let peak = (0..3).map(phase).max().unwrap_or(0);
            FixFigures { peak_reserved_bytes: peak, fits: peak <= self.limit, ..FixFigures::default() }
        }

        fn excludes(&self, one: usize, other: usize) -> bool {
            one != other && self.groups[one] == self.groups[other]
        }

        fn goes_together(&self, set: &[usize]) -> bool {
            !set.iter().any(|&one| set.iter().any(|&other| self.excludes(one, other)))
        }

        fn search(&self) -> (Option<Together>, usize) {
            let mut runs = 0;
            let missing = self.peak().saturating_sub(self.limit);
            let Ok(found) = smallest_set(
                &self.remedies,
                missing,
                |one, other| self.excludes(one, other),
                |set| {
                    runs += 1;
                    assert!(self.goes_together(set), "{set:?}");
                    Ok::<_, Infallible>(self.run(set))
                },
            );
            (found, runs)
        }
    }

    #[test]
    fn it_finds_a_set_that_an_exhaustive_search_cannot_better() {
        let (mut all_runs, mut sets) = (0, 0);
        for case in (0..3000).map(Case::random).filter(|case| case.peak() > case.limit) {
            let (found, runs) = case.search();
            let found = found.expect("there are remedies");
            let set = &found.members;
            assert_eq!(found.figures, case.run(set));
            let count = case.remedies.len();
            let subsets =
                (1_u32..1 << count).map(|bits| (0..count).filter(|at| bits >> at & 1 == 1).collect::<Vec<_>>());
            let fitting: Vec<_> = subsets.filter(|set| case.goes_together(set) && case.run(set).fits).collect();
            let is_free = case.groups.iter().all(|group| *group >= 10);
            if is_free {
                assert_eq!(found.figures.fits, !fitting.is_empty(), "what all together make fit is found");
            }
            if !found.figures.fits {
                continue;
            }
            (all_runs, sets) = (all_runs + runs, sets + 1);
            assert!(runs <= 3 * count, "{runs} runs for {count} remedies");
            let smaller =
                fitting.iter().find(|other| other.len() < set.len() && other.iter().all(|at| set.contains(at)));
            assert_eq!(smaller, None, "no member of {set:?} is superfluous");
            let rank = |&at: &usize| (case.remedies[at].changes.is_some(), case.remedies[at].cost.class);
            let price = |set: &[usize]| set.iter().map(rank).max();
            let least = fitting.iter().map(|set| price(set)).min();
            assert!(!is_free || Some(price(set)) == least, "no cheaper remedies fit together");
        }
        assert!(sets > 300, "{sets}");
        assert!(all_runs < 6 * sets, "{all_runs} runs for {sets} sets");
    }

    #[test]
    fn the_cheapest_single_remedy_is_enough() {
        let remedy = |class, saves_bytes, fits| FixRemedy {
            saves_bytes,
            cost: FixCost { class, reason: String::new() },
            figures: FixFigures { fits, ..FixFigures::default() },
            ..FixRemedy::default()
        };
        let remedies = [
            remedy(FixCostClass::Moderate, 9, true),
            remedy(FixCostClass::None, 1, false),
            remedy(FixCostClass::Small, 5, true),
        ];
        let mut tried = Vec::new();
        let Ok(found) = smallest_set(
            &remedies,
            4,
            |_, _| false,
            |set| {
                tried.push(set.to_vec());
                Ok::<_, Infallible>(FixFigures { fits: true, ..FixFigures::default() })
            },
        );
        assert_eq!((found.unwrap().members, tried), (vec![2], vec![vec![2]]));
        let Ok(none) = smallest_set(&[], 4, |_, _| false, |_| Ok::<_, Infallible>(FixFigures::default()));
        assert_eq!(none, None);
    }
}
