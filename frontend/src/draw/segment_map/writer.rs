//! Lines of segments, from left to right and from top to bottom.

use super::plan::{HEAD, Line, PITCH, Run};

/// Room between segments on one line.
pub(super) const GAP: f64 = 5.0;

/// Room for addresses of an expandable segment that have no memory now, however many.
const HOLE: f64 = 14.0;

/// The narrowest segment.
pub(super) const LEAST_WIDTH: f64 = 4.0;

/// Lays segments out, line by line.
pub(super) struct Writer {
    pub(super) width: f64,
    /// Pixels to a byte.
    pub(super) scale: f64,
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) lines: Vec<(f64, Line)>,
}

impl Writer {
    pub(super) fn head(&mut self, group: usize) {
        self.lines.push((self.y, Line::Head(group)));
        self.y += HEAD;
    }

    pub(super) fn end_line(&mut self) {
        if self.x > 0.0 {
            self.y += PITCH;
            self.x = 0.0;
        }
    }

    /// Appends a segment and says on which line it begins.
    pub(super) fn segment(&mut self, segment: u32, size_bytes: u64, follows_hole: bool) -> u32 {
        let whole = size_bytes as f64 * self.scale;
        if self.x > 0.0 {
            self.x += if follows_hole { HOLE } else { GAP };
            if self.x + whole.max(LEAST_WIDTH) > self.width {
                self.end_line();
            }
        }
        let mut start = 0;
        let mut first = None;
        while start < size_bytes {
            let room_bytes = ((self.width - self.x) / self.scale) as u64;
            let end = if whole <= self.width { size_bytes } else { size_bytes.min(start + room_bytes.max(1)) };
            let width = ((end - start) as f64 * self.scale).clamp(LEAST_WIDTH.min(self.width), self.width);
            let line = self.push(Run { segment, start, end, x: self.x, width, follows_hole });
            first = first.or(Some(line));
            self.x += width;
            start = end;
            if start < size_bytes {
                self.end_line();
            }
        }
        first.unwrap_or(self.lines.len() as u32 - 1)
    }

    fn push(&mut self, run: Run) -> u32 {
        match self.lines.last_mut() {
            Some((y, Line::Runs(runs))) if *y == self.y => runs.push(run),
            _ => self.lines.push((self.y, Line::Runs(vec![run]))),
        }
        self.lines.len() as u32 - 1
    }
}
