//! Writes a replay as a trace of its own, as if the program had run under its settings.
//!
//! Idea: each step of the replay leaves its events, with the stack and the time of the event that made the request.
//! Marks and snapshots stay where they were; the final segments are the allocator's at the end.
//! So everything that opens a snapshot can open a replay.

use std::ops::ControlFlow;

use hashbrown::HashMap;

use super::run::{ReplayConfig, Replayer, Runner, block_state};
use crate::allocator::{self, BlockUse, EventKind, SegmentState, Settings, VirtualCard};
use crate::base::StringId;
use crate::trace::{
    Accelerator, Action, Block, BlockState, ContextTable, Device, Event, EventContext, PoolId, Segment, SegmentTable,
    SegmentType, Setting, StackId, Trace,
};

impl Replayer<'_> {
    /// Returns the replay as a snapshot with events, final segments and settings, but without other devices.
    pub fn trace(&self, config: &ReplayConfig) -> Trace {
        let mut writer = Writer::new(self.trace, self.device);
        let (_, runner) = self.run(self.runner(config), None, |step, runner, _| {
            writer.pass_marks(step.event, runner);
            let asked = self.device.events.at(step.event);
            runner.allocator.events().iter().for_each(|event| writer.event(asked, event, runner));
            ControlFlow::Continue(())
        });
        writer.pass_marks(self.device.events.len(), &runner);
        let mut segments = SegmentTable::default();
        for state in runner.allocator.segments() {
            writer.segment(&mut segments, &state, runner.pool_id(state.pool));
        }
        let device = Device { index: self.device.index, events: writer.written.events, segments, part: None };
        Trace {
            format: Default::default(),
            strings: self.trace.strings.clone(),
            frames: self.trace.frames.clone(),
            stacks: self.trace.stacks.clone(),
            contexts: writer.contexts,
            devices: vec![device],
            host: None,
            annotations: self.trace.annotations.clone(),
            settings: named_settings(&config.settings, Accelerator::of(self.trace)),
            diagnostics: Vec::new(),
            own_frames: self.trace.own_frames.clone(),
        }
    }
}

/// Returns the settings under the names that PyTorch gives them in a snapshot.
fn named_settings(settings: &Settings, accelerator: Accelerator) -> crate::trace::Settings {
    let conf = Setting::Text(settings.to_conf());
    let entries =
        [(accelerator.variable(), conf), ("expandable_segments", Setting::Bool(settings.expandable_segments))];
    crate::trace::Settings { entries: entries.map(|(name, value)| (name.to_owned(), value)).into() }
}

struct Writer<'a> {
    trace: &'a Trace,
    device: &'a Device,
    contexts: ContextTable,
    written: Device,
    /// Events of the original trace before this index are written, or belong to a step.
    passed: usize,
    /// Stack that allocated the block at an address.
    block_stacks: HashMap<u64, StackId>,
    /// Stack that fetched the segment at an address.
    segment_stacks: HashMap<u64, StackId>,
    has_pools: bool,
}

impl<'a> Writer<'a> {
    fn new(trace: &'a Trace, device: &'a Device) -> Self {
        let segments = &device.segments;
        Self {
            trace,
            device,
            contexts: ContextTable::with_lines_of(&trace.contexts),
            written: Device::default(),
            passed: 0,
            block_stacks: segments.blocks.iter().map(|block| (block.addr, block.stack)).collect(),
            segment_stacks: segments.segments.iter().map(|segment| (segment.addr, segment.stack)).collect(),
            has_pools: segments.segments.iter().any(|segment| segment.pool.is_some()),
        }
    }

    fn event(&mut self, asked: Event, event: &allocator::Event, runner: &Runner<VirtualCard>) {
        let recorded = self.trace.contexts.get(asked.context);
        let pool = (self.has_pools || recorded.pool.is_some()).then(|| runner.pool_id(event.pool));
        let is_own = matches!(event.kind, EventKind::Alloc | EventKind::FreeRequested | EventKind::FreeCompleted);
        let context = if is_own { *recorded } else { EventContext { user_metadata: StringId::EMPTY, ..*recorded } };
        let context = self.contexts.intern(EventContext { stream: event.stream, pool, ..context });
        match event.kind {
            EventKind::Alloc => drop(self.block_stacks.insert(event.addr, asked.stack)),
            EventKind::SegmentAlloc | EventKind::SegmentMap => {
                self.segment_stacks.insert(event.addr, asked.stack);
            }
            _ => {}
        }
        self.written.events.push(Event {
            action: Action::of_name(event.kind.name()).expect("each kind has the name of an action"),
            addr: event.addr,
            size_bytes: event.size_bytes,
            context,
            ..asked
        });
    }

    /// Writes the events before `end` that ask nothing of the allocator.
    fn pass_marks(&mut self, end: usize, runner: &Runner<VirtualCard>) {
        for index in self.passed..end {
            let event = self.device.events.at(index);
            let addr = match event.action {
                Action::Annotate => runner.addr_of(event.addr),
                Action::Snapshot | Action::UserDefined => Some(event.addr),
                _ => None,
            };
            let Some(addr) = addr else { continue };
            let active_bytes = runner.allocator.counters().active_bytes.now;
            let size_bytes = if event.action == Action::Snapshot { active_bytes } else { event.size_bytes };
            let context = self.contexts.intern(*self.trace.contexts.get(event.context));
            self.written.events.push(Event { addr, size_bytes, context, ..event });
        }
        self.passed = self.passed.max(end);
    }

