//! Classifies single frames by what they say about a site.

use crate::base::frame_rules;

/// Kind of operation that PyTorch was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(in crate::analysis) enum Operation {
    /// Moves a tensor to the device.
    Bring,
    /// Creates a tensor from nothing, such as zeros or random numbers.
    Make,
    /// Concatenates tensors into a larger one.
    Join,
    /// Copies a tensor unchanged.
    Copy,
    /// Any other operation.
    Compute,
    /// No C++ frame or recorded operator shows the operation.
    #[default]
    Unknown,
}

impl Operation {
    /// Returns the other operation if this one is unknown.
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::Unknown { other } else { self }
    }
}

/// Meaning of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// Compiled code, with the operation that it starts.
    Native(Operation),
    /// Compiled code of a loss over classes.
    NativeLoss,
    /// A module in a stack of our recorder.
    RecordedModule,
    /// `nn.Module.__call__`.
    ModuleCall,
    /// `nn.Module.__call__` on the path that calls hooks.
    HookedCall,
    /// An optimizer or backward, called by the program.
    Engine,
    /// A function that an optimizer calls back.
    Closure,
    DeepCopy,
    /// The call of an autograd function in Python.
    Function,
    /// Adds an adapter to a model.
    Adapter,
    /// A cache of keys and values.
    KvCache,
    /// Collects outputs of an evaluation.
    Collects,
    /// A loss over classes.
    Loss,
    /// Moves tensors between the devices of `nn.DataParallel`.
    Gathers,
    /// A decorator that switches gradients off.
    NoGrad,
    /// `torch.load`.
    Loads,
    /// A loop that generates one token after the other.
    Generates,
    /// Any other Python frame.
    Python,
}

/// Prefixes of operators that create tensors.
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
            "apply" if is_in("torch/autograd/function.py") => Self::Function,
            "add_adapter" | "load_adapter" | "load_lora_weights" => Self::Adapter,
            "update" | "update_cache" if file.contains("cache") => Self::KvCache,
            "nested_concat" | "torch_pad_and_concatenate" | "gather_for_metrics" => Self::Collects,
            "add" if file == "trainer_pt_utils.py" => Self::Collects,
            "cross_entropy" | "nll_loss" | "log_softmax" | "cross_entropy_loss" => Self::Loss,
            "gather" | "scatter" | "gather_map" if is_in("torch/nn/parallel/") => Self::Gathers,
            "decorate_context" | "generator_context" if is_in("torch/utils/_contextlib.py") => Self::NoGrad,
            "load" if is_in("torch/serialization.py") => Self::Loads,
            "generate" | "_sample" | "greedy_search" | "_beam_search" => Self::Generates,
            _ if name.contains("cross_entropy") || name.contains("CrossEntropy") => Self::Loss,
            _ => Self::Python,
        }
    }
}

/// Returns true for compiled code that computes a loss over classes, or its gradient.
fn is_native_loss(name: &str) -> bool {
    ["cross_entropy", "nll_loss", "log_softmax", "LogSoftmax", "NllLoss"].iter().any(|part| name.contains(part))
}

fn operation(name: &str) -> Operation {
    frame_rules::operation(name).map_or(Operation::Unknown, |called| of_operator(&called))
}

/// Classifies an operator by its full name.
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

/// Marks the calls of modules with hooks in releases of PyTorch that have no separate function for them.
///
/// There `_call_impl` calls `forward` on two lines, of which the first is for modules without hooks.
pub(super) fn mark_calls_with_hooks(lines: &[u64], signs: &mut [Sign]) {
    if signs.contains(&Sign::HookedCall) {
        return;
    }
    let calls = lines.iter().zip(signs.iter()).filter(|(_, sign)| **sign == Sign::ModuleCall);
    // `_wrapped_call_impl` stands before `_call_impl`, whose first line with a call is the one without hooks.
    let mut distinct: Vec<u64> = calls.map(|(&line, _)| line).collect();
    distinct.sort_unstable();
    distinct.dedup();
    let Some(&first) = distinct.first() else { return };
    let wraps = distinct.iter().take_while(|&&line| line < first + CALL_IMPL_LINES).count();
    // Releases before 2.1 have no `_wrapped_call_impl`; in later ones its line and that of the plain call lie close
    // together.
    let Some(&hooked) = distinct.get(wraps) else { return };
    for (&line, sign) in lines.iter().zip(signs) {
        if *sign == Sign::ModuleCall && line >= hooked {
            *sign = Sign::HookedCall;
        }
    }
}

/// Most lines between `_wrapped_call_impl` and the plain call of `forward`; the call with hooks follows later.
const CALL_IMPL_LINES: u64 = 20;
