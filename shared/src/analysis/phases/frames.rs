//! Phases by the functions of the program and of PyTorch's Python.

use super::Phase;
use crate::base::frame_rules::{RECORDED_MODULE, RECORDED_PHASE};
use crate::trace::{Device, FrameId, Trace};

/// The phase that the frames of each stack tell.
pub(super) fn of_stacks(trace: &Trace) -> Vec<Phase> {
    let sign = |id| {
        let frame = trace.frames.get(id);
        of_frame(trace.strings.get(frame.name), trace.strings.get(frame.filename))
    };
    // A frame says the same in every stack.
    let frames: Vec<Option<Sign>> = (0..trace.frames.len()).map(|index| sign(FrameId::from_index(index))).collect();
    let mut phases = vec![Phase::Unknown; trace.stacks.len()];
    for id in trace.stacks.ids() {
        phases[id.index()] = told(trace.stacks.frames(id).iter().filter_map(|frame| frames[frame.index()]));
    }
    phases
}

/// What the frames of a stack say together, given innermost first.
///
/// The innermost one decides: a model that runs within a closure given to `optimizer.step` is forward.
/// What is around a model's call changes what it is for: backward computes activations again, an evaluation has no
/// backward, and a weight is made wherever its module is made.
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

/// What one frame says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    /// A part of a step.
    Phase(Phase),
    /// Gradients are switched off for what is within.
    NoGrad,
    /// Frames further out call the optimizer, which called back.
    Closure,
    /// Something is made, a model perhaps, where nothing else tells.
    Made,
    /// A tensor is moved to a device, a batch where nothing else tells.
    Brought,
}

/// What a frame says about the phase, if anything.
fn of_frame(name: &str, filename: &str) -> Option<Sign> {
    match filename {
        RECORDED_PHASE => return of_recorded(name).map(Sign::Phase),
        RECORDED_MODULE => return None,
        _ => {}
    }
    // `torch.no_grad()` and `torch.inference_mode()` as decorators: no backward can follow.
    if name == "decorate_context" && filename.ends_with("_contextlib.py") {
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

/// What a function says about the phase, if anything.
fn of_function(name: &str, filename: &str) -> Option<Phase> {
    // A path that is cut may begin with the folder.
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

/// Whether a function is one that updates weights; what else a file about optimizers does tells nothing.
fn is_step(name: &str) -> bool {
    name == "step" || name.ends_with("_step") || name == "init_state" || name == "__init__"
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

/// The runs of phases of a device's allocations.
pub(super) fn runs(allocs: &[usize], device: &Device, of_stacks: &[Phase]) -> Vec<(u32, Phase)> {
    let mut runs: Vec<(u32, Phase)> = Vec::new();
    for &event in allocs {
        let stack = device.events.stacks().at(event);
        let phase = match of_stacks[stack.index()] {
            // PyTorch's threads of backward have no Python frames.
            Phase::Unknown if !stack.has_frames() => Phase::Backward,
            // A loss may be computed by the script itself; what a script does between steps tells nothing.
            Phase::Unknown if runs.last().is_some_and(|last| goes_on(last.1)) => continue,
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

/// Whether code of the program that tells nothing is a part of the phase before it.
fn goes_on(phase: Phase) -> bool {
    matches!(phase, Phase::Forward | Phase::Evaluation | Phase::Recompute)
}

#[cfg(test)]
mod tests {
    use crate::analysis::{Allocations, PhaseBasis, Phases};
    use crate::trace::text;

    /// Checks the phases of allocations by their stacks, written as the first letter of each.
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
    fn functions_of_pytorch_tell_phases() {
        check(&["@_apply@torch/nn/modules/module.py", FORWARD, "", STEP, FORWARD, BACKWARD], "SFBOFB");
        check(&[FORWARD, "@loss<main", BACKWARD], "FFB");
        check(&[FORWARD, "@unpack_hook@torch/utils/checkpoint.py<backward@torch/autograd/graph.py"], "FR");
        check(&[FORWARD, "@all_reduce@torch/distributed/distributed_c10d.py"], "FC");
    }

    #[test]
    fn programs_build_models_and_optimizers_of_their_own() {
        check(&["@__init__@model.py<main", FORWARD, "@step@src/optimizer.py<main"], "SFO");
        check(&["@__init__@cache.py<_call_impl@torch/nn/modules/module.py", FORWARD], "FF");
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

    #[test]
    fn files_about_optimizers_are_no_optimizers() {
        check(&["@_call_impl@torch/nn/modules/module.py<run@optimizer_comparison.py", BACKWARD], "FB");
        check(&[FORWARD, "@at::_ops::to_dtype_layout::call()@a.cpp<load@optim_data.py"], "FD");
    }

    #[test]
    fn what_a_script_does_between_steps_tells_nothing() {
        check(&["@load<main", FORWARD, BACKWARD, STEP, "@load<main", FORWARD], "UFBOUF");
    }
}