    /// Adds a segment of the allocator as a snapshot has it.
    fn segment(&self, table: &mut SegmentTable, state: &SegmentState, pool: PoolId) {
        let first = table.blocks.len() as u32;
        let stack_of = |stacks: &HashMap<u64, StackId>, addr| stacks.get(&addr).copied().unwrap_or(StackId::NONE);
        let block = |block: &allocator::BlockState| {
            let state = block_state(block.state);
            let stack =
                if state == BlockState::Inactive { StackId::NONE } else { stack_of(&self.block_stacks, block.addr) };
            let allocator::BlockState { addr, size_bytes, requested_bytes, .. } = *block;
            Block { addr, size_bytes, requested_bytes: Some(requested_bytes), state, stack, history: (0, 0) }
        };
        table.blocks.extend(state.blocks.iter().map(block));
        let sum = |of: &[BlockUse], bytes: fn(&allocator::BlockState) -> u64| -> u64 {
            state.blocks.iter().filter(|block| of.contains(&block.state)).map(bytes).sum()
        };
        let active = [BlockUse::Allocated, BlockUse::PendingFree];
        table.segments.push(Segment {
            addr: state.addr,
            size_bytes: state.size_bytes,
            allocated_bytes: sum(&active[..1], |block| block.size_bytes),
            active_bytes: sum(&active, |block| block.size_bytes),
            requested_bytes: Some(sum(&active, |block| block.requested_bytes)),
            stream: state.stream,
            segment_type: if state.is_small { SegmentType::Small } else { SegmentType::Large },
            pool: self.has_pools.then_some(pool),
            is_expandable: Some(state.is_expandable),
            stack: stack_of(&self.segment_stacks, state.addr),
            blocks: (first, table.blocks.len() as u32),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::replay::verify;
    use crate::analysis::ask::tests::Sample;
    use crate::analysis::naive;

    fn config(conf: &str) -> ReplayConfig {
        ReplayConfig::unlimited(Settings::parse(conf, Default::default()).unwrap())
    }

    /// Checks a replay written as a trace: it is consistent, and its timeline has the peaks of the replay.
    #[track_caller]
    fn check(sample: &Sample, config: &ReplayConfig) -> Sample {
        let report = sample.replayer().replay(config);
        let written = Sample::new(sample.replayer().trace(config));
        written.trace.check();
        let timeline = &written.timeline;
        assert_eq!(timeline.live_peak().1, report.counters.live_bytes.peak, "live");
        assert_eq!(timeline.reserved_peak().1, report.counters.reserved_bytes.peak, "reserved");
        assert_eq!(timeline.live_at(u32::MAX), report.counters.live_bytes.now, "live at the end");
        assert_eq!(written.device().segments.allocated_bytes(), report.counters.allocated_bytes.now, "allocated");
        written
    }

    #[test]
    fn a_replay_has_the_peaks_that_it_reports() {
        for seed in 0..80 {
            let sample = Sample::new(naive::random_trace(seed, 20 * seed));
            for conf in ["", "expandable_segments:True", "roundup_power2_divisions:4"] {
                check(&sample, &config(conf));
            }
        }
    }

    #[test]
    fn stacks_times_and_marks_stay() {
        let sample = Sample::of(
            "alloc a 3MiB @f t=5\nsnapshot t=6\nfree a @g t=7\nalloc b 30MiB @f t=8\nfree_requested b t=9\nalloc c 1KiB @h t=10",
        );
        let written = check(&sample, &config(""));
        let (Sample { trace: written, .. }, device) = (&written, written.device());
        let rows = device.events.iter().map(|event| {
            let frame = written.stacks.frames(event.stack).first();
            let name = frame.map_or("", |frame| written.strings.get(written.frames.get(*frame).name));
            format!("{} {name} {}", event.action.name(), event.time_us)
        });
        let expected = [
            "segment_alloc f 5",
            "alloc f 5",
            "snapshot  6",
            "free_requested g 7",
            "free_completed g 7",
            "segment_alloc f 8",
            "alloc f 8",
            "free_requested  9",
            "segment_alloc h 10",
            "alloc h 10",
        ];
        assert_eq!(rows.collect::<Vec<_>>(), expected);
        let states: Vec<_> = device.segments.blocks.iter().map(|block| block.state).collect();
        assert_eq!(states.iter().filter(|state| **state == BlockState::PendingFree).count(), 1);
    }

    #[test]
    fn a_replay_of_a_replay_is_the_same() {
        let sample = Sample::of("alloc a 3MiB\nfree a\nalloc b 30MiB\nalloc c 1KiB\noom 900MiB free=1MiB\nfree b");
        let config = ReplayConfig { capacity_bytes: 200 << 20, ..config("") };
        let once = check(&sample, &config);
        let twice = check(&once, &config);
        assert_eq!(once.trace.devices, twice.trace.devices);
        assert!(verify(&once.trace, once.device(), None).unwrap().is_equal());
    }
}
