//! Formats the answer of `snapscope peak` for the terminal.

use shared::analysis::{Part, Scope, Timeline};
use shared::base::format::{bytes, count, counted};
use shared::trace::Device;

use super::report::shown_moment;
use super::{Chosen, Request, group_lines};
use crate::snapshot_file::Opened;
use shared::base::Moment;

pub(super) fn page(
    opened: &Opened,
    device: &Device,
    timeline: &Timeline,
    request: &Request,
    chosen: &Chosen<'_>,
) -> String {
    let head = format!("{}\nGPU {} · {}\n\n", opened.file, device.index, head(timeline, request, chosen));
    group_lines(chosen).into_iter().fold(head, |page, line| page + &line + "\n")
}

/// Formats the line that names the selected allocations and their sums.
fn head(timeline: &Timeline, request: &Request, chosen: &Chosen<'_>) -> String {
    let moment = shown_moment(timeline, &request.scope);
    let (live, reserved) = (bytes(timeline.live_at(moment)), bytes(timeline.reserved_at(moment)));
    let found = format!("in {}", counted(chosen.totals().count, "allocation"));
    let sum = bytes(chosen.totals().bytes);
    let with = request.filter_text.as_ref().map(|text| format!(" with \"{text}\"")).unwrap_or_default();
    match &request.scope {
        Scope::At(moment) if with.is_empty() => {
            format!("{live} live {found} {} · {reserved} reserved", Moment(*moment))
        }
        Scope::At(moment) => format!("{sum} {found}{with} of {live} live {} · {reserved} reserved", Moment(*moment)),
        Scope::Within { moments, part } => {
            let last = count(u64::from(moments.end).saturating_sub(2));
            let between = match moments.start {
                0 => format!("the start and event {last}"),
                start => format!("events {} and {last}", count(u64::from(start) - 1)),
            };
            format!("{sum} {found}{with}, {} between {between} · {live} live at most", words(*part))
        }
    }
}

fn words(part: Part) -> &'static str {
    match part {
        Part::Any => "alive",
        Part::Born => "allocated",
        Part::Died => "freed",
        Part::Survived => "alive throughout",
        Part::BornAndDied => "allocated and freed",
        Part::BornAndKept => "allocated and kept",
    }
}
