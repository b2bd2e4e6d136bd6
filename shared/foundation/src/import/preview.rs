//! Computes a curve of each device's live bytes while the file is still being read.
//!
//! Live bytes rise with each `alloc` and fall with each free by the size in the event itself, so that the curve needs
//! no lifetimes.
//! Each bucket covers the same number of moments; pairs of buckets are merged whenever there are too many:
//!
//! ```text
//! event    0 alloc 5   1 alloc 3   2 free 5   3 alloc 1        at most two buckets
//! bytes    0     5     8     3     4                           moments 0..4: 8   4..8: 4
//! ```
//!
//! Allocations from before the trace are unknown while events are read: bytes count from the first moment and may be
//! negative.
//! The device of an event is known only when its list is closed. Until then the event waits; in Python's dumps, at most
//! a thousand events wait.
//!
//! Cost: constant time per event, and a bounded number of buckets per device.

use super::error::MOST_DEVICES;
use crate::trace::Action;
use std::ops::Range;

/// Maximum number of buckets per device.
const MOST_BUCKETS: usize = 2048;

/// Number of waiting events above which they are assigned to the next list.
///
/// A file with so many of them writes each list as a whole.
const MOST_WAITING: usize = 4096;

/// Number of lists for all devices and the host; a file with more of them is odd.
const MOST_TRACKS: usize = MOST_DEVICES + 1;

/// Curve of one device's trace so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PreviewTrace {
    pub events: u64,
    /// Number of moments per bucket, a power of two.
    pub bucket_moments: u64,
    /// Highest live bytes of each bucket, minus those of the first moment.
    pub highest_bytes: Vec<i64>,
    /// First moment with the highest live bytes.
    pub peak_moment: u64,
    /// Live bytes at the last moment, minus those of the first moment.
    pub last_bytes: i64,
    /// Range of the trace's events among all events of the file, in the file's order.
    pub rows: Range<u32>,
    /// Action that ends lifetimes in this trace.
    pub freeing: Action,
}

/// Curves of what has been read so far, one per list of events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// One trace per device that has events, in the order of the file; pinned host memory comes last.
    pub traces: Vec<PreviewTrace>,
    /// Live bytes at the end by device index, as far as the segments have been read.
    pub last_live_bytes: Vec<(i64, u64)>,
    /// True if the lists are nested in a way that no snapshot has, so that the traces mean nothing.
    pub is_odd: bool,
}

/// Follows the events of a file.
#[derive(Clone, Debug, Default)]
pub(super) struct Watch {
    tracks: Vec<Track>,
    /// Events whose list is unknown.
    waiting: Vec<Waiting>,
    is_odd: bool,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    row: u32,
    action: Action,
    size_bytes: u64,
}

#[derive(Clone, Debug)]
struct Track {
    /// Number of the list in the builder, once it is closed.
    list: Option<u32>,
    rows: Range<u32>,
    /// Curve if lifetimes end when frees complete.
    completed: Curve,
    /// Curve if lifetimes end when frees are requested; `None` after the first free that completed.
    requested: Option<Curve>,
}

#[derive(Clone, Debug)]
struct Curve {
    /// Binary logarithm of the number of moments per bucket.
    bits: u32,
    moment: u64,
    bytes: i64,
    highest: Vec<i64>,
    peak: (u64, i64),
}

impl Watch {
    #[inline]
    pub(super) fn event(&mut self, row: u32, action: Action, size_bytes: u64) {
        self.waiting.push(Waiting { row, action, size_bytes });
        if self.waiting.len() > MOST_WAITING {
            self.flush();
        }
    }

    /// Assigns the events of a new list, whose rows so far are `rows`.
    pub(super) fn list(&mut self, list: u32, rows: &[Range<u32>]) {
        let [rows] = rows else { return self.is_odd = true };
        if self.tracks.len() >= MOST_TRACKS {
            return self.is_odd = true;
        }
        match self.tracks.last_mut() {
            // Its events were assigned before it was closed.
            Some(open) if open.list.is_none() => {
                open.list = Some(list);
                self.is_odd |= open.rows.start != rows.start;
                let end = open.rows.end;
                self.claim(self.tracks.len() - 1, end..rows.end);
            }
            _ => {
                let before = self.tracks.iter().position(|track| track.rows.start > rows.start);
                let at = before.unwrap_or(self.tracks.len());
                self.tracks.insert(at, Track::new(Some(list), rows.start));
                self.claim(at, rows.clone());
            }
        }
    }

