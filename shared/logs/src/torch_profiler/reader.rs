//! Reads a trace that arrives in chunks, plain or compressed with gzip, event by event.

use super::lanes::{Call, CallKind, Copied, Kernel, Kernels, direction, lanes, transfers};
use super::origin::attribute;
use super::spans::{Span, SpanKind, Spans, fields, is_step};
use super::trace::{Course, MemoryEvent, Profile};
use crate::source::FileReader;
use shared::base::{Sink, StringTable, unpacked_head};

/// Most spans and most memory events that are kept; those of traces of 1 GB are some millions.
const MOST_SPANS: usize = 12_000_000;
const MOST_EVENTS: usize = 12_000_000;

/// Longest event that is read; longer ones, with thousands of arguments, are left out.
const LONGEST_BYTES: usize = 1 << 20;

/// Times from which microseconds count from the Unix epoch, 2001-09-09.
const EARLIEST_US: f64 = 1e15;

/// Returns true if the beginning of a file is a trace of a profiler, plain or compressed.
pub fn is_profile(head: &[u8]) -> bool {
    let head = unpacked_head(head);
    let has = |words: &[u8]| head.windows(words.len()).any(|window| window == words);
    let is_json = matches!(head.trim_ascii_start().first(), Some(b'{' | b'['));
    let of_torch = || has(b"\"schemaVersion\"") && has(b"\"deviceProperties\"");
    is_json && (has(b"\"traceEvents\"") || of_torch())
}

/// Finds the events in the bytes and reads them.
#[derive(Debug, Default)]
pub struct ProfileReader {
    /// Bytes of the event that the last chunk ended within.
    rest: Vec<u8>,
    /// Number of brackets and braces that are open.
    depth: usize,
    in_string: bool,
    is_escaped: bool,
    /// Depth of the list of events, if it is open.
    list_depth: Option<usize>,
    base_us: Option<f64>,
    has_ended: bool,
    /// Memory events with the CUDA indices of their devices.
    memory: Vec<(Option<u32>, MemoryEvent)>,
    spans: Vec<Span>,
    calls: Vec<Call>,
    copied: Vec<Copied>,
    kernels: Vec<Kernel>,
    names: StringTable,
    events: u64,
    left_out: u64,
}

impl FileReader for ProfileReader {
    type Log = Profile;

    fn begin(head: &[u8]) -> Option<Self> {
        is_profile(head).then(Self::default)
    }

    fn finish(mut self) -> Profile {
        // Fields behind the events.
        self.document_fields();
        let mut memory = self.memory;
        memory.sort_by(|(_, a), (_, b)| a.time_us.total_cmp(&b.time_us));
        let mut events: Vec<&mut MemoryEvent> = memory.iter_mut().map(|(_, event)| event).collect();
        let spans = Spans::new(self.spans, &self.names);
        self.calls.sort_by(|a, b| a.start_us.total_cmp(&b.start_us));
        let operations = attribute(&mut events, &spans, &Kernels::new(&self.calls, &self.kernels));
        let base_us = self.base_us.unwrap_or(0.0);
        let steps = spans.all.iter().filter(|span| is_step(span, spans.names));
        let mut steps: Vec<(f64, f64)> = steps.map(|span| (span.start_us + base_us, span.end_us + base_us)).collect();
        steps.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        let mut transfers = transfers(&self.calls, &self.copied, &spans);
        transfers.iter_mut().for_each(|transfer| transfer.time_us += base_us);
        let mut courses: Vec<Course> = Vec::new();
        for (gpu, event) in memory {
            let position = courses.iter().position(|course| course.gpu == gpu);
            let position = position.unwrap_or_else(|| {
                courses.push(Course { gpu, events: Vec::new() });
                courses.len() - 1
            });
            courses[position].events.push(MemoryEvent { time_us: event.time_us + base_us, ..event });
        }
        let first = courses.iter().flat_map(|course| course.events.first()).map(|event| event.time_us);
        let has_dates = first.reduce(f64::min).is_some_and(|first| first >= EARLIEST_US);
        Profile {
            courses,
            steps,
            lanes: lanes(&spans, &self.kernels, base_us),
            transfers,
            operations,
            has_kernels: !self.kernels.is_empty(),
            names: self.names.ids().map(|id| self.names.get(id).to_owned()).collect(),
            events: self.events,
            is_cut: !self.has_ended,
            has_dates,
            left_out: self.left_out,
        }
    }
}

