//! Texts and numbers of segments and blocks.

use crate::ask::{BlockState, Fragmentation, SegmentsData};
use shared::base::{ShortSort, format};
use shared::report::HeldSegment;

#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Suffix of the CSS class.
    pub class: &'static str,
    pub label: &'static str,
    pub meaning: &'static str,
    pub size: String,
    pub share: String,
    /// Start and length of the bar, in percent of the reserved bytes.
    pub bar: (f64, f64),
}

pub fn parts(parts: &Fragmentation) -> Vec<Part> {
    let in_use = parts.live_bytes - parts.pending_bytes.min(parts.live_bytes);
    let all = [
        ("live", "In use", "Requested and not yet freed", in_use),
        ("pending", "Pending", "Freed, but possibly still used by another stream", parts.pending_bytes),
        ("rounding", "Rounding", "Rounded sizes minus requested sizes", parts.rounding_bytes),
        ("unsplit", "Unsplit remainder", "Rest of a block that is too small to be split off", parts.unsplit_bytes),
        ("between", "Free in used segments", "Free memory between live blocks", parts.free_in_used_bytes),
        ("cached", "Free segments", "Segments without live blocks: PyTorch's cache", parts.free_segment_bytes),
    ];
    let whole = parts.reserved_bytes.max(1) as f64 / 100.0;
    let mut before = 0.0;
    let part = |(class, label, meaning, bytes): (_, _, _, u64)| {
        let bar = (before, bytes as f64 / whole);
        before += bar.1;
        let (size, share) = (format::bytes(bytes), format::percent(bytes, parts.reserved_bytes));
        Part { class, label, meaning, size, share, bar }
    };
    all.map(part).to_vec()
}

/// Returns further figures about the free bytes, each with name, size and definition.
pub fn facts(parts: &Fragmentation) -> Vec<(&'static str, String, &'static str)> {
    let mut facts = vec![
        ("Longest free block", format::bytes(parts.largest_free_bytes), "Larger requests need cudaMalloc"),
        (
            "empty_cache() releases",
            format::bytes(parts.releasable_bytes),
            "Free segments, and free pages of expandable segments; private pools keep theirs",
        ),
    ];
    if parts.private_free_bytes > 0 {
        let meaning = "Free memory that only a CUDA graph or a MemPool can use";
        facts.push(("Free in private pools", format::bytes(parts.private_free_bytes), meaning));
    }
    facts
}

pub fn moment(moment: u32) -> String {
    match moment.checked_sub(1) {
        Some(event) => format!("After event {}", format::count(u64::from(event))),
        None => "At the start".to_owned(),
    }
}

/// Describes a block in the four lines of its tooltip: size and state, stack, losses, and address.
pub fn block_lines(data: &SegmentsData, segment: u32, block: usize, offset: u64) -> [String; 4] {
    let (row, segment) = (&data.blocks[block], &data.segments[segment as usize].segment);
    let kind = match row.kind {
        BlockState::Allocated => "in use",
        BlockState::PendingFree => "pending free",
        BlockState::Inactive => "free",
    };
    let title = match row.kind {
        BlockState::Inactive => String::new(),
        _ => match data.looks.get(row.look as usize).map(|look| look.title.as_str()) {
            None | Some("") => "No stack recorded".to_owned(),
            Some(title) => title.to_owned(),
        },
    };
    let lost = row.size_bytes - row.requested_bytes.min(row.size_bytes);
    let losses = match row.kind {
        BlockState::Inactive => String::new(),
        _ if lost == 0 => String::new(),
        _ => format!("{} requested, {} lost", format::bytes(row.requested_bytes), format::bytes(lost)),
    };
    let place = format!(
        "{} in a segment of {}, {} used",
        format::address(segment.addr.saturating_add(offset)),
        format::bytes(segment.size_bytes),
        format::percent(segment.used_bytes, segment.size_bytes),
    );
    [format!("{} {kind}", format::bytes(row.size_bytes)), title, losses, place]
}

/// Segments held by few bytes whose largest blocks have the same stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeldGroup {
    pub free: String,
    pub by: String,
    /// Stack of their largest blocks.
    pub title: String,
    /// Position of the segment with the most free bytes among all that are held.
    pub first: usize,
}

