//! Builds findings on out-of-memory errors of frameworks other than PyTorch.

use crate::printed::framework::{COMPUTING, IMAGE, KV_CACHE, ON_METAL, WEIGHTS};
use crate::printed::{Framework, FrameworkOom, OomCause, Repeated};
use shared::analysis::{Confidence, FindingCode, title_of_parts};
use shared::base::{Severity, format};
use shared::report::{Finding, HOST, LogOwner, LogOwners, NO_DEVICE};

/// A program that needs less than 1 GiB fills no GPU by itself.
const SMALL_PROGRAM_BYTES: u64 = 1 << 30;

/// Said of a text without figures.
pub(super) const UNKNOWN: &str = "The text does not state how much memory was free, nor who held the rest.";

/// A buffer for computing beyond 64 GiB fits on no GPU that has a model on it.
const FAR_TOO_LARGE: u64 = 64 << 30;

pub(super) fn out_of_memory(repeated: &Repeated<FrameworkOom>) -> Finding {
    let Repeated { error: oom, place, count } = repeated;
    let line = place.clone();
    let at = line.as_ref().map_or_else(String::new, |line| format!(" in {}", line.place()));
    let tensor = if oom.tensor.is_empty() { String::new() } else { format!(", a tensor of shape {}", oom.tensor) };
    let times = if *count > 2 { format!(", printed {}", format::counted(*count, "time")) } else { String::new() };
    let stated = Finding::stated(
        if oom.is_host { FindingCode::HostOutOfMemory } else { FindingCode::OutOfMemory },
        if oom.is_host { HOST } else { oom.gpu.map_or(NO_DEVICE, i64::from) },
        oom.asked_bytes.unwrap_or(0),
        title_of_parts(&title(oom), [tensor, at, times]),
        shape(oom) + &shows(oom),
        layers(oom) + &advice(oom),
    );
    let confidence = if oom.cause().is_some() { Confidence::High } else { Confidence::Low };
    let severity = match (oom.is_spared, beyond_metal(oom)) {
        (true, _) => Severity::Info,
        (false, Some(_)) => Severity::Warning,
        (false, None) => Severity::Error,
    };
    Finding { severity, confidence, line, ..stated }
}

fn layers(oom: &FrameworkOom) -> String {
    let told = |layers| format!("Leave `num_gpu` out, or set it to {layers}: Ollama found room for so many layers.\n");
    oom.fitting_layers.map_or_else(String::new, told)
}

/// Says the shape of the tensor, for which a title may have no room.
fn shape(oom: &FrameworkOom) -> String {
    if oom.tensor.is_empty() { String::new() } else { format!("The tensor has the shape {}. ", oom.tensor) }
}

/// Returns what is held and what Metal recommends, if that is less.
fn beyond_metal(oom: &FrameworkOom) -> Option<(u64, u64)> {
    let is_on_metal = matches!(oom.framework, Framework::LlamaCpp | Framework::Mlx);
    oom.in_use_bytes.zip(oom.capacity_bytes).filter(|(used, most)| is_on_metal && used > most)
}

/// Returns the memory at the failure by owner; `None` if the figures do not tell it.
pub(super) fn owners(oom: &FrameworkOom) -> Option<LogOwners> {
    let owner = |name: &str, bytes: u64| LogOwner { name: name.to_owned(), bytes };
    let total_bytes = oom.program_bytes();
    if total_bytes > 0 {
        let parts = oom.program.iter().map(|(name, bytes)| owner(name, *bytes)).collect();
        return Some(LogOwners { title: "Compiled program".to_owned(), capacity_bytes: total_bytes, parts });
    }
    let (capacity_bytes, in_use) = oom.capacity_bytes.zip(oom.in_use_bytes).filter(|_| beyond_metal(oom).is_none())?;
    let free = capacity_bytes.saturating_sub(in_use);
    let title = match (oom.framework, oom.gpu) {
        (Framework::Paddle, gpu) => format!("GPU {}", gpu.unwrap_or(0)),
        (framework, Some(gpu)) => format!("{}'s pool on GPU {gpu}", framework.name()),
        (framework, None) => format!("{}'s pool", framework.name()),
    };
    let Some((arrays, cached)) = oom.pool_bytes else {
        return Some(LogOwners { title, capacity_bytes, parts: vec![owner("in use", in_use), owner("free", free)] });
    };
    let parts = vec![
        owner("arrays", arrays),
        owner("CUDA.jl's cache", cached),
        owner("outside its pool", in_use.saturating_sub(arrays)),
        owner("free", free.saturating_sub(cached)),
    ];
    Some(LogOwners { title: "The GPU".to_owned(), capacity_bytes, parts })
}

