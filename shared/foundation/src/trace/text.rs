//! Parses traces written as text, one event per line, so that a test shows what happens.
//!
//! ```text
//! segment_alloc S 2MiB t=10
//! alloc a 512 @relu<forward<main t=11   # the innermost frame comes first
//! alloc b 1KiB stream=7 t=12 @step@torch/optim/adam.py<main
//! free a t=13                           # free_requested, then free_completed
//! start step t=14                       # an annotation
//! oom 4GiB free=1MiB
//! annotate b note=parameter/fc.weight  # "parameter fc.weight"
//! segment S 2MiB pool=3                 # the final state begins; the pool may be left out
//! block b 1KiB requested=1000           # or: block b 1KiB pending, block b 1KiB inactive
//! device 1                              # events and segments of another device
//! ```
//!
//! A name stands for one address; `0x…` is an address itself.
//! A size may be omitted if the name already has one.

use super::{
    Action, Annotation, Block, BlockState, Device, Event, EventContext, Frame, FrameId, PoolId, Segment, StackId,
    Stage, Trace,
};
use crate::base::{StringId, size};
use hashbrown::HashMap;
use std::fmt;

/// Distance between the addresses of names, in bytes.
const NAME_STRIDE: u64 = 1 << 30;
/// Address of the first name.
const FIRST_NAME: u64 = 0x7f00_0000_0000;

/// Error of the text parser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextError {
    /// Line number, counted from 1.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for TextError {}

/// Parses a trace from the text format of this [module](self).
///
/// # Errors
/// Returns an error for the first line that is not in this format.
pub fn parse(text: &str) -> Result<Trace, TextError> {
    let mut builder = Builder::default();
    for (index, line) in text.lines().enumerate() {
        let line = without_comment(line);
        builder.line(line).map_err(|message| TextError { line: index + 1, message })?;
    }
    Ok(builder.finish())
}

/// Cuts off a comment, whose `#` follows white space: names such as `ProfilerStep#3` contain a `#`.
fn without_comment(line: &str) -> &str {
    let is_comment = |&(at, _): &(usize, &str)| line[..at].chars().next_back().is_none_or(char::is_whitespace);
    line.match_indices('#').find(is_comment).map_or(line, |(at, _)| &line[..at])
}

#[derive(Default)]
struct Builder {
    trace: Trace,
    device: Device,
    names: HashMap<String, (u64, Option<u64>)>,
}

/// Options, which may follow the statement on any line.
#[derive(Default)]
struct Options {
    stack: StackId,
    time_us: i64,
    stream: u64,
    pool: Option<PoolId>,
    note: StringId,
    free_bytes: u64,
    requested_bytes: Option<u64>,
    state: Option<BlockState>,
}

