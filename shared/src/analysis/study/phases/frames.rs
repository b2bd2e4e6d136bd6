//! Defines the phases of training and their evidence, and infers them from functions of the program and of PyTorch's
//! Python code.

use crate::base::frame_rules::{RECORDED_MODULE, RECORDED_PHASE};
use crate::trace::{Device, Trace};

/// Returns the phase that the frames of each stack identify.
pub(super) fn of_stacks(trace: &Trace) -> Vec<Phase> {
    // A frame has the same sign in every stack.
    let frames: Vec<Option<Sign>> = trace.frame_texts().map(|(name, filename)| of_frame(name, filename)).collect();
    let mut phases = vec![Phase::Unknown; trace.stacks.len()];
    for id in trace.stacks.ids() {
        phases[id.index()] = told(trace.stacks.frames(id).iter().filter_map(|frame| frames[frame.index()]));
    }
    phases
}

/// Combines the signs of a stack's frames, which are given innermost first.
///
/// The innermost sign decides: a model that runs within a closure passed to `optimizer.step` is forward. Frames around
/// a model's call can change its purpose: backward recomputes activations, an evaluation has no backward. Memory that
/// `__init__` allocates belongs to the set-up unless another frame identifies a phase.
fn told(signs: impl Iterator<Item = Sign>) -> Phase {
    let mut phase = Phase::Unknown;
    let (mut is_made, mut is_brought) = (false, false);
    for sign in signs {
        let next = match sign {
            Sign::Closure => break,
            Sign::NoGrad => {
                phase = if phase == Phase::Forward { Phase::Evaluation } else { phase };
                continue;
            }
            Sign::Made => {
                is_made = true;
                continue;
            }
            Sign::Brought => {
                is_brought = true;
                continue;
            }
            Sign::Phase(next) => next,
        };
        phase = match (phase, next) {
            (Phase::Unknown, next) => next,
            (Phase::Forward | Phase::Evaluation, Phase::Backward | Phase::Recompute) => next,
            (Phase::Forward, Phase::Evaluation) => next,
            (phase, _) => phase,
        };
    }
    match phase {
        Phase::Unknown if is_made => Phase::Setup,
        Phase::Unknown if is_brought => Phase::Data,
        phase => phase,
    }
}

/// Evidence of one frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// The frame belongs to this part of a step.
    Phase(Phase),
    /// Gradients are switched off for the frames within.
    NoGrad,
    /// The outer frames belong to the optimizer, which called the program back.
    Closure,
    /// An object is created, which may be a model unless other frames identify a phase.
    Made,
    /// A tensor is moved to a device; it is a batch unless other frames identify a phase.
    Brought,
}

/// Returns the evidence of a frame, if any.
fn of_frame(name: &str, filename: &str) -> Option<Sign> {
    match filename {
        RECORDED_PHASE => return of_recorded(name).map(Sign::Phase),
        RECORDED_MODULE => return None,
        _ => {}
    }
    // Decorators `torch.no_grad()` and `torch.inference_mode()`: no backward can follow.
    if matches!(name, "decorate_context" | "generator_context") && filename.ends_with("_contextlib.py") {
        return Some(Sign::NoGrad);
    }
    if name == "closure" || name == "_wrap_closure" {
        return Some(Sign::Closure);
    }
    // `tensor.cuda()` and `tensor.to(device)`; a cast to another type is `to_dtype`.
    if name.contains("at::_ops::to_dtype_layout") || name.contains("at::_ops::to_device") {
        return Some(Sign::Brought);
    }
    if name == "__init__" {
        return Some(of_function(name, filename).map_or(Sign::Made, Sign::Phase));
    }
    of_function(name, filename).map(Sign::Phase)
}

