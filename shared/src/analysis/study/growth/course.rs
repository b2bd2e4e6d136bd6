//! Classifies how the bytes of a stack develop from the end of one step to the end of the next.
//!
//! The steps after the first are divided into three equal parts; growing bytes rise in each of them. Bytes that rise
//! only in the first steps, or once, or less and less often, stop rising by themselves, as far as the trace shows.

use std::ops::Range;

/// Equal parts of a trace, in each of which a growing level must rise.
const PARTS: usize = 3;

/// A level that falls by more than 1/10 of its rise no longer counts as growing.
const MOST_FALLEN: u64 = 10;

/// At most 1/4 of the steps count as warm-up.
const WARM_UP: usize = 4;

/// More steps than this are no warm-up, however long the training.
const MOST_WARM_UP: usize = 10;

/// Steps without a rise at the end that show that rising has stopped.
const LEAST_QUIET: u32 = 2;

/// Smaller parts cannot show that a level rises less and less often.
const LEAST_STEPS_OF_PART: usize = 3;

/// Consecutive rises that are no coincidence before a fall; the first level counts as a rise.
const LEAST_CLIMBED: usize = 3;

/// A fall counts as a collection if it leaves at most 1/3 of the level.
const MOST_LEFT: u64 = 3;

/// A rise below 1/4 of the median rise is small.
const LEAST_OF_MEDIAN: u64 = 4;

/// A level slows down if each part rises by at most 1/2 of the rise of the part before.
const SLOWING: u64 = 2;

/// Development of a stack's bytes from the end of one step to the end of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Course {
    /// They rise in each part of the trace: a leak, unless the trace is too short to show the end of the rise.
    Grows,
    /// They are allocated in the first step and never freed: optimizer state, or gradients that are not cleared.
    Settles,
    /// They are allocated in the first steps, at most 1/4 of all and at most 10, and none later.
    WarmsUp,
    /// They rise now and then, and not lately or less and less often, like a cache with a key for each size.
    Fills,
    /// They grow for several steps and are then freed all at once, like the outputs of an epoch.
    Collected,
    /// They grow for several steps and are used up in later ones, like a queue.
    Drains,
    /// They rise and fall, and lately reach no higher level than before.
    Bounded,
    /// They rise once, after the first steps.
    Jumps,
    /// Each step allocates them anew, and they stay alive until the next step has done so.
    Renewed,
    /// They follow none of these rules, or there are too few steps to tell.
    Changes,
}

/// Bytes and allocations that a step's end has more than the one before.
#[derive(Clone, Copy, Default)]
pub(super) struct Change {
    pub(super) bytes: i64,
    pub(super) count: i64,
}

/// Levels of a group at the ends of steps.
pub(super) struct Levels {
    pub(super) first: Change,
    pub(super) last: Change,
    steps: usize,
    /// Steps whose end has another level than the one before, and these levels.
    points: Vec<(u32, u64)>,
    /// Number of allocations at each of these levels.
    counts: Vec<i64>,
    /// Steps after the first whose end is higher than the one before, and the difference.
    rises: Vec<(u32, u64)>,
    /// Sum of all falls after the first level.
    fallen: u64,
}

impl Levels {
    /// Sums up changes, which must be sorted by step.
    pub(super) fn of(changes: &[(u32, Change)], steps: usize) -> Self {
        let (first, last) = (Change::default(), Change::default());
        let mut levels =
            Self { first, last, steps, points: Vec::new(), counts: Vec::new(), rises: Vec::new(), fallen: 0 };
        for of_step in changes.chunk_by(|one, next| one.0 == next.0) {
            let step = of_step[0].0;
            if step as usize >= steps {
                break;
            }
            let bytes: i64 = of_step.iter().map(|(_, change)| change.bytes).sum();
            levels.last.bytes += bytes;
            levels.last.count += of_step.iter().map(|(_, change)| change.count).sum::<i64>();
            levels.points.push((step, levels.last.bytes.max(0) as u64));
            levels.counts.push(levels.last.count);
            match step {
                0 => levels.first = levels.last,
                _ if bytes > 0 => levels.rises.push((step, bytes as u64)),
                _ => levels.fallen = levels.fallen.saturating_add(bytes.unsigned_abs()),
            }
        }
        levels
    }

    /// Returns the number of allocations at the level before the last one.
    pub(super) fn count_before_last(&self) -> i64 {
        self.counts.iter().rev().nth(1).copied().unwrap_or(i64::MAX)
    }

    pub(super) fn most_bytes(&self) -> u64 {
        self.points.iter().map(|point| point.1).max().unwrap_or(0)
    }

    /// Returns the highest level before the last part, and the highest in it.
    fn most_before_and_in_last_part(&self) -> (u64, u64) {
        let is_before = |step: u32| step == 0 || self.part_of(step) + 1 < self.parts();
        let last_steps = (1..self.steps as u32).filter(|&step| !is_before(step));
        let begin = last_steps.min().unwrap_or(0);
        let before = self.points.iter().filter(|point| is_before(point.0)).map(|point| point.1).max().unwrap_or(0);
        let at_begin = self.points.iter().rev().find(|point| point.0 <= begin).map_or(0, |point| point.1);
        let later = self.points.iter().filter(|point| point.0 > begin).map(|point| point.1).max().unwrap_or(0);
        (before, at_begin.max(later))
    }