fn title(oom: &FrameworkOom) -> String {
    let name = oom.framework.name();
    if oom.is_spared && oom.framework == Framework::CudaJl {
        return format!("{name} found no room and freed arrays that nothing refers to: no failure");
    }
    if oom.is_spared {
        let asked = oom.asked_bytes.map_or_else(|| "memory".to_owned(), format::bytes);
        return format!("{name} found no room for {asked} and went on without it: no failure");
    }
    if let Some((used, most)) = beyond_metal(oom) {
        return format!("{name} takes {} where Metal recommends at most {}", format::bytes(used), format::bytes(most));
    }
    if let Some(bytes) = oom.asked_bytes.filter(|_| oom.is_limited) {
        let operation = if oom.operation.is_empty() { String::new() } else { format!(", for {}", oom.operation) };
        return format!("The driver allows no buffer of {} ({name}{operation})", format::bytes(bytes));
    }
    let device = match (oom.is_host, oom.gpu) {
        (true, _) => "The host".to_owned(),
        (false, Some(gpu)) => format!("GPU {gpu}"),
        // The framework is the only one that is known to have no memory.
        (false, None) => return format!("{name} ran out of memory{}", asked(oom, "")),
    };
    format!("{device} ran out of memory{}", asked(oom, name))
}

/// Returns what was requested and by what, as the rest of a title.
fn asked(oom: &FrameworkOom, framework: &str) -> String {
    let by = if framework.is_empty() { String::new() } else { format!(" by {framework}") };
    let operation = if oom.operation.is_empty() { String::new() } else { format!(" for {}", oom.operation) };
    match oom.asked_bytes {
        Some(bytes) if oom.cause() == Some(OomCause::Absurd) && bytes < 1 << 53 => {
            format!(": {} was requested{by}{operation}, more than any GPU has", format::bytes(bytes))
        }
        _ if oom.cause() == Some(OomCause::Absurd) => format!(": an impossible size was requested{by}{operation}"),
        Some(bytes) if is_tpu(oom) => format!(": the program needs {}", format::bytes(bytes)),
        Some(bytes) => format!(": {} was requested{by}{operation}", format::bytes(bytes)),
        None if by.is_empty() => operation,
        None => format!(": memory was requested{by}{operation}"),
    }
}

/// Returns true if a compiled program does not fit on a TPU, of which only the message states the capacity.
fn is_tpu(oom: &FrameworkOom) -> bool {
    oom.framework == Framework::Xla && oom.capacity_bytes.is_some()
}

fn shows(oom: &FrameworkOom) -> String {
    let name = oom.framework.name();
    let program = oom.program_bytes();
    if beyond_metal(oom).is_some() {
        return "Beyond that, macOS swaps, and the GPU may refuse to compute.".to_owned();
    }
    match (oom.capacity_bytes, oom.in_use_bytes, oom.free_bytes) {
        (Some(capacity), _, _) if is_tpu(oom) => {
            let largest = oom.largest.as_ref().map_or_else(String::new, |(bytes, shape)| {
                format!(" Its largest allocation is {}, {shape}.", format::bytes(*bytes))
            });
            format!("The memory of the TPU that programs can use is {}.{largest}", format::bytes(capacity))
        }
        (Some(capacity), Some(in_use), Some(free)) => format!(
            "Of the GPU's {}, {} was in use, by {name} or by other processes, and {} was free.",
            format::bytes(capacity),
            format::bytes(in_use),
            format::bytes(free)
        ),
        _ if oom.collected_bytes.is_some() => format!(
            "A collection freed {} of the {} that arrays took.",
            format::bytes(oom.collected_bytes.unwrap_or(0)),
            format::bytes(oom.pool_bytes.map_or(0, |(arrays, _)| arrays))
        ),
        (Some(capacity), Some(in_use), None) => format!(
            "Of the {} that {name} may use, {} was in use and {} was free.",
            format::bytes(capacity),
            format::bytes(in_use),
            format::bytes(capacity.saturating_sub(in_use))
        ),
        (Some(most), ..) if oom.framework == Framework::Mlx => {
            format!("Metal allows no buffer above {} on this machine.", format::bytes(most))
        }
        (Some(free), ..) => format!("Of the memory that {name} may use, {} was left.", format::bytes(free)),
        (None, Some(held), None) if oom.asked_bytes > Some(held.saturating_mul(10)) => {
            format!("{name} itself held only {}: it is this one request that finds no room.", format::bytes(held))
        }
        (None, Some(held), None) => format!(
            "{name} itself held {}; the rest of the GPU was in use by others, or the GPU has no more.",
            format::bytes(held)
        ),
        (None, None, Some(free)) if oom.is_host => {
            format!("{} was available to it.", format::bytes(free))
        }
        (None, None, Some(free)) => format!("{} of the GPU was free.", format::bytes(free)),
        _ if program >= SMALL_PROGRAM_BYTES => {
            format!("The program that was to run needs {} in all.", format::bytes(program))
        }
        _ if program > 0 => format!(
            "The program that was to run needs only {} in all, so that something else fills the memory: arrays that are \
             still referred to, or other processes.",
            format::bytes(program)
        ),
        _ => UNKNOWN.to_owned(),
    }
}