/// Returns the phase that a function identifies, if any.
fn of_function(name: &str, filename: &str) -> Option<Phase> {
    // A shortened path may begin with the folder.
    let path = format!("/{}", filename.replace('\\', "/"));
    let is_in = |part: &str| path.contains(part);
    if is_in("torch/distributed/") && !is_in("fsdp") || name.contains("c10d::") || name.contains("ncclAll") {
        return Some(Phase::Collective);
    }
    let file = path.rsplit('/').next().unwrap_or_default();
    let is_of_optimizers = || is_in("/optim/") || is_in("/optimizers/") || file.starts_with("optim");
    if is_in("torch/optim/") || is_step(name) && is_of_optimizers() || name.contains("clip_grad_norm") {
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
        || name == "deepcopy" && file == "copy.py"
    {
        return Some(Phase::Setup);
    }
    if is_in("torch/utils/data/") || is_in("torchvision/transforms") {
        return Some(Phase::Data);
    }
    let word = name.to_ascii_lowercase();
    if word.starts_with("eval") || word.starts_with("valid") || matches!(word.as_str(), "test" | "test_step") {
        return Some(Phase::Evaluation);
    }
    let is_call = is_in("torch/nn/modules/module.py") && name.contains("call_impl");
    (is_call || is_in("torch/nn/functional.py") || is_in("torch/nn/modules/") && name == "forward")
        .then_some(Phase::Forward)
}

/// Returns true for functions that update weights; other functions of a file about optimizers identify no phase.
fn is_step(name: &str) -> bool {
    name == "step" || name.ends_with("_step") || name == "init_state" || name == "__init__"
}

/// Returns the phase for a name that our own recorder writes.
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

/// Returns the runs of phases, given the events that allocate and the phases of stacks.
pub(super) fn runs(allocs: &[usize], device: &Device, of_stacks: &[Phase]) -> Vec<(u32, Phase)> {
    let mut runs: Vec<(u32, Phase)> = Vec::new();
    for &event in allocs {
        let stack = device.events.stacks().at(event);
        let phase = match of_stacks[stack.index()] {
            // The threads on which PyTorch runs backward have no Python frames.
            Phase::Unknown if !stack.has_frames() => Phase::Backward,
            // The script itself may compute a loss; what it does between steps identifies no phase.
            Phase::Unknown if runs.last().is_some_and(|last| goes_on(last.1)) => continue,
            phase => phase,
        };
        // Moments before the first allocation belong to the first run.
        push_run(&mut runs, event as u32 + 1, phase);
    }
    if let Some(last) = runs.last_mut() {
        last.0 = device.events.len() as u32;
    }
    runs
}

/// Returns true if program code that identifies no phase continues the phase before it.
fn goes_on(phase: Phase) -> bool {
    matches!(phase, Phase::Forward | Phase::Evaluation | Phase::Recompute)
}

/// Part of a training step, or of what happens before and between steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// The model is created and moved to the device.
    Setup,
    /// A batch is moved to the device.
    Data,
    /// The model runs and its loss is computed.
    Forward,
    /// Gradients are computed.
    Backward,
    /// Activations are computed again during backward, as checkpointing does.
    Recompute,
    /// The optimizer updates the weights.
    Optimizer,
    /// The model runs without training.
    Evaluation,
    /// Devices exchange data.
    Collective,
    Unknown,
}

crate::names!(Phase {
    Setup => "setup",
    Data => "data",
    Forward => "forward",
    Backward => "backward",
    Recompute => "recompute",
    Optimizer => "optimizer",
    Evaluation => "evaluation",
    Collective => "collective",
    Unknown => "unknown",
});

/// Evidence from which phases were inferred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PhaseBasis {
    /// Functions of the program and of PyTorch's Python code.
    Functions,
    /// Operations of PyTorch: nodes of backward and kernels of optimizers.
    Operations,
    /// Shape of the curve, which is a guess and is used if frames do not identify the phases.
    #[default]
    Curve,
}

crate::names!(
    PhaseBasis {
        Functions => "functions" as "inferred from stacks",
        Operations => "operations" as "inferred from PyTorch's operations",
        Curve => "curve" as "inferred from the shape of the curve",
    }
    /// Describes in words how phases were found.
    fn origin
);

