//! Reports each failed request: its size, the free memory, and why that did not help.

use super::advice::Advice;
use super::code::FindingCode;
use super::finding::{AtPeak, Confidence, Finding, MOST_SHOWN, Rank, title_of_parts};
use super::own_code::{Own, line_of};
use super::tried::{self, Tried};
use crate::analysis::ask::fragmentation::Fragmentation;
use crate::analysis::ask::replay::{Stuck, WholeStep, recorded_settings};
use crate::analysis::study::phases::Phase;
use crate::analysis::study::studied::Study;
use crate::analysis::track::peak::live_by_stack;
use crate::analysis::track::stack_title::stack_label;
use crate::base::{Severity, ShortSort, format};
use crate::trace::{Action, Event, Setting, StackId};
use hashbrown::HashMap;

/// A program that continues after failures may fail at many places; those beyond this number are only counted.
const MOST_PLACES: usize = 16;

/// Stack and size of failed requests, and their events.
type Failures = ((StackId, u64), Vec<u32>);

/// Reports each place at which memory ran out, up to [`MOST_PLACES`].
pub(super) fn findings(study: &Study<'_>) -> Vec<Finding> {
    let places = places(study);
    let whole = WholeStep::of(study);
    // Later failures depend on what the program did after the first one.
    let whole_of = |index: usize| whole.as_ref().filter(|_| index == 0);
    let told = places.iter().enumerate().take(MOST_PLACES);
    let mut found: Vec<Finding> = told.map(|(index, (_, events))| finding(study, events, whole_of(index))).collect();
    let others: usize = places.iter().skip(MOST_PLACES).map(|(_, events)| events.len()).sum();
    if let (Some(last), true) = (found.last_mut(), others > 0) {
        let times = format::counted(others as u64, "more time");
        last.advice.why += &format!(" The program ran out of memory {times} at other places.");
    }
    found
}

fn places(study: &Study<'_>) -> Vec<Failures> {
    let events = &study.device.events;
    let mut places: Vec<Failures> = Vec::new();
    for (index, _) in events.actions().iter().enumerate().filter(|(_, action)| *action == Action::Oom) {
        let place = (events.stacks().at(index), events.sizes_bytes().at(index));
        match places.iter_mut().find(|(other, _)| *other == place) {
            Some((_, events)) => events.push(index as u32),
            None => places.push((place, vec![index as u32])),
        }
    }
    places
}

fn finding(study: &Study<'_>, events: &[u32], whole: Option<&WholeStep>) -> Finding {
    let tried = whole.and_then(|whole| tried::for_failure(study, whole));
    let index = events[0];
    let event = study.device.events.at(index as usize);
    let parts = Fragmentation::at(study, index);
    let groups = live_by_stack(study.device, &study.timeline.allocations, index);
    let label = |stack| stack_label(study.trace, stack).map_or_else(|| study.title(stack), |label| label.text());
    let largest = groups.first().map(|group| (group.bytes, label(group.stack)));
    // A program that caught the error and continued training, for instance with a smaller batch, has solved the problem.
    let severity = if went_on(study).is_some() { Severity::Info } else { Severity::Error };
    let (device, bytes) = (study.device.index, event.size_bytes);
    let why_not = tried.as_ref().map_or_else(String::new, |tried| stuck(&tried.stuck));
    let shown = events.iter().copied().take(MOST_SHOWN);
    let mut found = Finding::new(device, FindingCode::OutOfMemory, severity, Confidence::High, Rank::Limit, bytes)
        .shown(shows(index, &parts) + &why_not, shown, groups.iter().map(|group| (group.bytes, group.stack)));
    if event.stack.has_frames() {
        found.evidence.stacks.insert(0, event.stack);
    }
    Finding {
        at_peak: AtPeak { bytes: study.timeline.live_at(index), ..AtPeak::default() },
        title: title(study, events.len(), &event),
        line: line_of(study, event.stack, Own::Innermost),
        advice: remedies(study, (index, &event), &parts, tried.as_ref(), largest)
            .because(&whole.map_or_else(String::new, WholeStep::text)),
        ..found
    }
}