    /// Assigns the new events of a list that was extended and now has the rows `rows`.
    pub(super) fn extend(&mut self, list: u32, rows: &[Range<u32>]) {
        let at = self.tracks.iter().rposition(|track| track.list == Some(list));
        match (at, rows) {
            (Some(at), [rows]) => self.claim(at, self.tracks[at].rows.end..rows.end),
            _ => self.is_odd = true,
        }
    }

    /// Returns the curves, without the waiting events.
    pub(super) fn traces(&self) -> Vec<PreviewTrace> {
        self.tracks.iter().map(Track::preview).collect()
    }

    pub(super) fn is_odd(&self) -> bool {
        self.is_odd
    }

    /// Moves waiting events to a list.
    fn claim(&mut self, at: usize, rows: Range<u32>) {
        if rows.start > rows.end {
            return self.is_odd = true;
        }
        let first = self.waiting.partition_point(|event| event.row < rows.start);
        let last = self.waiting.partition_point(|event| event.row < rows.end);
        let track = &mut self.tracks[at];
        self.is_odd |= last - first != rows.len() || track.rows.end != rows.start;
        self.waiting.drain(first..last).for_each(|event| track.event(event));
    }

    /// Moves all waiting events to the list that is not closed yet.
    fn flush(&mut self) {
        let Some(first) = self.waiting.first().map(|event| event.row) else { return };
        let last = self.waiting[self.waiting.len() - 1].row;
        if self.tracks.last().is_none_or(|track| track.list.is_some()) {
            self.tracks.push(Track::new(None, first));
        }
        self.claim(self.tracks.len() - 1, first..last + 1);
    }
}

impl Track {
    fn new(list: Option<u32>, row: u32) -> Self {
        Self { list, rows: row..row, completed: Curve::new(), requested: Some(Curve::new()) }
    }

    #[inline]
    fn event(&mut self, event: Waiting) {
        self.rows.end = event.row + 1;
        let size_bytes = event.size_bytes as i64;
        let (completed, requested) = match event.action {
            Action::Alloc => (size_bytes, size_bytes),
            Action::FreeCompleted => {
                self.requested = None;
                (-size_bytes, 0)
            }
            Action::FreeRequested => (0, -size_bytes),
            _ => (0, 0),
        };
        self.completed.step(completed);
        if let Some(curve) = &mut self.requested {
            curve.step(requested);
        }
    }

    fn preview(&self) -> PreviewTrace {
        let (curve, freeing) = match &self.requested {
            Some(curve) => (curve, Action::FreeRequested),
            None => (&self.completed, Action::FreeCompleted),
        };
        PreviewTrace {
            events: curve.moment,
            bucket_moments: 1 << curve.bits,
            highest_bytes: curve.highest.clone(),
            peak_moment: curve.peak.0,
            last_bytes: curve.bytes,
            rows: self.rows.clone(),
            freeing,
        }
    }
}

impl Curve {
    fn new() -> Self {
        Self { bits: 0, moment: 0, bytes: 0, highest: vec![0], peak: (0, 0) }
    }

    #[inline]
    fn step(&mut self, delta: i64) {
        self.moment += 1;
        self.bytes = self.bytes.saturating_add(delta);
        if self.bytes > self.peak.1 {
            self.peak = (self.moment, self.bytes);
        }
        let at = (self.moment >> self.bits) as usize;
        match self.highest.get_mut(at) {
            Some(highest) => *highest = (*highest).max(self.bytes),
            None if at < MOST_BUCKETS => self.highest.push(self.bytes),
            None => self.widen(),
        }
    }

