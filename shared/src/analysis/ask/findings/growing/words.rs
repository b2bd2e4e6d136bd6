//! Contains the texts for each cause of growth.

use super::super::code::FindingCode;
use super::super::own_code::Own;
use super::cause::Cause;

pub(super) struct Words {
    pub(super) code: FindingCode,
    /// Beginning of the title; `{}` stands for `step` or `call`.
    pub(super) what: &'static str,
    /// What to do, a step per line, the most useful first.
    pub(super) advice: &'static str,
    pub(super) why: &'static str,
    /// Line of the user's own code that matters.
    pub(super) own: Own,
    /// Sentence that tells where to look; `{}` stands for that line.
    pub(super) look: &'static str,
}

fn words(
    (code, own, what): (FindingCode, Own, &'static str),
    advice: &'static str,
    why: &'static str,
    look: &'static str,
) -> Words {
    Words { code, what, advice, why, own, look }
}

pub(super) fn of(cause: Cause) -> Words {
    match cause {
        Cause::Graphs => words(
            (FindingCode::GraphsKept, Own::Call, "Every {}'s autograd graph stays"),
            "Store ``loss.item()`` or `loss.detach()` instead of `loss`, and `output.detach()` instead of `output`.\n\
             If no backward pass follows, compute the value under ``with torch.no_grad():``.",
            "A tensor that is kept after the step, as by `losses.append(loss)`, `total += loss` or `buffer[i] = output`, keeps \
             its autograd graph alive, and the graph keeps the activations. The backward pass frees only the graphs that it goes \
             through.",
            "The model is called from `{}`: check what the code keeps of the result.",
        ),
        Cause::RetainedGraphs => words(
            (FindingCode::GraphsKept, Own::Call, "Every {}'s autograd graph stays"),
            "Store ``loss.item()`` or `loss.detach()` instead of `loss`, and `output.detach()` instead of `output`.\n\
             Remove `retain_graph=True` from the last `backward()`.",
            "Everything that the forward pass saved for backward is still alive after the step. Either `backward()` \
             ran with `retain_graph=True`, or it never ran, and a tensor that leads to the graph is kept, such as a \
             loss or an output in a list.",
            "The model is called from `{}`: check what the code keeps of the result.",
        ),
        Cause::GraphsOfInference => words(
            (FindingCode::GraphsKept, Own::Call, "Every {}'s graph stays, although nothing calls backward"),
            "Run the model under ``with torch.inference_mode():`` or `torch.no_grad()`.\n\
             Move the outputs that you keep to host memory: ``output.cpu()``.",
            "The model runs with gradients enabled, so every output that is kept keeps its autograd graph alive, and \
             the graph keeps all activations.",
            "The model is called from `{}`: check what the code keeps of the result.",
        ),
        Cause::GraphsOfOwnCode => words(
            (FindingCode::GraphsKept, Own::Innermost, "Results outside the model keep their graphs"),
            "Store ``result.item()`` or `result.detach()` instead of `result`.\n\
             Or compute it under ``with torch.no_grad():``.",
            "Intermediate results that no variable refers to stay alive too, so the result is kept with its autograd \
             graph, perhaps in a list or in a dictionary of metrics.",
            "The result is computed at `{}`: check what the code keeps of it.",
        ),
        Cause::GraphsOfGradients => words(
            (FindingCode::GraphsKept, Own::Call, "Every {}'s graph and that of its gradients stay"),
            "Store ``penalty.item()`` or `penalty.detach()` of what is computed from gradients.\n\
             Set `create_graph=True` only if the gradients are differentiated again, and then use \
             `torch.autograd.grad` instead of `backward()`.",
            "Tensors of the backward pass stay together with those of the forward pass, as `create_graph=True` makes \
             them part of the graph. `backward(create_graph=True)` also leaves a reference cycle between each weight \
             and its gradient.",
            "The model is called from `{}`: check what the code keeps of the gradients.",
        ),
        Cause::ChainedState => words(
            (FindingCode::StateChained, Own::Call, "Each {}'s graph extends through all earlier {}s"),
            "Detach the tensor that is carried from step to step: ``hidden = hidden.detach()``.\n\
             Then remove `retain_graph=True` from `backward()`.",
            "A tensor is carried from step to step with its graph, such as the hidden state of a recurrent model, so \
             the backward pass goes through all steps so far.",
            "The model is called from `{}`: check what one call passes to the next.",
        ),
        Cause::Joined => words(
            (FindingCode::TensorGrows, Own::Innermost, "A growing tensor is copied into a larger one every {}"),
            "Collect the parts in host memory: ``parts.append(new.cpu())``.\n\
             Or allocate one tensor of the final size and write into it.\n\
             Keep only what you need of the parts.",
            "`all = torch.cat([all, new])` does this: the old and the new tensor are both in memory while the data is \
             copied.",
            "The larger copy is allocated at `{}`.",
        ),
        Cause::KeysAndValues => words(
            (FindingCode::KvCacheKept, Own::Call, "The KV cache is kept from one prompt to the next"),
            "Create a new cache for each request, and keep of its result only the tokens, without `past_key_values`.\n\
             Or limit its length: crop it with ``cache.crop(max_length)``, or use a static or sliding-window cache.",
            "A cache that is passed on grows with every token of every turn.",
            "The model is called with the cache from `{}`: check where `past_key_values` comes from.",
        ),
        Cause::Outputs => words(
            (FindingCode::OutputsKept, Own::Call, "The model's outputs stay after every {}"),
            "Keep only what you need of each output, in host memory: ``output.argmax(-1).cpu()`` or \
             `output.detach().cpu()`.",
            "Something keeps the outputs after they were used, perhaps a list or a metric.",
            "The model is called from `{}`: check what the code keeps of the result.",
        ),
        Cause::Hooked => words(
            (FindingCode::ActivationsKept, Own::Innermost, "A forward hook keeps a tensor of every call"),
            "Store a small copy in host memory (``output.detach().cpu()``), and empty the hook's list after each \
             step.\n\
             Remove the hook when you no longer need it: ``handle.remove()``.",
            "The module that allocates the tensors has hooks, and single outputs stay alive, not a whole graph. A hook \
             registered with `register_forward_hook` typically appends them to a list.",
            "The call goes through `{}`.",
        ),
        Cause::OfFunction => words(
            (FindingCode::ActivationsKept, Own::Innermost, "An autograd function keeps tensors of every {}"),
            "Save tensors by ``ctx.save_for_backward(x)``: backward frees them, but not the attributes of `ctx`.\n\
             Store ``loss.item()`` or `loss.detach()` instead of `loss`, so that nothing keeps the function's node.",
            "Backward frees all others of the same pass. The function's node keeps what `forward` stores as `ctx.x = \
             x`, and a loss or an output that is kept with its graph keeps the node.",
            "The tensors are allocated at `{}`.",
        ),
        Cause::Activations => words(
            (FindingCode::ActivationsKept, Own::Innermost, "Activations of layers stay after every {}"),
            "Keep only what you need, in host memory: ``x.detach().cpu()``.\n\
             Empty the container that keeps the activations after each step, or limit its size.",
            "The `forward` of these layers, or its caller, adds the activations to a list, a dictionary, a cache or an \
             attribute.",
            "The call goes through `{}`.",
        ),
        Cause::Data => words(
            (FindingCode::BatchesKept, Own::Innermost, "Batches or other inputs stay after every {}"),
            "Keep batches in host memory, and move each one to the GPU when it is used.\n\
             Limit the size of queues and replay buffers.",
            "Batches or samples are kept after they were used: in a list, in a replay buffer, or in a queue that fills \
             faster than it empties.",
            "The tensors are created or copied at `{}`: check what refers to them later.",
        ),
        Cause::Copies => words(
            (FindingCode::CopiesKept, Own::Innermost, "Every {} leaves copies of weights or gradients"),
            "Keep only the newest copy of each weight, or as few as you need.\n\
             Keep copies in host memory: ``{k: v.cpu() for k, v in model.state_dict().items()}``.",
            "The kept tensors have the sizes of the weights, or half or twice as much: something copies or casts them \
             after each update and keeps the copies, such as the best weights so far, an average of weights, or a \
             cache of weights in another dtype.",
            "The copies are made at `{}`.",
        ),
        Cause::Models => words(
            (FindingCode::ModelsKept, Own::Innermost, "New models are created while the old ones stay"),
            "Delete the old model and its optimizer before you create the next: ``del model, optimizer``.\n\
             Or move the old model to host memory: ``model.cpu()``.\n\
             If they are parts that are added to one model, as adapters are, reuse or merge those that are there.",
            "A model is created inside the loop, and something still refers to the previous one: a list, an optimizer, \
             a scheduler or a closure.",
            "The models are created at `{}`.",
        ),
        Cause::Adapters => words(
            (FindingCode::ModelsKept, Own::Innermost, "Every {} adds an adapter to the model"),
            "Delete adapters that you no longer need: ``model.delete_adapter(name)``.\n\
             Keep a limited number of them, and delete the one that was unused for longest.",
            "`set_adapter` chooses which adapter runs and frees no other one.",
            "The adapters are added at `{}`.",
        ),
        Cause::Gradients => words(
            (FindingCode::GradientsKept, Own::Innermost, "Every {}'s gradients stay"),
            "Store the norm of each gradient: ``p.grad.norm().item()``.\n\
             Or store a copy in host memory: ``p.grad.cpu()``.",
            "Something keeps the gradients after the step: a list, or a hook that `register_hook` or \
             `register_full_backward_hook` has added.",
            "The gradients come from `{}`: check what refers to them later.",
        ),
        Cause::EvaluationGraphs => words(
            (FindingCode::EvaluationGraphsKept, Own::Call, "The graph of every evaluation stays"),
            "Run the evaluation under ``with torch.no_grad():``.\n\
             Store ``loss.item()`` instead of `loss`.",
            "The evaluation records an autograd graph although nothing calls backward, and something keeps the graph \
             alive, perhaps a list of losses.",
            "The evaluation calls the model from `{}`: check what the code keeps of the result.",
        ),
        Cause::EvaluationOutputs => words(
            (FindingCode::EvaluationOutputsKept, Own::Call, "Tensors of every evaluation stay"),
            "Keep only what you need of the results, in host memory: ``output.cpu()``.",
            "Something keeps the results of the evaluation on the GPU.",
            "The evaluation calls the model from `{}`: check what the code keeps of the result.",
        ),
        Cause::OptimizerState => words(
            (FindingCode::OptimizerStateGrows, Own::Call, "The optimizer's state grows with every {}"),
            "Keep one optimizer and change its settings (`optimizer.param_groups`).\n\
             Or delete the old optimizer, and everything that refers to it, before you create a new optimizer.",
            "There is more state of one kind than there are weights: a new optimizer is created while the old one is \
             kept, perhaps by a scheduler or a list.",
            "The optimizer steps at `{}`: check where it is created.",
        ),
        Cause::Numbers => words(
            (FindingCode::NumbersKept, Own::Innermost, "A scalar tensor of every {} stays on the GPU"),
            "Store ``loss.item()`` or `loss.detach()` instead of `loss`; if it is detached already, nothing has to be \
             done.",
            "A loss or a metric is kept as a tensor. It takes little GPU memory, but with a graph it also keeps Python \
             and C++ objects of every step, and `total += loss` chains the graphs of all steps.",
            "The value is computed at `{}`.",
        ),
        Cause::OwnTensors => words(
            (FindingCode::TensorsKept, Own::Innermost, "A computed tensor stays after every {}"),
            "Keep only what you need of it, in host memory: ``x.detach().cpu()``, or a number such as \
             `x.mean().item()`.\n\
             If it is computed for no gradient, compute it under ``with torch.no_grad():``.",
            "Something keeps the tensor: a list, a dictionary or an attribute.",
            "The tensor is computed at `{}`: check what the code keeps of it.",
        ),
        Cause::Unknown => words(
            (FindingCode::MemoryGrows, Own::Innermost, "Memory grows with every {}"),
            "[show] Find the code that allocates this memory, and check what still refers to it when a step is over.",
            "No function in the stacks shows what the memory is for.",
            "The memory is allocated at `{}`.",
        ),
    }
}
