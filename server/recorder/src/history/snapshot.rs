//! Writes a snapshot as PyTorch's C++ pickler does, but with long lists in batches.
//!
//! PyTorch's own page passes the items of a batch as arguments of a call, and browsers limit their number.

use std::collections::HashMap;
use std::io::{self, Write};

use shared::base::StringId;
use shared::pickle::{MemoId, Style, Writer};

use super::ffi::{Block, Clock, Held, Segment, SettingValues, frames, stacks};
use super::rows::{Annotation, Past, Row, Rows};

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
    /// Stacks that have been written.
    stacks: Vec<Option<MemoId>>,
    /// Frames that have been written, by file and name.
    frames: HashMap<(String, String), MemoId>,
}

impl<S: FnMut(&[u8])> Pickle<S> {
    fn snapshot(&mut self, held: &Held, past: &Past) -> io::Result<()> {
        self.writer.begin_dict(4);
        self.writer.key("segments");
        self.writer.begin_list(held.segments.len());
        held.segments.iter().for_each(|segment| self.segment(segment));
        self.writer.end();
        self.writer.key("device_traces");
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
        self.writer.key("allocator_settings");
        self.settings(held);
        self.writer.key("external_annotations");
        self.writer.begin_list(past.annotations.len());
        past.annotations.iter().for_each(|annotation| self.annotation(annotation));
        self.writer.end();
        self.writer.end();
        Ok(())
    }

    fn entry(&mut self, key: &'static str, value: impl Into<i128>) {
        self.writer.key(key);
        self.writer.int(value);
    }

    fn flag(&mut self, key: &'static str, value: bool) {
        self.writer.key(key);
        self.writer.bool(value);
    }

    fn text(&mut self, key: &'static str, value: &str) {
        self.writer.key(key);
        self.writer.text(value);
    }

    /// Writes one of a few words, which the pickle has once.
    fn word(&mut self, key: &'static str, value: &'static str) {
        self.writer.key(key);
        self.writer.key(value);
    }

    fn events(&mut self, device: &Rows, past: &Past) -> io::Result<()> {
        self.writer.begin_list(device.len());
        device.each(|row| {
            self.event(row, past);
            Ok(())
        })?;
        self.writer.end();
        Ok(())
    }

    fn event(&mut self, row: &Row, past: &Past) {
        self.writer.begin_dict(8);
        self.word("action", ACTIONS[row.action as usize]);
        self.entry(if row.action == OUT_OF_MEMORY { "device_free" } else { "addr" }, row.address);
        self.entry("size", row.size);
        self.entry("stream", row.stream);
        self.word("compile_context", NOT_COMPILED);
        self.text("user_metadata", past.texts.get(StringId::from_index(row.text as usize)));
        self.entry("time_us", self.clock.time_us(row.ticks));
        self.stack(row.stack);
        self.writer.end();
    }

    /// Writes the key `frames` with a stack, which is one object for all who share it.
    fn stack(&mut self, number: u32) {
        self.writer.key("frames");
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
        self.text("name", name);
        self.text("filename", file);
        self.entry("line", 0);
        self.writer.end_shared()
    }

    fn segment(&mut self, segment: &Segment) {
        let values = &segment.values;
        self.writer.begin_dict(12);
        self.entry("device", values.device);
        self.entry("address", values.address);
        self.entry("total_size", values.total_size);
        self.entry("allocated_size", values.allocated_size);
        self.entry("active_size", values.active_size);
        self.entry("requested_size", values.requested_size);
        self.entry("stream", values.stream);
        self.word("segment_type", if values.is_large { "large" } else { "small" });
        self.writer.key("segment_pool_id");
        self.writer.int_pair(values.pool[0], values.pool[1]);
        self.flag("is_expandable", values.is_expandable);
        self.writer.key("blocks");
        self.writer.begin_list(segment.blocks.len());
        let mut address = values.address;
        for block in &segment.blocks {
            self.block(address, block);
            address += block.size;
        }
        self.writer.end();
        self.stack(values.stack);
        self.writer.end();
    }

    fn block(&mut self, address: u64, block: &Block) {
        self.writer.begin_dict(5);
        self.entry("address", address);
        self.entry("size", block.size);
        self.entry("requested_size", block.requested_size);
        self.word("state", STATES[block.state as usize]);
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
        self.text("PYTORCH_CUDA_ALLOC_CONF", &held.conf);
        self.entry("max_split_size", max_split_size);
        self.writer.key("garbage_collection_threshold");
        self.writer.float(garbage_collection_threshold);
        self.flag("expandable_segments", expandable_segments);
        self.entry("pinned_num_register_threads", register_threads);
        self.flag("release_lock_on_cudamalloc", release_lock);
        self.flag("pinned_use_cuda_host_register", use_host_register);
        self.flag("graph_capture_record_stream_reuse", reuses_record_stream);
        self.writer.key("roundup_power2_divisions");
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
        self.word("stage", annotation.stage);
        self.text("name", &annotation.name);
        self.entry("device", annotation.device);
        self.entry("time_us", self.clock.time_us(annotation.ticks));
        self.writer.end();
    }
}