    /// Merges pairs of buckets and starts a new one.
    #[cold]
    fn widen(&mut self) {
        self.bits += 1;
        self.highest = self.highest.chunks(2).map(|pair| pair.iter().copied().max().unwrap_or(0)).collect();
        self.highest.push(self.bytes);
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::single_range_in_vec_init, reason = "lists of one range are what is tested")]

    use super::*;

    /// Returns the highest live bytes per bucket, minus those of the first moment.
    fn naive(bytes: &[i64], bucket_moments: u64) -> Vec<i64> {
        bytes.chunks(bucket_moments as usize).map(|bucket| bucket.iter().copied().max().unwrap()).collect()
    }

    #[test]
    fn the_worked_example() {
        let mut curve = Curve::new();
        [5, 3, -5, 1].into_iter().for_each(|delta| curve.step(delta));
        assert_eq!(curve.highest, [0, 5, 8, 3, 4]);
        curve.bits = 0;
        assert_eq!(naive(&[0, 5, 8, 3, 4], 4), [8, 4]);
        assert_eq!(curve.peak, (2, 8));
    }

    #[test]
    fn a_prefix_is_the_curve_of_the_prefix() {
        let mut curve = Curve::new();
        let mut bytes = vec![0_i64];
        let mut state = 7_u64;
        for event in 1..3 * MOST_BUCKETS as u64 * 2 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let delta = (state >> 33) as i64 % 2000 - 1000;
            curve.step(delta);
            bytes.push(bytes[bytes.len() - 1] + delta);
            if event % 311 == 0 || event.is_power_of_two() {
                assert!(curve.highest.len() <= MOST_BUCKETS);
                assert_eq!(curve.highest, naive(&bytes, 1 << curve.bits), "after event {event}");
                let peak = bytes.iter().copied().max().unwrap();
                let moment = bytes.iter().position(|&at| at == peak).unwrap() as u64;
                assert_eq!(curve.peak, (moment, peak));
            }
        }
    }

    fn watched(pieces: &[&[Range<u32>]], claims: impl Fn(&mut Watch)) -> Watch {
        let mut watch = Watch::default();
        for row in pieces.iter().flat_map(|rows| rows.iter().cloned()).flatten() {
            watch.event(row, Action::Alloc, 1);
        }
        claims(&mut watch);
        watch
    }

    #[test]
    fn events_go_to_the_list_that_takes_them() {
        let rows = 0..6;
        let watch = watched(&[&[rows]], |watch| {
            // A list of one event is closed together with the list around it, after the list behind it.
            watch.list(0, &[1..4]);
            watch.extend(0, &[1..6]);
            watch.list(1, &[0..1]);
        });
        assert!(!watch.is_odd());
        let rows: Vec<_> =
            watch.traces().into_iter().map(|trace| (trace.rows, trace.events, trace.last_bytes)).collect();
        assert_eq!(rows, [(0..1, 1, 1), (1..6, 5, 5)]);
    }

    #[test]
    fn a_long_list_is_followed_before_it_is_closed() {
        let end = 3 * MOST_WAITING as u32;
        let mut watch = Watch::default();
        (0..end).for_each(|row| watch.event(row, Action::Alloc, 1));
        assert!(watch.traces()[0].events > 2 * MOST_WAITING as u64);
        watch.list(4, &[0..end]);
        (end..end + 3).for_each(|row| watch.event(row, Action::FreeCompleted, 1));
        watch.list(5, &[end..end + 3]);
        assert!(!watch.is_odd());
        let traces = watch.traces();
        assert_eq!((traces[0].events, traces[0].last_bytes), (u64::from(end), i64::from(end)));
        assert_eq!((traces[1].events, traces[1].last_bytes), (3, -3));
    }

    #[test]
    fn lists_that_no_snapshot_has_are_odd() {
        assert!(watched(&[&[0..5]], |watch| watch.list(0, &[0..2, 3..4])).is_odd());
        assert!(watched(&[&[0..5]], |watch| watch.extend(3, &[0..5])).is_odd());
        assert!(watched(&[&[0..2]], |watch| watch.list(0, &[0..5])).is_odd());
    }
}
