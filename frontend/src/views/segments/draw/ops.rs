//! Map of segments as drawing operations.
//!
//! Blocks narrower than 1.25 pixels are drawn together with their neighbours, never left out. The number of operations
//! therefore depends on the pixels in view and not on the number of blocks.

use super::plan::{MapPlan, blocks_of};
use crate::ask::{BlockState, ColorBy, SegmentsData};
use crate::draw::shade;
use crate::draw::{Color, Op, Point, Rect, Theme};
use crate::state::BlockColors;
use shared::draw::segment_lines;
use shared::draw::segment_lines::{Line, Piece, Run};
use shared::draw::segment_parts::{Content, Part, head, piece_parts, run_parts};

#[derive(Clone, Copy, Debug)]
pub struct MapScene<'a> {
    pub data: &'a SegmentsData,
    pub plan: &'a MapPlan,
    pub heads: &'a [String],
    pub theme: &'a Theme,
    /// Property of blocks that their colours stand for.
    pub color_by: BlockColors,
    /// The part in view, in CSS pixels of the whole map.
    pub view: Rect,
    pub margin: f64,
    pub hovered: Option<usize>,
    pub focused: Option<usize>,
    pub pinned: Option<usize>,
}

/// Returns the operations that draw the map, in CSS pixels of the part in view.
pub fn ops(scene: &MapScene<'_>) -> Vec<Op> {
    let mut ops = Vec::new();
    let width = scene.view.width - 2.0 * scene.margin;
    for (top, line) in scene.plan.lines_in(scene.view.y, scene.view.bottom()) {
        let y = top - scene.view.y;
        match line {
            Line::Head(group) => {
                ops.extend(scene.heads.get(*group).map(|name| head(name, (scene.margin, y), width, scene.theme)))
            }
            Line::Runs(runs) => runs.iter().for_each(|run| draw_run(&mut ops, scene, run, y)),
        }
    }
    let marks = [(scene.hovered, scene.theme.text, 1.0), (scene.pinned, scene.theme.accent, 2.0)];
    for (block, color, width) in marks.into_iter().chain([(scene.focused, scene.theme.accent, 2.0)]) {
        let rects = block.map(|block| scene.plan.rects(scene.data, block)).unwrap_or_default();
        let shown = |rect: &Rect| Rect { x: rect.x + scene.margin, y: rect.y - scene.view.y, ..*rect };
        rects.iter().for_each(|rect| frame(&mut ops, shown(rect), color, width));
    }
    ops
}

fn draw_run(ops: &mut Vec<Op>, scene: &MapScene<'_>, run: &Run, y: f64) {
    let origin = (scene.margin, y);
    let (edges, below): (Vec<_>, Vec<_>) =
        run_parts(run, origin).into_iter().partition(|(part, _)| *part == Part::Edge);
    let theme = scene.theme;
    let color = |part: Part| part.color(theme.initial, theme);
    ops.extend(below.into_iter().map(|(part, rect)| Op::Fill { rect, radius: 0.0, color: color(part) }));
    for piece in pieces(scene, run) {
        draw_piece(ops, scene, &piece, origin);
    }
    ops.push(Op::Boxes { boxes: edges.into_iter().map(|(_, edge)| edge).collect(), color: color(Part::Edge) });
}

/// Returns the blocks of a run as stretches that are wide enough to be seen.
fn pieces(scene: &MapScene<'_>, run: &Run) -> Vec<Piece> {
    let first = scene.plan.block_at_offset(scene.data, run.segment, run.start);
    let blocks = first..blocks_of(scene.data, run.segment).end;
    let placed = blocks.map_while(|block| scene.plan.place(block).map(|(_, start)| (block, start)));
    let sized = placed.map(|(block, start)| (block, start, scene.data.blocks[block].size_bytes));
    segment_lines::pieces(run, sized)
}

fn draw_piece(ops: &mut Vec<Op>, scene: &MapScene<'_>, piece: &Piece, origin: Point) {
    let Some(block) = color(scene, piece) else { return };
    let row = &scene.data.blocks[piece.most];
    let content = Content {
        size_bytes: row.size_bytes,
        requested_bytes: row.requested_bytes,
        is_pending: row.kind == BlockState::PendingFree,
    };
    let fill = |(part, rect): (Part, Rect)| Op::Fill { rect, radius: 0.0, color: part.color(block, scene.theme) };
    ops.extend(piece_parts(piece, content, origin).into_iter().map(fill));
}

