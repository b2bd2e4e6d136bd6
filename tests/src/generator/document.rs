//! Writes the snapshot of a run in the layout of PyTorch 2.15.

use super::allocator::{Allocator, Block, Segment, State, Traceback};
use super::stacks::Stacks;
use super::training::{Config, Mark, TraceEvent};
use shared::pickle::{MemoId, Style, Writer};
use shared::trace::Stage;
use std::collections::HashMap;

/// Writer of one snapshot: segments, then events, then the rest.
pub(super) struct Document<'a, S> {
    writer: Writer<S>,
    style: Style,
    stacks: &'a Stacks,
    events: usize,
    frames: Vec<Option<MemoId>>,
    /// Frame lists of live blocks and of segments, which their events refer to.
    written: HashMap<Traceback, MemoId>,
    /// Frame list of the last event: both events of a free share one.
    last: Option<(Traceback, MemoId)>,
}

impl<'a, S: FnMut(&[u8])> Document<'a, S> {
    pub(super) fn begin(config: &Config, stacks: &'a Stacks, sink: S) -> Self {
        let mut writer = Writer::new(config.style, sink);
        writer.begin_dict(6);
        let frames = vec![None; stacks.frames.len()];
        let Config { style, events, .. } = *config;
        Self { writer, style, stacks, events, frames, written: HashMap::new(), last: None }
    }

    pub(super) fn segments(&mut self, allocator: &Allocator) {
        self.writer.key("segments");
        self.writer.begin_list(allocator.segments().len());
        for segment in allocator.segments() {
            self.segment(segment, &allocator.blocks_of(segment).collect::<Vec<_>>());
        }
        self.writer.end();
    }

    fn segment(&mut self, segment: &Segment, blocks: &[(u64, &Block)]) {
        let sum = |count: &dyn Fn(&Block) -> u64| blocks.iter().map(|(_, block)| count(block)).sum::<u64>();
        let active = |block: &Block| if block.state == State::Inactive { 0 } else { block.size };
        let requested = |block: &Block| if block.state == State::Inactive { 0 } else { block.requested };
        let allocated = |block: &Block| if matches!(block.state, State::Allocated(_)) { block.size } else { 0 };
        self.writer.begin_dict(12);
        self.int("device", 0);
        self.int("address", segment.addr);
        self.int("total_size", segment.size);
        self.int("allocated_size", sum(&allocated));
        self.int("active_size", sum(&active));
        self.int("requested_size", sum(&requested));
        self.int("stream", 0);
        self.writer.key("segment_type");
        self.writer.key(if segment.is_small() { "small" } else { "large" });
        self.writer.key("segment_pool_id");
        self.writer.int_pair(0, 0);
        self.writer.key("is_expandable");
        self.writer.bool(false);
        self.kept_frames(segment.traceback);
        self.writer.key("blocks");
        self.writer.begin_list(blocks.len());
        blocks.iter().for_each(|(addr, block)| self.block(*addr, block));
        self.writer.end();
        self.writer.end();
    }

    fn block(&mut self, addr: u64, block: &Block) {
        self.writer.begin_dict(5);
        self.int("address", addr);
        self.int("size", block.size);
        self.int("requested_size", block.requested);
        self.writer.key("state");
        let (name, traceback) = match block.state {
            State::Allocated(traceback) => ("active_allocated", Some(traceback)),
            State::PendingFree(traceback) => ("active_pending_free", Some(traceback)),
            State::Inactive => ("inactive", None),
        };
        self.writer.key(name);
        match traceback {
            Some(traceback) => self.kept_frames(traceback),
            None => {
                self.writer.key("frames");
                self.writer.begin_list(0);
                self.writer.end();
            }
        }
        self.writer.end();
    }

    pub(super) fn begin_events(&mut self) {
        self.writer.key("device_traces");
        self.writer.begin_list(1);
        self.writer.begin_list(self.events);
    }