impl Builder {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let mut words = Vec::new();
        let mut options = Options::default();
        for word in line.split_whitespace() {
            if !self.option(word, &mut options)? {
                words.push(word);
            }
        }
        match *words.as_slice() {
            [] => Ok(()),
            ["device", index] => self.begin_device(index),
            ["start", name] => self.annotate(Stage::Start, name, &options),
            ["end", name] => self.annotate(Stage::End, name, &options),
            ["segment", name, size] => self.segment(name, size, &options),
            ["block", name, size] => self.block(name, size, &options),
            ["snapshot"] => self.event(Action::Snapshot, 0, 0, &options),
            ["oom", size] => self.event(Action::Oom, options.free_bytes, bytes(size)?, &options),
            [action, name] => self.named_event(action, name, None, &options),
            [action, name, size] => self.named_event(action, name, Some(size), &options),
            _ => Err(format!("too many words: {}", line.trim())),
        }
    }

    /// Returns true if `word` is an option, which is then stored in `options`.
    fn option(&mut self, word: &str, options: &mut Options) -> Result<bool, String> {
        if let Some(stack) = word.strip_prefix('@') {
            options.stack = self.stack(stack);
        } else if let Some((key, value)) = word.split_once('=') {
            match key {
                "t" => options.time_us = value.parse().map_err(|_| format!("no time: {value}"))?,
                "pool" => options.pool = Some(PoolId(bytes(value)?, 0)),
                "stream" => options.stream = bytes(value)?,
                "note" => options.note = self.trace.strings.intern(&value.replace('/', " ")),
                "free" => options.free_bytes = bytes(value)?,
                "requested" => options.requested_bytes = Some(bytes(value)?),
                _ => return Err(format!("no such option: {key}")),
            }
        } else {
            match word {
                "pending" => options.state = Some(BlockState::PendingFree),
                "inactive" => options.state = Some(BlockState::Inactive),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Parses the stack `inner<outer`; each frame is `f`, `f:7`, `f@file` or `f@file:7`.
    ///
    /// The default file is `main.py`, the default line is 1.
    fn stack(&mut self, text: &str) -> StackId {
        let frames: Vec<FrameId> = text
            .split('<')
            .filter(|name| !name.is_empty())
            .map(|frame| {
                let line = frame.rsplit_once(':').and_then(|(head, digits)| Some((head, digits.parse().ok()?)));
                let (frame, line) = line.unwrap_or((frame, 1));
                let (name, filename) = frame.split_once('@').unwrap_or((frame, "main.py"));
                let [name, filename] = [name, filename].map(|text| self.trace.strings.intern(text));
                self.trace.frames.intern(Frame { name, filename, line, fx: None })
            })
            .collect();
        self.trace.stacks.intern(&frames)
    }

    fn begin_device(&mut self, index: &str) -> Result<(), String> {
        let index = index.parse().map_err(|_| format!("no device index: {index}"))?;
        if self.device != Device::default() {
            self.trace.devices.push(std::mem::take(&mut self.device));
        }
        self.device.index = index;
        Ok(())
    }

    fn annotate(&mut self, stage: Stage, name: &str, options: &Options) -> Result<(), String> {
        let name = self.trace.strings.intern(name);
        let annotation = Annotation { stage, name, device: self.device.index, time_us: options.time_us };
        self.trace.annotations.push(annotation);
        Ok(())
    }

    /// Adds an event at a name, or two for `free`.
    fn named_event(&mut self, action: &str, name: &str, size: Option<&str>, options: &Options) -> Result<(), String> {
        if action == "free" {
            self.named_event("free_requested", name, size, options)?;
            return self.named_event("free_completed", name, size, options);
        }
        let action = Action::of_name(action).ok_or_else(|| format!("no such action: {action}"))?;
        let (addr, size_bytes) = self.name(name, size)?;
        self.event(action, addr, size_bytes, options)
    }

    fn event(&mut self, action: Action, addr: u64, size_bytes: u64, options: &Options) -> Result<(), String> {
        let context = EventContext { stream: options.stream, user_metadata: options.note, ..EventContext::default() };
        let context = self.trace.contexts.intern(context);
        let Options { stack, time_us, .. } = *options;
        self.device.events.push(Event { action, addr, size_bytes, time_us, stack, context });
        Ok(())
    }

    fn segment(&mut self, name: &str, size: &str, options: &Options) -> Result<(), String> {
        let (addr, size_bytes) = self.name(name, Some(size))?;
        let table = &mut self.device.segments;
        let next = table.blocks.len() as u32;
        table.segments.push(Segment {
            addr,
            size_bytes,
            requested_bytes: Some(0),
            stream: options.stream,
            pool: options.pool,
            stack: options.stack,
            blocks: (next, next),
            ..Segment::default()
        });
        Ok(())
    }

    fn block(&mut self, name: &str, size: &str, options: &Options) -> Result<(), String> {
        let (addr, size_bytes) = self.name(name, Some(size))?;
        let state = options.state.unwrap_or(BlockState::Allocated);
        let Options { stack, requested_bytes, .. } = *options;
        let block = Block { addr, size_bytes, requested_bytes, state, stack, history: (0, 0) };
        let table = &mut self.device.segments;
        let segment = table.segments.last_mut().ok_or("a block before the first segment")?;
        table.blocks.push(block);
        segment.blocks.1 = table.blocks.len() as u32;
        segment.allocated_bytes += if state == BlockState::Allocated { size_bytes } else { 0 };
        segment.active_bytes += if state == BlockState::Inactive { 0 } else { size_bytes };
        segment.requested_bytes = segment.requested_bytes.map(|sum| sum + block.live_bytes());
        Ok(())
    }

    /// Returns the address and the size of a name, which keeps the last size it was given.
    fn name(&mut self, name: &str, size: Option<&str>) -> Result<(u64, u64), String> {
        let next = FIRST_NAME + self.names.len() as u64 * NAME_STRIDE;
        let addr = match name.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16).map_err(|_| format!("no address: {name}"))?,
            None => next,
        };
        let entry = self.names.entry_ref(name).or_insert((addr, None));
        if let Some(size) = size {
            entry.1 = Some(bytes(size)?);
        }
        let size_bytes = entry.1.ok_or_else(|| format!("{name} has no size yet"))?;
        Ok((entry.0, size_bytes))
    }

    fn finish(mut self) -> Trace {
        if self.device != Device::default() || self.trace.devices.is_empty() {
            self.trace.devices.push(self.device);
        }
        self.trace
    }
}

/// Parses a number of bytes with an optional unit: `512`, `1KiB`, `2MiB`, `3GiB`.
fn bytes(text: &str) -> Result<u64, String> {
    text.parse().ok().or_else(|| size::parse(text)).ok_or_else(|| format!("no number of bytes: {text}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_an_event() {
        let trace = parse(
            "
            # A comment.
            segment_alloc S 2MiB t=10 # another
            alloc a 512 @relu@nn.py<main t=11
            start ProfilerStep#1 t=11
            free a t=12
            oom 4GiB free=1MiB
            segment S 2MiB
            block b 1KiB requested=1000
            block c 1KiB pending
            device 1
            snapshot
            ",
        )
        .unwrap();
        trace.check();
        let events = &trace.devices[0].events;
        let names: Vec<_> = events.actions().iter().map(Action::name).collect();
        assert_eq!(names, ["segment_alloc", "alloc", "free_requested", "free_completed", "oom"]);
        assert_eq!(events.at(1).addr, events.at(3).addr);
        assert_eq!((events.at(3).size_bytes, events.at(4).addr), (512, 1 << 20));
        let files = trace.stacks.frames(events.at(1).stack).iter().map(|&id| trace.frames.get(id).filename);
        assert_eq!(files.map(|id| trace.strings.get(id)).collect::<Vec<_>>(), ["nn.py", "main.py"]);
        let segment = &trace.devices[0].segments.segments[0];
        assert_eq!((segment.allocated_bytes, segment.active_bytes), (1024, 2048));
        assert_eq!(segment.requested_bytes, Some(2024));
        assert_eq!(trace.devices[1].index, 1);
        assert_eq!(trace.strings.get(trace.annotations[0].name), "ProfilerStep#1");
    }

    #[test]
    fn an_unknown_line_is_named() {
        let message = |text| parse(text).unwrap_err().to_string();
        assert_eq!(message("alloc a 1\nfly a"), "line 2: no such action: fly");
        assert_eq!(message("free a"), "line 1: a has no size yet");
        assert_eq!(message("alloc a 1XiB"), "line 1: no number of bytes: 1XiB");
        assert_eq!(message("block a 1"), "line 1: a block before the first segment");
    }
}
