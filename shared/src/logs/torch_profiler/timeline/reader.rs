//! Reads a timeline that arrives in chunks, number by number.

use super::{TensorCategory, Timeline, TimelineForm, TimelinePoint, timeline_form};
use crate::base::Sink;
use crate::logs::source::FileReader;

/// Most points that are kept; timelines of a few steps of a large model have some hundred thousand.
const MOST_POINTS: usize = 4_000_000;

/// Numbers of a row of sizes: a zero, on which the profiler draws the others, and one for each category.
const ROW: usize = 1 + CATEGORIES;

/// Numbers of an event.
const EVENT: usize = 4;

const CATEGORIES: usize = TensorCategory::ALL.len();

/// Collects the numbers of lists.
#[derive(Debug, Default)]
pub struct TimelineReader {
    form: TimelineForm,
    /// Number of lists that are open.
    depth: usize,
    /// Number of lists within the outermost one that have begun.
    lists: usize,
    /// Value of the number that has begun, without its sign.
    number: Option<i64>,
    is_negative: bool,
    /// First numbers of the innermost list.
    row: [i64; ROW],
    /// How many numbers the innermost list has so far.
    count: usize,
    /// True if the innermost list has something other than integers.
    is_odd: bool,
    /// Times of levels, which stand before all of them.
    times_us: Vec<i64>,
    /// Number of levels that have ended.
    rows: usize,
    /// Sums of the events so far.
    sums: [i64; CATEGORIES],
    last_ns: Option<i64>,
    timeline: Timeline,
}

impl FileReader for TimelineReader {
    type Log = Timeline;

    fn begin(head: &[u8]) -> Option<Self> {
        Some(Self { form: timeline_form(head)?, ..Self::default() })
    }

    fn finish(self) -> Timeline {
        let Self { form, depth, lists, times_us, rows, mut timeline, .. } = self;
        timeline.form = form;
        timeline.is_cut = form != TimelineForm::Picture && (depth > 0 || lists == 0);
        if !timeline.is_cut {
            timeline.unread += times_us.len().saturating_sub(rows) as u64;
        }
        begin_with_first_time(&mut timeline.points);
        timeline
    }
}

impl Sink for TimelineReader {
    fn push(&mut self, bytes: &[u8]) {
        if self.form != TimelineForm::Picture {
            bytes.iter().for_each(|&byte| self.byte(byte));
        }
    }
}

impl TimelineReader {
    fn byte(&mut self, byte: u8) {
        match byte {
            b'0'..=b'9' => {
                let tens = self.number.unwrap_or(0).saturating_mul(10);
                self.number = Some(tens.saturating_add(i64::from(byte - b'0')));
            }
            b'-' => self.is_negative = true,
            b'[' => self.open(),
            b']' => self.close(),
            b',' | b' ' | b'\n' | b'\r' | b'\t' => self.end_number(),
            _ => self.is_odd = true,
        }
    }

    fn open(&mut self) {
        self.depth += 1;
        self.lists += usize::from(self.depth == 2);
        (self.count, self.is_odd) = (0, false);
    }

    fn end_number(&mut self) {
        let is_negative = std::mem::take(&mut self.is_negative);
        let Some(value) = self.number.take() else { return };
        let value = if is_negative { -value } else { value };
        if self.is_in_times() {
            self.times_us.push(value);
            return;
        }
        if let Some(place) = self.row.get_mut(self.count) {
            *place = value;
        }
        self.count = self.count.saturating_add(1);
    }

    fn is_in_times(&self) -> bool {
        self.form == TimelineForm::Levels && self.depth == 2 && self.lists == 1
    }

    fn close(&mut self) {
        self.end_number();
        match (self.form, self.depth) {
            (TimelineForm::Levels, 3) => self.end_level(),
            (TimelineForm::Events, 2) => self.end_event(),
            _ => {}
        }
        self.depth = self.depth.saturating_sub(1);
        (self.count, self.is_odd) = (0, false);
    }

    fn end_level(&mut self) {
        let time_us = self.times_us.get(self.rows).copied();
        self.rows += 1;
        let is_level = !self.is_odd && self.count == ROW && self.row.iter().all(|size| *size >= 0);
        let Some(time_us) = time_us.filter(|_| is_level) else {
            self.timeline.unread += 1;
            return;
        };
        let mut bytes = [0; CATEGORIES];
        for (size, part) in self.row[1..].iter().zip(&mut bytes) {
            *part = size.unsigned_abs();
        }
        self.add(TimelinePoint { time_us, bytes });
    }

    fn end_event(&mut self) {
        let [time_ns, action, size, category] = [self.row[0], self.row[1], self.row[2], self.row[3]];
        let category = usize::try_from(category).ok().filter(|category| *category < CATEGORIES);
        let is_event = !self.is_odd && self.count == EVENT && (1..=4).contains(&action);
        let Some(category) = category.filter(|_| is_event) else {
            self.timeline.unread += 1;
            return;
        };
        self.sums[category] = self.sums[category].saturating_add(size);
        // Memory below zero shows that events are missing.
        self.timeline.unread += u64::from(self.sums[category] < 0);
        let bytes = self.sums.map(|sum| sum.max(0).unsigned_abs());
        let is_same_time = self.last_ns.replace(time_ns) == Some(time_ns);
        match self.timeline.points.last_mut().filter(|_| is_same_time) {
            Some(last) => last.bytes = bytes,
            None => self.add(TimelinePoint { time_us: time_ns.div_euclid(1000), bytes }),
        }
    }

    fn add(&mut self, point: TimelinePoint) {
        match self.timeline.points.len() < MOST_POINTS {
            true => self.timeline.points.push(point),
            false => self.timeline.left_out += 1,
        }
    }
}

/// Gives tensors from before the profile the first time that there is, as the profiler does in its levels, and puts the
/// points in order.
fn begin_with_first_time(points: &mut [TimelinePoint]) {
    let first = points.iter().map(|point| point.time_us).filter(|time| *time >= 0).min().unwrap_or(-1);
    points.iter_mut().for_each(|point| point.time_us = point.time_us.max(first));
    if !points.is_sorted_by_key(|point| point.time_us) {
        points.sort_by_key(|point| point.time_us);
    }
}
