//! Says who holds what grows, if the recording names the holders.

use crate::analysis::study::growth::Kept;
use crate::analysis::study::studied::Study;
use crate::analysis::track::allocations::AllocationId;
use crate::analysis::track::names::{StatedHolder, stated_holder};
use crate::analysis::track::pairing::NEVER;
use crate::base::format;
use crate::trace::StackId;
use hashbrown::{HashMap, HashSet};

/// Beginning of the path of what only a reference cycle holds.
const CYCLE: &str = "a reference cycle: ";

/// Variable, attribute, list or closure that holds growing memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Holder<'a> {
    /// Path to the tensors, such as `trainer (local of train, train.py).losses[…]`.
    path: &'a str,
    allocations: u64,
    bytes: u64,
    /// True if a tensor leads to an autograd graph, which it keeps in memory.
    has_graph: bool,
    /// False if it holds other growing memory than that of the cause, such as the losses whose graphs hold activations.
    is_of_cause: bool,
}

/// Returns the holder of most of the memory of `rows`, or else the one whose graphs may keep them.
pub(super) fn holder<'a>(study: &Study<'a>, rows: &[&Kept]) -> Option<Holder<'a>> {
    largest(study, rows, true).or_else(|| {
        let all: Vec<&Kept> = study.growth.growing().collect();
        largest(study, &all, false).filter(|holder| holder.has_graph)
    })
}

/// Returns true if the tensors of `rows` have no holder of their own, but others that grow are held with their graphs.
pub(super) fn are_in_graphs(study: &Study<'_>, rows: &[&Kept]) -> bool {
    holder(study, rows).is_some_and(|holder| !holder.is_of_cause)
}

/// Returns true if a few tensors, less than 1/4, are held with their graphs, which keep the others of `rows`.
pub(super) fn are_of_graphs(study: &Study<'_>, rows: &[&Kept]) -> bool {
    let has_graph = !rows.is_empty() && holder(study, rows).is_some_and(|holder| holder.has_graph);
    has_graph && held_of(study, rows).is_none_or(|(held, all)| held * 4 < all)
}

/// Returns true if nearly all tensors of `rows` are held by themselves, so that no graph keeps them.
pub(super) fn are_held(study: &Study<'_>, rows: &[&Kept]) -> bool {
    held_of(study, rows).is_some_and(|(held, all)| held * 10 >= all * 9)
}

/// Returns how many tensors of `rows` that are never freed have a holder, and how many there were when holders were
/// searched for; `None` if no more than one has.
fn held_of(study: &Study<'_>, rows: &[&Kept]) -> Option<(usize, usize)> {
    let allocations = &study.timeline.allocations;
    let is_of_rows = |id: AllocationId| {
        let stack = allocations.allocation_stack(id, study.device);
        rows.iter().any(|kept| kept.stack == stack) && allocations.died[id.index()] == NEVER
    };
    let held: HashSet<AllocationId> = named(study).filter(|&id| is_of_rows(id)).collect();
    let last = held.iter().max().filter(|_| held.len() > 1)?;
    let all = (0..=last.0).map(AllocationId).filter(|&id| is_of_rows(id)).count();
    Some((held.len(), all))
}

/// Returns the step of advice that finds the holder; `None` if the recording names others, so that another would find none
/// of these either.
pub(super) fn how_to_tell(study: &Study<'_>) -> Option<&'static str> {
    if named(study).next().is_some() {
        return None;
    }
    Some(if study.steps.is_some() {
        "[record] To see which variable holds them, record with \
         ``snapscope record --holders --steps 1..8 -- python train.py``."
    } else {
        "[record] To see which variable holds them, record with \
         ``snapscope record --holders --rolling 60s -- python serve.py``."
    })
}

/// Returns the allocations whose holders are named.
fn named(study: &Study<'_>) -> impl Iterator<Item = AllocationId> {
    let is_holder = |text| stated_holder(study.trace.strings.get(text)).is_some();
    study.timeline.names.iter().filter(move |name| is_holder(name.text)).map(|name| name.allocation)
}

fn largest<'a>(study: &Study<'a>, rows: &[&Kept], is_of_cause: bool) -> Option<Holder<'a>> {
    let Study { trace, device, timeline, .. } = *study;
    let allocations = &timeline.allocations;
    let mut holders: HashMap<&str, Holder<'a>> = HashMap::new();
    // What a function held is freed when it returns, after the last step.
    let last_step = study.steps.as_ref().and_then(|steps| steps.steps.last()).map_or(NEVER - 1, |last| last.start);
    for name in timeline.names.iter().filter(|name| allocations.died[name.allocation.index()] > last_step) {
        let Some(StatedHolder { path, has_graph }) = stated_holder(trace.strings.get(name.text)) else { continue };
        let (stack, size_bytes) =
            (allocations.allocation_stack(name.allocation, device), allocations.size_bytes(name.allocation));
        // Backward's threads have no frames, and growth knows what they allocate by its sizes.
        let stack = if stack.has_frames() { stack } else { StackId::NONE };
        let is_in = |kept: &&Kept| kept.stack == stack && kept.size_bytes.is_none_or(|size| size == size_bytes);
        if rows.iter().any(is_in) {
            let row = holders.entry(path).or_insert(Holder { path, allocations: 0, bytes: 0, has_graph, is_of_cause });
            row.allocations += 1;
            row.bytes += size_bytes;
            row.has_graph |= has_graph;
        }
    }
    // What holds a single tensor holds that of the current step.
    let grown = holders.into_values().filter(|holder| holder.allocations > 1);
    grown.max_by_key(|holder| (holder.bytes, holder.allocations, std::cmp::Reverse(holder.path)))
}