    pub(super) fn event(&mut self, event: &TraceEvent) {
        self.writer.begin_dict(9);
        self.writer.key("action");
        self.writer.key(event.action.name());
        self.int("addr", event.addr);
        self.int("size", event.size);
        self.int("stream", 0);
        if self.style != Style::Torch {
            self.int("time_us", event.time_us);
        }
        self.writer.key("compile_context");
        // PyTorch makes a new string object for each event, so each is written in full.
        self.writer.text("N/A");
        self.writer.key("user_metadata");
        self.writer.key("");
        if self.style == Style::Torch {
            self.int("time_us", event.time_us);
        }
        self.writer.key("pool_id");
        self.writer.int_pair(0, 0);
        self.frames(event.traceback);
        self.writer.end_shared();
    }

    /// Ends the trace and writes settings, annotations and the empty host lists.
    pub(super) fn finish(mut self, marks: &[Mark]) {
        self.writer.end();
        self.writer.end();
        self.settings();
        self.annotations(marks);
        for key in ["host_segments", "host_traces"] {
            self.writer.key(key);
            self.writer.begin_list(0);
            self.writer.end();
        }
        self.writer.end();
        self.writer.finish();
    }

    fn settings(&mut self) {
        self.writer.key("allocator_settings");
        self.writer.begin_dict(11);
        self.writer.key("PYTORCH_CUDA_ALLOC_CONF");
        self.writer.key("");
        self.int("max_split_size", -1);
        self.writer.key("garbage_collection_threshold");
        self.writer.float(0.0);
        self.flag("expandable_segments");
        self.int("pinned_num_register_threads", 1);
        self.flag("release_lock_on_cudamalloc");
        self.flag("pinned_use_cuda_host_register");
        self.flag("graph_capture_record_stream_reuse");
        self.int("max_round_threshold", -1);
        self.int("max_cached_size", -1);
        self.writer.key("roundup_power2_divisions");
        self.writer.begin_dict(16);
        (0..16).for_each(|power| self.int(&(1_u32 << power).to_string(), 0));
        self.writer.end();
        self.writer.end();
    }

    fn annotations(&mut self, marks: &[Mark]) {
        self.writer.key("external_annotations");
        self.writer.begin_list(marks.len());
        for Mark { stage, name, time_us } in marks {
            self.writer.begin_dict(4);
            self.writer.key("stage");
            self.writer.text(if *stage == Stage::Start { "START" } else { "END" });
            self.writer.key("name");
            self.writer.text(name);
            self.int("device", 0);
            self.int("time_us", *time_us);
            self.writer.end();
        }
        self.writer.end();
    }

    /// Writes the stack of a segment or block, which an event will refer to.
    fn kept_frames(&mut self, traceback: Traceback) {
        self.frames(traceback);
        let (_, memo) = self.last.expect("a stack was just written");
        self.written.insert(traceback, memo);
    }

    fn frames(&mut self, traceback: Traceback) {
        self.writer.key("frames");
        let last = self.last.filter(|(last, _)| *last == traceback).map(|(_, memo)| memo);
        let memo = match last.or_else(|| self.written.get(&traceback).copied()) {
            Some(memo) => {
                self.writer.again(memo);
                memo
            }
            None => self.new_frames(traceback.stack),
        };
        self.last = Some((traceback, memo));
    }

    fn new_frames(&mut self, stack: u32) -> MemoId {
        let frames = self.stacks.frames_of(stack);
        self.writer.begin_list(frames.len());
        for frame in frames {
            match self.frames[*frame as usize] {
                Some(memo) => self.writer.again(memo),
                None => self.new_frame(*frame as usize),
            }
        }
        self.writer.end_shared()
    }

    fn new_frame(&mut self, index: usize) {
        let frame = &self.stacks.frames[index];
        self.writer.begin_dict(3);
        self.writer.key("name");
        self.writer.text(&frame.name);
        self.writer.key("filename");
        self.writer.text(&frame.filename);
        self.int("line", frame.line);
        self.frames[index] = Some(self.writer.end_shared());
    }

    fn int(&mut self, key: &str, value: impl Into<i128>) {
        self.writer.key(key);
        self.writer.int(value);
    }

    fn flag(&mut self, key: &str) {
        self.writer.key(key);
        self.writer.bool(false);
    }
}
