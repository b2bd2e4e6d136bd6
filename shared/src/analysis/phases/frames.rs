//! Phases by the functions of the program and of PyTorch's Python.

use super::Phase;
use crate::base::frame_rules::{RECORDED_MODULE, RECORDED_PHASE};
use crate::trace::{Device, FrameId, Trace};

/// The phase that the frames of each stack tell.
pub(super) fn of_stacks(trace: &Trace) -> Vec<Phase> {
    let frame = |id| {
        let frame = trace.frames.get(id);
        of_frame(trace.strings.get(frame.name), trace.strings.get(frame.filename))
    };
    // A frame says the same in every stack.
    let frames: Vec<Option<Phase>> = (0..trace.frames.len()).map(|index| frame(FrameId::from_index(index))).collect();
    let mut phases = vec![Phase::Unknown; trace.stacks.len()];
    for id in trace.stacks.ids() {
        let of_stack = trace.stacks.frames(id);
        let told = of_stack.iter().filter_map(|frame| frames[frame.index()]);
        let is_made = || of_stack.iter().any(|&frame| trace.strings.get(trace.frames.get(frame).name) == "__init__");
        let told = told.min_by_key(|&phase| weight(phase)).or_else(|| is_made().then_some(Phase::Setup));
        phases[id.index()] = told.unwrap_or(Phase::Unknown);
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
    let file = path.rsplit('/').next().unwrap_or_default();
    if is_in("torch/optim/") || is_in("/optimizers/") || file.starts_with("optim") || name.contains("clip_grad_norm") {
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
    fn what_a_script_does_between_steps_tells_nothing() {
        check(&["@load<main", FORWARD, BACKWARD, STEP, "@load<main", FORWARD], "UFBOUF");
    }
}