    /// Returns the number of parts; a short trace has fewer than [`PARTS`].
    fn parts(&self) -> usize {
        PARTS.min(self.pairs())
    }

    fn pairs(&self) -> usize {
        self.steps.saturating_sub(1).max(1)
    }

    fn part_of(&self, step: u32) -> usize {
        (step as usize).saturating_sub(1) * self.parts() / self.pairs()
    }

    fn risen(&self) -> u64 {
        self.rises.iter().map(|rise| rise.1).fold(0, u64::saturating_add)
    }

    /// Returns the rise of the level in a part, and the number of steps in which it rises.
    fn risen_in(&self, part: usize) -> (u64, usize) {
        let of_part = || self.rises.iter().filter(|rise| self.part_of(rise.0) == part);
        (of_part().map(|rise| rise.1).fold(0, u64::saturating_add), of_part().count())
    }

    /// Returns the first step at whose end there are more bytes than before it.
    pub(super) fn first_rise(&self) -> Option<u32> {
        if self.first.bytes > 0 { Some(0) } else { self.rises.first().map(|rise| rise.0) }
    }

    /// Returns the last step at whose end there are more bytes than before it.
    pub(super) fn last_rise(&self) -> Option<u32> {
        self.rises.last().map(|rise| rise.0).or((self.first.bytes > 0).then_some(0))
    }

    /// Returns the average number of steps from one rise to the next, at least 1.
    pub(super) fn every(&self) -> u32 {
        let (Some(first), Some(last)) = (self.rises.first(), self.rises.last()) else { return 1 };
        let gaps = (self.rises.len() as u32 - 1).max(1);
        ((last.0 - first.0 + gaps / 2) / gaps).max(1)
    }

    /// Returns true if as many steps, to one, lie between any two rises.
    pub(super) fn is_regular(&self) -> bool {
        let every = self.every();
        self.rises.windows(2).all(|pair| (pair[1].0 - pair[0].0).abs_diff(every) <= 1)
    }

    /// Returns the average rise per step.
    ///
    /// The first part is left out as warm-up if the average over all parts is at least twice that of the other parts.
    pub(super) fn bytes_per_step(&self) -> u64 {
        let rise = |from: Change| (self.last.bytes - from.bytes).max(0) as u64;
        let whole = rise(self.first) / self.pairs() as u64;
        let of_first = self.risen_in(0).0;
        let later_pairs = (1..=self.pairs() as u32).filter(|&step| self.part_of(step) > 0).count() as u64;
        if self.parts() < PARTS || later_pairs == 0 {
            return whole;
        }
        let later = rise(self.first).saturating_sub(of_first) / later_pairs;
        if later > 0 && whole >= later.saturating_mul(SLOWING) { later } else { whole }
    }

    /// Returns the course; `births` are the steps that allocated something of the group.
    pub(super) fn course(&self, births: &[u32]) -> Course {
        let is_steady = self.fallen.saturating_mul(MOST_FALLEN) <= self.risen();
        if self.steps > 2 && is_steady && self.rises_in_all() && !self.is_slowing() {
            return if self.is_full(births) { Course::Fills } else { Course::Grows };
        }
        if births == [0] && self.last.bytes == self.first.bytes {
            return Course::Settles;
        }
        if self.is_collected() {
            return Course::Collected;
        }
        if self.is_drained() {
            return Course::Drains;
        }
        // The last step may be cut short.
        if births.len() + 1 >= self.steps && births.len() > 1 {
            return Course::Renewed;
        }
        if is_steady { self.course_of_rises() } else { self.course_of_ups_and_downs() }
    }

    /// Returns true if the level has stopped rising while entries are replaced, as in a pool of a fixed length: by others of
    /// the group, or by those of another, so that the level falls.
    fn is_full(&self, births: &[u32]) -> bool {
        let Some(last) = self.last_rise() else { return false };
        let quiet = (self.steps as u32 - 1).saturating_sub(last);
        let longest = self.rises.windows(2).map(|pair| pair[1].0 - pair[0].0).max().unwrap_or(u32::MAX);
        let falls = self.points.iter().filter(|point| point.0 > last).count() as u32;
        let renewals = births.iter().filter(|step| **step > last).count() as u32;
        // The last step may be cut short.
        quiet > LEAST_QUIET.max(longest) && falls.max(renewals) + 1 >= quiet
    }

    /// Returns true if each part has a rise that is not small beside the others.
    ///
    /// A full cache rises a little where an entry takes the place of a smaller one.
    fn rises_in_all(&self) -> bool {
        let mut bytes: Vec<u64> = self.rises.iter().map(|rise| rise.1).collect();
        bytes.sort_unstable();
        let least = bytes.get(bytes.len() / 2).map_or(0, |median| median / LEAST_OF_MEDIAN);
        let rises_in = |part: usize| self.rises.iter().any(|rise| self.part_of(rise.0) == part && rise.1 >= least);
        (0..self.parts()).all(rises_in)
    }

