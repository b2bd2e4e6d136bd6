//! Builds the document of `snapscope peak --json`.

use shared::analysis::{Group, GroupBy, Part, Scope, Timeline};
use shared::api::{PeakGroup, PeakRange, PeakReport};
use shared::trace::Device;

use super::{Chosen, Request};
use crate::snapshot_file::Opened;
use shared::base::Moment;

pub(super) fn report(
    opened: &Opened,
    device: &Device,
    timeline: &Timeline,
    request: &Request,
    chosen: &Chosen<'_>,
) -> PeakReport {
    let group = |group: &Group| {
        let label = chosen.label(group);
        PeakGroup {
            bytes: group.totals.bytes,
            count: group.totals.count,
            initial_bytes: group.totals.initial_bytes,
            title: label.title,
            detail: label.detail,
            frames: chosen.frames(group),
        }
    };
    let moment = shown_moment(timeline, &request.scope);
    PeakReport {
        file: opened.file.clone(),
        device: device.index,
        event: Moment(moment).event_number(),
        live_bytes: timeline.live_at(moment),
        reserved_bytes: timeline.reserved_at(moment),
        range: range(&request.scope),
        filter: request.filter_text.clone(),
        by: by_name(request.by).to_owned(),
        allocations: chosen.totals().count,
        bytes: chosen.totals().bytes,
        groups: chosen.shown().iter().map(group).collect(),
        other_groups: chosen.others().len() as u64,
        other_bytes: chosen.others().iter().map(|group| group.totals.bytes).fold(0, u64::saturating_add),
    }
}

/// Returns the requested moment, or the moment with the highest live bytes in the requested range.
pub(super) fn shown_moment(timeline: &Timeline, scope: &Scope) -> u32 {
    match scope {
        Scope::At(moment) => *moment,
        Scope::Within { moments, .. } => timeline.live_max_in(moments.clone()).0,
    }
}

fn range(scope: &Scope) -> Option<PeakRange> {
    let Scope::Within { moments, part } = scope else { return None };
    let part = part_name(*part).to_owned();
    Some(PeakRange { from: i64::from(moments.start) - 1, to: i64::from(moments.end) - 2, part })
}

/// Returns the name that `--part` uses.
fn part_name(part: Part) -> &'static str {
    match part {
        Part::Any => "any",
        Part::Born => "born",
        Part::Died => "died",
        Part::Survived => "survived",
        Part::BornAndDied => "born-and-died",
        Part::BornAndKept => "born-and-kept",
    }
}

/// Returns the name that `--by` uses.
fn by_name(by: GroupBy) -> &'static str {
    match by {
        GroupBy::Stack => "stack",
        GroupBy::Frame => "frame",
        GroupBy::Function => "function",
        GroupBy::Module => "module",
        GroupBy::Category => "category",
        GroupBy::Stream => "stream",
        GroupBy::Pool => "pool",
        GroupBy::SizeClass => "size",
    }
}
