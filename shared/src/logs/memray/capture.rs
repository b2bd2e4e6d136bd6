//! Reads captures of memray, which arrive in chunks, plain or compressed with LZ4.

use super::cursor::{Cursor, Stop};
use super::frames::Frames;
use super::header::{FORMATS, Header, MAGIC};
use super::heap::Heap;
use super::lz4::{self, Lz4};
use super::origin::{OriginSums, Origins};
use super::record::{Amount, Record, Records};

/// Bytes that are collected before records are read, so that a long record is not begun anew for each small chunk.
const BATCH_BYTES: usize = 64 << 10;

/// Longest record or header that is read; the longest ones have tables of lines of large functions.
const LONGEST_BYTES: usize = 4 << 20;

/// What a capture says about memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Capture {
    pub header: Header,
    /// Memory over time, about every 10 ms.
    pub samples: Vec<Sample>,
    /// Memory by line; what was allocated in all is unknown if the capture is aggregated.
    pub origins: Origins,
    pub peak_bytes: u64,
    /// Position of the first sample behind the peak, or their number.
    pub peak_sample: usize,
    pub ending: Ending,
    /// Number of bytes, unpacked.
    pub bytes: u64,
}

/// Memory at a time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Milliseconds since the Unix epoch.
    pub time_ms: i64,
    /// Resident memory of the process.
    pub resident_bytes: u64,
    /// What was allocated.
    pub heap_bytes: u64,
}

/// How a capture ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// With its last record.
    #[default]
    Whole,
    /// Before its last record, as when the process was killed.
    Cut,
    /// Within bytes that are no record.
    Damaged,
    /// After the header, which has a format that is not read.
    UnknownFormat,
}

/// Reader of a capture.
#[derive(Debug)]
pub(super) struct CaptureReader {
    lz4: Option<Lz4>,
    records: RecordReader,
}

/// Reader of unpacked bytes.
#[derive(Debug, Default)]
struct RecordReader {
    /// Bytes that have not been read.
    rest: Vec<u8>,
    bytes: u64,
    body: Option<Body>,
    /// How the capture ends, once that is known.
    ending: Option<Ending>,
}

/// What the records have said until now.
#[derive(Debug)]
struct Body {
    header: Header,
    records: Records,
    frames: Frames,
    heap: Heap,
    samples: Vec<Sample>,
    sums: Vec<(u32, Amount, Amount)>,
    highest_bytes: u64,
    peak_sample: usize,
}

/// Returns true if the beginning of a file is a capture, plain or compressed.
pub(super) fn is_capture(head: &[u8]) -> bool {
    head.starts_with(MAGIC) || (lz4::is_lz4(head) && lz4::beginning(head).starts_with(MAGIC))
}

impl CaptureReader {
    /// Creates a reader for a file with this beginning.
    pub(super) fn new(head: &[u8]) -> Self {
        Self { lz4: lz4::is_lz4(head).then(Lz4::default), records: RecordReader::default() }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        match &mut self.lz4 {
            None => self.records.push(bytes),
            Some(lz4) => lz4.push(bytes, |unpacked| self.records.push(unpacked)),
        }
    }

    pub(super) fn finish(self) -> Capture {
        let is_damaged = self.lz4.is_some_and(|lz4| lz4.state() == lz4::State::Damaged);
        self.records.finish(if is_damaged { Ending::Damaged } else { Ending::Cut })
    }
}

