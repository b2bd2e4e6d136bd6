//! Layout of segments and their blocks in the map: lines of one scale, like lines of text.
//!
//! Cost: a plan is linear in the segments and blocks; a block is found by two binary searches.

use crate::ask::SegmentsData;
use crate::draw::Rect;
use shared::draw::segment_lines::{HEAD, LINE, Line, Run, Writer};
use std::ops::Range;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct MapPlan {
    /// Positions of the segments of each pool.
    groups: Vec<Vec<u32>>,
    /// Each line with its top edge.
    pub lines: Vec<(f64, Line)>,
    pub height: f64,
    /// Offset of each block from the start of its segment, in bytes.
    offsets: Vec<u64>,
    owners: Vec<u32>,
    first_lines: Vec<u32>,
}

impl MapPlan {
    /// Lays out the segments of a moment, on lines of a width in CSS pixels.
    pub fn new(data: &SegmentsData, width: f64, bytes_per_line: u64) -> Self {
        let mut plan = Self { groups: groups(data), first_lines: vec![0; data.segments.len()], ..Self::default() };
        for segment in 0..data.segments.len() as u32 {
            let mut offset = 0;
            for block in &data.blocks[blocks_of(data, segment)] {
                plan.offsets.push(offset);
                plan.owners.push(segment);
                offset += block.size_bytes;
            }
        }
        let mut writer = Writer::new(width, bytes_per_line);
        for (index, group) in plan.groups.iter().enumerate() {
            writer.head(index);
            let mut before = None;
            for &segment in group {
                let row = &data.segments[segment as usize];
                let follows_hole = before == Some(row.home);
                before = Some(row.home);
                plan.first_lines[segment as usize] = writer.segment(segment, row.segment.size_bytes, follows_hole);
            }
            writer.end_line();
        }
        (plan.lines, plan.height) = writer.finish();
        plan
    }

    pub fn lines_in(&self, top: f64, bottom: f64) -> &[(f64, Line)] {
        let first = self.lines.partition_point(|(y, _)| y + HEAD <= top);
        let end = self.lines.partition_point(|(y, _)| *y < bottom);
        &self.lines[first..end.max(first)]
    }

    /// Returns the segment of a block, and the block's offset in it.
    pub fn place(&self, block: usize) -> Option<(u32, u64)> {
        Some((*self.owners.get(block)?, *self.offsets.get(block)?))
    }

    pub fn hit(&self, data: &SegmentsData, x: f64, y: f64) -> Option<usize> {
        let line = self.lines.partition_point(|(top, _)| *top <= y).checked_sub(1)?;
        let (top, Line::Runs(runs)) = &self.lines[line] else { return None };
        let run = runs.iter().find(|run| (run.x..run.x + run.width).contains(&x))?;
        (y < top + LINE).then(|| self.block_at(data, run, x))
    }

    fn block_at(&self, data: &SegmentsData, run: &Run, x: f64) -> usize {
        let share = ((x - run.x) / run.width).clamp(0.0, 1.0);
        let offset = run.start + ((run.end - run.start) as f64 * share) as u64;
        self.block_at_offset(data, run.segment, offset.min(run.end - 1))
    }

    pub fn block_at_offset(&self, data: &SegmentsData, segment: u32, offset: u64) -> usize {
        let blocks = blocks_of(data, segment);
        let after = self.offsets[blocks.clone()].partition_point(|&start| start <= offset);
        blocks.start + after.saturating_sub(1)
    }

    /// Returns the area of a block, with one rectangle for each line that it is on.
    pub fn rects(&self, data: &SegmentsData, block: usize) -> Vec<Rect> {
        let Some((segment, start)) = self.place(block) else { return Vec::new() };
        let end = start + data.blocks[block].size_bytes;
        let mut rects = Vec::new();
        for (top, line) in &self.lines[self.first_lines[segment as usize] as usize..] {
            let Line::Runs(runs) = line else { break };
            let Some(run) = runs.iter().find(|run| run.segment == segment) else { break };
            if run.start < end && run.end > start {
                let (x0, x1) = (run.x_of(start), run.x_of(end));
                rects.push(Rect { x: x0, y: *top, width: x1 - x0, height: LINE });
            }
            if run.end >= end {
                break;
            }
        }
        rects
    }

    /// Returns the block that an arrow key leads to, or the first block if `from` is none.
    pub fn step(&self, data: &SegmentsData, from: Option<usize>, direction: Direction) -> Option<usize> {
        let Some(from) = from.filter(|&from| from < self.owners.len()) else {
            let first = *self.groups.first()?.first()?;
            return Some(blocks_of(data, first).start);
        };
        match direction {
            Direction::Left => self.beside(data, from, false),
            Direction::Right => self.beside(data, from, true),
            Direction::Up => self.across(data, from, false),
            Direction::Down => self.across(data, from, true),
        }
    }

    fn beside(&self, data: &SegmentsData, from: usize, forward: bool) -> Option<usize> {
        let blocks = blocks_of(data, self.owners[from]);
        let next = if forward { from + 1 } else { from.checked_sub(1).unwrap_or(usize::MAX) };
        if blocks.contains(&next) {
            return Some(next);
        }
        let mut order = self.groups.iter().flatten().copied();
        let owner = self.owners[from];
        if forward {
            order.find(|&segment| segment == owner);
            order.next().map(|segment| blocks_of(data, segment).start)
        } else {
            let before = order.take_while(|&segment| segment != owner).last();
            before.map(|segment| blocks_of(data, segment).end - 1)
        }
    }

    fn across(&self, data: &SegmentsData, from: usize, down: bool) -> Option<usize> {
        let rects = self.rects(data, from);
        let rect = if down { rects.last()? } else { rects.first()? };
        let line = self.lines.partition_point(|(top, _)| *top <= rect.y);
        let x = rect.x + rect.width / 2.0;
        let nearest = |(_, line): &(f64, Line)| match line {
            Line::Head(_) => None,
            Line::Runs(runs) => runs.iter().min_by(|a, b| distance(a, x).total_cmp(&distance(b, x))).copied(),
        };
        let run = match down {
            true => self.lines[line..].iter().find_map(nearest),
            false => self.lines[..line - 1].iter().rev().find_map(nearest),
        }?;
        Some(self.block_at(data, &run, x))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    Left,
    Right,
    Up,
    Down,
}

fn distance(run: &Run, x: f64) -> f64 {
    (run.x - x).max(x - run.x - run.width).max(0.0)
}

/// Returns the positions of each pool's segments by address, in the order of the pools.
fn groups(data: &SegmentsData) -> Vec<Vec<u32>> {
    let mut groups = vec![Vec::new(); data.reserved.pools.len()];
    for (row, position) in data.segments.iter().zip(0..) {
        groups[row.room as usize].push(position);
    }
    groups
}

pub fn blocks_of(data: &SegmentsData, segment: u32) -> Range<usize> {
    let end = |segment: u32| data.segments[segment as usize].blocks_end as usize;
    segment.checked_sub(1).map_or(0, end)..end(segment)
}

/// Returns the position of the block at an address of the segment that begins at `home`.
pub fn block_at_addr(data: &SegmentsData, home: u64, addr: u64) -> Option<usize> {
    let segment = data.segments.binary_search_by_key(&home, |row| row.segment.addr).ok()?;
    let mut end = home;
    blocks_of(data, segment as u32).find(|&block| {
        end = end.saturating_add(data.blocks[block].size_bytes);
        addr < end
    })
}
