//! Divides the runs of a map of segments into rectangles of one colour.

use super::segment_lines::{HEAD, LINE, Piece, Run};
use crate::draw::{Align, Color, Font, Op, Point, Rect, Theme};

/// Minimum width of a block with a gap at its right edge, in CSS pixels.
const EDGED: f64 = 4.0;

/// Height of the mark on pending blocks, in CSS pixels.
const PENDING: f64 = 3.0;

/// Meaning of a rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// The whole run, visible where it is free.
    Ground,
    /// Blocks in use.
    Block,
    /// Bytes of a block that nobody requested.
    Lost,
    /// Mark of a block that another stream still uses.
    Pending,
    /// Outline of the run.
    Edge,
    /// Mark of unmapped addresses before the run.
    Hole,
}

impl Part {
    /// Returns the colour, which for [`Self::Block`] is `block`.
    pub fn color(self, block: Color, theme: &Theme) -> Color {
        match self {
            Self::Ground => theme.initial.with_alpha(0.55),
            Self::Block => block,
            Self::Lost => theme.merged,
            Self::Pending => theme.reserved,
            Self::Edge => theme.text_muted.with_alpha(0.7),
            Self::Hole => theme.text_muted,
        }
    }
}

/// Memory of the largest block of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Content {
    pub size_bytes: u64,
    pub requested_bytes: u64,
    /// True if another stream still uses it after it was freed.
    pub is_pending: bool,
}

/// Draws the name of a group on a line that begins at `origin`.
pub fn head(name: &str, (x, y): Point, width: f64, theme: &Theme) -> Op {
    let name = Font::STRONG.fitted(name, width);
    Op::text((x, y + HEAD / 2.0 + 1.0), name, Align::Left, Font::STRONG, theme.text)
}

/// Returns the ground and the outline of a run; `origin` is where its line begins.
pub fn run_parts(run: &Run, (left, top): Point) -> Vec<(Part, Rect)> {
    let (x, width) = (left + run.x, run.width);
    let mut parts = vec![(Part::Ground, Rect::new(x, top, width, LINE))];
    if run.follows_hole && run.start == 0 && run.x > 0.0 {
        let dash = |index: f64| Rect::new(x - 12.0 + index * 4.0, top + LINE / 2.0 - 0.5, 2.0, 1.0);
        parts.extend([0.0, 1.0, 2.0].map(|index| (Part::Hole, dash(index))));
    }
    let edges = [
        Rect::new(x, top, width, 1.0),
        Rect::new(x, top + LINE - 1.0, width, 1.0),
        Rect::new(x, top + 1.0, 1.0, LINE - 2.0),
        Rect::new(x + width - 1.0, top + 1.0, 1.0, LINE - 2.0),
    ];
    parts.extend(edges.map(|edge| (Part::Edge, edge)));
    parts
}

/// Returns the rectangles of a piece that is in use, the lowest one first; `origin` is where its line begins.
pub fn piece_parts(piece: &Piece, content: Content, (left, top): Point) -> Vec<(Part, Rect)> {
    let Content { size_bytes, requested_bytes, is_pending } = content;
    let whole = piece.end - piece.x;
    let width = whole - if whole >= EDGED { 1.0 } else { 0.0 };
    let block = Rect::new(left + piece.x, top, width, LINE);
    // Each part of a block on several lines shows its share of the lost bytes at its end.
    let lost_bytes = size_bytes.saturating_sub(requested_bytes);
    let lost = (lost_bytes as f64 / size_bytes.max(1) as f64 * whole).min(width);
    let mut parts = vec![(Part::Block, block)];
    if !piece.is_merged && lost >= 1.0 {
        parts.push((Part::Lost, Rect { x: block.right() - lost, width: lost, ..block }));
    }
    if is_pending {
        parts.push((Part::Pending, Rect { height: PENDING, ..block }));
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN: Run = Run { segment: 0, start: 0, end: 100, x: 30.0, width: 200.0, follows_hole: true };

    #[test]
    fn an_outline_lies_within_its_run() {
        let parts = run_parts(&RUN, (10.0, 50.0));
        let ground = Rect::new(40.0, 50.0, 200.0, LINE);
        assert_eq!(parts[0], (Part::Ground, ground));
        let of = |part| parts.iter().filter(move |(other, _)| *other == part).map(|(_, rect)| *rect);
        assert_eq!(of(Part::Edge).filter(|edge| ground.covers(*edge)).count(), 4);
        assert!(of(Part::Hole).count() == 3 && of(Part::Hole).all(|dash| dash.right() < ground.x));
        assert_eq!(run_parts(&Run { start: 1, ..RUN }, (0.0, 0.0)).len(), 5, "it continues on another line");
    }

    #[test]
    fn marks_lie_on_their_block() {
        let piece = Piece { x: 0.0, end: 125.0, most: 0, most_bytes: 10, is_merged: false };
        let content = Content { size_bytes: 100, requested_bytes: 80, is_pending: true };
        let parts = piece_parts(&piece, content, (10.0, 50.0));
        let block = Rect::new(10.0, 50.0, 124.0, LINE);
        let lost = Rect { x: 109.0, width: 25.0, ..block };
        let pending = Rect { height: PENDING, ..block };
        assert_eq!(parts, [(Part::Block, block), (Part::Lost, lost), (Part::Pending, pending)]);
        let merged = piece_parts(&Piece { is_merged: true, ..piece }, content, (10.0, 50.0));
        assert_eq!(merged.len(), 2, "one block's loss says nothing about several");
    }
}
