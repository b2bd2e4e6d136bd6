//! Derives from stacks where a program calls its model, and what is special about the code that allocates.
//!
//! Idea: a stack is split where the program enters PyTorch: at the call of a module, at backward or at an optimizer.
//! The Python frames outside are the *spine*, the program's own loop; those inside are layers. Repetition within one
//! call is always layers, never steps.
//!
//! ```text
//! <module>:50 < train:31 < _call_impl < forward:12 < _call_impl < linear:134
//! ------ spine --------- | --------------- inside -------------------------
//! ```
//!
//! Cost: linear in the frames of distinct stacks.

mod rounds;
mod signs;

pub(in crate::analysis) use rounds::{Rounds, find as rounds};
pub(in crate::analysis) use signs::Operation;

use crate::base::frame_rules;
use crate::trace::{FrameId, StackId, Trace};
use hashbrown::HashMap;
use signs::Sign;
use std::cmp::Ordering;

/// Place outside PyTorch that several distinct stacks share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::analysis) struct SpineId(u32);

impl SpineId {
    /// Spine of stacks without Python frames outside PyTorch, as on the threads of backward.
    pub(in crate::analysis) const NONE: Self = Self(0);

    fn index(self) -> usize {
        self.0 as usize
    }
}

/// Properties of the place at which one stack allocates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::analysis) struct Site {
    /// The program's own frames around it.
    pub(in crate::analysis) spine: SpineId,
    /// Operation that PyTorch was asked for, if C++ frames or our recorder show it.
    pub(in crate::analysis) operation: Operation,
    /// True within the call of a module.
    pub(in crate::analysis) in_module: bool,
    /// True within a module that calls hooks.
    pub(in crate::analysis) is_hooked: bool,
    /// True if `copy.deepcopy` creates it.
    pub(in crate::analysis) is_deep_copy: bool,
    /// True within the `forward` of an autograd function in Python.
    pub(in crate::analysis) is_of_function: bool,
    /// True within a call that adds an adapter to a model.
    pub(in crate::analysis) is_adapter: bool,
    /// True for the cache of keys and values of a model that generates text.
    pub(in crate::analysis) is_kv_cache: bool,
    /// True if a framework collects the outputs of an evaluation there.
    pub(in crate::analysis) is_collected: bool,
    /// True for tensors of a loss over many classes: its logits, their logarithms, and the gradients of both.
    pub(in crate::analysis) is_of_loss: bool,
    /// True if `nn.DataParallel` gathers or scatters there.
    pub(in crate::analysis) is_gathered: bool,
    /// True within a decorator that switches gradients off.
    pub(in crate::analysis) is_without_grad: bool,
    /// True if `torch.load` reads it from a file.
    pub(in crate::analysis) is_loaded: bool,
    /// True within a loop that generates one token after the other.
    pub(in crate::analysis) is_generated: bool,
}

/// Sites of all stacks of a trace.
#[derive(Clone, Debug, Default)]
pub(in crate::analysis) struct Sites {
    of_stacks: Vec<Site>,
    /// Frames of each spine, outermost first; the first spine is [`SpineId::NONE`].
    spines: Vec<Vec<FrameId>>,
}

impl Sites {
    pub(in crate::analysis) fn of(trace: &Trace) -> Self {
        let mut signs: Vec<Sign> = trace.frame_texts().map(|(name, filename)| Sign::of(name, filename)).collect();
        let lines: Vec<u64> = trace.frames.iter().map(|frame| frame.line).collect();
        signs::mark_calls_with_hooks(&lines, &mut signs);
        if trace.strings.find(frame_rules::ALL_HOOKED).is_some() {
            signs.iter_mut().filter(|sign| **sign == Sign::HookedCall).for_each(|sign| *sign = Sign::ModuleCall);
        }
        let mut sites = Self { of_stacks: vec![Site::default(); trace.stacks.len()], spines: vec![Vec::new()] };
        let mut ids: HashMap<Vec<FrameId>, SpineId> = HashMap::new();
        for stack in trace.stacks.ids() {
            let (mut site, spine) = read(trace.stacks.frames(stack), &signs);
            if !spine.is_empty() {
                let next = SpineId(sites.spines.len() as u32);
                site.spine = *ids.entry(spine).or_insert_with_key(|spine| {
                    sites.spines.push(spine.clone());
                    next
                });
            }
            sites.of_stacks[stack.index()] = site;
        }
        sites
    }

    pub(in crate::analysis) fn of_stack(&self, stack: StackId) -> Site {
        self.of_stacks[stack.index()]
    }