/// Groups held segments by the stacks of their largest blocks; the group with the most free bytes comes first.
pub fn held_groups(all: &[HeldSegment]) -> Vec<HeldGroup> {
    let title = |held: &HeldSegment| held.holders.first().map(|holder| holder.title.clone()).unwrap_or_default();
    let mut groups: Vec<(String, Vec<usize>)> = Vec::new();
    for (position, held) in all.iter().enumerate() {
        let title = title(held);
        match groups.iter_mut().find(|(of, _)| *of == title) {
            Some((_, positions)) => positions.push(position),
            None => groups.push((title, vec![position])),
        }
    }
    let sum = |positions: &[usize], bytes: fn(&HeldSegment) -> u64| positions.iter().map(|&one| bytes(&all[one])).sum();
    groups.short_sort_by_key(|(_, positions)| std::cmp::Reverse(sum(positions, HeldSegment::free_bytes)));
    let group = |(title, positions): (String, Vec<usize>)| {
        let of = |bytes| sum(&positions, bytes);
        let count = positions.len() as u64;
        let segments = if count == 1 { String::new() } else { format!("{}, ", format::counted(count, "segment")) };
        let (used, allocations) = (format::bytes(of(|held| held.used_bytes)), of(|held| held.allocations));
        HeldGroup {
            free: format!(
                "{} of {}",
                format::bytes(of(HeldSegment::free_bytes)),
                format::bytes(of(|held| held.size_bytes))
            ),
            by: format!("{segments}kept by {used} in {}", format::counted(allocations, "allocation")),
            title,
            first: positions[0],
        }
    };
    groups.into_iter().map(group).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{BlockRow, Look, SegmentRow};
    use shared::report::{Holder, Segment};

    const MIB: u64 = 1 << 20;

    fn data() -> SegmentsData {
        let block =
            |size_bytes, requested_bytes, kind| BlockRow { size_bytes, requested_bytes, kind, ..BlockRow::default() };
        let size_bytes = 20 * MIB;
        SegmentsData {
            segments: vec![SegmentRow {
                segment: Segment { addr: 0x1000, size_bytes, used_bytes: 5 * MIB, ..Segment::default() },
                blocks_end: 2,
                ..SegmentRow::default()
            }],
            blocks: vec![block(5 * MIB, 4 * MIB, BlockState::Allocated), block(15 * MIB, 0, BlockState::Inactive)],
            looks: vec![Look { color: 1, title: "forward (a.py:1)".into() }],
            ..SegmentsData::default()
        }
    }

    #[test]
    fn parts_are_side_by_side() {
        let (reserved_bytes, live_bytes, pending_bytes, free_in_used_bytes) = (200, 120, 20, 80);
        let rest = Fragmentation::default();
        let bytes = Fragmentation { reserved_bytes, live_bytes, pending_bytes, free_in_used_bytes, ..rest };
        let bars: Vec<_> = parts(&bytes).iter().map(|part| part.bar).collect();
        assert_eq!(bars, [(0.0, 50.0), (50.0, 10.0), (60.0, 0.0), (60.0, 0.0), (60.0, 40.0), (100.0, 0.0)]);
        assert_eq!(parts(&Fragmentation::default()).iter().map(|part| part.bar.1).sum::<f64>(), 0.0);
        assert_eq!(facts(&bytes).len(), 2);
    }

    #[test]
    fn blocks_are_described() {
        let lines = block_lines(&data(), 0, 0, 0);
        assert_eq!(lines[0], "5.00 MiB in use");
        assert_eq!((lines[1].as_str(), lines[2].as_str()), ("forward (a.py:1)", "4.00 MiB requested, 1.00 MiB lost"));
        assert_eq!(lines[3], "0x1000 in a segment of 20.0 MiB, 25 % used");
        let free = block_lines(&data(), 0, 1, 5 * MIB);
        assert_eq!((free[0].as_str(), free[1].as_str()), ("15.0 MiB free", ""));
        assert!(free[3].starts_with("0x501000 "), "{}", free[3]);
    }

    #[test]
    fn holders_are_named() {
        let holder = Holder { title: "forward (a.py:1)".into(), ..Holder::default() };
        let (size_bytes, used_bytes, allocations) = (20 * MIB, 5 * MIB, 1);
        let holders = vec![holder];
        let one = HeldSegment { size_bytes, used_bytes, allocations, holders, ..HeldSegment::default() };
        let HeldGroup { free, by, title, .. } = &held_groups(std::slice::from_ref(&one))[0];
        assert_eq!((free.as_str(), by.as_str()), ("15.0 MiB of 20.0 MiB", "kept by 5.00 MiB in 1 allocation"));
        assert_eq!(title, "forward (a.py:1)");
        let other = HeldSegment { holders: Vec::new(), size_bytes: 25 * MIB, ..one.clone() };
        let groups = held_groups(&[other, one.clone(), one]);
        let texts: Vec<_> = groups.iter().map(|group| (group.free.as_str(), group.by.as_str(), group.first)).collect();
        assert_eq!(
            texts,
            [
                ("30.0 MiB of 40.0 MiB", "2 segments, kept by 10.0 MiB in 2 allocations", 1),
                ("20.0 MiB of 25.0 MiB", "kept by 5.00 MiB in 1 allocation", 0)
            ]
        );
        assert_eq!((moment(0).as_str(), moment(11).as_str()), ("At the start", "After event 10"));
    }
}
