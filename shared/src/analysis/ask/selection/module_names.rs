//! Finds the module of the model to which each stack belongs.

use crate::analysis::track::stack_title::place;
use crate::base::frame_rules::{RECORDED_MODULE, is_runtime};
use crate::base::{StringId, StringTable};
use crate::trace::{Frame, FrameId, Trace};

/// Separator between the path of a recorded module and its phase.
const BEFORE_PHASE: &str = " · ";

/// Names of parameters; optimizers append the names of their state to them: `head.weight.exp_avg`.
const PARAMETERS: [&str; 2] = ["weight", "bias"];

/// Names of all modules, and the module of each stack.
///
/// Our recorder writes the path of the module, `layers.3.mlp.up`. Python frames have no such path; for them the name is
/// the innermost function of the program that a module's call led to, followed by PyTorch's own module within it:
/// `forward (model.py:88) › linear`.
#[derive(Clone, Debug)]
pub(super) struct ModuleNames {
    names: StringTable,
    /// Handles of names, by stack index.
    of_stacks: Vec<StringId>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Says {
    /// Frame of our recorder whose name is the module's path.
    Path,
    /// Call of a module's `forward`.
    Call,
    /// Function of one of PyTorch's modules.
    Torch,
    /// Function of the program or of a library.
    Program,
    Nothing,
}

impl ModuleNames {
    pub(super) fn of(trace: &Trace) -> Self {
        let says: Vec<Says> = trace.frames.iter().map(|frame| says(trace, frame)).collect();
        let mut names = StringTable::new();
        let mut of_stacks = vec![StringId::EMPTY; trace.stacks.len()];
        for stack in trace.stacks.ids() {
            let name = name(trace, trace.stacks.frames(stack), &says);
            of_stacks[stack.index()] = name.map_or(StringId::EMPTY, |name| names.intern(&name));
        }
        Self { names, of_stacks }
    }

    /// Returns the module of a stack by its index, empty if none is known.
    pub(super) fn of_stack(&self, index: usize) -> StringId {
        self.of_stacks[index]
    }

    pub(super) fn name(&self, id: StringId) -> &str {
        self.names.get(id)
    }
}

fn says(trace: &Trace, frame: &Frame) -> Says {
    let (name, filename) = (trace.strings.get(frame.name), trace.strings.get(frame.filename));
    if filename == RECORDED_MODULE {
        return Says::Path;
    }
    match in_torch_modules(filename) {
        Some("module") if name.ends_with("_call_impl") => Says::Call,
        Some(_) => Says::Torch,
        None if is_runtime(filename) => Says::Nothing,
        None => Says::Program,
    }
}

/// Returns the name of the file without its extension, if it lies in `torch/nn/modules`.
fn in_torch_modules(filename: &str) -> Option<&str> {
    const FOLDERS: [&str; 2] = ["torch/nn/modules/", r"torch\nn\modules\"];
    let file = FOLDERS.iter().find_map(|folder| Some(filename.rsplit_once(folder)?.1))?;
    file.strip_suffix(".py")
}

/// Returns the path of the module in a recorded frame's name, without the phase and the parameter's own name.
fn module_path(name: &str) -> String {
    let path = name.split_once(BEFORE_PHASE).map_or(name, |(path, _)| path);
    let parts: Vec<&str> = path.split('.').take_while(|part| !PARAMETERS.contains(part)).collect();
    if parts.is_empty() { path.to_owned() } else { parts.join(".") }
}

/// Returns the name of a stack's module; frames are given innermost first.
fn name(trace: &Trace, stack: &[FrameId], says: &[Says]) -> Option<String> {
    let of = |id: FrameId| says[id.index()];
    let text = |id: FrameId| trace.strings.get(trace.frames.get(id).name);
    if let Some(&path) = stack.iter().find(|&&id| of(id) == Says::Path) {
        return Some(module_path(text(path)));
    }
    let mut called = (1..stack.len()).filter(|&caller| of(stack[caller]) == Says::Call).map(|caller| caller - 1);
    let innermost = stack[called.clone().next()?];
    let torch = Some(innermost).filter(|&id| of(id) == Says::Torch);
    let torch = torch.and_then(|id| in_torch_modules(trace.strings.get(trace.frames.get(id).filename)));
    let program = called.find(|&position| of(stack[position]) == Says::Program).map(|position| {
        // Decorators lie between the call and the module's own function.
        let mut inner = stack[..=position].iter().rev().take_while(|&&id| of(id) == Says::Program);
        let id = *inner.find(|&&id| text(id) == "forward").unwrap_or(&stack[position]);
        let frame = trace.frames.get(id);
        place(text(id), trace.strings.get(frame.filename), frame.line)
    });
    match (program, torch) {
        (Some(program), Some(torch)) => Some(format!("{program} › {torch}")),
        (program, torch) => program.or_else(|| torch.map(str::to_owned)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    /// Checks the name of a stack's module; "" means that none is known.
    #[track_caller]
    fn check(stack: &str, expected: &str) {
        let trace = text::parse(&format!("alloc a 1 {stack}")).unwrap();
        let modules = ModuleNames::of(&trace);
        assert_eq!(modules.name(modules.of_stack(trace.devices[0].events.stacks().at(0).index())), expected);
    }

    #[test]
    fn a_recorded_module_has_a_path() {
        check("@aten::mm@operator<layers.3.mlp@module<forward@phase", "layers.3.mlp");
        check("@aten::mm@operator<forward@phase", "");
        check("@aten::mul@operator<head.weight.exp_avg@module", "head");
        check("@weight@module", "weight");
    }

    #[test]
    fn a_module_is_what_its_call_leads_to() {
        const CALL: &str = "_call_impl@v/site-packages/torch/nn/modules/module.py";
        let linear = "linear@v/torch/nn/functional.py<forward@v/site-packages/torch/nn/modules/linear.py";
        check(&format!("@{linear}<{CALL}<forward@model.py<{CALL}<main"), "forward (model.py:1) › linear");
        check(&format!("@relu<helper<forward@model.py<{CALL}<main"), "forward (model.py:1)");
        check(&format!("@relu<forward@model.py<wrapper@deco.py<{CALL}<main"), "forward (model.py:1)");
        check(&format!("@{linear}<{CALL}<main"), "linear");
        check("@relu<main", "");
        check("", "");
    }
}