fn color(scene: &MapScene<'_>, piece: &Piece) -> Option<Color> {
    let (row, theme) = (&scene.data.blocks[piece.most], scene.theme);
    let number = || scene.data.looks.get(row.look as usize).map_or(0, |look| look.color);
    if row.is_other && row.kind != BlockState::Inactive {
        return Some(shade::other_fill(number(), theme));
    }
    match (row.kind, scene.color_by) {
        (BlockState::Inactive, _) => None,
        (BlockState::Allocated, BlockColors::State) => Some(theme.live.mixed(theme.background, 0.25)),
        (BlockState::PendingFree, BlockColors::State) => Some(theme.reserved),
        (_, BlockColors::Stack) if piece.is_merged => Some(shade::merged_fill(number(), ColorBy::Stack, theme)),
        (_, BlockColors::Stack) => Some(shade::fill(number(), ColorBy::Stack, theme)),
    }
}

fn frame(ops: &mut Vec<Op>, rect: Rect, color: Color, width: f64) {
    let half = width / 2.0;
    let (left, top) = (rect.x + half, rect.y + half);
    let (right, bottom) = ((rect.right() - half).max(left), rect.bottom() - half);
    ops.push(Op::line([(left, top), (right, top), (right, bottom), (left, bottom), (left, top)], width, color));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::Look;
    use crate::views::segments::draw::tests::data;

    const MIB: u64 = 1 << 20;

    fn drawn(data: &SegmentsData, color_by: BlockColors, bytes_per_line: u64) -> Vec<Op> {
        let plan = MapPlan::new(data, 1000.0, bytes_per_line);
        let heads = vec!["Large".to_owned()];
        ops(&MapScene {
            data,
            plan: &plan,
            heads: &heads,
            theme: &Theme::light(),
            color_by,
            view: Rect { x: 0.0, y: 0.0, width: 1000.0, height: 300.0 },
            margin: 0.0,
            hovered: None,
            focused: None,
            pinned: None,
        })
    }

    fn fills(ops: &[Op]) -> Vec<(f64, f64, Color)> {
        let fill = |op: &Op| match op {
            Op::Fill { rect, color, .. } => Some((rect.x, rect.width, *color)),
            _ => None,
        };
        ops.iter().filter_map(fill).collect()
    }

    #[test]
    fn blocks_have_the_colour_of_their_stack() {
        let mut data = data(&[&[50, 30, 20]]);
        data.looks = vec![Look { color: 3, title: String::new() }];
        let theme = Theme::light();
        let fills = fills(&drawn(&data, BlockColors::Stack, 100 * MIB));
        let fill = shade::fill(3, ColorBy::Stack, &theme);
        assert_eq!(fills[1..], [(0.0, 499.0, fill), (800.0, 199.0, fill)], "free memory shows the ground");
    }

    #[test]
    fn what_a_block_loses_or_waits_for_is_told_apart() {
        let mut data = data(&[&[100]]);
        data.blocks[0].requested_bytes = 90 * MIB;
        let (x, width, color) = fills(&drawn(&data, BlockColors::State, 100 * MIB))[2];
        assert_eq!((x, width, color), (899.0, 100.0, Theme::light().merged));
        (data.blocks[0].requested_bytes, data.blocks[0].kind) = (100 * MIB, BlockState::PendingFree);
        assert_eq!(fills(&drawn(&data, BlockColors::Stack, 100 * MIB)).last().unwrap().2, Theme::light().reserved);
    }

    #[test]
    fn groups_are_named_and_their_blocks_take_no_more_than_the_pixels() {
        let sizes = vec![1; 100_000];
        let all = drawn(&data(&[&sizes]), BlockColors::Stack, 100_000 * MIB);
        assert!(all.len() < 1000, "{}", all.len());
        let ops = drawn(&data(&[&[1]]), BlockColors::Stack, MIB);
        assert!(matches!(&ops[0], Op::Text { text, .. } if text == "Large"));
    }
}
