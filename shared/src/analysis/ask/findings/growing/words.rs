//! Contains the texts for each cause of growth.

use super::{Cause, Own};

/// Texts of the finding about a cause.
pub(super) struct Words {
    /// Stable code of the finding.
    pub(super) code: &'static str,
    /// Beginning of the title.
    pub(super) what: &'static str,
    pub(super) advice: &'static str,
    /// Line of the user's own code that matters.
    pub(super) own: Own,
    /// Sentence that tells where to look; `{}` stands for that line.
    pub(super) look: &'static str,
}

pub(super) fn of(cause: Cause) -> Words {
    match cause {
        Cause::Graphs => Words {
            code: "graphs-kept",
            what: "Every step's autograd graph stays",
            advice: "Something that leads to a graph is kept after each step: a loss, an output or a feature that backward \
                     never goes through, as by `losses.append(loss)` or `total += loss`. Keep `loss.item()` or \
                     `output.detach()` instead, or compute it under `torch.no_grad()`.",
            own: Own::Call,
            look: "The model is called from `{}`: look at what is kept of the result.",
        },
        Cause::RetainedGraphs => Words {
            code: "graphs-kept",
            what: "Every step's autograd graph stays",
            advice: "All that forward keeps for backward is still there after the step: backward was told \
                     `retain_graph=True`, or never came, and something that leads to the graph is kept, such as a loss or \
                     an output in a list. Keep `loss.item()` or `output.detach()` instead, and leave \
                     `retain_graph=True` out of the last backward.",
            own: Own::Call,
            look: "The model is called from `{}`: look at what is kept of the result.",
        },
        Cause::GraphsOfInference => Words {
            code: "graphs-kept",
            what: "Every call's autograd graph stays, though nothing calls backward",
            advice: "The model runs with gradients on, and what it returns is kept, so that all activations stay. Run it \
                     under `torch.no_grad()` or `torch.inference_mode()`, and move what is kept to the host: \
                     `output.cpu()`.",
            own: Own::Call,
            look: "The model is called from `{}`: look at what is kept of the result.",
        },
        Cause::GraphsOfOwnCode => Words {
            code: "graphs-kept",
            what: "A graph stays with every result of a computation beside the model",
            advice: "Intermediate results stay as well, which have no name of their own: the result is kept with its \
                     autograd graph, in a list or a dictionary of metrics perhaps. Keep `result.item()` or \
                     `result.detach()`, or compute it under `torch.no_grad()`.",
            own: Own::Innermost,
            look: "It is computed at `{}`: look at what is kept of it.",
        },
        Cause::ChainedState => Words {
            code: "state-chained",
            what: "Each step's graph leads into those of all steps before it",
            advice: "A tensor is carried from step to step with its graph, such as the hidden state of a recurrent model, \
                     and backward goes through all steps so far. Call `detach()` on it between steps, and leave \
                     `retain_graph=True` out.",
            own: Own::Call,
            look: "The model is called from `{}`: look at what goes from one call into the next.",
        },
        Cause::Joined => Words {
            code: "tensor-grows",
            what: "A tensor is allocated anew each time, larger than before",
            advice: "This is what `all = torch.cat([all, new])` does: the old and the new tensor are there at once while \
                     it is copied. Move the parts to the host, keep what is needed of them, or write into a tensor that \
                     is allocated once.",
            own: Own::Innermost,
            look: "It is joined at `{}`.",
        },
        Cause::KeysAndValues => Words {
            code: "kv-cache-kept",
            what: "The cache of keys and values (KV cache) goes on from one conversation or prompt to the next",
            advice: "A cache that is passed on grows with every token of every turn. Make a new one for each request, cut \
                     it to a window (`cache.crop(max_length)`), or use a static or sliding cache of bounded length.",
            own: Own::Call,
            look: "The model is called with it from `{}`: see where `past_key_values` comes from.",
        },
        Cause::Outputs => Words {
            code: "outputs-kept",
            what: "What forward ends with stays after every step",
            advice: "Outputs of the model are kept, in a list or for a metric perhaps. Keep what is needed of them, on the \
                     host: `output.argmax(-1).cpu()`, or `output.detach().cpu()`.",
            own: Own::Call,
            look: "The model is called from `{}`: look at what is kept of the result.",
        },
        Cause::Hooked => Words {
            code: "activations-kept",
            what: "A forward hook keeps a tensor of every call",
            advice: "The module that allocates it has hooks, and single outputs stay, not a whole graph: a hook registered \
                     with `register_forward_hook` appends them to a list. Empty the list after each step, keep a small \
                     copy on the host (`output.detach().cpu()`), or remove the hook with `handle.remove()`.",
            own: Own::Innermost,
            look: "The call goes through `{}`.",
        },
        Cause::Activations => Words {
            code: "activations-kept",
            what: "Tensors of layers stay after every step",
            advice: "Something keeps what layers compute: a list, a dictionary, a cache or an attribute that their \
                     `forward` or its caller adds to. Empty it after each step, give it a bound, and keep only what is \
                     needed on the host (`x.detach().cpu()`).",
            own: Own::Innermost,
            look: "The call goes through `{}`.",
        },
        Cause::Data => Words {
            code: "batches-kept",
            what: "Tensors that the program brings to the GPU or makes there stay after every step",
            advice: "Batches or samples are kept after their step: in a list, a replay buffer, or a queue that is filled \
                     faster than it is emptied. Keep them on the host and move each to the GPU when it is used, and give \
                     the queue a bound.",
            own: Own::Innermost,
            look: "They are made or copied at `{}`: look at what refers to them later.",
        },
        Cause::Copies => Words {
            code: "copies-kept",
            what: "Copies of the model's tensors stay: each time another copy of its weights or gradients",
            advice: "Their sizes are those of the weights: a `state_dict` is copied with `copy.deepcopy` or `clone()` and \
                     kept, as for the best weights so far or an average of weights. Copy to the host, \
                     `{k: v.cpu() for k, v in model.state_dict().items()}`, and keep as few as are needed.",
            own: Own::Innermost,
            look: "They are copied at `{}`.",
        },
        Cause::Models => Words {
            code: "models-kept",
            what: "Models are made again and again, and the old ones stay with their gradients and optimizer state",
            advice: "A model is built within the loop, and something still refers to the one before: a list, an \
                     optimizer, a scheduler or a closure. Delete it and its optimizer before the next one is made, or \
                     move it to the host.",
            own: Own::Innermost,
            look: "They are made at `{}`.",
        },
        Cause::Gradients => Words {
            code: "gradients-kept",
            what: "Every step's gradients stay",
            advice: "Gradients are kept after their step, in a list perhaps. Keep a norm or a copy on the host: \
                     `p.grad.norm().item()`.",
            own: Own::Innermost,
            look: "They come from `{}`: look at what refers to them later.",
        },
        Cause::EvaluationGraphs => Words {
            code: "evaluation-graphs-kept",
            what: "The graph of every evaluation stays",
            advice: "The evaluation records a graph that nothing calls backward on, and something leads to it: a list of \
                     losses perhaps. Evaluate under `torch.no_grad()`, and keep `loss.item()`.",
            own: Own::Call,
            look: "The evaluation calls the model from `{}`: look at what is kept of the result.",
        },
        Cause::EvaluationOutputs => Words {
            code: "evaluation-outputs-kept",
            what: "Tensors of every evaluation stay",
            advice: "What the evaluation computes is kept on the GPU. Keep what is needed of it on the host.",
            own: Own::Call,
            look: "The evaluation calls the model from `{}`: look at what is kept of the result.",
        },
        Cause::OptimizerState => Words {
            code: "optimizer-state-grows",
            what: "What the optimizer allocates stays after every step",
            advice: "There is more state of one kind than there are weights: an optimizer is made anew while the old one \
                     is kept, by a scheduler or a list perhaps. Delete the old one and what refers to it, or give the \
                     same optimizer new settings.",
            own: Own::Call,
            look: "The optimizer steps at `{}`: look at where it is made.",
        },
        Cause::Numbers => Words {
            code: "numbers-kept",
            what: "A number of every step stays on the GPU",
            advice: "A loss or a metric is kept as a tensor. That is little memory, but with its graph it also keeps \
                     Python and C++ objects of every step, and `total += loss` chains them: keep `loss.item()`, or \
                     `loss.detach()`.",
            own: Own::Innermost,
            look: "It is computed at `{}`.",
        },
        Cause::OwnTensors => Words {
            code: "tensors-kept",
            what: "A tensor that the program computes stays after every step",
            advice: "Something refers to it later: a list, a dictionary or an attribute. Keep a number (`item()`) or a copy \
                     on the host (`detach().cpu()`).",
            own: Own::Innermost,
            look: "It is computed at `{}`: look at what is kept of it.",
        },
        Cause::Unknown => Words {
            code: "memory-grows",
            what: "Memory grows with every step",
            advice: "No function in the stacks tells what it is for. See which code allocates what stays, and what refers \
                     to it when a step is over.",
            own: Own::Innermost,
            look: "It is allocated at `{}`.",
        },
    }
}