    /// Returns true if levels of this course, which does not grow, hide a leak: what is `staying` to the end rises in
    /// each part, and with it the lowest levels. A full buffer has the same level whatever is replaced in it.
    pub(super) fn hides(&self, course: Course, staying: &Self) -> bool {
        let comes_and_goes = matches!(course, Course::Renewed | Course::Bounded | Course::Changes);
        if !comes_and_goes || self.parts() < PARTS || staying.course(&[]) != Course::Grows {
            return false;
        }
        // The first parts, and the halves of the last one.
        let steps = self.steps as u32;
        let begin_of = |part: usize| (1..steps).find(|&step| self.part_of(step) == part).unwrap_or(0);
        let (second, last) = (begin_of(1), begin_of(PARTS - 1));
        let bounds = [1, second, last, last + (steps - last) / 2, steps];
        let floor = |steps: Range<u32>| steps.map(|step| self.level_at(step)).min().unwrap_or(0);
        bounds.windows(3).all(|pair| {
            let of_staying = staying.level_at(pair[1]).saturating_sub(staying.level_at(pair[0]));
            floor(pair[1]..pair[2]) >= floor(pair[0]..pair[1]).saturating_add(of_staying / 2)
        })
    }

    fn level_at(&self, step: u32) -> u64 {
        let index = self.points.partition_point(|point| point.0 <= step);
        index.checked_sub(1).map_or(0, |index| self.points[index].1)
    }

    /// Returns true if the level rises over several consecutive steps and then falls by at least 2/3 at once.
    fn is_collected(&self) -> bool {
        // The first level is a rise from nothing.
        let mut climbed = 1;
        for (index, pair) in self.points.windows(2).enumerate() {
            let ((before, level), (step, bytes)) = (pair[0], pair[1]);
            let is_next = step == before + 1 && bytes > level && self.counts[index + 1] > self.counts[index];
            if is_next {
                climbed += 1;
            } else {
                if climbed >= LEAST_CLIMBED && bytes.saturating_mul(MOST_LEFT) <= level {
                    return true;
                }
                climbed = 0;
            }
        }
        false
    }

    /// Returns true if the level rises over at least as many consecutive steps and falls by at least 2/3 over the next.
    fn is_drained(&self) -> bool {
        let (mut climbed, mut highest) = (1, self.points.first().map_or(0, |point| point.1));
        for pair in self.points.windows(2) {
            let ((before, level), (step, bytes)) = (pair[0], pair[1]);
            if bytes > level {
                climbed = if step == before + 1 && level == highest { climbed + 1 } else { 1 };
                highest = bytes;
            } else if climbed > LEAST_CLIMBED && bytes.saturating_mul(MOST_LEFT) <= highest {
                return true;
            }
        }
        false
    }

    fn course_of_rises(&self) -> Course {
        let (Some(&(first, _)), Some(&(last, _))) = (self.rises.first(), self.rises.last()) else {
            return Course::Changes;
        };
        let quiet = (self.steps as u32 - 1).saturating_sub(last);
        let warm_up = (self.steps / WARM_UP).clamp(1, MOST_WARM_UP) as u32;
        if self.is_slowing() {
            return Course::Fills;
        }
        if quiet < LEAST_QUIET {
            return Course::Changes;
        }
        if last <= warm_up {
            return Course::WarmsUp;
        }
        if first == last {
            return Course::Jumps;
        }
        // Bytes that rise at intervals may rise again, unless they have not risen for at least the longest interval.
        let mut before = self.first_rise().unwrap_or(0);
        let gaps = self.rises.iter().map(|&(step, _)| step - std::mem::replace(&mut before, step));
        let longest = gaps.max().unwrap_or(0);
        let is_over = quiet >= longest && self.risen_in(self.parts() - 1).1 == 0;
        if is_over { Course::Fills } else { Course::Changes }
    }

    fn course_of_ups_and_downs(&self) -> Course {
        let (before, lately) = self.most_before_and_in_last_part();
        let comes_again = self.parts() == PARTS && self.rises.len() > 1 && lately > 0;
        if comes_again && lately <= before { Course::Bounded } else { Course::Changes }
    }

    /// Returns true if each part rises by at most 1/2 of the part before and in fewer steps.
    ///
    /// In addition, the last part must rise in less than half of its steps.
    fn is_slowing(&self) -> bool {
        let pairs_of_part = self.pairs() / PARTS;
        if self.parts() < PARTS || pairs_of_part < LEAST_STEPS_OF_PART {
            return false;
        }
        let parts: Vec<(u64, usize)> = (0..PARTS).map(|part| self.risen_in(part)).collect();
        let slows = |pair: &[(u64, usize)]| pair[0].0 >= pair[1].0.saturating_mul(SLOWING) && pair[0].1 > pair[1].1;
        let (bytes, count) = parts[PARTS - 1];
        bytes > 0 && parts.windows(2).all(slows) && count * 2 < pairs_of_part
    }
}
