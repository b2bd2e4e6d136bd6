//! Reports what is unusual about the recording itself, as far as its figures show.

use crate::analysis::track::timeline::Timeline;
use crate::base::{Diagnostic, Severity, format};
use crate::trace::{Accelerator, Action, Device, Trace};

/// Reports what is missing from a trace and why, for readers of its figures.
///
/// `devices` are the devices of the trace with their timelines; host memory is not examined.
pub fn recording_diagnostics(trace: &Trace, devices: &[(&Device, &Timeline)]) -> Vec<Diagnostic> {
    let mut found = file_diagnostics(trace, devices);
    let accelerator = Accelerator::of(trace);
    for &(device, timeline) in devices {
        let of_device = device_diagnostics(device, timeline);
        found.extend(of_device.map(|one| Diagnostic { message: accelerator.words(one.message), ..one }));
    }
    found
}

/// Returns the part of [`recording_diagnostics`] that concerns all devices together.
pub fn file_diagnostics(trace: &Trace, devices: &[(&Device, &Timeline)]) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    let accelerator = Accelerator::of(trace);
    let events: usize = devices.iter().map(|(device, _)| device.events.len()).sum();
    let blocks: usize = devices.iter().map(|(device, _)| device.segments.blocks.len()).sum();
    if events == 0 {
        found.push(if blocks == 0 { info("no-memory", 1, NO_MEMORY) } else { warning("no-trace", 1, NO_TRACE) });
    } else if !devices.iter().any(|(device, _)| device.events.has_times()) {
        found.push(no_times(accelerator));
    }
    if events + blocks > 0 && trace.stacks.is_empty() {
        found.push(warning("no-stacks", 1, NO_STACKS));
    }
    let mut found: Vec<_> =
        { found.into_iter() }.map(|one| Diagnostic { message: accelerator.words(one.message), ..one }).collect();
    found.extend(other_accelerator(accelerator));
    found
}

/// Returns the part of [`recording_diagnostics`] that concerns one device.
pub fn device_diagnostics(device: &Device, timeline: &Timeline) -> impl Iterator<Item = Diagnostic> {
    let begins = beginning(device, timeline).or_else(|| part(device));
    let frees = unmatched_frees(device, timeline);
    [begins, frees, superseded(device, timeline), above_reserved(device, timeline), out_of_memory(device)]
        .into_iter()
        .flatten()
}

const NO_MEMORY: &str =
    "The snapshot is empty: no CUDA memory was in use, or CUDA was never initialized in this process.";
const NO_TRACE: &str = "No events were recorded, so only the final state is known. To see a timeline, call \
    torch.cuda.memory._record_memory_history() before the code of interest.";
const NO_STACKS: &str =
    "No call stacks were recorded. Record with stacks=\"all\" and context=\"all\" to see which code allocates.";

fn no_times(accelerator: Accelerator) -> Diagnostic {
    let why = if accelerator == Accelerator::Npu { "torch_npu records none" } else { "torch before 2.2" };
    info("no-times", 1, format!("The events have no timestamps ({why}), so there is no time axis."))
}

/// Tells the kind of device, which no key of a snapshot names, and what differs for it.
fn other_accelerator(accelerator: Accelerator) -> Option<Diagnostic> {
    let message = match accelerator {
        Accelerator::Cuda => return None,
        Accelerator::Npu => {
            "The snapshot is of an NPU: its stacks, settings or block sizes are those of torch_npu. Replays follow its \
             allocator, which adds 32 bytes to each request; which settings there are depends on its release."
        }
        Accelerator::Xpu => {
            "The snapshot is of an XPU: its settings or stacks show it. There are no replays, because the allocator for \
             XPUs is not modeled, and sizes of blocks that were freed are those that CUDA would give them."
        }
    };
    Some(info("other-accelerator", 1, message))
}

/// Reports a full ring buffer or a late start of the recording.
///
/// A full ring buffer holds `max_entries` events, which is usually set to a round number.
fn beginning(device: &Device, timeline: &Timeline) -> Option<Diagnostic> {
    const ROUND: usize = 1000;
    let initial = timeline.live_at(0);
    let events = device.events.len();
    if initial == 0 || events == 0 || device.part.is_some() {
        return None;
    }
    let bytes = format::bytes(initial);
    let of = device_name(device);
    if events.is_multiple_of(ROUND) {
        let n = format::count(events as u64);
        let message = format!(
            "The trace of {of} has exactly {n} events and begins with {bytes} in use. The ring buffer was probably \
             full, so older events are lost. Record with a larger max_entries."
        );
        return Some(warning("ring-buffer-full", 1, message));
    }
    let message =
        format!("{bytes} on {of} were allocated before the recording began; they are shown as one band at the bottom.");
    Some(info("recording-began-late", 1, message))
}

