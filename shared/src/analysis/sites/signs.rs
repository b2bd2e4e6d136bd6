//! What single frames say about a site.

use crate::base::frame_rules;

/// What PyTorch was asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(in crate::analysis) enum Operation {
    /// A tensor is moved to the device.
    Bring,
    /// A tensor is made from nothing: zeros, random numbers.
    Make,
    /// Tensors are put together into a larger one.
    Join,
    /// A tensor is copied as it is.
    Copy,
    /// Anything else.
    Compute,
    /// No C++ frame tells it.
    Unknown,
}

/// What a frame is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Compiled code, with the operation that it begins.
    Native(Operation),
    /// Compiled code of a loss over classes.
    NativeLoss,
    /// A module of our recorder.
    RecordedModule,
    /// `nn.Module.__call__`.
    ModuleCall,
    /// The same, on the way that calls hooks.
    HookedCall,
    /// An optimizer or backward, which the program enters.
    Engine,
    /// A function that an optimizer calls back.
    Closure,
    /// `copy.deepcopy`.
    DeepCopy,
    /// A cache of keys and values.
    KvCache,
    /// Outputs of an evaluation are collected.
    Collects,
    /// A loss over classes.
    Loss,
    /// `nn.DataParallel` moves tensors between devices.
    Gathers,
    /// A decorator that switches gradients off.
    NoGrad,
    /// `torch.load`.
    Loads,
    /// A loop that makes one token after the other.
    Generates,
    /// Any other Python.
    Python,
}

/// Operations that make tensors, by the start of their names.
const MAKING: [&str; 8] = ["empty", "zeros", "ones", "full", "rand", "normal", "arange", "eye"];

impl Sign {
    pub(super) fn of(name: &str, filename: &str) -> Self {
        match filename {
            frame_rules::RECORDED_OPERATOR => return Self::Native(of_operator(name)),
            frame_rules::RECORDED_MODULE => return Self::RecordedModule,
            frame_rules::RECORDED_PHASE => return Self::Engine,
            _ => {}
        }
        if frame_rules::is_native(filename) {
            return if is_native_loss(name) { Self::NativeLoss } else { Self::Native(operation(name)) };
        }
        let path = filename.replace('\\', "/");
        let is_in = |part: &str| path.contains(part);
        if is_in("torch/nn/modules/module.py") {
            return match name {
                "inner" => Self::HookedCall,
                _ if name.contains("call_impl") => Self::ModuleCall,
                _ => Self::Python,
            };
        }
        let file = path.rsplit('/').next().unwrap_or_default();
        let is_backward = (is_in("torch/_tensor.py") || is_in("torch/autograd/")) && name == "backward";
        match name {
            "closure" | "_wrap_closure" => Self::Closure,
            _ if is_in("torch/optim/") || is_backward => Self::Engine,
            "deepcopy" if file == "copy.py" => Self::DeepCopy,
            "update" | "update_cache" if file.contains("cache") => Self::KvCache,
            "nested_concat" | "torch_pad_and_concatenate" | "gather_for_metrics" => Self::Collects,
            "add" if file == "trainer_pt_utils.py" => Self::Collects,
            "cross_entropy" | "nll_loss" | "log_softmax" | "cross_entropy_loss" => Self::Loss,
            "gather" | "scatter" | "gather_map" if is_in("torch/nn/parallel/") => Self::Gathers,
            "decorate_context" if is_in("torch/utils/_contextlib.py") => Self::NoGrad,
            "load" if is_in("torch/serialization.py") => Self::Loads,
            "generate" | "_sample" | "greedy_search" | "_beam_search" => Self::Generates,
            _ if name.contains("cross_entropy") || name.contains("CrossEntropy") => Self::Loss,
            _ => Self::Python,
        }
    }
}

/// Whether compiled code computes a loss over classes, or its gradient.
fn is_native_loss(name: &str) -> bool {
    ["cross_entropy", "nll_loss", "log_softmax", "LogSoftmax", "NllLoss"].iter().any(|part| name.contains(part))
}

fn operation(name: &str) -> Operation {
    frame_rules::operation(name).map_or(Operation::Unknown, |called| of_operator(&called))
}

/// What an operator does, by its whole name.
fn of_operator(called: &str) -> Operation {
    let Some(called) = called.strip_prefix("aten::") else { return Operation::Compute };
    match called {
        "to_dtype_layout" | "to_device" | "_pin_memory" | "pin_memory" => Operation::Bring,
        "cat" | "stack" | "concat" | "concatenate" | "hstack" | "vstack" | "pad" | "constant_pad_nd" => Operation::Join,
        "clone" | "lift_fresh" | "contiguous" => Operation::Copy,
        _ if called.ends_with("_like") => Operation::Make,
        _ if MAKING.iter().any(|making| called.starts_with(making)) => Operation::Make,
        _ => Operation::Compute,
    }
}

/// Marks the calls of modules with hooks in releases of PyTorch that have no function of its own for them.
///
/// There `_call_impl` calls `forward` on two lines, the first one for modules without hooks.
pub(super) fn mark_calls_with_hooks(lines: impl Iterator<Item = u64> + Clone, signs: &mut [Sign]) {
    if signs.contains(&Sign::HookedCall) {
        return;
    }
    let calls = || lines.clone().zip(signs.iter()).filter(|(_, sign)| **sign == Sign::ModuleCall);
    // `_wrapped_call_impl` stands before `_call_impl`, and the first line of that is the one without hooks.
    let mut distinct: Vec<u64> = calls().map(|(line, _)| line).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let Some(&first) = distinct.first() else { return };
    let wraps = distinct.iter().take_while(|&&line| line < first + CALL_IMPL_LINES).count();
    // A release before 2.1 has no `_wrapped_call_impl`; with it, its line and that of a plain call lie close together.
    let Some(&hooked) = distinct.get(wraps) else { return };
    for (line, sign) in lines.zip(signs.iter_mut()) {
        if *sign == Sign::ModuleCall && line >= hooked {
            *sign = Sign::HookedCall;
        }
    }
}

/// Between `_wrapped_call_impl` and the plain call of `forward` lie so many lines at most; the call with hooks is later.
const CALL_IMPL_LINES: u64 = 20;
