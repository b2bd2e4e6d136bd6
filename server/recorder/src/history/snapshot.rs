//! Writes a snapshot as PyTorch's C++ pickler does, but with long lists in batches.
//!
//! PyTorch's own page passes the items of a batch as arguments of a call, and browsers limit their number.

use std::collections::HashMap;
use std::io::{self, Write};

use shared::base::StringId;
use shared::pickle::{MemoId, Style, Writer};

use super::ffi::{Block, Clock, Held, Segment, SettingValues, frames, stacks};
use super::rows::{Row, View};
use super::{Annotation, Past};

/// Names of `TraceEntry::Action` in its order.
const ACTIONS: [&str; 9] = [
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "snapshot",
    "oom",
];
const OUT_OF_MEMORY: u32 = 8;

/// Text of an event outside of compiled code.
const NOT_COMPILED: &str = "N/A";

/// Names of a block's states in the order of the shim.
const STATES: [&str; 3] = ["inactive", "active_pending_free", "active_allocated"];

/// Writes a pickle into `file`.
///
/// # Errors
///
/// Returns the first error of writing or of reading events.
pub(super) fn write(held: &Held, past: &Past, file: &mut impl Write) -> io::Result<()> {
    let mut failure = Ok(());
    let sink = |piece: &[u8]| {
        if failure.is_ok() {
            failure = file.write_all(piece);
        }
    };
    let mut pickle = Pickle {
        writer: Writer::new(Style::Torch, sink).in_batches(),
        clock: Clock::new(),
        words: HashMap::new(),
        stacks: vec![None; stacks() as usize],
        frames: HashMap::new(),
    };
    pickle.snapshot(held, past)?;
    pickle.writer.finish();
    failure
}

struct Pickle<S> {
    writer: Writer<S>,
    clock: Clock,
    /// Keys and other constant texts, by their address and length.
    words: HashMap<(*const u8, usize), MemoId>,
    /// Stacks that have been written.
    stacks: Vec<Option<MemoId>>,
    /// Frames that have been written, by file and name.
    frames: HashMap<(String, String), MemoId>,
}

impl<S: FnMut(&[u8])> Pickle<S> {
    fn snapshot(&mut self, held: &Held, past: &Past) -> io::Result<()> {
        self.writer.begin_dict(4);
        self.word("segments");
        self.writer.begin_list(held.segments.len());
        held.segments.iter().for_each(|segment| self.segment(segment));
        self.writer.end();
        self.word("device_traces");
        let devices = tch::Cuda::device_count().max(0) as usize;
        self.writer.begin_list(devices.max(past.devices.len()));
        for device in &past.devices {
            self.events(device, past)?;
        }
        for _ in past.devices.len()..devices {
            self.writer.begin_list(0);
            self.writer.end();
        }
        self.writer.end();
        self.word("allocator_settings");
        self.settings(held);
        self.word("external_annotations");
        self.writer.begin_list(past.annotations.len());
        past.annotations.iter().for_each(|annotation| self.annotation(annotation));
        self.writer.end();
        self.writer.end();
        Ok(())
    }

    /// Writes a constant text; the map finds it by its address, which is faster than by its letters.
    fn word(&mut self, word: &'static str) {
        let place = (word.as_ptr(), word.len());
        match self.words.get(&place) {
            Some(&memo) => self.writer.again(memo),
            None => {
                let memo = self.writer.key(word);
                self.words.insert(place, memo);
            }
        }
    }

    fn entry(&mut self, key: &'static str, value: impl Into<i128>) {
        self.word(key);
        self.writer.int(value);
    }

    fn flag(&mut self, key: &'static str, value: bool) {
        self.word(key);
        self.writer.bool(value);
    }

    fn events(&mut self, device: &View, past: &Past) -> io::Result<()> {
        let mut texts = vec![None; past.texts.len()];
        self.writer.begin_list(device.len());
        device.each(|row| {
            self.event(row, past, &mut texts);
            Ok(())
        })?;
        self.writer.end();
        Ok(())
    }

    fn event(&mut self, row: &Row, past: &Past, texts: &mut [Option<MemoId>]) {
        self.writer.begin_dict(8);
        self.word("action");
        self.word(ACTIONS[row.action as usize]);
        self.entry(if row.action == OUT_OF_MEMORY { "device_free" } else { "addr" }, row.address);
        self.entry("size", row.size);
        self.entry("stream", row.stream);
        self.word("compile_context");
        self.word(NOT_COMPILED);
        self.word("user_metadata");
        let text = row.text as usize;
        match texts[text] {
            Some(memo) => self.writer.again(memo),
            None => texts[text] = Some(self.writer.text(past.texts.get(StringId::from_index(text)))),
        }
        self.entry("time_us", self.clock.time_us(row.ticks));
        self.stack(row.stack);
        self.writer.end();
    }

