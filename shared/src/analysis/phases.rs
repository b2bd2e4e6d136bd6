//! Which part of a step each moment belongs to: from frames where they tell it, else from the shape of the curve.

use super::period::passing_bytes;
use super::{Allocations, Step, Steps};
use crate::base::frame_rules::{RECORDED_MODULE, RECORDED_PHASE};
use crate::trace::{Action, Device, StackId, Trace};

/// A part of a training step, or what comes before and beside the steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The model is built and moved to the device.
    Setup,
    /// A batch is brought to the device.
    Data,
    /// The model runs, its loss included.
    Forward,
    /// Gradients are computed.
    Backward,
    /// Activations are computed again within backward.
    Recompute,
    /// The optimizer steps.
    Optimizer,
    /// The model runs without training.
    Evaluation,
    /// Devices exchange data.
    Collective,
    /// Nothing tells.
    Unknown,
}

/// The phase of every moment of a device, as runs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Phases {
    /// Where each run ends, and its phase; moments after the last are unknown.
    runs: Vec<(u32, Phase)>,
    /// The phase of each stack, by its index; empty where frames tell nothing.
    of_stacks: Vec<Phase>,
}

/// The share of allocations whose frames have to tell a phase, for the others to be told by them.
const LEAST_TOLD: f64 = 0.3;

impl Phases {
    /// Finds the phases of a device.
    pub fn find(trace: &Trace, device: &Device, allocations: &Allocations, steps: Option<&Steps>) -> Self {
        let of_stacks = of_stacks(trace);
        let (actions, stacks) = (device.events.actions(), device.events.stacks());
        let allocs: Vec<usize> = (0..device.events.len()).filter(|&event| actions.at(event) == Action::Alloc).collect();
        let told = allocs.iter().filter(|&&event| of_stacks[stacks.at(event).index()] != Phase::Unknown).count();
        if told as f64 > LEAST_TOLD * allocs.len() as f64 {
            return Self { runs: runs_of_frames(&allocs, device, &of_stacks), of_stacks };
        }
        let runs = steps.map_or_else(Vec::new, |steps| runs_of_shape(device, allocations, &steps.steps));
        Self { runs, of_stacks: Vec::new() }
    }

    /// Whether frames tell the phases, and not the shape of the curve.
    pub fn are_told(&self) -> bool {
        !self.of_stacks.is_empty()
    }

    /// The phase that a moment belongs to.
    pub fn at(&self, moment: u32) -> Phase {
        let index = self.runs.partition_point(|&(end, _)| end < moment);
        self.runs.get(index).map_or(Phase::Unknown, |&(_, phase)| phase)
    }

    /// The phase that an allocation was made in, by its stack or else by its moment.
    pub fn of_birth(&self, born: u32, stack: StackId) -> Phase {
        match self.of_stacks.get(stack.index()) {
            Some(&phase) if phase != Phase::Unknown => phase,
            _ => self.at(born),
        }
    }

    /// Whether a lifetime goes on after the run that it began in.
    pub(super) fn leaves(&self, born: u32, died: u32) -> bool {
        let index = self.runs.partition_point(|&(end, _)| end < born);
        self.runs.get(index).is_none_or(|&(end, _)| died > end)
    }

    /// Whether a lifetime that began in backward goes on after it, recomputation being a part of it.
    pub(super) fn leaves_backward(&self, born: u32, died: u32) -> bool {
        let index = self.runs.partition_point(|&(end, _)| end < born);
        let is_backward = |phase| matches!(phase, Phase::Backward | Phase::Recompute | Phase::Collective);
        let end = self.runs[index.min(self.runs.len())..].iter().take_while(|run| is_backward(run.1)).last();
        end.is_none_or(|&(end, _)| died > end)
    }

    /// The runs of one phase: where each ends, and its phase.
    pub fn runs(&self) -> &[(u32, Phase)] {
        &self.runs
    }
}

/// The phase that the frames of each stack tell.
fn of_stacks(trace: &Trace) -> Vec<Phase> {
    let frame = |id| {
        let frame = trace.frames.get(id);
        of_frame(trace.strings.get(frame.name), trace.strings.get(frame.filename))
    };
    // A frame says the same in every stack.
    let frames: Vec<Option<Phase>> =
        (0..trace.frames.len()).map(|index| frame(crate::trace::FrameId::from_index(index))).collect();
    let mut phases = vec![Phase::Unknown; trace.stacks.len()];
    for id in trace.stacks.ids() {
        let told = trace.stacks.frames(id).iter().filter_map(|frame| frames[frame.index()]);
        phases[id.index()] = told.min_by_key(|&phase| weight(phase)).unwrap_or(Phase::Unknown);
    }
    phases
}

/// What says more about a stack comes first: an optimizer's step in `no_grad` is no evaluation.
fn weight(phase: Phase) -> u8 {
    match phase {
        Phase::Collective => 0,
        Phase::Optimizer => 1,
        Phase::Recompute => 2,
        Phase::Backward => 3,
        Phase::Setup => 4,
        Phase::Data => 5,
        Phase::Evaluation => 6,
        Phase::Forward => 7,
        Phase::Unknown => 8,
    }
}

