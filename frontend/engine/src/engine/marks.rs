//! Lists the annotated spans and single marks of a device.

use super::parts;
use super::ready::Ready;
use frontend::ask::{Mark, MarkKind, Marks, Span};
use shared::analysis;
use shared::analysis::Steps;
use shared::trace::Action;

pub(super) fn marks(ready: Ready<'_>) -> Marks {
    // Steps and phases are inferred only for GPUs, and only if the trace allocates something.
    let is_studied =
        ready.device.index >= 0 && ready.device.events.actions().iter().any(|action| action == Action::Alloc);
    Marks {
        spans: ready.spans().iter().map(|found| span(ready, found)).collect(),
        marks: single_marks(ready),
        awaits_steps: is_studied && Steps::annotated(ready.trace, ready.spans()).is_none(),
        awaits_phases: is_studied && !parts::are_phases_annotated(ready),
    }
}

/// Returns the names of the spans around an allocation that is born at a moment, outermost first.
pub(super) fn spans_at(ready: Ready<'_>, moment: u32) -> Vec<String> {
    let is_around = |span: &&analysis::Span| span.start_moment < moment && moment <= span.end_moment;
    let mut around: Vec<_> = ready.spans().iter().filter(is_around).collect();
    around.sort_by_key(|span| span.depth);
    around.iter().map(|span| ready.trace.strings.get(span.name).to_owned()).collect()
}

fn span(ready: Ready<'_>, found: &analysis::Span) -> Span {
    let analysis::Span { name, start_us, end_us, start_moment, end_moment, depth } = *found;
    Span { name: ready.trace.strings.get(name).to_owned(), start_moment, end_moment, start_us, end_us, depth }
}

fn single_marks(ready: Ready<'_>) -> Vec<Mark> {
    let events = &ready.device.events;
    let kind = |action| match action {
        Action::Oom => Some(MarkKind::Oom),
        Action::Snapshot => Some(MarkKind::Snapshot),
        _ => None,
    };
    let found = events.actions().iter().enumerate().filter_map(|(event, action)| Some((event, kind(action)?)));
    let mark = |(event, kind): (usize, MarkKind)| {
        let moment = event as u32 + 1;
        let free_bytes = (kind == MarkKind::Oom).then(|| events.addrs().at(event));
        Mark { kind, moment, time_us: ready.time_us(moment), size_bytes: events.sizes_bytes().at(event), free_bytes }
    };
    found.map(mark).collect()
}