    /// Writes the key `frames` with a stack, which is one object for all who share it.
    fn stack(&mut self, number: u32) {
        self.word("frames");
        match self.stacks.get(number as usize) {
            Some(&Some(memo)) => self.writer.again(memo),
            Some(None) => {
                let memo = self.new_stack(number);
                self.stacks[number as usize] = Some(memo);
            }
            // No stack, or one that is newer than the snapshot.
            None => {
                self.writer.begin_list(0);
                self.writer.end();
            }
        }
    }

    fn new_stack(&mut self, number: u32) -> MemoId {
        let frames = frames(number);
        self.writer.begin_list(frames.len());
        for frame in frames {
            match self.frames.get(&frame) {
                Some(&memo) => self.writer.again(memo),
                None => {
                    let memo = self.frame(&frame);
                    self.frames.insert(frame, memo);
                }
            }
        }
        self.writer.end_shared()
    }

    fn frame(&mut self, (file, name): &(String, String)) -> MemoId {
        self.writer.begin_dict(3);
        self.word("name");
        self.writer.text(name);
        self.word("filename");
        self.writer.text(file);
        self.entry("line", 0);
        self.writer.end_shared()
    }

    fn segment(&mut self, segment: &Segment) {
        let (head, tail) = (&segment.head, &segment.tail);
        self.writer.begin_dict(12);
        self.entry("device", tail.device);
        self.entry("address", head.address);
        self.entry("total_size", head.total_size);
        self.entry("allocated_size", head.allocated_size);
        self.entry("active_size", head.active_size);
        self.entry("requested_size", head.requested_size);
        self.entry("stream", head.stream);
        self.word("segment_type");
        self.word(if tail.is_large { "large" } else { "small" });
        self.word("segment_pool_id");
        self.writer.int_pair(head.pool[0], head.pool[1]);
        self.flag("is_expandable", tail.is_expandable);
        self.word("blocks");
        self.writer.begin_list(segment.blocks.len());
        let mut address = head.address;
        for block in &segment.blocks {
            self.block(address, block);
            address += block.size;
        }
        self.writer.end();
        self.stack(tail.stack);
        self.writer.end();
    }

    fn block(&mut self, address: u64, block: &Block) {
        self.writer.begin_dict(5);
        self.entry("address", address);
        self.entry("size", block.size);
        self.entry("requested_size", block.requested_size);
        self.word("state");
        self.word(STATES[block.state as usize]);
        self.stack(block.stack);
        self.writer.end();
    }

    fn settings(&mut self, held: &Held) {
        let SettingValues {
            max_split_size,
            garbage_collection_threshold,
            register_threads,
            expandable_segments,
            release_lock,
            use_host_register,
            reuses_record_stream,
        } = held.values;
        self.writer.begin_dict(9);
        self.word("PYTORCH_CUDA_ALLOC_CONF");
        self.writer.text(&held.conf);
        self.entry("max_split_size", max_split_size);
        self.word("garbage_collection_threshold");
        self.writer.float(garbage_collection_threshold);
        self.flag("expandable_segments", expandable_segments);
        self.entry("pinned_num_register_threads", register_threads);
        self.flag("release_lock_on_cudamalloc", release_lock);
        self.flag("pinned_use_cuda_host_register", use_host_register);
        self.flag("graph_capture_record_stream_reuse", reuses_record_stream);
        self.word("roundup_power2_divisions");
        self.writer.begin_dict(held.roundup_divisions.len());
        for (power, &divisions) in held.roundup_divisions.iter().enumerate() {
            self.writer.key(&(1_u64 << power).to_string());
            self.writer.int(divisions);
        }
        self.writer.end();
        self.writer.end();
    }

    fn annotation(&mut self, annotation: &Annotation) {
        self.writer.begin_dict(4);
        self.word("stage");
        self.word(annotation.stage);
        self.word("name");
        self.writer.text(&annotation.name);
        self.entry("device", annotation.device);
        self.entry("time_us", self.clock.time_us(annotation.ticks));
        self.writer.end();
    }
}
