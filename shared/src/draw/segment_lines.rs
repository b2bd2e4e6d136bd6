//! Lays segments out on lines of one scale, like text, and joins blocks until they are wide enough to be seen.
//!
//! ```text
//! Large pool, 3 segments
//! ████████████████████████████      a segment that is longer than a line continues on the next one
//! ████████
//! ██████ █████                      short ones share a line
//! ```

/// Height of a line of segments, in CSS pixels.
pub const LINE: f64 = 14.0;

/// Distance from the top of a line to the top of the next one, in CSS pixels.
pub const PITCH: f64 = 18.0;

/// Height of the line that names a group, in CSS pixels.
pub const HEAD: f64 = 22.0;

/// Gap between segments on one line, in CSS pixels.
pub const GAP: f64 = 5.0;

/// Gap for unmapped addresses of an expandable segment, however many, in CSS pixels.
const HOLE: f64 = 14.0;

/// Minimum width of a segment, in CSS pixels.
pub const LEAST_WIDTH: f64 = 4.0;

/// Minimum width of a piece, in CSS pixels; a narrower block is drawn together with the ones after it.
const LEAST: f64 = 1.25;

/// Part of a segment on one line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Run {
    /// Position of the segment in the map.
    pub segment: u32,
    /// Offset of its start in the segment, in bytes.
    pub start: u64,
    /// Offset of its end in the segment, in bytes.
    pub end: u64,
    /// Left edge, in CSS pixels.
    pub x: f64,
    pub width: f64,
    /// True if unmapped addresses of the same expandable segment lie before it.
    pub follows_hole: bool,
}

impl Run {
    /// Returns the x coordinate of an offset into the segment, clamped to the run.
    pub fn x_of(&self, offset: u64) -> f64 {
        let within = offset.clamp(self.start, self.end) - self.start;
        self.x + self.width * within as f64 / (self.end - self.start).max(1) as f64
    }
}

/// Line of the map.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// Name of a group, by the group's position.
    Head(usize),
    /// Parts of segments, from left to right.
    Runs(Vec<Run>),
}

/// Part of a run that is drawn in one colour.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Left edge.
    pub x: f64,
    /// Right edge.
    pub end: f64,
    /// Position of its largest block.
    pub most: usize,
    /// Size of that block in bytes.
    pub most_bytes: u64,
    /// True if it consists of several blocks.
    pub is_merged: bool,
}

/// Returns the number of bytes per line with which the peak of the reserved bytes fits a height.
///
/// It is a power of two and does not depend on the moment, so that sizes stay comparable from moment to moment.
/// Each step of `zoom` halves it, down to 64 KiB.
pub fn bytes_per_line(most_bytes: u64, height: f64, zoom: u32) -> u64 {
    const HEADS: f64 = 2.0;
    let lines = ((height - HEADS * HEAD) / PITCH).floor().max(1.0) as u64;
    // About a quarter of the space is lost at the ends of lines.
    let fitting = (most_bytes / lines + most_bytes / lines / 3).max(1).next_power_of_two();
    (fitting.max(2 << 20) >> zoom.min(30)).max(1 << 16)
}

/// Joins the blocks of a run to pieces that are wide enough to be seen, without leaving a block out.
///
/// Blocks are given as position, offset into the segment and size in bytes, beginning at the start of the run.
pub fn pieces(run: &Run, blocks: impl Iterator<Item = (usize, u64, u64)>) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    for (block, start, size_bytes) in blocks.take_while(|(_, start, _)| *start < run.end) {
        let (x, end) = (run.x_of(start), run.x_of(start + size_bytes));
        match pieces.last_mut().filter(|last| last.end - last.x < LEAST) {
            Some(last) => {
                last.end = end;
                last.is_merged = true;
                if size_bytes > last.most_bytes {
                    (last.most, last.most_bytes) = (block, size_bytes);
                }
            }
            None => pieces.push(Piece { x, end, most: block, most_bytes: size_bytes, is_merged: false }),
        }
    }
    pieces
}

/// Layout of segments that is built line by line.
#[derive(Debug)]
pub struct Writer {
    width: f64,
    /// Pixels per byte.
    scale: f64,
    x: f64,
    y: f64,
    lines: Vec<(f64, Line)>,
}

impl Writer {
    /// Creates an empty layout; `width` is that of the lines in CSS pixels.
    pub fn new(width: f64, bytes_per_line: u64) -> Self {
        Self { width, scale: width / bytes_per_line as f64, x: 0.0, y: 0.0, lines: Vec::new() }
    }

    /// Appends the line that names a group.
    pub fn head(&mut self, group: usize) {
        self.lines.push((self.y, Line::Head(group)));
        self.y += HEAD;
    }

    /// Begins a new line unless the current one is empty.
    pub fn end_line(&mut self) {
        if self.x > 0.0 {
            self.y += PITCH;
            self.x = 0.0;
        }
    }

    /// Appends a segment and returns the line on which it begins.
    pub fn segment(&mut self, segment: u32, size_bytes: u64, follows_hole: bool) -> u32 {
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

    /// Returns the lines, each with its top, and the height of all lines.
    pub fn finish(self) -> (Vec<(f64, Line)>, f64) {
        (self.lines, self.y)
    }

    fn push(&mut self, run: Run) -> u32 {
        match self.lines.last_mut() {
            Some((y, Line::Runs(runs))) if *y == self.y => runs.push(run),
            _ => self.lines.push((self.y, Line::Runs(vec![run]))),
        }
        self.lines.len() as u32 - 1
    }
}
