//! Outlines as level and upright pieces, with fainter uprights where many are close together.
//!
//! Where a curve jumps up and down from pixel to pixel, its uprights side by side would hide what is behind them. They
//! are drawn fainter there, while a single spike and a slope stay strong:
//!
//! ```text
//!      ▏                    ▏▏▏▏▏▏▏
//!  ────┘└────   strong      ▏▏▏▏▏▏▏   faint
//! ```
//!
//! The cost is constant per step: a window moves over the uprights from left to right.

use crate::ask::{OutlineStep, View as Asked};
use std::collections::VecDeque;

/// Minimum height of an upright that is made fainter, as a share of the picture's height.
const HIGH: f32 = 0.03;

/// Maximum distance between neighbouring uprights, as a share of the picture's width.
const NEAR: f32 = 0.003;

/// Number of high neighbours that are still drawn at full strength: two spikes, up and down.
const FEW: f32 = 4.0;

/// Minimum strength of a piece, used where uprights are dense.
const FAINT: f32 = 0.3;

/// One straight piece of an outline, level or upright; coordinates are in `0.0..=1.0` across its picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    pub x0: f32,
    pub x1: f32,
    pub y0: f32,
    pub y1: f32,
    /// Opacity; lower among many high uprights.
    pub strength: f32,
}

/// Splits a stepped line into a level piece per step and an upright piece between neighbours.
pub fn pieces(steps: &[OutlineStep], asked: &Asked) -> Vec<Piece> {
    let height = |step: &OutlineStep| ((step.bytes - asked.request.y0) / (asked.request.y1 - asked.request.y0)) as f32;
    let mut pieces: Vec<Piece> = Vec::with_capacity(steps.len() * 2);
    for (index, step) in steps.iter().enumerate() {
        let (y, right) = (height(step), steps.get(index + 1).map_or(1.0, |next| next.x));
        if let Some(before) = pieces.last().map(|before| before.y0).filter(|&before| before != y) {
            pieces.push(Piece { x0: step.x, x1: step.x, y0: y.min(before), y1: y.max(before), strength: 1.0 });
        }
        pieces.push(Piece { x0: step.x, x1: right, y0: y, y1: y, strength: 1.0 });
    }
    weaken_crowds(&mut pieces);
    pieces
}

/// Sets the strength of high uprights by the number of high uprights around them.
fn weaken_crowds(pieces: &mut [Piece]) {
    let is_high = |(_, piece): &(usize, &Piece)| piece.y1 - piece.y0 >= HIGH;
    let high = pieces.iter().enumerate().filter(is_high).map(|(index, piece)| (index, piece.x0));
    let high: Vec<(usize, f32)> = high.collect();
    let mut around = VecDeque::new();
    let mut coming = high.iter().map(|&(_, x)| x).peekable();
    for &(index, x) in &high {
        while let Some(next) = coming.next_if(|&next| next <= x + NEAR) {
            around.push_back(next);
        }
        while around.front().is_some_and(|&before| before < x - NEAR) {
            around.pop_front();
        }
        pieces[index].strength = (FEW / around.len() as f32).clamp(FAINT, 1.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Axis;
    use crate::draw::{Span, View};
    use crate::views::timeline::draw::stage::asked;

    fn pieces(steps: &[OutlineStep]) -> Vec<Piece> {
        super::pieces(steps, &asked(Axis::Events, View { x: Span::new(0.0, 10.0), y: Span::new(100.0, 200.0) }))
    }

    fn steps(all: impl IntoIterator<Item = (f32, f64)>) -> Vec<OutlineStep> {
        all.into_iter().map(|(x, bytes)| OutlineStep { x, bytes }).collect()
    }

    #[test]
    fn an_outline_is_level_and_upright_where_heights_differ() {
        let piece = |x0, x1, y0, y1| Piece { x0, x1, y0, y1, strength: 1.0 };
        let all = pieces(&steps([(0.0, 150.0), (0.5, 200.0)]));
        assert_eq!(all, [piece(0.0, 0.5, 0.5, 0.5), piece(0.5, 0.5, 0.5, 1.0), piece(0.5, 1.0, 1.0, 1.0)]);
        assert!(pieces(&[]).is_empty());
        assert_eq!(pieces(&steps([(0.0, 150.0), (0.5, 150.0)])).len(), 2);
    }

    #[test]
    fn only_a_crowd_is_faint() {
        let spike = pieces(&steps([(0.0, 110.0), (0.5, 190.0), (0.501, 110.0)]));
        assert!(spike.iter().all(|piece| piece.strength == 1.0));
        let crowd = (0..1000).map(|i| (i as f32 / 1000.0 * 0.2, if i % 2 == 0 { 110.0 } else { 190.0 }));
        let crowd = pieces(&steps(crowd));
        let (levels, uprights): (Vec<&Piece>, Vec<&Piece>) = crowd.iter().partition(|piece| piece.y0 == piece.y1);
        assert!(uprights.iter().all(|piece| piece.strength < 0.5));
        assert!(levels.iter().all(|piece| piece.strength == 1.0), "the envelope stays");
        let slope = (0..1000).map(|i| (i as f32 / 1000.0, 100.0 + f64::from(i) * 0.1));
        assert!(pieces(&steps(slope)).iter().all(|piece| piece.strength == 1.0));
    }
}