impl Sink for ProfileReader {
    fn push(&mut self, bytes: &[u8]) {
        let mut start = 0;
        for (position, &byte) in bytes.iter().enumerate() {
            if self.in_string {
                match byte {
                    _ if self.is_escaped => self.is_escaped = false,
                    b'\\' => self.is_escaped = true,
                    b'"' => self.in_string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => {
                    if self.list_depth == Some(self.depth) {
                        start = position;
                    }
                    self.depth += 1;
                    if byte == b'[' && self.list_depth.is_none() {
                        let opens = self.opens_list(&bytes[start..position]);
                        self.list_depth = opens.then_some(self.depth);
                        start = if opens { position + 1 } else { position };
                    }
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    match self.list_depth {
                        Some(depth) if depth == self.depth => {
                            self.event(&bytes[start..=position]);
                            start = position + 1;
                        }
                        Some(depth) if depth > self.depth => {
                            self.list_depth = None;
                            self.has_ended = true;
                            start = position + 1;
                        }
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        self.keep(&bytes[start..]);
    }
}

impl ProfileReader {
    /// Returns true if the bracket behind these bytes opens the list of events.
    fn opens_list(&mut self, bytes: &[u8]) -> bool {
        self.keep(bytes);
        let is_named = self.depth == 2 && {
            let name = self.rest.trim_ascii_end();
            name.strip_suffix(b":").is_some_and(|name| name.trim_ascii_end().ends_with(b"\"traceEvents\""))
        };
        // A trace may be the bare list.
        let opens = is_named || self.depth == 1;
        if opens {
            self.document_fields();
            self.rest.clear();
        }
        opens
    }

    /// Reads the fields of the document itself, as far as they stand before the events.
    fn document_fields(&mut self) {
        let Self { rest, base_us, .. } = self;
        fields(rest, |(key, value)| {
            if key == b"baseTimeNanoseconds" {
                *base_us = number(value).map(|ns| ns / 1e3);
            }
        });
    }

    /// Keeps bytes of an event, or of the document before or behind the events.
    fn keep(&mut self, bytes: &[u8]) {
        let room = LONGEST_BYTES.saturating_sub(self.rest.len());
        self.rest.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn event(&mut self, bytes: &[u8]) {
        self.events += 1;
        if self.rest.is_empty() {
            return self.read(bytes);
        }
        self.keep(bytes);
        let whole = std::mem::take(&mut self.rest);
        self.read(&whole);
        self.rest = whole;
        self.rest.clear();
    }

    fn read(&mut self, object: &[u8]) {
        let mut event = Event::default();
        fields(object, |(key, value)| event.set(key, value));
        match event {
            Event { name: b"[memory]", .. } if self.memory.len() < MOST_EVENTS => {
                self.memory.extend(event.memory());
            }
            Event { name: b"[memory]", .. } => self.left_out += 1,
            Event { phase: b"X", .. } if self.kept() < MOST_SPANS => self.span(&event),
            Event { phase: b"X", .. } => self.left_out += u64::from(event.span_kind().is_some()),
            _ => {}
        }
    }

    /// Returns the number of events with a duration that are kept.
    fn kept(&self) -> usize {
        self.spans.len() + self.calls.len() + self.copied.len() + self.kernels.len()
    }

    /// Keeps an event that has a duration, if it matters.
    fn span(&mut self, event: &Event<'_>) {
        let Event { thread, start_us, duration_us, correlation, .. } = *event;
        if let Some(kind) = event.span_kind() {
            let name = self.names.intern(&String::from_utf8_lossy(event.name));
            self.spans.push(Span { thread, start_us, end_us: start_us + duration_us, name, kind });
        } else if matches!(event.category, b"kernel" | b"Kernel") {
            let name = self.names.intern(&String::from_utf8_lossy(event.name));
            self.kernels.push(Kernel { correlation, name, start_us, duration_us });
        } else if let Some(kind) = CallKind::of(event.name) {
            self.calls.push(Call { thread, start_us, duration_us, correlation, kind });
        } else if let Some(direction) = direction(event.name) {
            self.copied.push(Copied { correlation, direction, bytes: event.copied_bytes });
        }
    }
}

#[derive(Debug, Default)]
struct Event<'a> {
    phase: &'a [u8],
    name: &'a [u8],
    category: &'a [u8],
    thread: u64,
    start_us: f64,
    duration_us: f64,
    addr: u64,
    bytes: i64,
    copied_bytes: u64,
    correlation: u64,
    allocated_bytes: u64,
    reserved_bytes: u64,
    device_type: i64,
    device_index: i64,
}

impl<'a> Event<'a> {
    fn set(&mut self, key: &'a [u8], value: &'a [u8]) {
        let whole = || number(value).unwrap_or(0.0);
        match key {
            b"ph" => self.phase = value,
            b"name" => self.name = value,
            b"cat" => self.category = value,
            // Threads may have names instead of numbers.
            b"tid" => self.thread = number(value).map_or_else(|| hash(value), |id| id as u64),
            b"ts" => self.start_us = whole(),
            b"dur" => self.duration_us = whole(),
            b"Addr" => self.addr = integer(value).unwrap_or(0),
            b"Bytes" => self.bytes = whole() as i64,
            b"bytes" => self.copied_bytes = whole() as u64,
            b"correlation" => self.correlation = integer(value).unwrap_or(0),
            b"Total Allocated" => self.allocated_bytes = whole() as u64,
            b"Total Reserved" => self.reserved_bytes = whole() as u64,
            b"Device Type" => self.device_type = whole() as i64,
            b"Device Id" => self.device_index = whole() as i64,
            _ => {}
        }
    }

    fn span_kind(&self) -> Option<SpanKind> {
        match self.category {
            // Old versions have one category for both.
            b"cpu_op" | b"Operator" if !self.name.starts_with(b"ProfilerStep#") => Some(SpanKind::Operator),
            b"user_annotation" | b"cpu_op" | b"Operator" => Some(SpanKind::Annotation),
            b"python_function" if self.name.starts_with(b"nn.Module: ") => Some(SpanKind::Module),
            b"python_function" => Some(SpanKind::Function),
            _ => None,
        }
    }

    fn memory(&self) -> Option<(Option<u32>, MemoryEvent)> {
        // Type 0 of `c10::DeviceType` is the host.
        let gpu = (self.device_type != 0).then(|| u32::try_from(self.device_index).unwrap_or(0));
        let event = MemoryEvent {
            time_us: self.start_us,
            addr: self.addr,
            bytes: self.bytes,
            allocated_bytes: self.allocated_bytes,
            reserved_bytes: self.reserved_bytes,
            thread: self.thread,
            ..MemoryEvent::default()
        };
        (self.bytes != 0).then_some((gpu, event))
    }
}

fn number(value: &[u8]) -> Option<f64> {
    std::str::from_utf8(value).ok()?.parse().ok().filter(|number: &f64| number.is_finite())
}

fn integer(value: &[u8]) -> Option<u64> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

/// FNV-1a, for names of threads.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3))
}
