//! Reads a trace that arrives in chunks, plain or compressed with gzip, event by event.

use super::fields::fields;
use super::spans::{Span, SpanKind, attribute};
use super::trace::{Course, DeviceKind, MemoryEvent, Profile};
use crate::base::StringTable;
use flate2::write::MultiGzDecoder;
use std::io::{self, Write};

/// Most spans and most memory events that are kept; those of traces of 1 GB are some millions.
const MOST_SPANS: usize = 12_000_000;
const MOST_EVENTS: usize = 12_000_000;

/// Longest event that is read; longer ones, with thousands of arguments, are left out.
const LONGEST_BYTES: usize = 1 << 20;

/// Times from which microseconds count from the Unix epoch, 2001-09-09.
const EARLIEST_US: f64 = 1e15;

/// Reader of a trace.
#[derive(Debug)]
pub struct ProfileReader {
    layer: Layer,
}

#[derive(Debug)]
enum Layer {
    Plain(Box<Scanner>),
    Gzip(Box<MultiGzDecoder<Sink>>),
    /// The compressed bytes are damaged; this is what they unpacked to before.
    Damaged(Box<Scanner>),
}

/// Receives what gzip unpacks to.
#[derive(Debug, Default)]
struct Sink(Box<Scanner>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Returns true if the beginning of a file is a trace of a profiler, plain or compressed.
pub fn is_profile(head: &[u8]) -> bool {
    let has = |bytes: &[u8], words: &[u8]| bytes.windows(words.len()).any(|window| window == words);
    let is_trace = |bytes: &[u8]| {
        let is_json = matches!(bytes.trim_ascii_start().first(), Some(b'{' | b'['));
        let of_torch = || has(bytes, b"\"schemaVersion\"") && has(bytes, b"\"deviceProperties\"");
        is_json && (has(bytes, b"\"traceEvents\"") || of_torch())
    };
    if !head.starts_with(b"\x1f\x8b") {
        return is_trace(head);
    }
    let mut unpacked = MultiGzDecoder::new(Head::default());
    // The head ends within the file.
    let _ = unpacked.write_all(head).and_then(|()| unpacked.flush());
    is_trace(&unpacked.get_ref().0)
}

/// First bytes of an unpacked file.
#[derive(Default)]
struct Head(Vec<u8>);

impl Write for Head {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        const MOST: usize = 64 << 10;
        let room = MOST - self.0.len().min(MOST);
        self.0.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if room == 0 { Err(io::ErrorKind::WriteZero.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl ProfileReader {
    /// Creates a reader for a file with this beginning.
    pub fn new(head: &[u8]) -> Self {
        let layer = match head.starts_with(b"\x1f\x8b") {
            true => Layer::Gzip(Box::new(MultiGzDecoder::new(Sink::default()))),
            false => Layer::Plain(Box::default()),
        };
        Self { layer }
    }

    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        match &mut self.layer {
            Layer::Plain(scanner) => scanner.push(bytes),
            Layer::Gzip(decoder) => {
                if decoder.write_all(bytes).is_err() {
                    self.layer = Layer::Damaged(std::mem::take(&mut decoder.get_mut().0));
                }
            }
            Layer::Damaged(_) => {}
        }
    }

    /// Returns what the trace says about memory.
    pub fn finish(self) -> Profile {
        match self.layer {
            Layer::Plain(scanner) | Layer::Damaged(scanner) => scanner.finish(),
            Layer::Gzip(mut decoder) => {
                let _ = decoder.try_finish();
                std::mem::take(&mut decoder.get_mut().0).finish()
            }
        }
    }
}

/// Finds the events in the bytes and reads them.
#[derive(Debug, Default)]
struct Scanner {
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
    memory: Vec<(DeviceKind, u32, MemoryEvent)>,
    spans: Vec<Span>,
    names: StringTable,
    events: u64,
    left_out: u64,
}

impl Scanner {
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
        let mut base_us = self.base_us;
        fields(&self.rest, |(key, value)| {
            if key == b"baseTimeNanoseconds" {
                base_us = number(value).map(|ns| ns / 1e3);
            }
        });
        self.base_us = base_us;
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
            Event { phase: b"X", .. } => {
                let Some(kind) = event.span_kind() else { return };
                if self.spans.len() >= MOST_SPANS {
                    self.left_out += 1;
                    return;
                }
                let name = self.names.intern(&String::from_utf8_lossy(event.name));
                let (start_us, end_us) = (event.start_us, event.start_us + event.duration_us);
                self.spans.push(Span { thread: event.thread, start_us, end_us, name, kind });
            }
            _ => {}
        }
    }

    fn finish(mut self) -> Profile {
        // Fields behind the events.
        self.document_fields();
        let mut memory = self.memory;
        memory.sort_by(|(_, _, a), (_, _, b)| a.time_us.total_cmp(&b.time_us));
        let mut events: Vec<&mut MemoryEvent> = memory.iter_mut().map(|(_, _, event)| event).collect();
        attribute(&mut events, self.spans, &self.names);
        let base_us = self.base_us.unwrap_or(0.0);
        let mut courses: Vec<Course> = Vec::new();
        for (kind, index, event) in memory {
            let position = courses.iter().position(|course| (course.kind, course.index) == (kind, index));
            let position = position.unwrap_or_else(|| {
                courses.push(Course { kind, index, events: Vec::new() });
                courses.len() - 1
            });
            courses[position].events.push(MemoryEvent { time_us: event.time_us + base_us, ..event });
        }
        let first = courses.iter().flat_map(|course| course.events.first()).map(|event| event.time_us);
        let has_dates = first.reduce(f64::min).is_some_and(|first| first >= EARLIEST_US);
        Profile {
            courses,
            names: self.names.ids().map(|id| self.names.get(id).to_owned()).collect(),
            events: self.events,
            is_cut: !self.has_ended,
            has_dates,
            left_out: self.left_out,
        }
    }
}

/// Fields of an event.
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
            b"Total Allocated" => self.allocated_bytes = whole() as u64,
            b"Total Reserved" => self.reserved_bytes = whole() as u64,
            b"Device Type" => self.device_type = whole() as i64,
            b"Device Id" => self.device_index = whole() as i64,
            _ => {}
        }
    }

    fn span_kind(&self) -> Option<SpanKind> {
        match self.category {
            b"cpu_op" | b"user_annotation" | b"Operator" => Some(SpanKind::Operator),
            b"python_function" => Some(SpanKind::Function),
            _ => None,
        }
    }

    fn memory(&self) -> Option<(DeviceKind, u32, MemoryEvent)> {
        let kind = if self.device_type == 0 { DeviceKind::Host } else { DeviceKind::Gpu };
        let index = if kind == DeviceKind::Host { 0 } else { u32::try_from(self.device_index).unwrap_or(0) };
        let event = MemoryEvent {
            time_us: self.start_us,
            addr: self.addr,
            bytes: self.bytes,
            allocated_bytes: self.allocated_bytes,
            reserved_bytes: self.reserved_bytes,
            thread: self.thread,
            operator: None,
            function: None,
        };
        (self.bytes != 0).then_some((kind, index, event))
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
