//! Writes a trace or its sanitized copy as the official snapshot, in the layout of `_dump_snapshot` of torch 2.15.
//!
//! Fields that a trace lacks are left out, as by the version of torch that made it, so that importing the export yields
//! an equal trace.
//! Old layouts (a bare list of segments, blocks without addresses) are written in the current one.
//!
//! A sanitized copy has texts, frames and stacks of its own but shares the events of the trace, because ten million
//! events should not be in memory twice.

use crate::base::{StringId, StringTable};
use crate::pickle::{MemoId, Style, Writer};
use crate::trace::{
    Action, Annotation, Block, ContextId, ContextTable, Device, Event, EventContext, Frame, FrameId, FrameTable,
    HistoryEntry, LinesId, PoolId, Segment, Setting, Settings, StackId, StackTable, Stage, Trace,
};

/// Number of events between two progress reports.
const TOLD_EVENTS: u64 = 1 << 14;

/// Writes a trace as the official snapshot pickle, piece after piece into `sink`.
///
/// PyTorch's own viewer opens the result; frames and stacks are written once and referred to afterwards.
pub fn pickle<S: FnMut(&[u8])>(trace: &Trace, style: Style, sink: S) {
    write(&Source::of(trace), style, sink, |_| ());
}

/// Writes a source as the snapshot pickle; `progress` regularly receives the number of events written so far.
pub(super) fn write<S: FnMut(&[u8]), P: FnMut(u64)>(source: &Source<'_>, style: Style, sink: S, progress: P) {
    let mut exporter = Exporter {
        source,
        writer: Writer::new(style, sink),
        style,
        progress,
        events: 0,
        texts: vec![None; source.strings.len()],
        frames: vec![None; source.frames.len()],
        stacks: vec![None; source.stacks.len()],
    };
    exporter.snapshot();
    exporter.writer.finish();
}

struct Exporter<'a, S, P> {
    source: &'a Source<'a>,
    writer: Writer<S>,
    style: Style,
    progress: P,
    /// Number of events written so far, over all devices.
    events: u64,
    texts: Vec<Option<MemoId>>,
    frames: Vec<Option<MemoId>>,
    stacks: Vec<Option<MemoId>>,
}

