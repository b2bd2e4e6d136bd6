//! Texts and numbers of the facts about one allocation, and of the stacks that hold the memory at a moment.

use crate::ask::stack::titled;
use crate::ask::{Around, Details, NearEvent, PartSpan, Parts};
use crate::views::selection::model::category_text;
use shared::base::{StackLabel, format};
use shared::report::{LiveGroup, LiveGroups};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fact {
    pub label: &'static str,
    pub value: String,
    pub note: String,
}

fn fact(label: &'static str, value: impl Into<String>, note: impl Into<String>) -> Option<Fact> {
    Some(Fact { label, value: value.into(), note: note.into() })
}

/// Returns the known facts about an allocation except for its size, the most important ones first.
///
/// `events` is the number of events of its device; the rest is known later, or only of a pinned allocation.
pub fn facts(details: &Details, events: u64, around: Option<&Around>, parts: Option<&Parts>) -> Vec<Fact> {
    let all = [
        named(details),
        details
            .holder
            .as_ref()
            .and_then(|(path, has_graph)| fact("Held by", path, if *has_graph { "with its graph" } else { "" })),
        around.and_then(|around| fact("Category", category_text(around.category), "")),
        around.and_then(|around| text("Module", &around.module)),
        lifetime(details, events),
        match details.is_initial {
            true => fact("Allocated", "before the trace", ""),
            false => fact("Allocated", event(details.born), at_time(details.born_us)),
        },
        match details.died {
            Some(died) => fact("Freed", event(died), at_time(details.died_us)),
            None => fact("Freed", "not in the trace", ""),
        },
        place_in_run(details, parts),
        text("During", &details.spans.join(" › ")),
        text("Profiler category", &details.category),
        text("Metadata", &details.user_metadata),
        text("Allocator tag", &details.internal_metadata),
        // PyTorch writes `N/A` outside of compiled regions.
        text(
            "Compiled region",
            Some(details.compile_context.as_str()).filter(|text| *text != "N/A").unwrap_or_default(),
        ),
        around.and_then(|around| rounded(details, around)),
        fact("Address", format::address(details.addr), ""),
        details.stream.and_then(|stream| match stream {
            0 => fact("Stream", "default", ""),
            stream => fact("Stream", format::address(stream), ""),
        }),
        pool(details),
    ];
    all.into_iter().flatten().collect()
}

fn named(details: &Details) -> Option<Fact> {
    let (first, others) = details.names.split_first()?;
    let note =
        if others.is_empty() { String::new() } else { format!("and {} more", format::count(others.len() as u64)) };
    fact("Name", first, note)
}

/// Returns the step and the phase in which it was allocated, as far as they are known.
fn place_in_run(details: &Details, parts: Option<&Parts>) -> Option<Fact> {
    let parts = parts.filter(|_| !details.is_initial)?;
    let is_in = |span: &PartSpan| span.start_moment < details.born && details.born <= span.end_moment;
    let step = parts.steps.iter().position(is_in).map(|step| format!("step {}", step + 1));
    let phase = parts.phases.iter().find(|(_, span)| is_in(span)).map(|(phase, _)| phase.name().replace('-', " "));
    text("Step, phase", &step.into_iter().chain(phase).collect::<Vec<_>>().join(", "))
}

fn rounded(details: &Details, around: &Around) -> Option<Fact> {
    let rounded_bytes = around.rounded_bytes?;
    let more = rounded_bytes.saturating_sub(details.size_bytes);
    let note = if more == 0 { String::new() } else { format!("{} more than requested", format::bytes(more)) };
    fact("Rounded size", format::bytes(rounded_bytes), note)
}

/// Describes the allocations of the same kind: `48 of this stack, 2.25 GiB at the peak`.
pub fn kind_text(around: &Around, is_at_pin: bool) -> String {
    let of = if around.is_kind_by_size { "this size" } else { "this stack" };
    let when = if is_at_pin { "at the pin" } else { "at the peak" };
    match around.kind_count {
        1 => format!("The only one of {of}"),
        count => format!("All {} of {of}, {} {when}", format::count(count), format::bytes(around.kind_bytes)),
    }
}