    /// Compares the positions of two places in the innermost function that both pass through.
    ///
    /// The result is `Equal` if the order cannot be determined.
    pub(in crate::analysis) fn order(&self, trace: &Trace, one: SpineId, other: SpineId) -> Ordering {
        let pair = self.frames(one).iter().zip(self.frames(other)).find(|(one, other)| one != other);
        let Some((&one, &other)) = pair else { return Ordering::Equal };
        let (one, other) = (trace.frames.get(one), trace.frames.get(other));
        match (one.name, one.filename) == (other.name, other.filename) {
            true => one.line.cmp(&other.line),
            false => Ordering::Equal,
        }
    }

    /// Returns true if two places lie in one function, called from the same line.
    pub(in crate::analysis) fn are_in_one_function(&self, trace: &Trace, one: SpineId, other: SpineId) -> bool {
        let function = |frame: FrameId| {
            let frame = trace.frames.get(frame);
            (frame.name, frame.filename)
        };
        match (self.frames(one).split_last(), self.frames(other).split_last()) {
            (Some((&one, around)), Some((&other, around_other))) => {
                around == around_other && function(one) == function(other)
            }
            _ => false,
        }
    }

    fn frames(&self, spine: SpineId) -> &[FrameId] {
        &self.spines[spine.index()]
    }
}

/// Returns the site of a stack, and its spine.
fn read(frames: &[FrameId], signs: &[Sign]) -> (Site, Vec<FrameId>) {
    let mut site = Site::default();
    let mut spine = Vec::new();
    let mut is_inside = false;
    for &frame in frames.iter().rev() {
        match signs[frame.index()] {
            // Frames are read from the outermost one inwards, and the outermost operation is the one that the program
            // requested.
            Sign::Native(operation) => {
                site.operation = site.operation.or(operation);
                continue;
            }
            Sign::NativeLoss => {
                site.is_of_loss = true;
                site.operation = site.operation.or(Operation::Compute);
                continue;
            }
            Sign::ModuleCall | Sign::RecordedModule => {
                site.in_module = true;
                is_inside = true;
            }
            // The optimizer calls the program back, so frames outside the closure are not part of its site.
            Sign::Closure => is_inside = false,
            Sign::HookedCall => {
                (site.in_module, site.is_hooked) = (true, true);
                is_inside = true;
            }
            Sign::Engine => is_inside = true,
            Sign::DeepCopy => site.is_deep_copy = true,
            Sign::Function => site.is_of_function = true,
            Sign::Adapter => site.is_adapter = true,
            Sign::KvCache => site.is_kv_cache = true,
            Sign::Collects => site.is_collected = true,
            Sign::Loss => site.is_of_loss = true,
            Sign::Gathers => site.is_gathered = true,
            Sign::NoGrad => site.is_without_grad = true,
            Sign::Loads => site.is_loaded = true,
            Sign::Generates => site.is_generated = true,
            Sign::Python => {}
        }
        if !is_inside {
            spine.push(frame);
        }
    }
    (site, spine)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::text;

    fn site_of(stack: &str) -> (Site, usize) {
        let trace = text::parse(&format!("alloc a 1 {stack}")).unwrap();
        let sites = Sites::of(&trace);
        let site = sites.of_stack(trace.devices[0].events.stacks().at(0));
        (site, sites.frames(site.spine).len())
    }

    const MODULE: &str = "_call_impl@v/site-packages/torch/nn/modules/module.py";

    #[test]
    fn frames_tell_the_site_of_a_stack() {
        // A spine ends where a module is called.
        let (site, frames) = site_of(&format!("@linear@v.py<{MODULE}<forward@model.py<{MODULE}<train<main"));
        assert!(site.in_module && !site.is_hooked);
        assert_eq!(frames, 2);
        // A closure goes back to the program.
        let optimizer = "step@v/site-packages/torch/optim/adam.py";
        let (site, frames) = site_of(&format!("@{MODULE}<closure@train.py<{optimizer}<main"));
        assert!(site.in_module);
        assert_eq!(frames, 2, "main and closure");
        // Hooks have a frame of their own.
        let hooked = format!("@forward@model.py<inner@v/site-packages/torch/nn/modules/module.py<{MODULE}<main");
        assert!(site_of(&hooked).0.is_hooked);
        // Hooks of the recorder are no sign.
        let (site, _) = site_of(&format!("{hooked}\nannotate a note={}", frame_rules::ALL_HOOKED.replace(' ', "/")));
        assert!(site.in_module && !site.is_hooked);
        // Operations are what the program asked for.
        let (site, _) = site_of("@at::_ops::empty_strided::call()@a.cpp<at::_ops::to_dtype_layout::call()@b.cpp<main");
        assert_eq!(site.operation, Operation::Bring);
        assert!(!site.in_module);
    }
}