impl<S: FnMut(&[u8]), P: FnMut(u64)> Exporter<'_, S, P> {
    fn snapshot(&mut self) {
        let Source { settings, annotations, .. } = *self.source;
        let Trace { host, devices, .. } = self.source.trace;
        let optional = [!settings.entries.is_empty(), !annotations.is_empty(), host.is_some(), host.is_some()];
        self.writer.begin_dict(2 + present(&optional));
        self.writer.key("segments");
        self.segments(devices);
        self.writer.key("device_traces");
        self.device_traces();
        if !settings.entries.is_empty() {
            self.writer.key("allocator_settings");
            self.settings();
        }
        if !annotations.is_empty() {
            self.writer.key("external_annotations");
            self.annotations();
        }
        if let Some(host) = host {
            self.writer.key("host_segments");
            self.segments(std::slice::from_ref(host));
            self.writer.key("host_traces");
            self.events(host);
        }
        self.writer.end();
    }

    fn segments(&mut self, devices: &[Device]) {
        self.writer.begin_list(devices.iter().map(|device| device.segments.segments.len()).sum());
        for device in devices {
            for segment in &device.segments.segments {
                self.segment(device, segment);
            }
        }
        self.writer.end();
    }

    fn segment(&mut self, device: &Device, segment: &Segment) {
        let Segment { requested_bytes, pool, is_expandable, stack, .. } = *segment;
        let has_stack = stack != StackId::NONE;
        let optional = [requested_bytes.is_some(), pool.is_some(), is_expandable.is_some(), has_stack];
        self.writer.begin_dict(8 + present(&optional));
        self.int("device", device.index);
        self.int("address", segment.addr);
        self.int("total_size", segment.size_bytes);
        self.int("allocated_size", segment.allocated_bytes);
        self.int("active_size", segment.active_bytes);
        self.int_if("requested_size", requested_bytes);
        self.int("stream", segment.stream);
        self.writer.key("segment_type");
        self.writer.key(segment.segment_type.name());
        self.pool_if("segment_pool_id", pool);
        if let Some(is_expandable) = is_expandable {
            self.writer.key("is_expandable");
            self.writer.bool(is_expandable);
        }
        self.stack_if(stack);
        let blocks = device.segments.blocks_of(segment);
        self.writer.key("blocks");
        self.writer.begin_list(blocks.len());
        blocks.iter().for_each(|block| self.block(device, block));
        self.writer.end();
        self.writer.end();
    }

    fn block(&mut self, device: &Device, block: &Block) {
        let history = device.segments.history_of(block);
        let optional = [block.requested_bytes.is_some(), block.stack != StackId::NONE, !history.is_empty()];
        self.writer.begin_dict(3 + present(&optional));
        self.int("address", block.addr);
        self.int("size", block.size_bytes);
        self.int_if("requested_size", block.requested_bytes);
        self.writer.key("state");
        self.writer.key(block.state.name());
        self.stack_if(block.stack);
        if !history.is_empty() {
            self.writer.key("history");
            self.writer.begin_list(history.len());
            history.iter().for_each(|entry| self.history_entry(entry));
            self.writer.end();
        }
        self.writer.end();
    }

    fn history_entry(&mut self, entry: &HistoryEntry) {
        self.writer.begin_dict(2 + usize::from(entry.stack != StackId::NONE));
        self.int("addr", entry.addr);
        self.int("real_size", entry.requested_bytes);
        self.stack_if(entry.stack);
        self.writer.end();
    }

    /// Writes one list per device index up to the last device that must have one.
    fn device_traces(&mut self) {
        let trace = self.source.trace;
        // A device without events gets a list only if the indices of the devices up to it have no gap.
        let contiguous = (0..).zip(&trace.devices).take_while(|(index, device)| *index == device.index).count();
        let recorded = trace.devices.iter().filter(|device| !device.events.is_empty()).map(|device| device.index + 1);
        let lists = recorded.max().map_or(0, |end| end.max(0) as usize).max(contiguous);
        let no_events = Device::default();
        self.writer.begin_list(lists);
        for index in 0..lists {
            self.events(trace.device(index as i64).unwrap_or(&no_events));
        }
        self.writer.end();
    }

    fn events(&mut self, device: &Device) {
        let has_times = device.events.has_times();
        self.writer.begin_list(device.events.len());
        for event in device.events.iter() {
            self.event(&event, has_times);
            self.events += 1;
            if self.events.is_multiple_of(TOLD_EVENTS) {
                (self.progress)(self.events);
            }
        }
        self.writer.end();
    }

    fn event(&mut self, event: &Event, has_times: bool) {
        let context = self.source.context(event.context);
        let texts = [
            ("compile_context", context.compile_context),
            ("user_metadata", context.user_metadata),
            ("internal_metadata", context.internal_metadata),
            ("category", context.category),
        ];
        let text_count = texts.iter().filter(|(_, text)| *text != StringId::EMPTY).count();
        let has_stack = event.stack != StackId::NONE;
        let has_lines = context.forward_frames != LinesId::EMPTY;
        let others = present(&[has_times, context.pool.is_some(), has_stack, has_lines]);
        self.writer.begin_dict(4 + others + text_count);
        self.writer.key("action");
        self.writer.key(event.action.name());
        self.int(if event.action == Action::Oom { "device_free" } else { "addr" }, event.addr);
        self.int("size", event.size_bytes);
        self.int("stream", context.stream);
        // The C++ writer of torch puts the time after these two texts.
        let torch = self.style == Style::Torch;
        self.int_if("time_us", (has_times && !torch).then_some(event.time_us));
        self.text_if("compile_context", context.compile_context);
        self.text_if("user_metadata", context.user_metadata);
        self.int_if("time_us", (has_times && torch).then_some(event.time_us));
        self.pool_if("pool_id", context.pool);
        self.text_if("internal_metadata", context.internal_metadata);
        self.stack_if(event.stack);
        self.forward_frames(context);
        self.text_if("category", context.category);
        self.writer.end();
    }

    fn forward_frames(&mut self, context: &EventContext) {
        if context.forward_frames == LinesId::EMPTY {
            return;
        }
        let Source { strings, contexts, .. } = self.source;
        let lines = contexts.lines(context.forward_frames);
        self.writer.key("forward_frames");
        self.writer.begin_list(lines.len());
        for &line in lines {
            self.writer.key(strings.whole(line));
        }
        self.writer.end();
    }

    fn settings(&mut self) {
        let entries = &self.source.settings.entries;
        self.writer.begin_dict(entries.len());
        for (name, setting) in entries {
            self.writer.key(name);
            self.setting(setting);
        }
        self.writer.end();
    }

    fn setting(&mut self, setting: &Setting) {
        match setting {
            Setting::Bool(value) => self.writer.bool(*value),
            Setting::Int(value) => self.writer.int(*value),
            Setting::Float(value) => self.writer.float(*value),
            Setting::Text(value) => {
                self.writer.key(value);
            }
            Setting::Table(rows) => {
                self.writer.begin_dict(rows.len());
                for (key, value) in rows {
                    self.writer.key(key);
                    self.writer.int(*value);
                }
                self.writer.end();
            }
        }
    }

    fn annotations(&mut self) {
        let annotations = self.source.annotations;
        self.writer.begin_list(annotations.len());
        for Annotation { stage, name, device, time_us } in annotations {
            self.writer.begin_dict(4);
            self.writer.key("stage");
            self.writer.key(match stage {
                Stage::Start => "START",
                Stage::End => "END",
            });
            self.writer.key("name");
            self.text(*name);
            self.int("device", *device);
            self.int("time_us", *time_us);
            self.writer.end();
        }
        self.writer.end();
    }

    fn stack_if(&mut self, stack: StackId) {
        if stack == StackId::NONE {
            return;
        }
        self.writer.key("frames");
        let stack = self.source.stack(stack);
        if let Some(memo) = self.stacks[stack.index()] {
            return self.writer.again(memo);
        }
        let frames = self.source.stacks.frames(stack);
        self.writer.begin_list(frames.len());
        frames.iter().for_each(|frame| self.frame(*frame));
        self.stacks[stack.index()] = Some(self.writer.end_shared());
    }

    fn frame(&mut self, id: FrameId) {
        if let Some(memo) = self.frames[id.index()] {
            return self.writer.again(memo);
        }
        let Frame { name, filename, line, fx } = *self.source.frames.get(id);
        self.writer.begin_dict(3 + if fx.is_some() { 4 } else { 0 });
        self.named_text("name", name);
        self.named_text("filename", filename);
        self.int("line", line);
        if let Some(fx) = fx {
            self.named_text("fx_node_op", fx.op);
            self.named_text("fx_node_name", fx.name);
            self.named_text("fx_node_target", fx.target);
            self.named_text("fx_original_trace", fx.original_trace);
        }
        self.frames[id.index()] = Some(self.writer.end_shared());
    }

    fn int(&mut self, key: &str, value: impl Into<i128>) {
        self.writer.key(key);
        self.writer.int(value);
    }

    fn int_if<T: Into<i128>>(&mut self, key: &str, value: Option<T>) {
        if let Some(value) = value {
            self.int(key, value);
        }
    }

    fn pool_if(&mut self, key: &str, pool: Option<PoolId>) {
        if let Some(PoolId(first, second)) = pool {
            self.writer.key(key);
            self.writer.int_pair(first, second);
        }
    }

    fn text_if(&mut self, key: &str, text: StringId) {
        if text != StringId::EMPTY {
            self.named_text(key, text);
        }
    }

    fn named_text(&mut self, key: &str, text: StringId) {
        self.writer.key(key);
        self.text(text);
    }

    /// Writes a text of the trace, as a reference from the second time on.
    fn text(&mut self, text: StringId) {
        match self.texts[text.index()] {
            Some(memo) => self.writer.again(memo),
            None => self.texts[text.index()] = Some(self.writer.key(self.source.strings.whole(text))),
        }
    }
}

