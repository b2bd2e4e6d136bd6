//! Creates a long trace of a training with a model, passes, gradients, an optimizer and selectable frames.

#[path = "recorder.rs"]
mod recorder;

use recorder::Recorder;
use shared::trace::{Annotation, Frame, FrameId, StackId, Stage, Trace};

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

fn frame(trace: &mut Trace, (name, filename, line): (&str, &str, u64)) -> FrameId {
    let (name, filename) = (trace.strings.intern(name), trace.strings.intern(filename));
    trace.frames.intern(Frame { name, filename, line, fx: None })
}

struct Training {
    recorder: Recorder,
    frames: Frames,
}

impl Training {
    /// Returns a stack of an operation in a layer's module, inside the surrounding modules and the training loop.
    fn calls(&mut self, phase: &str, operation: &str, layer: u64) -> StackId {
        const MODULES: u64 = 10;
        let mut frames = vec![(operation, "torch/nn/functional.py", 1)];
        for depth in 0..MODULES {
            frames.push(("forward", "model.py", depth * LAYERS + layer));
            frames.push(("_call_impl", "torch/nn/modules/module.py", depth));
        }
        frames.extend([(phase, "train.py", 30), ("train", "train.py", 20), ("<module>", "train.py", 10)]);
        let trace = &mut self.recorder.trace;
        let frames: Vec<_> = frames.into_iter().map(|row| frame(trace, row)).collect();
        trace.stacks.intern(&frames)
    }

    fn stack(&mut self, phase: &str, operation: &str, layer: u64) -> StackId {
        let (name, filename, line) = match self.frames {
            Frames::Phases => (phase, "phase", layer),
            Frames::Operations => (operation, "operator", layer),
            Frames::Missing => return StackId::NONE,
            Frames::Program => return self.calls(phase, operation, layer),
        };
        let trace = &mut self.recorder.trace;
        let frame = frame(trace, (name, filename, line));
        trace.stacks.intern(&[frame])
    }

    fn alloc(&mut self, size_bytes: u64, stack: StackId) -> (u64, u64) {
        self.recorder.alloc(size_bytes, stack)
    }

    fn free(&mut self, tensor: (u64, u64)) {
        self.recorder.free(tensor, [StackId::NONE; 2]);
    }

    fn passing(&mut self, size_bytes: u64, stack: StackId) {
        let tensor = self.alloc(size_bytes, stack);
        self.free(tensor);
    }

    fn annotate(&mut self, name: &str, stage: Stage) {
        let name = self.recorder.trace.strings.intern(name);
        let time_us = self.recorder.now_us() - 3;
        self.recorder.trace.annotations.push(Annotation { name, stage, time_us, device: 0 });
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
    let mut training = Training { recorder: Recorder::new(), frames };
    for layer in 0..LAYERS {
        let stack = training.stack("setup", "aten::empty", layer);
        training.alloc(Training::weight_bytes(layer), stack);
    }
    let mut index = 0;
    while training.recorder.device.events.len() < events {
        training.step(index);
        index += 1;
    }
    training.recorder.into_trace()
}
