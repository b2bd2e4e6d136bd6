//! Recognises memory for the communication between processes by the functions that allocate it.
//!
//! FSDP gathers weights before a layer runs and scatters its gradients afterwards. DDP, and optimizers built on it,
//! keep flat buffers in which processes average gradients.

use crate::base::frame_rules::{RECORDED_MODULE, RECORDED_OPERATOR};
use crate::trace::Trace;

/// Purpose of an allocation in the communication between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::analysis) enum Sharing {
    /// Whole weights, gathered from all processes.
    Weights,
    /// Data to be sent or received.
    Buffer,
}

/// Returns the purpose that each stack indicates, by the stack's index; empty if no stack indicates any.
pub(super) fn of_stacks(trace: &Trace) -> Vec<Option<Sharing>> {
    let frames: Vec<Option<Sharing>> = trace.frame_texts().map(|(name, filename)| of_frame(name, filename)).collect();
    if frames.iter().all(Option::is_none) {
        return Vec::new();
    }
    let mut of_stacks = vec![None; trace.stacks.len()];
    for id in trace.stacks.ids() {
        // The innermost function is the most specific: weights are gathered within the communication of a layer.
        of_stacks[id.index()] = trace.stacks.frames(id).iter().find_map(|frame| frames[frame.index()]);
    }
    of_stacks
}

fn of_frame(name: &str, filename: &str) -> Option<Sharing> {
    match filename {
        RECORDED_MODULE => return name.starts_with("ddp.bucket").then_some(Sharing::Buffer),
        RECORDED_OPERATOR => return of_operator(name),
        _ => {}
    }
    // A shortened path may begin with the folder.
    let path = format!("/{}", filename.replace('\\', "/"));
    let is_in = |part: &str| path.contains(part);
    match name {
        "alloc_all_gather_outputs" | "init_all_gather_outputs" | "_alloc_padded_unsharded_flat_param"
            if is_in("/fsdp/") =>
        {
            Some(Sharing::Weights)
        }
        "foreach_all_gather_copy_out" if is_in("/fsdp/") => Some(Sharing::Weights),
        "foreach_all_gather" | "foreach_reduce" | "_get_param_all_gather_inputs" if is_in("/fsdp/") => {
            Some(Sharing::Buffer)
        }
        "_ddp_init_helper" if is_in("nn/parallel/distributed.py") => Some(Sharing::Buffer),
        _ => name.contains("c10d::Reducer::").then_some(Sharing::Buffer),
    }
}

/// Returns the purpose for an operation's name, because FSDP names its parts as operations.
fn of_operator(name: &str) -> Option<Sharing> {
    match name {
        "FSDP::all_gather_copy_out" => Some(Sharing::Weights),
        "FSDP::all_gather" | "FSDP::post_backward_reduce" => Some(Sharing::Buffer),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::analysis::naive;

    /// Checks the category of an allocation with this stack that is never freed, made during a forward pass.
    #[track_caller]
    fn check(stack: &str, expected: &str) {
        let forward = "@_call_impl@torch/nn/modules/module.py";
        let source = format!("alloc a 1KiB {forward}\nalloc s 2KiB {stack}\nalloc b 1KiB {forward}\nfree a\n");
        assert_eq!(naive::categories_of(&source)[1].name(), expected);
    }

    const COLLECTIVES: &str = "torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py";
    const PARAMETER: &str = "torch/distributed/fsdp/_fully_shard/_fsdp_param.py";

    #[test]
    fn functions_of_fsdp_and_ddp_tell() {
        let gathered = "foreach_all_gather_copy_out";
        check(
            &format!("@alloc_storage@{PARAMETER}<alloc_all_gather_outputs@{PARAMETER}<{gathered}@{COLLECTIVES}"),
            "parameter",
        );
        check(&format!("@allocate@{COLLECTIVES}<foreach_all_gather@{COLLECTIVES}"), "collective");
        check("@_ddp_init_helper@torch/nn/parallel/distributed.py", "collective");
        check("@c10d::Reducer::initialize_buckets(c10d::Bucket)@reducer.cpp", "collective");
    }

    #[test]
    fn parts_of_recordings_tell() {
        check("@aten::empty@operator<FSDP::all_gather_copy_out@operator<head@module<forward@phase", "parameter");
        check("@aten::empty@operator<FSDP::all_gather@operator<head@module<forward@phase", "collective");
        check("@aten::empty@operator<ddp.bucket@module<ddp@module<forward@phase", "collective");
        check("@aten::empty@operator<head@module<forward@phase", "activation");
    }
}