fn advice(oom: &FrameworkOom) -> String {
    let text = match (oom.framework, oom.cause()) {
        (Framework::CudaJl, _) if oom.is_spared => {
            "Nothing has to be done, but each collection takes time. Free arrays where a step ends: \
             ``CUDA.unsafe_free!(x)``, or ``GC.gc(false)`` now and then.\n\
             Or let it collect earlier: `JULIA_CUDA_SOFT_MEMORY_LIMIT`.\n\n\
             Julia frees an array on the GPU only when it collects garbage, which the GPU's memory does not make it do."
        }
        (Framework::LlamaCpp, _) if oom.is_spared => {
            "Nothing has to be done: it computes without copies of its inputs, by which GPUs work at the same time.\n\
             To have them, use smaller batches: `--ubatch-size`."
        }
        _ if oom.is_spared => {
            "Nothing has to be done: the operation takes a slower algorithm that needs less memory.\n\
             For the faster one, leave more memory free: a smaller batch, or a larger share of the GPU."
        }
        _ if beyond_metal(oom).is_some() => {
            "Use a smaller model or one in fewer bits, or a shorter context (`--ctx-size`).\n\
             In llama.cpp, keep fewer layers on the GPU: `--n-gpu-layers`.\n\
             On macOS 15 and later, ``sudo sysctl iogpu.wired_limit_mb=…`` lets the GPU have more of the machine's memory."
        }
        (Framework::OnnxRuntime, Some(OomCause::Absurd)) => {
            "Look at the shapes that the operation gets: one of them may be negative, have overflowed, or not be the one that \
             was meant.\nIf they are right, a library named the size: update ONNX Runtime and cuDNN, let convolutions do with \
             less (`cudnn_conv_use_max_workspace=0`), and try it with one process on the GPU."
        }
        (_, Some(OomCause::Absurd)) if oom.operation != COMPUTING => {
            "Look at the shapes that the operation gets: one of them is negative, has overflowed, or is not the one that \
             was meant."
        }
        (Framework::TensorFlow, Some(OomCause::Fragmentation)) => {
            "Set ``TF_GPU_ALLOCATOR=cuda_malloc_async``: enough of TensorFlow's memory was free, but not in one piece, and \
             that allocator can combine pieces.\nBatches of one size also help, since freed memory then fits again."
        }
        (Framework::TensorFlow, _) if oom.is_host => {
            "Use smaller batches and fewer parallel calls and prefetched elements in `tf.data`, and do not `cache()` a \
             dataset that is larger than the host's memory.\n``snapscope host -- python train.py`` shows which processes climb."
        }
        (Framework::TensorFlow, Some(OomCause::TooLarge)) => {
            "Split the operation into parts (a smaller batch, tiles, chunks): this one request is larger than all \
             that TensorFlow may use.\nIf the GPU has much more memory than that, another process held it when TensorFlow started \
             (`nvidia-smi` lists processes), or the program sets a limit of its own."
        }
        (Framework::TensorFlow, _) => {
            "Use a smaller batch or smaller inputs.\nOr use half precision: \
             ``tf.keras.mixed_precision.set_global_policy(\"mixed_float16\")``.\nOr use `tf.recompute_grad` for large \
             blocks.\nTensorFlow takes what is free when it starts: if its limit is well below the GPU's memory, end other \
             processes first (`nvidia-smi` lists them, forgotten notebooks among them)."
        }
        (Framework::Xla, _) if is_tpu(oom) && oom.largest.is_some() => {
            "Avoid the largest allocation first: compute attention in blocks, a loss in chunks, and recompute activations \
             (`jax.checkpoint`).\nOr shard the model or the batch over more cores, or use a smaller batch or `bfloat16`."
        }
        (Framework::Xla, _) if is_tpu(oom) => {
            "Shard the model or the batch over more cores, use a smaller batch or `bfloat16`, or recompute activations \
             (`jax.checkpoint`), and compute attention in blocks.\nThe whole message of XLA lists the program's \
             largest allocations with the lines of code that they come from."
        }
        (Framework::Xla, _) if (1..SMALL_PROGRAM_BYTES).contains(&oom.program_bytes()) => {
            "See who holds the GPU: ``nvidia-smi``; JAX reserves most of it when it starts, so that each process needs a share \
             of its own (`XLA_PYTHON_CLIENT_MEM_FRACTION`).\n\
             Take results to the host as they come (`jax.device_get`), and delete arrays that are no longer needed.\n\
             [record] To see which arrays are live, call ``jax.profiler.save_device_memory_profile(\"memory.prof\")`` before \
             the failing line, and read that file by `pprof`."
        }
        (Framework::Xla, _) => {
            "Use a smaller batch, `bfloat16`, `jax.checkpoint` for large blocks, and `donate_argnums` for arrays that a step \
             replaces.\n[record] To see which arrays are live and where they come from, call \
             ``jax.profiler.save_device_memory_profile(\"memory.prof\")`` before the failing line, and read that file by \
             `pprof`.\nIf other processes use the GPU, end them or set `XLA_PYTHON_CLIENT_MEM_FRACTION` for each, because JAX \
             reserves most of the GPU when it starts."
        }
        (Framework::Paddle, _) => {
            "Look for other processes with `nvidia-smi`, whose memory the message counts too, and end those that are not \
             needed, or choose another GPU by `CUDA_VISIBLE_DEVICES`.\nOtherwise use a smaller batch or smaller images, half \
             precision (`paddle.amp.auto_cast`), or `paddle.distributed.fleet.utils.recompute` for large blocks."
        }
        (Framework::OnnxRuntime, _) => {
            "Use a smaller batch or smaller inputs, and fewer threads and sessions at a time: each session has a pool of its \
             own, which it never gives back.\nOn a GPU, set `arena_extend_strategy` to `kSameAsRequested` so that pools grow by no more than is needed, and \
             `gpu_mem_limit` so that sessions can share it; where shapes vary, set `enable_mem_pattern = False`.\n\nThe message does not say \
             whether the pool is of the GPU or of the host."
        }
        (Framework::LlamaCpp, _) if oom.operation == IMAGE => {
            "Send smaller images, or limit what is made of one: `--image-max-tokens`.\n\
             If the GPU is too small for it, keep the encoder on the host: `--no-mmproj-offload`.\n\
             Update llama.cpp: later versions encode some models' images with less.\n\n\
             The encoder looks at all pairs of an image's patches: the model and its context have no part in it."
        }
        (Framework::LlamaCpp, _) if oom.is_limited && oom.operation != COMPUTING => {
            "Let llama.cpp split the weights into smaller buffers: ``GGML_VK_FORCE_MAX_ALLOCATION_SIZE=1073741824``.\n\
             Make the buffer for computing smaller: smaller batches (`--ubatch-size`), `--flash-attn`, a shorter \
             context (`--ctx-size`).\n\nThe driver allows no single buffer of this size, even if more memory is free."
        }
        (Framework::LlamaCpp, _) if oom.operation == ON_METAL => {
            "Use a smaller quantization of the model, or a shorter context (`--ctx-size`, `num_ctx`).\n\
             Close other programs, which share the memory, or keep fewer layers on the GPU: `--n-gpu-layers`, in Ollama \
             `num_gpu`.\n\
             On macOS 15 and later, ``sudo sysctl iogpu.wired_limit_mb=…`` lets the GPU have more of it.\n\n\
             macOS lets a GPU have about two thirds of a small machine's memory, three quarters of a large one's. What \
             is computed after a failed command is garbage."
        }
        (Framework::LlamaCpp, _) if oom.is_host => {
            "Shorten the context (`--ctx-size`): unless it is set, it is the longest that the model knows, for each process.\n\
             Quantize its cache (`--cache-type-k q8_0`, `--cache-type-v q8_0`) with `--flash-attn`.\n\
             Use a smaller quantization of the model, or serve all requests from one process."
        }
        (Framework::LlamaCpp, _) if oom.operation == WEIGHTS => {
            "Keep fewer layers on the GPU: `--n-gpu-layers`, in Ollama `num_gpu`; of a mixture of experts, keep the experts on \
             the host (`--n-cpu-moe`).\nUse a smaller quantization of the model.\nSpread the layers by `--tensor-split` if other \
             GPUs have room.\n\nThe context has no part in it: its cache comes later."
        }
        (Framework::LlamaCpp, _) if oom.operation == KV_CACHE => {
            "Shorten the context (`--ctx-size`, `num_ctx`), or let fewer requests run at a time (`--parallel`).\nQuantize the \
             cache (`--cache-type-k q8_0`, `--cache-type-v q8_0`) with `--flash-attn`.\nKeep it on the host: `--no-kv-offload`.\n\
             Or keep fewer layers on the GPU (`--n-gpu-layers`): the rest of the cache goes with them."
        }
        (Framework::LlamaCpp, _)
            if oom.operation == COMPUTING && (oom.is_limited || oom.asked_bytes > Some(FAR_TOO_LARGE)) =>
        {
            "Use smaller batches: `--ubatch-size`, which this buffer grows with.\nUse `--flash-attn`, without which it grows with \
             the context, too, and shorten that (`--ctx-size`).\nWith several GPUs, build it with one copy of its inputs: \
             `-DGGML_SCHED_MAX_COPIES=1`."
        }
        (Framework::LlamaCpp, _) if oom.operation == COMPUTING => {
            "Use smaller batches: `--ubatch-size`, which this buffer grows with.\nUse `--flash-attn`, without which it grows with \
             the context, too, and shorten that (`--ctx-size`).\nOr keep fewer layers on the GPU: `--n-gpu-layers`."
        }
        (Framework::LlamaCpp, _) => {
            "Keep fewer layers on the GPU: `--n-gpu-layers`, in Ollama `num_gpu`.\nShorten the context (`--ctx-size`, \
             `num_ctx`), or quantize its cache (`--cache-type-k q8_0`, `--cache-type-v q8_0`) with `--flash-attn`.\nUse a \
             smaller quantization of the model, or smaller batches (`--ubatch-size`).\nSpread the layers by \
             `--tensor-split` if other GPUs have room."
        }
        (Framework::Ollama, _) => {
            "Choose a smaller model, or a smaller quantization of it.\nShorten the context (`num_ctx`), or quantize its \
             cache: ``OLLAMA_KV_CACHE_TYPE=q8_0``.\nSee which models it still has: ``ollama ps``, and ``ollama stop`` ends one.\nEnd \
             other programs, or give the container or the virtual machine more \
             memory.\n\nWhat is not on the GPU has to fit in the host's memory."
        }
        (Framework::Cupy, _)
            if oom.in_use_bytes.is_some_and(|held| oom.asked_bytes > Some(held.saturating_mul(10))) =>
        {
            "Compute it in blocks, such as some rows at a time, and keep of each only what is needed: this is one array.\n\
             Use smaller types where they are exact enough: `float32` or `float16` instead of `float64`."
        }
        (Framework::Cupy, _) => {
            "Free what CuPy keeps in its pool before others need it: \
             ``cupy.get_default_memory_pool().free_all_blocks()``.\nLet PyTorch and CuPy share one pool: \
             ``pytorch_pfn_extras.cuda.use_torch_mempool_in_cupy()``, or limit CuPy's by \
             `CUPY_GPU_MEMORY_LIMIT`.\nCompute in chunks."
        }
        (Framework::CudaJl, Some(OomCause::TooLarge)) => {
            "Compute in parts: this one array is larger than the GPU's memory.\nUse smaller types where they are exact \
             enough: `Float32` or `Float16` instead of `Float64`."
        }
        (Framework::CudaJl, _) => {
            "Compute in parts, or use smaller types, such as `Float32` instead of `Float64`.\nFree arrays that are no longer \
             needed at once: ``CUDA.unsafe_free!(x)``. Julia's garbage collector does not see how large they are on the \
             GPU.\nSet the results of earlier lines to `nothing`, then call ``GC.gc(); CUDA.reclaim()``.\nEnd other processes on \
             the GPU: ``nvidia-smi`` lists them."
        }
        (Framework::Mlx, _) if oom.asked_bytes.is_none() => {
            "Use less at once: a smaller batch, shorter prompts, a quantized model.\nLimit what MLX keeps: \
             ``mx.set_cache_limit(0)``, and `mx.set_memory_limit`.\nClose programs that use the GPU or much memory. On \
             macOS 15 and later, ``sudo sysctl iogpu.wired_limit_mb=…`` lets the GPU have more of the machine's memory."
        }
        (Framework::Mlx, _) => {
            "Compute in chunks: a smaller batch, shorter \
             prompts or a smaller `prefill_step_size`, and `mx.fast.scaled_dot_product_attention` instead of the matrix of \
             all pairs.\n\nNo setting helps, since this one array is larger than Metal allows."
        }
    };
    text.to_owned()
}

#[cfg(test)]
mod tests;