fn title(study: &Study<'_>, times: usize, event: &Event) -> String {
    let (asked, free) = (format::bytes(event.size_bytes), format::bytes(event.addr));
    let times = match times {
        1 => String::new(),
        times => format!(" {}", format::counted(times as u64, "time")),
    };
    let after = went_on(study).unwrap_or_default();
    let by = match event.stack.has_frames() {
        true => format!(", in {}", study.title(event.stack)),
        false => String::new(),
    };
    title_of_parts(&format!("Out of memory{times}: tried to allocate {asked}, {free} free"), [after.to_owned(), by])
}

/// Says in words that gradients are computed after the last failure, or that its own code allocates again; `None` if
/// nothing shows that the program went on.
fn went_on(study: &Study<'_>) -> Option<&'static str> {
    let events = &study.device.events;
    let last = (0..events.len()).rev().find(|&event| events.actions().at(event) == Action::Oom)?;
    let later = || (last + 1..events.len()).filter(|&event| events.actions().at(event) == Action::Alloc);
    let phase = |event: usize| study.phases.of_birth(event as u32 + 1, events.stacks().at(event));
    let failed = events.stacks().at(last);
    if study.phases.are_told() && later().any(|event| phase(event) == Phase::Backward) {
        return Some("; training continued");
    }
    let is_again = failed.has_frames() && later().any(|event| events.stacks().at(event) == failed);
    is_again.then_some("; the program went on")
}

fn shows(event: u32, parts: &Fragmentation) -> String {
    let mut text = format!(
        "At event {}, PyTorch had reserved {}: {} live, {} free in segments in use, {} in unused segments, {} lost to \
         rounding.",
        format::count(u64::from(event)),
        format::bytes(parts.reserved_bytes),
        format::bytes(parts.live_bytes),
        format::bytes(parts.free_in_used_bytes),
        format::bytes(parts.free_segment_bytes),
        format::bytes(parts.rounding_bytes + parts.unsplit_bytes)
    );
    if parts.free_bytes() > 0 {
        text += &format!(" The largest free range was {}.", format::bytes(parts.largest_free_bytes));
    }
    text
}

/// Explains why the free memory did not help, the reason with the most bytes first.
fn stuck(stuck: &Stuck) -> String {
    let mut reasons = [
        (stuck.pieces_bytes, "in free ranges too small for the request"),
        (stuck.other_streams_bytes, "reserved by other streams"),
        (stuck.other_pools_bytes, "in other memory pools (CUDA graphs or a `MemPool`)"),
        (stuck.other_class_bytes, "in segments for another size class"),
    ];
    reasons.short_sort_by_key(|(bytes, _)| std::cmp::Reverse(*bytes));
    let named = reasons.iter().filter(|(bytes, _)| *bytes > 0);
    let named: Vec<String> = named.map(|(bytes, why)| format!("{} {why}", format::bytes(*bytes))).collect();
    match named.as_slice() {
        [] => " After PyTorch returned its unused segments to CUDA, it held no free memory.".to_owned(),
        named => format!(
            " After PyTorch returned its unused segments to CUDA, this free memory was left, but the request could not \
             use it: {}.",
            named.join(", ")
        ),
    }
}

/// Returns the remedies: those that suffice for the whole step, those that shrink memory, and settings that may not be
/// enough; and as the reason what is known about others.
fn remedies(
    study: &Study<'_>,
    (index, event): (u32, &Event),
    parts: &Fragmentation,
    tried: Option<&Tried>,
    largest: Option<(u64, String)>,
) -> Advice {
    let (mut remedies, mut facts) = (Vec::new(), Vec::new());
    let asked = event.size_bytes;
    let usable = parts.free_bytes() - parts.private_free_bytes.min(parts.free_bytes());
    let growth = study.growth.bytes_per_step();
    if growth > 0 {
        remedies.push(format!("[cause] First stop the memory growth of {} per step.", format::bytes(growth)));
    }
    if event.addr >= asked {
        remedies.push(
            "Raise the memory limit that the program set, such as `torch.cuda.set_per_process_memory_fraction`: more \
             memory was free on the GPU than the request needed."
                .to_owned(),
        );
    }
    let waiting = waiting_bytes(study, index);
    if waiting > 0 && waiting.saturating_add(usable).saturating_add(event.addr) >= asked {
        remedies.push(format!(
            "Call ``torch.cuda.synchronize()`` and try again: {} was freed, and only waited for other streams, as after \
             `record_stream`, or for the end of a capture.",
            format::bytes(waiting)
        ));
    }
    let mut settings = Vec::new();
    match tried {
        Some(tried) => {
            remedies.extend(tried.enough.iter().cloned());
            settings.extend(tried.helpful.iter().cloned());
            facts.extend(tried.in_vain.iter().cloned());
        }
        None if usable.saturating_add(event.addr) >= asked && !is_expandable(study) => settings.push(format!(
            "[try] Set ``PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True``. PyTorch can then combine the {} of free \
             memory that it has reserved, which may be enough.",
            format::bytes(usable)
        )),
        None => {}
    }
    if parts.private_free_bytes >= asked {
        settings.push(format!(
            "Let CUDA graphs share one memory pool: {} is free in private pools (CUDA graphs or a `MemPool`), which \
             this request can't use.",
            format::bytes(parts.private_free_bytes)
        ));
    }
    let missing = asked.saturating_sub(usable.saturating_add(event.addr));
    // Even if everything else were freed, the request would exceed all memory that PyTorch could have.
    let room = parts.reserved_bytes.saturating_add(event.addr);
    if asked > room {
        remedies.push(format!(
            "Request less memory at once: use a smaller batch, or split the operation into parts. The request would \
             fail even if nothing else were live, because PyTorch could use only {} in total.",
            format::bytes(room)
        ));
        remedies.append(&mut settings);
        return advice(&remedies, &facts);
    }
    if missing > 0 {
        facts.push(format!("Even without fragmentation, {} would be missing.", format::bytes(missing)));
    }
    if let Some(factor) = tried.and_then(|tried| tried.batch) {
        remedies.push(format!(
            "[try] Use about {} of the batch: by an estimate that scales activations, inputs and temporaries, the whole \
             step then fits.",
            format::percent((factor * 1000.0) as u64, 1000)
        ));
    }
    if let Some((bytes, title)) = largest {
        remedies.push(format!(
            "[show] Use a smaller micro-batch or activation checkpointing (`torch.utils.checkpoint`) to reduce the \
             live memory. Its largest part, {}, is from {title}.",
            format::bytes(bytes)
        ));
    }
    remedies.append(&mut settings);
    advice(&remedies, &facts)
}

/// Returns the bytes of blocks that were freed before an event, but that other streams still used then.
fn waiting_bytes(study: &Study<'_>, event: u32) -> u64 {
    let events = &study.device.events;
    // In a trace without completions, the request is the whole free.
    if !events.actions().iter().any(|action| action == Action::FreeCompleted) {
        return 0;
    }
    let mut waiting: HashMap<u64, u64> = HashMap::new();
    let rows = events.actions().iter().zip(events.addrs().iter()).zip(events.sizes_bytes().iter());
    for ((action, addr), size_bytes) in rows.take(event as usize) {
        match action {
            Action::FreeRequested => drop(waiting.insert(addr, size_bytes)),
            Action::FreeCompleted | Action::Alloc if !waiting.is_empty() => drop(waiting.remove(&addr)),
            _ => {}
        }
    }
    waiting.into_values().fold(0, u64::saturating_add)
}

fn advice(remedies: &[String], facts: &[String]) -> Advice {
    Advice::of(&format!("{}\n\n{}", remedies.join("\n"), facts.join(" ")))
}

pub(super) fn is_expandable(study: &Study<'_>) -> bool {
    study.trace.settings.get("expandable_segments") == Some(&Setting::Bool(true))
        || recorded_settings(study.trace).is_ok_and(|settings| settings.expandable_segments)
}