/// What a frame says about the phase, if anything.
fn of_frame(name: &str, filename: &str) -> Option<Phase> {
    match filename {
        RECORDED_PHASE => return of_recorded(name),
        RECORDED_MODULE => return None,
        _ => {}
    }
    let path = filename.replace('\\', "/");
    let is_in = |part: &str| path.contains(part);
    if is_in("torch/distributed/") && !is_in("fsdp") || name.contains("c10d::") || name.contains("ncclAll") {
        return Some(Phase::Collective);
    }
    if is_in("torch/optim/") || is_in("/optimizers/") || name.contains("clip_grad_norm") {
        return Some(Phase::Optimizer);
    }
    if is_in("torch/utils/checkpoint.py") && (name == "unpack_hook" || name == "recompute_fn" || name == "backward") {
        return Some(Phase::Recompute);
    }
    if name == "backward" && (is_in("torch/_tensor.py") || is_in("torch/autograd/"))
        || name == "_engine_run_backward"
        || name.contains("torch::autograd::Engine")
        || name.contains("Backward0")
    {
        return Some(Phase::Backward);
    }
    if is_in("torch/nn/modules/")
        && matches!(name, "_apply" | "convert" | "to" | "cuda" | "__init__" | "reset_parameters")
        || is_in("torch/nn/init.py")
        || name == "from_pretrained"
        || name == "load_state_dict"
    {
        return Some(Phase::Setup);
    }
    if is_in("torch/utils/data/") || is_in("torchvision/transforms") {
        return Some(Phase::Data);
    }
    let word = name.to_ascii_lowercase();
    if word.starts_with("eval") || word.starts_with("valid") || word == "test_step" {
        return Some(Phase::Evaluation);
    }
    let is_call = is_in("torch/nn/modules/module.py") && name.contains("call_impl");
    (is_call || is_in("torch/nn/functional.py") || is_in("torch/nn/modules/") && name == "forward")
        .then_some(Phase::Forward)
}

/// The phases that our own recorder names.
fn of_recorded(name: &str) -> Option<Phase> {
    Some(match name {
        "setup" => Phase::Setup,
        "data" => Phase::Data,
        "forward" | "loss" => Phase::Forward,
        "backward" => Phase::Backward,
        "recompute" => Phase::Recompute,
        "optimizer" => Phase::Optimizer,
        "evaluation" => Phase::Evaluation,
        _ => return None,
    })
}

fn runs_of_frames(allocs: &[usize], device: &Device, of_stacks: &[Phase]) -> Vec<(u32, Phase)> {
    let mut runs: Vec<(u32, Phase)> = Vec::new();
    for &event in allocs {
        let stack = device.events.stacks().at(event);
        let phase = match of_stacks[stack.index()] {
            // PyTorch's threads of backward have no Python frames.
            Phase::Unknown if !stack.has_frames() => Phase::Backward,
            Phase::Unknown => continue,
            phase => phase,
        };
        // What was before the first sign of a phase is a part of it.
        let moment = event as u32 + 1;
        match runs.last_mut() {
            Some(last) if last.1 == phase => last.0 = moment,
            Some(last) => {
                last.0 = last.0.max(moment - 1);
                runs.push((moment, phase));
            }
            None => runs.push((moment, phase)),
        }
    }
    if let Some(last) = runs.last_mut() {
        last.0 = device.events.len() as u32;
    }
    runs
}

/// How far the curve has to fall from its highest, or to rise from its lowest, to be another part of a step.
const TURN: f64 = 0.5;

/// A step rises while activations are kept, falls while they are used up, and then the optimizer works.
fn runs_of_shape(device: &Device, allocations: &Allocations, steps: &[Step]) -> Vec<(u32, Phase)> {
    let live = passing_bytes(device, allocations);
    let mut runs = Vec::new();
    if let Some(first) = steps.first().filter(|first| first.start > 0) {
        runs.push((first.start, Phase::Setup));
    }
    for step in steps {
        of_step(&live[step.start as usize..=step.end as usize], step.start, &mut runs);
    }
    runs
}

fn of_step(live: &[u64], start: u32, runs: &mut Vec<(u32, Phase)>) {
    let highest = live.iter().copied().max().unwrap_or(0);
    let base = live[0].min(live[live.len() - 1]);
    let reach = ((highest - base) as f64 * TURN) as u64;
    let mut from = 0;
    let mut is_rising = true;
    let mut turn = 0;
    for (index, &bytes) in live.iter().enumerate() {
        if is_rising && bytes > live[turn] || !is_rising && bytes <= live[turn] {
            turn = index;
        }
        let has_turned = if is_rising { live[turn] - bytes > reach } else { bytes - live[turn] > reach };
        if has_turned {
            let phase = if is_rising { Phase::Forward } else { Phase::Backward };
            runs.push((start + turn as u32, phase));
            from = turn;
            is_rising = !is_rising;
            turn = index;
        }
    }
    let _ = from;
    runs.push((start + live.len() as u32 - 1, if is_rising { Phase::Forward } else { Phase::Backward }));
}