/// Reports that only a part of the trace is open.
///
/// Without this note, event positions and the bytes from before the part would be misread.
fn part(device: &Device) -> Option<Diagnostic> {
    let part = device.part.as_ref()?;
    let first = u64::from(part.first_event);
    let (first, end) = (format::count(first), format::count(first + device.events.len() as u64));
    let (total, of) = (format::count(u64::from(part.total_events)), device_name(device));
    let message = format!(
        "Only events {first} to {end} of the {total} events of {of} are open, numbered from 0 here. Memory that was \
         live before them is one band at the bottom. Segments and blocks show the state after the last of them."
    );
    Some(info("part-of-trace", 1, message))
}

fn unmatched_frees(device: &Device, timeline: &Timeline) -> Option<Diagnostic> {
    let known = device.part.as_ref().map_or(0, |part| part.freed.len());
    let count = timeline.allocations.unmatched_frees().saturating_sub(known) as u64;
    let frees = if count == 1 { "1 free has".to_owned() } else { format!("{} frees have", format::count(count)) };
    let of = device_name(device);
    let message = format!("{frees} no matching alloc in the trace of {of}, so the origin of that memory is unknown.");
    (count > 0).then(|| info("frees-without-alloc", count, message))
}

fn superseded(device: &Device, timeline: &Timeline) -> Option<Diagnostic> {
    let count = timeline.allocations.superseded() as u64;
    let of = device_name(device);
    let message = format!(
        "{} on {of} reused an address that was still in use, so frees are missing from the trace. The older \
         allocations are treated as never freed.",
        format::counted(count, "allocation")
    );
    (count > 0).then(|| warning("frees-missing", count, message))
}

fn above_reserved(device: &Device, timeline: &Timeline) -> Option<Diagnostic> {
    let (_, live) = timeline.live_peak();
    let (_, reserved) = timeline.reserved_peak();
    let message = format!(
        "Live bytes on {} reach {}, more than the {} in segments. Segments or frees are missing from the file, perhaps \
         because it was edited.",
        device_name(device),
        format::bytes(live),
        format::bytes(reserved)
    );
    (live > reserved).then(|| warning("live-above-reserved", 1, message))
}

fn out_of_memory(device: &Device) -> Option<Diagnostic> {
    let mut rows = device.events.actions().iter().enumerate().filter(|(_, action)| *action == Action::Oom);
    let (first, _) = rows.next()?;
    let count = 1 + rows.count() as u64;
    let event = device.events.at(first);
    let times = if count == 1 { "once, at".to_owned() } else { format!("{} times, first at", format::count(count)) };
    let (size, free) = (format::bytes(event.size_bytes), format::bytes(event.addr));
    let (of, first) = (device_name(device), format::count(first as u64));
    let message = format!(
        "{of} ran out of memory {times} event {first}: PyTorch tried to allocate {size}, with {free} free on the GPU."
    );
    Some(warning("out-of-memory", count, message))
}

fn device_name(device: &Device) -> String {
    format!("GPU {}", device.index)
}

fn info(code: &'static str, count: u64, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Severity::Info, code, count, message)
}

fn warning(code: &'static str, count: u64, message: impl Into<String>) -> Diagnostic {
    Diagnostic::new(Severity::Warning, code, count, message)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    #[track_caller]
    fn check(lines: &str, codes: &[&str]) {
        let trace = text::parse(lines).unwrap();
        let timelines: Vec<Timeline> = trace.devices.iter().map(|device| Timeline::new(&trace, device)).collect();
        let devices: Vec<_> = trace.devices.iter().zip(&timelines).collect();
        let found: Vec<_> = recording_diagnostics(&trace, &devices).iter().map(|diagnostic| diagnostic.code).collect();
        assert_eq!(found, codes);
    }

    #[test]
    fn what_a_recording_lacks_is_told() {
        // A whole recording has nothing odd but its stacks.
        check("segment_alloc S 1KiB t=1\nalloc a 100 t=2\nsegment S 1KiB\nblock a 512 requested=100", &["no-stacks"]);
        // A late start is told.
        check("free_completed a 5 t=1\nsegment S 1KiB", &["no-stacks", "recording-began-late", "frees-without-alloc"]);
        // Missing segments show.
        check("alloc a 100 t=1", &["no-stacks", "live-above-reserved"]);
        // An address taken twice shows.
        check("alloc a 100 t=1\nalloc a 100 t=2\nsegment S 1KiB", &["no-stacks", "frees-missing"]);
    }

    #[test]
    fn the_first_out_of_memory_is_named() {
        let trace = text::parse("oom 100 free=7 t=1\noom 200 free=7 t=2\nsegment S 1KiB").unwrap();
        let diagnostic = out_of_memory(&trace.devices[0]).unwrap();
        assert_eq!((diagnostic.code, diagnostic.count), ("out-of-memory", 2));
        assert!(
            diagnostic.message.contains("2 times, first at event 0: PyTorch tried to allocate 100 B, with 7 B free"),
            "{diagnostic:?}"
        );
    }
}
