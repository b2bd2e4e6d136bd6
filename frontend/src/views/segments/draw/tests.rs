//! Tests of map layouts: each byte has a place, and each place has a block.

use super::plan::block_at_addr;
use super::*;
use crate::ask::{BlockRow, BlockState, SegmentRow, SegmentsData};
use shared::draw::segment_lines::{GAP, HEAD, LEAST_WIDTH, Line, Run};
use shared::report::{Room, Segment};

const MIB: u64 = 1 << 20;

/// Creates segments of the default pool from the sizes of their blocks in MiB; blocks at odd positions are free.
pub(super) fn data(segments: &[&[u64]]) -> SegmentsData {
    let mut data = SegmentsData::default();
    data.reserved.pools.push(Room::default());
    for (position, blocks) in segments.iter().enumerate() {
        for (index, size) in blocks.iter().enumerate() {
            let kind = if index % 2 == 1 { BlockState::Inactive } else { BlockState::Allocated };
            data.blocks.push(BlockRow {
                size_bytes: size * MIB,
                requested_bytes: size * MIB,
                kind,
                ..BlockRow::default()
            });
        }
        let addr = (position as u64 + 1) << 40;
        let used_bytes = blocks.iter().step_by(2).sum::<u64>() * MIB;
        let size_bytes = blocks.iter().sum::<u64>() * MIB;
        let blocks_end = data.blocks.len() as u32;
        let segment = Segment { addr, size_bytes, used_bytes, ..Segment::default() };
        data.segments.push(SegmentRow { segment, room: 0, home: addr, blocks_end });
    }
    data
}

/// Formats the lines as `segment:start..end` in MiB.
fn lines(plan: &MapPlan) -> Vec<String> {
    let run = |run: &Run| format!("{}:{}..{}", run.segment, run.start / MIB, run.end / MIB);
    let line = |(_, line): &(f64, Line)| match line {
        Line::Head(group) => format!("group {group}"),
        Line::Runs(runs) => runs.iter().map(run).collect::<Vec<_>>().join(" "),
    };
    plan.lines.iter().map(line).collect()
}

#[test]
fn long_segments_go_on_and_short_ones_share() {
    let plan = MapPlan::new(&data(&[&[250], &[20], &[30, 10]]), 1000.0, 100 * MIB);
    assert_eq!(lines(&plan), ["group 0", "0:0..100", "0:100..200", "0:200..250 1:0..20", "2:0..40"]);
    assert_eq!(plan.height, HEAD + 4.0 * 18.0);
}

#[test]
fn groups_are_told_apart() {
    let mut data = data(&[&[10], &[20], &[2]]);
    data.reserved.pools = vec![Room::default(); 3];
    (data.segments[0].room, data.segments[2].room) = (1, 2);
    let plan = MapPlan::new(&data, 1000.0, 100 * MIB);
    assert_eq!(lines(&plan), ["group 0", "1:0..20", "group 1", "0:0..10", "group 2", "2:0..2"]);
}

#[test]
fn tiny_segments_can_be_seen() {
    let plan = MapPlan::new(&data(&[&[2], &[2]]), 1000.0, 1 << 40);
    let Line::Runs(runs) = &plan.lines[1].1 else { panic!("segments follow the head") };
    assert!(runs.iter().all(|run| run.width >= LEAST_WIDTH) && runs[1].x >= runs[0].x + runs[0].width + GAP);
}

#[test]
fn every_block_is_hit_where_it_is_drawn() {
    let data = data(&[&[250, 33, 12], &[20, 1, 1], &[30, 10]]);
    let plan = MapPlan::new(&data, 1000.0, 100 * MIB);
    for block in 0..data.blocks.len() {
        let rects = plan.rects(&data, block);
        assert!(!rects.is_empty(), "block {block}");
        for rect in rects {
            let (x, y) = (rect.x + rect.width / 2.0, rect.y + rect.height / 2.0);
            assert_eq!(plan.hit(&data, x, y), Some(block));
        }
    }
    assert_eq!(plan.hit(&data, 10.0, 5.0), None, "the name of a group");
    assert_eq!(plan.hit(&data, 10.0, 1e6), None);
    assert_eq!(plan.hit(&data, 10.0, -1.0), None);
}

#[test]
fn a_block_is_found_by_its_address() {
    let data = data(&[&[250, 33, 12], &[20, 1, 1]]);
    let home = 2 << 40;
    assert_eq!(block_at_addr(&data, home, home), Some(3));
    assert_eq!(block_at_addr(&data, home, home + 21 * MIB), Some(5));
    assert_eq!(block_at_addr(&data, home, home + 22 * MIB), None);
    assert_eq!(block_at_addr(&data, 1, 1), None);
}

#[test]
fn widths_add_up_to_the_bytes() {
    let data = data(&[&[250, 33, 12], &[20, 1, 1]]);
    let plan = MapPlan::new(&data, 640.0, 64 * MIB);
    for block in 0..data.blocks.len() {
        let width: f64 = plan.rects(&data, block).iter().map(|rect| rect.width).sum();
        assert!((width - data.blocks[block].size_bytes as f64 / MIB as f64 * 10.0).abs() < 0.01, "block {block}");
    }
}

#[test]
fn arrow_keys_reach_every_block_and_come_back() {
    let data = data(&[&[250, 33, 12], &[20, 1, 1], &[30, 10]]);
    let plan = MapPlan::new(&data, 1000.0, 100 * MIB);
    let mut at = plan.step(&data, None, Direction::Right);
    assert_eq!(at, Some(0));
    let mut seen = vec![0];
    while let Some(next) = plan.step(&data, at, Direction::Right) {
        seen.push(next);
        at = Some(next);
    }
    assert_eq!(seen, (0..data.blocks.len()).collect::<Vec<_>>());
    assert_eq!(plan.step(&data, Some(3), Direction::Left), Some(2));
    assert_eq!(plan.step(&data, Some(0), Direction::Left), None);
    let down = plan.step(&data, Some(6), Direction::Up).unwrap();
    assert!(plan.rects(&data, down)[0].y < plan.rects(&data, 6)[0].y);
    assert_eq!(plan.step(&data, Some(7), Direction::Down), None);
}

#[test]
fn the_scale_fits_the_height_and_zooms_in_steps() {
    let scale = bytes_per_line(80 << 30, 300.0, 0);
    assert!(scale.is_power_of_two() && scale * 14 >= 80 << 30, "{scale}");
    assert_eq!(bytes_per_line(80 << 30, 300.0, 2), scale / 4);
    assert_eq!(bytes_per_line(0, 300.0, 0), 2 << 20);
    assert_eq!(bytes_per_line(0, 0.0, 31), 1 << 16);
}

#[test]
fn only_lines_in_view_are_asked_for() {
    let sizes: Vec<&[u64]> = vec![&[100]; 5000];
    let plan = MapPlan::new(&data(&sizes), 1000.0, 100 * MIB);
    assert_eq!(plan.lines.len(), 5001);
    assert!(plan.lines_in(20_000.0, 20_300.0).len() < 20);
    assert!(plan.lines_in(1e9, 2e9).is_empty());
}

#[test]
fn nothing_has_no_lines() {
    let plan = MapPlan::new(&SegmentsData::default(), 1000.0, 100 * MIB);
    assert_eq!((plan.lines.len(), plan.height), (0, 0.0));
    assert_eq!(plan.step(&SegmentsData::default(), None, Direction::Right), None);
}