/// Counts the optional fields that are present.
fn present(optional: &[bool]) -> usize {
    optional.iter().filter(|present| **present).count()
}

/// View of a trace or of its sanitized copy, as an export reads it.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    /// Trace of the devices, events, segments and blocks.
    pub(super) trace: &'a Trace,
    pub(super) strings: &'a StringTable,
    pub(super) frames: &'a FrameTable,
    pub(super) stacks: &'a StackTable,
    pub(super) contexts: &'a ContextTable,
    pub(super) annotations: &'a [Annotation],
    pub(super) settings: &'a Settings,
    /// Handles in the tables above; `None` if these are the trace's own tables.
    pub(super) renamed: Option<Renamed<'a>>,
}

/// Handles in the tables of a copy, indexed by the trace's own handles.
#[derive(Clone, Copy)]
pub(super) struct Renamed<'a> {
    pub(super) stacks: &'a [StackId],
    pub(super) contexts: &'a [ContextId],
}

impl<'a> Source<'a> {
    pub(super) fn of(trace: &'a Trace) -> Self {
        let Trace { strings, frames, stacks, contexts, annotations, settings, .. } = trace;
        Self { trace, strings, frames, stacks, contexts, annotations, settings, renamed: None }
    }

    /// Converts a stack handle of the trace into one of this view's tables.
    pub(super) fn stack(&self, id: StackId) -> StackId {
        self.renamed.map_or(id, |renamed| renamed.stacks[id.index()])
    }

    /// Returns the context for a context handle of the trace.
    pub(super) fn context(&self, id: ContextId) -> &'a EventContext {
        self.contexts.get(self.renamed.map_or(id, |renamed| renamed.contexts[id.index()]))
    }
}
