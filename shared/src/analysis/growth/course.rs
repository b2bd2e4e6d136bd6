//! How the bytes of a stack go from the end of a step to the end of the next.
//!
//! The steps after the first are cut into three equal parts: what grows rises in each of them. What rises in the first
//! steps, or once, or ever more seldom, ends by itself, as far as the trace shows.

/// The number of equal parts of a trace in each of which a level has to rise to be called growing.
const PARTS: usize = 3;

/// How much of what a level has risen by it may fall again and still be growing: one in so many.
const MOST_FALLEN: u64 = 10;

/// The share of the steps that may be warm-up: one in so many.
const WARM_UP: usize = 4;

/// More steps are no warm-up, however long the training.
const MOST_WARM_UP: usize = 10;

/// So many steps without a rise at the end say that it has ended.
const LEAST_QUIET: u32 = 2;

/// Fewer steps in each part can't show that a level rises more and more seldom.
const LEAST_STEPS_OF_PART: usize = 3;

/// So many steps of rising, one after the other, are no coincidence before a fall.
const LEAST_CLIMBED: usize = 3;

/// A fall leaves this share of what was collected at most: one in so many.
const MOST_LEFT: u64 = 3;

/// A part in which a level rises by so many times what it rises by in the next part has more of it.
const SLOWING: u64 = 2;

/// How the bytes of a stack go from the end of a step to the end of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Course {
    /// More are there after each part of the trace: a leak, unless the trace is too short to see the end of it.
    Grows,
    /// Allocated in the first step, and there ever since: optimizer state, or gradients that are not cleared.
    Settles,
    /// They came in several of the first steps, and none since.
    WarmsUp,
    /// They came now and then, and none for a while, or more and more seldom: a cache with a key for each size perhaps.
    Fills,
    /// They grow for several steps, and then all of them go at once: outputs of an epoch perhaps.
    Collected,
    /// They go up and down, and lately not above what was there before.
    Bounded,
    /// They came once, after the first steps.
    Jumps,
    /// Each step allocates them anew, and they are there until the next one has done so.
    Renewed,
    /// Anything else, or too little of it to say.
    Changes,
}

/// Bytes and allocations that a step's end has more than the one before.
#[derive(Clone, Copy, Default)]
pub(super) struct Change {
    pub(super) bytes: i64,
    pub(super) count: i64,
}

/// What the levels of a group come to.
pub(super) struct Levels {
    pub(super) first: Change,
    pub(super) last: Change,
    steps: usize,
    /// The steps whose end has another level than the one before, with the level.
    points: Vec<(u32, u64)>,
    /// How many allocations each of these levels has.
    counts: Vec<i64>,
    /// The steps whose end is higher than the one before, the first one aside, with by how much.
    rises: Vec<(u32, u64)>,
    /// The sum of all falls after the first level.
    fallen: u64,
}

impl Levels {
    /// From changes sorted by step.
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

    /// How many there are at the level before the last one.
    pub(super) fn count_before_last(&self) -> i64 {
        self.counts.iter().rev().nth(1).copied().unwrap_or(i64::MAX)
    }

    /// The highest level.
    pub(super) fn most_bytes(&self) -> u64 {
        self.points.iter().map(|point| point.1).max().unwrap_or(0)
    }

    /// The highest level before the last part, and in it.
    fn most_before_and_in_last_part(&self) -> (u64, u64) {
        let is_before = |step: u32| step == 0 || self.part_of(step) + 1 < self.parts();
        let last_steps = (1..self.steps as u32).filter(|&step| !is_before(step));
        let begin = last_steps.min().unwrap_or(0);
        let before = self.points.iter().filter(|point| is_before(point.0)).map(|point| point.1).max().unwrap_or(0);
        let at_begin = self.points.iter().rev().find(|point| point.0 <= begin).map_or(0, |point| point.1);
        let later = self.points.iter().filter(|point| point.0 > begin).map(|point| point.1).max().unwrap_or(0);
        (before, at_begin.max(later))
    }

    /// How many parts there are; a short trace has fewer.
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

    /// By how much the level rises in a part, and in how many of its steps.
    fn risen_in(&self, part: usize) -> (u64, usize) {
        let of_part = || self.rises.iter().filter(|rise| self.part_of(rise.0) == part);
        (of_part().map(|rise| rise.1).fold(0, u64::saturating_add), of_part().count())
    }

    /// The first step at whose end there is more than before it.
    pub(super) fn first_rise(&self) -> Option<u32> {
        if self.first.bytes > 0 { Some(0) } else { self.rises.first().map(|rise| rise.0) }
    }

    /// The last such step.
    pub(super) fn last_rise(&self) -> Option<u32> {
        self.rises.last().map(|rise| rise.0).or((self.first.bytes > 0).then_some(0))
    }

    /// The average rise of a step; what came with warm-up is left out where the rest tells another rate.
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

    /// How they go on; `births` are the steps in which something of it was allocated.
    pub(super) fn course(&self, births: &[u32]) -> Course {
        let is_steady = self.fallen.saturating_mul(MOST_FALLEN) <= self.risen();
        let rises_in_all = (0..self.parts()).all(|part| self.risen_in(part).1 > 0);
        if self.steps > 2 && is_steady && rises_in_all && !self.is_slowing() {
            return Course::Grows;
        }
        if births == [0] && self.last.bytes == self.first.bytes {
            return Course::Settles;
        }
        if self.is_collected() {
            return Course::Collected;
        }
        // The last step may be cut short.
        if births.len() + 1 >= self.steps && births.len() > 1 {
            return Course::Renewed;
        }
        if is_steady { self.course_of_rises() } else { self.course_of_ups_and_downs() }
    }

    /// Whether the level rises in several steps one after the other and then falls by most of that at once.
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
        // What came in turns may come again, unless its turn is over.
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

    /// Whether each part rises by half of the one before or less, and in fewer steps, most of the last ones in none.
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
