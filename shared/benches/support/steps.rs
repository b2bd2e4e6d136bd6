//! Creates a long trace of a training with a model, passes, gradients, an optimizer and selectable frames.

use shared::trace::{Action, Annotation, Device, Event, EventContext, Frame, StackId, Stage, Trace};

/// Number of layers, each of which has a weight, and of tensors that each layer keeps for backward.
const LAYERS: u64 = 48;
const KEPT: u64 = 14;

/// Frames of the trace's stacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Frames {
    /// Phase of each allocation, with annotations of the steps.
    Phases,
    /// Names of operations.
    Operations,
    Missing,
    /// Calls of a program, 24 frames deep.
    Program,
}

struct Recorder {
    trace: Trace,
    device: Device,
    frames: Frames,
    free_addrs: Vec<u64>,
    next_addr: u64,
}

impl Recorder {
    /// Returns a stack of an operation in a layer's module, inside the surrounding modules and the training loop.
    fn calls(&mut self, phase: &str, operation: &str, layer: u64) -> StackId {
        const MODULES: u64 = 10;
        let mut frames = vec![(operation, "torch/nn/functional.py", 1)];
        for depth in 0..MODULES {
            frames.push(("forward", "model.py", depth * LAYERS + layer));
            frames.push(("_call_impl", "torch/nn/modules/module.py", depth));
        }
        frames.extend([(phase, "train.py", 30), ("train", "train.py", 20), ("<module>", "train.py", 10)]);
        let intern = |trace: &mut Trace, (name, filename, line): (&str, &str, u64)| {
            let (name, filename) = (trace.strings.intern(name), trace.strings.intern(filename));
            trace.frames.intern(Frame { name, filename, line, fx: None })
        };
        let frames: Vec<_> = frames.into_iter().map(|frame| intern(&mut self.trace, frame)).collect();
        self.trace.stacks.intern(&frames)
    }

    fn stack(&mut self, phase: &str, operation: &str, layer: u64) -> StackId {
        let (name, filename, line) = match self.frames {
            Frames::Phases => (phase, "phase", layer),
            Frames::Operations => (operation, "operator", layer),
            Frames::Missing => return StackId::NONE,
            Frames::Program => return self.calls(phase, operation, layer),
        };
        let name = self.trace.strings.intern(name);
        let filename = self.trace.strings.intern(filename);
        let frame = self.trace.frames.intern(Frame { name, filename, line, fx: None });
        self.trace.stacks.intern(&[frame])
    }

    fn push(&mut self, action: Action, addr: u64, size_bytes: u64, stack: StackId) {
        let time_us = 1_700_000_000_000_000 + self.device.events.len() as i64 * 7;
        let context = self.trace.contexts.intern(EventContext::default());
        self.device.events.push(Event { action, addr, size_bytes, time_us, stack, context });
    }

    fn alloc(&mut self, size_bytes: u64, stack: StackId) -> (u64, u64) {
        let addr = self.free_addrs.pop().unwrap_or_else(|| {
            self.next_addr += 1 << 26;
            self.next_addr
        });
        self.push(Action::Alloc, addr, size_bytes, stack);
        (addr, size_bytes)
    }

    fn free(&mut self, (addr, size_bytes): (u64, u64)) {
        self.push(Action::FreeRequested, addr, size_bytes, StackId::NONE);
        self.push(Action::FreeCompleted, addr, size_bytes, StackId::NONE);
        self.free_addrs.push(addr);
    }

    fn passing(&mut self, size_bytes: u64, stack: StackId) {
        let tensor = self.alloc(size_bytes, stack);
        self.free(tensor);
    }

    fn annotate(&mut self, name: &str, stage: Stage) {
        let name = self.trace.strings.intern(name);
        let time_us = 1_700_000_000_000_000 + self.device.events.len() as i64 * 7 - 3;
        self.trace.annotations.push(Annotation { name, stage, time_us, device: 0 });
    }

    fn weight_bytes(layer: u64) -> u64 {
        (16 << 20) + layer * 4096
    }

    fn step(&mut self, index: u64) {
        let name = format!("ProfilerStep#{index}");
        if self.frames == Frames::Phases {
            self.annotate(&name, Stage::Start);
        }
        let mut kept = Vec::new();
        for layer in 0..LAYERS {
            for tensor in 0..KEPT {
                let stack = self.stack("forward", "aten::mm", layer * KEPT + tensor);
                kept.push(self.alloc((tensor + 1) << 20, stack));
                self.passing(3 << 20, stack);
            }
        }
        let loss_stack = self.stack("forward", "aten::nll_loss", 0);
        let loss = self.alloc(4, loss_stack);
        let mut gradients = Vec::new();
        for layer in (0..LAYERS).rev() {
            let stack = self.stack("backward", "MmBackward0", layer);
            for _ in 0..KEPT {
                self.passing(5 << 20, stack);
                let tensor = kept.pop().expect("as many as forward kept");
                self.free(tensor);
            }
            gradients.push(self.alloc(Self::weight_bytes(layer), stack));
        }
        self.free(loss);
        for layer in 0..LAYERS {
            let stack = self.stack("optimizer", "aten::_foreach_sqrt", layer);
            if index == 0 {
                self.alloc(Self::weight_bytes(layer), stack);
            }
            self.passing(Self::weight_bytes(layer), stack);
        }
        gradients.into_iter().for_each(|tensor| self.free(tensor));
        if self.frames == Frames::Phases {
            self.annotate(&name, Stage::End);
        }
    }
}

/// Creates a trace of at least this many events.
pub(crate) fn training(events: usize, frames: Frames) -> Trace {
    let (trace, device) = (Trace::default(), Device::default());
    let mut recorder = Recorder { trace, device, frames, free_addrs: Vec::new(), next_addr: 0x7f00_0000_0000 };
    for layer in 0..LAYERS {
        let stack = recorder.stack("setup", "aten::empty", layer);
        recorder.alloc(Recorder::weight_bytes(layer), stack);
    }
    let mut index = 0;
    while recorder.device.events.len() < events {
        recorder.step(index);
        index += 1;
    }
    let Recorder { mut trace, device, .. } = recorder;
    trace.devices.push(device);
    trace
}
