//! Follows the calls of each thread, and names the lines that they lead to.

use super::header::{Header, Python};
use super::lines::LineTable;
use super::origin::{Origin, Place};
use super::record::{Code, FrameKey};
use crate::base::{StringId, StringTable};
use hashbrown::HashMap;

/// Stacks of a capture, each of which is a frame called from another stack; the first one is empty.
#[derive(Debug)]
pub(super) struct Frames {
    header: Header,
    texts: StringTable,
    codes: HashMap<u64, OwnedCode>,
    frames: Vec<FrameKey>,
    by_key: HashMap<FrameKey, u32>,
    /// Frame and outer stack of each stack.
    stacks: Vec<(u32, u32)>,
    by_frame: HashMap<(u32, u32), u32>,
    /// Stacks of the calls of each other thread, the outermost first, and those of the current one.
    threads: HashMap<u64, Vec<u32>>,
    calls: Vec<u32>,
    thread: u64,
}

/// Function as in [`Code`].
#[derive(Debug)]
struct OwnedCode {
    function: StringId,
    file: StringId,
    line: i64,
    table: Option<Box<[u8]>>,
}

impl Frames {
    pub(super) fn new(header: Header) -> Self {
        Self {
            header,
            texts: StringTable::new(),
            codes: HashMap::new(),
            frames: Vec::new(),
            by_key: HashMap::new(),
            stacks: vec![(0, 0)],
            by_frame: HashMap::new(),
            threads: HashMap::new(),
            calls: Vec::new(),
            thread: 0,
        }
    }

    pub(super) fn add_code(&mut self, id: u64, Code { function, file, line, table }: Code) {
        let mut text = |bytes: &[u8]| self.texts.intern(&String::from_utf8_lossy(bytes));
        let (function, file) = (text(function), text(file));
        let line = u32::try_from(line).map_or(0, i64::from);
        self.codes.insert(id, OwnedCode { function, file, line, table: table.map(Box::from) });
    }

    /// Makes a thread the one of the calls that follow.
    pub(super) fn switch(&mut self, thread: u64) {
        if thread != self.thread {
            let calls = self.threads.remove(&thread).unwrap_or_default();
            let others = std::mem::replace(&mut self.calls, calls);
            self.threads.insert(self.thread, others);
            self.thread = thread;
        }
    }

    pub(super) fn push(&mut self, key: FrameKey) {
        // The outermost frames are those of memray itself.
        let is_main = self.thread == self.header.main_thread;
        let is_skipped = is_main && (self.calls.len() as u64) < self.header.skipped_frames;
        let stack = if is_skipped { 0 } else { self.stack_of(key, self.current()) };
        self.calls.push(stack);
    }

    pub(super) fn pop(&mut self, count: u64) {
        self.calls.truncate(self.calls.len().saturating_sub(count as usize));
    }

    /// Returns the stack of the current thread.
    pub(super) fn current(&self) -> u32 {
        self.calls.last().copied().unwrap_or(0)
    }

    /// Adds the next frame of an aggregated capture.
    pub(super) fn add_frame(&mut self, key: FrameKey) {
        self.frames.push(key);
    }

    /// Adds the next stack of an aggregated capture; one that is called from a later stack is called from nowhere.
    pub(super) fn add_stack(&mut self, frame: u64, outer: u64) {
        let frame = if self.header.format < 12 {
            self.frame_of(FrameKey { code: frame, offset: 0 })
        } else {
            u32::try_from(frame).unwrap_or(u32::MAX)
        };
        let outer = u32::try_from(outer).ok().filter(|outer| (*outer as usize) < self.stacks.len());
        self.stacks.push((frame, outer.unwrap_or(0)));
    }

    fn stack_of(&mut self, key: FrameKey, outer: u32) -> u32 {
        let frame = self.frame_of(key);
        *self.by_frame.entry((frame, outer)).or_insert_with(|| {
            self.stacks.push((frame, outer));
            (self.stacks.len() - 1) as u32
        })
    }

    fn frame_of(&mut self, key: FrameKey) -> u32 {
        *self.by_key.entry(key).or_insert_with(|| {
            self.frames.push(key);
            (self.frames.len() - 1) as u32
        })
    }

    /// Returns the lines that each stack leads to, and the texts of their names.
    pub(super) fn finish(self) -> (Vec<Origin>, StringTable) {
        let places = self.places();
        let is_own: Vec<bool> =
            places.iter().map(|place| place.is_some_and(|place| place.is_own(&self.texts))).collect();
        let mut origins: Vec<Origin> = Vec::with_capacity(self.stacks.len());
        origins.push(Origin::default());
        for &(frame, outer) in &self.stacks[1..] {
            let innermost = places.get(frame as usize).copied().flatten();
            let own = if is_own.get(frame as usize) == Some(&true) { innermost } else { origins[outer as usize].own };
            origins.push(Origin { innermost, own });
        }
        (origins, self.texts)
    }

    /// Returns the line of each frame; the table of each function is read once.
    fn places(&self) -> Vec<Option<Place>> {
        let mut places = vec![None; self.frames.len()];
        let mut by_code: Vec<usize> = (0..self.frames.len()).collect();
        by_code.sort_by_key(|&frame| self.frames[frame].code);
        for frames in by_code.chunk_by(|&a, &b| self.frames[a].code == self.frames[b].code) {
            let Some(code) = frames.first().and_then(|&first| self.codes.get(&self.frames[first].code)) else {
                continue;
            };
            let table = code.line_table(self.header.python);
            for &frame in frames {
                let line = table.as_ref().map_or(Some(code.line), |table| table.line(self.frames[frame].offset));
                let line = line.and_then(|line| u32::try_from(line).ok()).unwrap_or(0);
                places[frame] = Some(Place { function: code.function, file: code.file, line });
            }
        }
        places
    }
}

impl OwnedCode {
    /// Returns the table of the lines; `None` for a single line.
    fn line_table(&self, python: Option<Python>) -> Option<LineTable> {
        let (python, table) = python.zip(self.table.as_ref())?;
        Some(LineTable::new(python, table, self.line))
    }
}