impl Holder<'_> {
    /// Returns true if it is the traceback of an exception, whose frames hold all tensors of the failed call.
    pub(super) fn is_exception(&self) -> bool {
        self.path.contains(".__traceback__") || self.path.contains(".tb_frame")
    }

    /// Returns true if it is the cache of a function, as `functools.lru_cache` makes it.
    pub(super) fn is_cache(&self) -> bool {
        self.path.contains(" (cache)[")
    }

    /// Returns true if many functions hold one tensor each, as hooks do: by a default value, or a variable around them.
    pub(super) fn is_function(&self) -> bool {
        let is_one_each = self.path.ends_with(" (default)[…]") || self.path.ends_with(')');
        self.path.starts_with("function ") && is_one_each
    }

    pub(super) fn sentence(&self) -> String {
        let Self { path, allocations, bytes, has_graph, is_of_cause } = self;
        let count = format::count(*allocations);
        if let Some(path) = path.strip_prefix(CYCLE) {
            let size = format::bytes(*bytes);
            return format!(
                "Break the reference cycle with `{path}`, as by `weakref` or `del`: nothing else held {count} of these \
                 allocations, {size}, and Python frees a cycle only when its garbage collector runs."
            );
        }
        let of = match (is_of_cause, has_graph) {
            (true, false) => format!("of these allocations, {}", format::bytes(*bytes)),
            (true, true) => format!("of these allocations, {}, with their autograd graphs", format::bytes(*bytes)),
            (false, _) => "tensors whose autograd graphs keep this memory".to_owned(),
        };
        format!("Look at `{path}`: when the holders were searched for, it held {count} {of}.")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::ask::tests::Sample;

    /// Returns the step of advice about `activations` that grow beside `losses` of 512 bytes.
    fn sentence(names: &str) -> Option<String> {
        sentence_of(" @forward@phase", names)
    }

    fn sentence_of(stack: &str, names: &str) -> Option<String> {
        let mut source = String::new();
        for step in 0..6 {
            source += &format!(
                "alloc f{step} 8 @forward@phase\nalloc a{step} 1MiB{stack}\nfree f{step}\nalloc l{step} 512 @loss@phase<train\n\
                 alloc g{step} 1KiB @backward@phase\nalloc s{step} 1KiB @step@torch/optim/sgd.py\nfree s{step}\nfree g{step}\n"
            );
        }
        source += names;
        let sample = Sample::of(&source);
        let study = sample.study();
        let rows: Vec<&Kept> = study.growth.growing().filter(|kept| kept.bytes_per_step > 1024).collect();
        assert_eq!(rows.len(), 1, "{:?}", study.growth);
        Some(holder(&study, &rows)?.sentence())
    }

    #[test]
    fn the_holder_of_the_most_bytes_is_named() {
        let names = "
            annotate a1 note=held/by/cache[…]
            annotate a2 note=held/by/cache[…]
            annotate a3 note=held/by/other[…]
            annotate l1 note=held/with/its/graph/by/losses[…]
            annotate l2 note=held/with/its/graph/by/losses[…]
        ";
        let cache = "Look at `cache[…]`: when the holders were searched for, it held 2 of these allocations, 2.00 MiB.";
        assert_eq!(sentence(names).as_deref(), Some(cache));
        let losses = "Look at `losses[…]`: when the holders were searched for, it held 2 tensors whose autograd graphs keep this memory.";
        let without_cache = names.replace("held/by/cache", "mine/in/cache");
        assert_eq!(sentence(&without_cache).as_deref(), Some(losses));
    }

    #[test]
    fn what_has_no_stack_has_a_holder_too_and_a_cycle_is_to_be_broken() {
        let names = "annotate a1 note=held/by/norms[…][…]\nannotate a2 note=held/by/norms[…][…]";
        assert!(sentence_of("", names).unwrap().starts_with("Look at `norms[…][…]`"));
        let names = ["annotate a1 note=held/by/a/reference/cycle:/Node.value"; 2].join("\n").replacen("a1", "a2", 1);
        let said = sentence(&names).unwrap();
        let is_told = said.starts_with("Break the reference cycle with `Node.value`") && said.contains("2 of these");
        assert!(is_told, "{said}");
    }

    #[test]
    fn frames_and_functions_have_advice_of_their_own() {
        let holder = |path| Holder { path, allocations: 2, bytes: 0, has_graph: false, is_of_cause: true };
        assert!(holder("self.skipped[…][…].__traceback__ (images of step)").is_exception());
        assert!(holder("function __main__.<lambda> (default)[…]").is_function());
        assert!(holder("function train.step.<locals>.hook (closure mask)").is_function());
        assert!(holder("model.bias (cache)[…]").is_cache());
        let list = holder("function train.log (closure history)[…]");
        assert!(!list.is_function() && !list.is_exception());
    }

    #[test]
    fn one_tensor_or_other_tensors_say_nothing() {
        assert_eq!(sentence("annotate a1 note=held/by/output\nannotate a2 note=parameter/fc.weight"), None);
        assert_eq!(sentence("annotate l1 note=held/by/numbers\nannotate l2 note=held/by/numbers"), None);
    }
}