impl RecordReader {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.ending.is_none() {
            self.rest.extend_from_slice(bytes);
            if self.rest.len() >= BATCH_BYTES {
                self.read();
            }
        }
    }

    /// Reads all records that are whole.
    fn read(&mut self) {
        let rest = std::mem::take(&mut self.rest);
        let mut cursor = Cursor::new(&rest, 0);
        while self.ending.is_none() {
            match self.step(&mut cursor) {
                Ok(ending) => self.ending = ending,
                Err(Stop::Incomplete) if rest.len() - cursor.at <= LONGEST_BYTES => break,
                Err(_) => self.ending = Some(Ending::Damaged),
            }
        }
        let at = cursor.at;
        self.rest = rest;
        self.rest.drain(..at);
    }

    /// Reads the header or one record; returns how the capture ends if it ends there.
    fn step(&mut self, cursor: &mut Cursor) -> Result<Option<Ending>, Stop> {
        let start = cursor.at;
        if let Some(body) = &mut self.body {
            let record = body.records.next(cursor)?;
            if cursor.at - start > LONGEST_BYTES {
                return Err(Stop::Damaged);
            }
            body.take(record);
            return Ok(record.ending());
        }
        let header = Header::read(cursor).inspect_err(|_| cursor.at = start)?;
        let is_known = FORMATS.contains(&header.format);
        self.body = Some(Body::new(header));
        Ok((!is_known).then_some(Ending::UnknownFormat))
    }

    fn finish(mut self, without_end: Ending) -> Capture {
        if self.ending.is_none() {
            self.read();
        }
        let ending = self.ending.unwrap_or(without_end);
        let capture = self.body.map(Body::finish).unwrap_or_default();
        Capture { ending, bytes: self.bytes, ..capture }
    }
}

impl Body {
    fn new(header: Header) -> Self {
        Self {
            records: Records::new(&header),
            frames: Frames::new(header.clone()),
            header,
            heap: Heap::default(),
            samples: Vec::new(),
            sums: Vec::new(),
            highest_bytes: 0,
            peak_sample: 0,
        }
    }

    fn take(&mut self, record: Record) {
        match record {
            Record::Other | Record::End | Record::Reserved => {}
            Record::Thread(thread) => self.frames.switch(thread),
            Record::Push(key) => self.frames.push(key),
            Record::Pop(count) => self.frames.pop(count),
            Record::Code(id, code) => self.frames.add_code(id, code),
            Record::Change(change) => self.heap.change(change, self.frames.current()),
            Record::Resident { bytes, ms } => {
                let time_ms = self.header.start_ms.saturating_add_unsigned(ms);
                self.sample(Sample { time_ms, resident_bytes: bytes, heap_bytes: self.heap.bytes() });
            }
            Record::Snapshot { time_ms, resident_bytes, heap_bytes } => {
                self.sample(Sample { time_ms: time_ms as i64, resident_bytes, heap_bytes });
            }
            Record::Frame(key) => self.frames.add_frame(key),
            Record::Stack { frame, parent } => self.frames.add_stack(frame, parent),
            Record::Sum { stack, peak, end } => {
                self.sums.push((u32::try_from(stack).unwrap_or(0), peak, end));
            }
        }
    }

    fn sample(&mut self, sample: Sample) {
        let highest_bytes = self.heap.peak_bytes().max(sample.heap_bytes);
        if highest_bytes > self.highest_bytes {
            (self.highest_bytes, self.peak_sample) = (highest_bytes, self.samples.len());
        }
        // Clocks may be set back.
        let last_ms = self.samples.last().map_or(i64::MIN, |last| last.time_ms);
        self.samples.push(Sample { time_ms: sample.time_ms.max(last_ms), ..sample });
    }

    fn finish(mut self) -> Capture {
        if self.heap.peak_bytes() > self.highest_bytes {
            self.peak_sample = self.samples.len();
        }
        let is_aggregated = self.header.is_aggregated;
        let heap_bytes = self.heap.peak_bytes();
        let usages = self.heap.finish();
        let (by_stack, texts) = self.frames.finish();
        let origin = |stack: u32| by_stack.get(stack as usize).copied().unwrap_or_default();
        let mut sums = OriginSums::default();
        for (usage, stack) in usages.iter().zip(0..) {
            sums.add(origin(stack), usage.peak, usage.live, usage.all);
        }
        for (stack, peak, end) in self.sums {
            sums.add(origin(stack), peak, end, Amount::default());
        }
        let origins = sums.finish(&texts);
        Capture {
            header: self.header,
            samples: self.samples,
            peak_bytes: if is_aggregated { origins.peak_bytes() } else { heap_bytes },
            origins,
            peak_sample: self.peak_sample,
            ..Capture::default()
        }
    }
}

impl Record<'_> {
    /// Returns how the capture ends if it ends with this record.
    fn ending(&self) -> Option<Ending> {
        match self {
            Self::End => Some(Ending::Whole),
            Self::Reserved => Some(Ending::Cut),
            _ => None,
        }
    }
}