pub fn near_texts(near: &NearEvent) -> [String; 3] {
    let sign = if near.is_alloc { "+" } else { "−" };
    let title = if near.title.is_empty() { "no stack recorded".to_owned() } else { near.title.clone() };
    [format::count(u64::from(near.event)), format!("{sign}{}", format::bytes(near.size_bytes)), title]
}

/// Returns all digits of a size that is shown rounded; empty below 1024 bytes, which are shown exactly.
pub fn exact_bytes(size_bytes: u64) -> String {
    if size_bytes < 1024 { String::new() } else { format!("{} B", format::count(size_bytes)) }
}

fn lifetime(details: &Details, events: u64) -> Option<Fact> {
    let died = details.died.map_or(events + 1, u64::from);
    let moments = died.saturating_sub(u64::from(details.born));
    let at_least = details.is_initial || details.died.is_none();
    let value = format!("{}{}", if at_least { "at least " } else { "" }, format::counted(moments, "event"));
    let time = match (details.born_us, details.died_us) {
        (Some(born), Some(died)) => format::duration(died.saturating_sub(born)),
        _ => String::new(),
    };
    fact("Lifetime", value, time)
}

fn event(moment: u32) -> String {
    format!("event {}", format::count(u64::from(moment.saturating_sub(1))))
}

fn at_time(time_us: Option<u64>) -> String {
    time_us.map(|time_us| format!("at {}", format::duration(time_us))).unwrap_or_default()
}

fn text(label: &'static str, value: &str) -> Option<Fact> {
    if value.is_empty() { None } else { fact(label, value, "") }
}