/// Extends the last run to a moment of its phase; otherwise ends it and begins another one.
///
/// Moments between two runs belong to the earlier.
pub(super) fn push_run(runs: &mut Vec<(u32, Phase)>, moment: u32, phase: Phase) {
    match runs.last_mut() {
        Some(last) if last.1 == phase => last.0 = moment,
        last => {
            last.into_iter().for_each(|last| last.0 = last.0.max(moment - 1));
            runs.push((moment, phase));
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::study::phases::{PhaseBasis, Phases};
    use crate::analysis::track::allocations::Allocations;
    use crate::trace::text;

    /// Checks the phases of allocations with these stacks, written as the first letter of each phase.
    #[track_caller]
    fn check(stacks: &[&str], expected: &str) {
        let source: String =
            stacks.iter().enumerate().map(|(index, stack)| format!("alloc n{index} 512 {stack}\n")).collect();
        let trace = text::parse(&source).unwrap();
        let device = &trace.devices[0];
        let phases = Phases::find(&trace, device, &Allocations::pair(device));
        assert_eq!(phases.basis(), PhaseBasis::Functions);
        let stack = |event: usize| device.events.stacks().at(event);
        let letter = |event| format!("{:?}", phases.of_birth(event as u32 + 1, stack(event))).remove(0);
        assert_eq!((0..stacks.len()).map(letter).collect::<String>(), expected);
    }

    const FORWARD: &str = "@_call_impl@torch/nn/modules/module.py<main";
    const BACKWARD: &str = "@backward@torch/_tensor.py<main";
    const STEP: &str = "@step@torch/optim/adam.py<main";

    #[test]
    fn functions_tell_phases() {
        // Functions of pytorch tell phases.
        check(&["@_apply@torch/nn/modules/module.py", FORWARD, "", STEP, FORWARD, BACKWARD], "SFBOFB");
        check(&[FORWARD, "@loss<main", BACKWARD], "FFB");
        check(&[FORWARD, "@unpack_hook@torch/utils/checkpoint.py<backward@torch/autograd/graph.py"], "FR");
        check(&[FORWARD, "@all_reduce@torch/distributed/distributed_c10d.py"], "FC");
        // Programs build models and optimizers of their own.
        check(&["@__init__@model.py<main", FORWARD, "@step@src/optimizer.py<main"], "SFO");
        check(&["@__init__@cache.py<_call_impl@torch/nn/modules/module.py", FORWARD], "FF");
        // Files about optimizers are no optimizers.
        check(&["@_call_impl@torch/nn/modules/module.py<run@optimizer_comparison.py", BACKWARD], "FB");
        check(&[FORWARD, "@at::_ops::to_dtype_layout::call()@a.cpp<load@optim_data.py"], "FD");
        // What a script does between steps tells nothing.
        check(&["@load<main", FORWARD, BACKWARD, STEP, "@load<main", FORWARD], "UFBOUF");
    }

    #[test]
    fn the_innermost_part_decides() {
        let closure = "closure@train.py<wrapper@torch/optim/optimizer.py<main";
        let model = format!("@_call_impl@torch/nn/modules/module.py<{closure}");
        let own = format!("@metric@train.py<{closure}");
        let backward = format!("@backward@torch/_tensor.py<{closure}");
        check(&[&model, &own, &backward, "@step@torch/optim/adam.py<main"], "FFBO");
        let recomputed = "@_call_impl@torch/nn/modules/module.py<recompute_fn@torch/utils/checkpoint.py";
        check(&[FORWARD, recomputed], "FR");
        check(&[FORWARD, "@_call_impl@torch/nn/modules/module.py<validate<main"], "FE");
        check(&[FORWARD, "@_call_impl@torch/nn/modules/module.py<decorate_context@torch/utils/_contextlib.py"], "FE");
    }
}