fn pool(details: &Details) -> Option<Fact> {
    match details.pool? {
        (0, 0) => fact("Pool", "default", ""),
        (0, handle) => fact("Pool", format!("private pool {handle}"), "MemPool or graph handle"),
        (capture, handle) => fact("Pool", format!("private pool {capture}, {handle}"), "graph capture"),
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct TopStack {
    pub label: StackLabel,
    pub size: String,
    pub note: String,
    /// Length of the bar, as a percentage of the longest one.
    pub bar: f64,
}

pub fn rows(stacks: &LiveGroups) -> Vec<TopStack> {
    let longest = stacks.groups.iter().map(|row| row.bytes).max().unwrap_or(0).max(1);
    let row = |row: &LiveGroup| {
        let share = format::percent(row.bytes, stacks.live_bytes);
        TopStack {
            label: titled((!row.frames.is_empty()).then(|| row.label.clone())),
            size: format::bytes(row.bytes),
            note: format!("{share}, {}", format::counted(row.count, "allocation")),
            bar: row.bytes as f64 * 100.0 / longest as f64,
        }
    };
    stacks.groups.iter().map(row).collect()
}

pub fn rest(stacks: &LiveGroups) -> Option<String> {
    (stacks.other_groups > 0).then(|| {
        let size = format::bytes(stacks.other_bytes);
        format!("{size} more in {}", format::counted(stacks.other_groups, "other stack"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use shared::analysis::{Category, Phase};
    use shared::report::Frame;

    fn details() -> Details {
        let (born_us, died_us) = (Some(2000), Some(5500));
        Details { size_bytes: 1536, born: 11, died: Some(31), born_us, died_us, ..Details::default() }
    }

    #[track_caller]
    fn check(details: &Details, label: &str, line: Option<(&str, &str)>) {
        let facts = facts(details, 100, None, None);
        let found = facts.iter().find(|fact| fact.label == label);
        assert_eq!(found.map(|fact| (fact.value.as_str(), fact.note.as_str())), line);
    }

    #[test]
    fn facts_are_those_that_are_known() {
        assert_eq!((exact_bytes(1536).as_str(), exact_bytes(512).as_str()), ("1,536 B", ""));
        check(&details(), "Lifetime", Some(("20 events", "3.50 ms")));
        check(&details(), "Allocated", Some(("event 10", "at 2.00 ms")));
        check(&details(), "Freed", Some(("event 30", "at 5.50 ms")));
        check(&details(), "Stream", None);
        let names = ["gradient fc.weight", "gradient fc.bias"].map(str::to_owned).to_vec();
        let named = Details { names, holder: Some(("losses[…]".to_owned(), true)), ..details() };
        check(&named, "Name", Some(("gradient fc.weight", "and 1 more")));
        check(&named, "Held by", Some(("losses[…]", "with its graph")));
        check(&details(), "Name", None);
        let open = Details { died: None, died_us: None, ..details() };
        check(&open, "Freed", Some(("not in the trace", "")));
        check(&open, "Lifetime", Some(("at least 90 events", "")));
        let initial = Details { is_initial: true, born: 0, born_us: None, ..details() };
        check(&initial, "Allocated", Some(("before the trace", "")));
        check(&initial, "Lifetime", Some(("at least 31 events", "")));
    }

    #[test]
    fn a_pinned_allocation_has_its_place_in_the_run() {
        let span = |start_moment, end_moment| PartSpan { start_moment, end_moment, ..PartSpan::default() };
        let parts = Parts {
            steps: vec![span(0, 10), span(10, 40)],
            phases: vec![(Phase::Forward, span(0, 20))],
            ..Parts::default()
        };
        let around = Around {
            category: Category::OptimizerState,
            rounded_bytes: Some(2048),
            kind_count: 48,
            kind_bytes: 9 << 28,
            ..Around::default()
        };
        let facts = facts(&details(), 100, Some(&around), Some(&parts));
        let texts =
            |label| facts.iter().find(|fact| fact.label == label).map(|fact| (fact.value.as_str(), fact.note.as_str()));
        assert_eq!(texts("Category"), Some(("optimizer state", "")));
        assert_eq!(texts("Step, phase"), Some(("step 2, forward", "")));
        assert_eq!(texts("Rounded size"), Some(("2.00 KiB", "512 B more than requested")));
        assert_eq!(texts("Module"), None);
        assert_eq!(kind_text(&around, true), "All 48 of this stack, 2.25 GiB at the pin");
        assert_eq!(kind_text(&Around { kind_count: 1, ..around }, false), "The only one of this stack");
        let near = NearEvent { event: 4736, is_alloc: false, size_bytes: 512, ..NearEvent::default() };
        assert_eq!(near_texts(&near), ["4,736", "−512 B", "no stack recorded"]);
    }

    #[test]
    fn names_of_pools_and_regions() {
        let with = |pool| Details { pool: Some(pool), ..details() };
        check(&with((0, 0)), "Pool", Some(("default", "")));
        check(&with((0, 2)), "Pool", Some(("private pool 2", "MemPool or graph handle")));
        check(&Details { compile_context: "N/A".into(), ..details() }, "Compiled region", None);
        check(&Details { compile_context: "1/0".into(), ..details() }, "Compiled region", Some(("1/0", "")));
    }

    #[test]
    fn rows_have_titles_and_bars() {
        let frame = Frame { name: "forward".into(), filename: "/srv/app/model.py".into(), line: 3, fx: None };
        let label = StackLabel { title: "forward".into(), place: "model.py:3".into(), ..StackLabel::default() };
        let row =
            |bytes, count, frames| LiveGroup { bytes, count, frames, label: label.clone(), ..LiveGroup::default() };
        let stacks = LiveGroups {
            live_bytes: 4096,
            groups: vec![row(2048, 2, vec![frame]), row(1024, 1, vec![])],
            other_groups: 3,
            other_bytes: 1024,
            ..LiveGroups::default()
        };
        let rows = rows(&stacks);
        assert_eq!((rows[0].label.title.as_str(), rows[0].label.place.as_str()), ("forward", "model.py:3"));
        assert_eq!((rows[0].note.as_str(), rows[0].bar), ("50 %, 2 allocations", 100.0));
        assert_eq!((rows[1].label.title.as_str(), rows[1].bar), ("No stack recorded", 50.0));
        assert_eq!(rest(&stacks).as_deref(), Some("1.00 KiB more in 3 other stacks"));
    }
}
