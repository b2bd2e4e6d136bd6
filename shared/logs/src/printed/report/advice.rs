//! Writes the advice on out-of-memory errors of PyTorch: by their cause, and by what the program did.

use super::counted::{MUCH_UNUSED, RECORD};
use crate::engine::{EngineOptions, options_of};
use crate::printed::{Age, Call, Holder, Oom, OomApi, OomCause, Printed, Work};
use shared::base::format;

/// Returns how PyTorch comes to use the memory that it holds in pieces.
fn combine(oom: &Oom, is_windows: bool) -> String {
    let (_, variable) = oom.api.of_torch();
    match oom.age {
        Age::WithoutSettings => format!(
            "Update PyTorch: since 2.1, ``{variable}=expandable_segments:True`` lets it combine its unused memory. This version \
             (1.3 or older, by the words of its message) has no settings for that"
        ),
        // Expandable segments need addresses that the driver reserves, which PyTorch does on Linux alone.
        _ if is_windows => format!(
            "Set ``{variable}=backend:cudaMallocAsync`` (PyTorch 2.0 or later): the driver can then combine unused memory; on \
             Windows, PyTorch has no expandable segments"
        ),
        Age::WithoutExpandable => format!(
            "Update PyTorch to 2.1 or later and set ``{variable}=expandable_segments:True``: it can then combine its unused \
             memory. Until then, ``{variable}=max_split_size_mb:128`` keeps large blocks whole"
        ),
        Age::Current => {
            format!("Set ``{variable}=expandable_segments:True``: PyTorch can then combine its unused memory")
        }
    }
}

/// Names the processes of others that the message names.
pub(super) fn pids(oom: &Oom) -> String {
    let own = oom.own_among_others();
    let others = oom.others.iter().filter(|holder| Some(**holder) != own);
    let named: Vec<String> =
        others.map(|Holder { pid, bytes }| format!("process {pid} has {}", format::bytes(*bytes))).collect();
    if named.is_empty() { String::new() } else { format!(": {}", named.join(", ")) }
}

/// Returns where to look if the message does not say who holds the memory.
pub(super) fn unknown_holder(oom: &Oom, cause: OomCause, printed: &Printed) -> String {
    let is_known = oom.allocated_bytes.or(oom.process_bytes).is_some() || !oom.others.is_empty();
    // An engine fills its share by itself.
    let is_open = matches!(cause, OomCause::Full | OomCause::Unknown) && !is_known && printed.engine.is_none();
    let used = oom.capacity_bytes.zip(oom.free_bytes).and_then(|(capacity, free)| capacity.checked_sub(free));
    used.filter(|_| is_open).map_or_else(String::new, |used| {
        let list = oom.api.tools().0;
        format!("See who holds the other {}, which the message does not say: ``{list}``.\n", format::bytes(used))
    })
}

/// Returns where there is room, if the text has a table of GPUs.
pub(super) fn idle(oom: &Oom, cause: OomCause, printed: &Printed) -> String {
    let is_wanted = matches!(cause, OomCause::Full | OomCause::Others);
    let gpu = printed.idle_gpu.filter(|gpu| is_wanted && oom.gpu.unwrap_or(0) != *gpu);
    gpu.map_or_else(String::new, |gpu| {
        format!(
            "Use the GPU that is nearly empty, GPU {gpu}: spread the model (`device_map=\"auto\"`), or choose it by \
             `CUDA_VISIBLE_DEVICES={gpu}`.\n"
        )
    })
}

pub(super) fn advice(oom: &Oom, cause: OomCause, printed: &Printed) -> String {
    let engine = printed.engine;
    let combine = combine(oom, printed.is_windows);
    let is_inference = oom.work == Work::Inference;
    let avoid = if oom.call == Call::Attention {
        "attention whose kernel spares the matrix of all pairs: 16 bits, no mask of its own, a head size and a device that \
         FlashAttention takes"
    } else if is_inference {
        "attention without the matrix of all pairs (`scaled_dot_product_attention`), `float16` instead of `float32`, or an \
         output on the host that is put together from parts"
    } else {
        "attention without the matrix of all pairs (`scaled_dot_product_attention`), a loss in chunks, `float16` instead of \
         `float32`"
    };
    let (list, choose) = oom.api.tools();
    // AMD's own tools are for Linux.
    let list = if printed.is_windows && oom.api == OomApi::Hip { "Task Manager" } else { list };
    let missing = oom.asked_bytes.unwrap_or(0).saturating_sub(oom.free_bytes.unwrap_or(0));
    let record = match oom.api {
        OomApi::Cuda | OomApi::Hip => format!("\n{RECORD}"),
        OomApi::Npu => format!("\n{}", RECORD.replace("torch.cuda", "torch_npu.npu")),
        OomApi::Xpu => format!("\n{}", RECORD.replace("torch.cuda", "torch.xpu")),
        // Metal's allocator records no history, and Moore Threads' is not known.
        OomApi::Mps | OomApi::Musa => String::new(),
    };
    let told = of_call(oom.call);
    let pool = if oom.api == OomApi::Hip {
        "If the GPU is a part of the processor and should have more: update ROCm and PyTorch, which may count only the memory \
         that the firmware has left to the system. Or leave the GPU little there, and raise what it may borrow \
         (`ttm.pages_limit`, `amdgpu.gttsize`).\n"
    } else {
        ""
    };
    match cause {
        OomCause::Absurd => {
            "Look at the sizes that the failing line computes: one of them is negative, has overflowed, \
                             or is not the one that was meant.\nPrint the shapes of its inputs."
                .to_owned()
        }
        OomCause::Full | OomCause::Fragmentation | OomCause::Unknown if oom.call.is_all() => {
            format!("{}{record}", told.trim_end())
        }
        OomCause::TooLarge if oom.is_shared() => {
            "Give the GPU a larger share of the machine's memory, in the firmware or by \
             the driver's settings: this one request is larger than what it has now.\n\
             Or split the operation into parts: a smaller batch, chunks of the sequence, tiles of the image."
                .to_owned()
        }
        OomCause::TooLarge => format!(
            "{pool}{told}Split the operation into parts: a smaller batch, chunks of the sequence, tiles of the image.\n\
             Or avoid the tensor: {avoid}.\n\n\
             No setting of the allocator helps, since this one tensor is larger than the whole GPU."
        ),
        OomCause::MoreFree if oom.api == OomApi::Mps => format!(
            "Look at the machine: in a virtual one, such as those of CI services, Metal refuses buffers of any size. Compute \
             on the CPU there.\nLook at the size of the request: Metal allows no single buffer above a part of the memory.\n\n\
             PyTorch's limit of {} was not reached, so something else refused it.",
            format::bytes(oom.allowed_bytes.unwrap_or(0))
        ),
        OomCause::Limit if oom.api == OomApi::Mps => format!(
            "Use less: a smaller batch, or `float16`.\n\nThe limit of {} is a multiple of what Metal recommends for the \
             GPU, which the environment variable `PYTORCH_MPS_HIGH_WATERMARK_RATIO` changes; 0.0 removes it, and the machine may then swap.",
            format::bytes(oom.allowed_bytes.unwrap_or(0))
        ),
        OomCause::Limit => {
            let unused = oom.unused_bytes().filter(|unused| *unused >= MUCH_UNUSED.max(oom.asked_bytes.unwrap_or(0)));
            let first = unused.map_or_else(String::new, |unused| {
                format!("{combine}: it holds {} that no tensor uses.\nOr raise", format::bytes(unused))
            });
            format!(
                "{} the limit of {} that the program sets for itself with `torch.cuda.set_per_process_memory_fraction`.",
                if first.is_empty() { "Raise" } else { &first },
                format::bytes(oom.allowed_bytes.unwrap_or(0))
            )
        }
        OomCause::MoreFree if oom.free_bytes.is_none() && oom.asked_bytes <= Some(4 << 30) => format!(
            "See what else holds the GPU's memory: ``{list}``. PyTorch held far less of it than there is, and the message \
             does not state what was free.\n\
             An integrated GPU shares the host's memory: look at that, too.{record}"
        ),
        OomCause::MoreFree if oom.api == OomApi::Xpu && oom.asked_bytes > Some(4 << 30) => format!(
            "Allow requests above 4 GiB: ``UR_L0_ENABLE_RELAXED_ALLOCATION_LIMITS=1``.\n\
             Look at ``{list}`` for processes that came or went at that moment; an integrated GPU shares the host's \
             memory.\n\nMore memory was free than the request needs, so something else refused it."
        ),
        OomCause::MoreFree => {
            let slices = if oom.api == OomApi::Cuda { ", for MIG slices" } else { "" };
            let (windows, on_windows) = if printed.is_windows {
                (PAGE_FILE, "")
            } else {
                ("", " on Windows and WSL for the size of the page file;")
            };
            let has_pieces = oom.unused_bytes() >= oom.asked_bytes.max(Some(MUCH_UNUSED));
            let combine = if has_pieces { format!("\n{combine}.") } else { String::new() };
            format!(
                "{windows}Look at `{list}` for processes that came or went at that moment{slices} and for a limit of the \
                 container;{on_windows} on a GPU that shares the host's memory, for the share \
                 that is reserved for it.{combine}\n\n\
                 More memory was free than the request needs, so something else refused it."
            )
        }
        OomCause::Others | OomCause::Fragmentation | OomCause::Full
            if oom.api == OomApi::Hip && oom.capacity_bytes.is_some_and(|bytes| bytes <= CARVE_OUT_BYTES) =>
        {
            "Give the GPU a larger share of the machine's memory, in the firmware (*UMA frame buffer size*) or by the \
             driver's settings: it is a part of the processor, and its own share is small."
                .to_owned()
        }
        OomCause::Fragmentation if engine.is_some() => format!(
            "{combine}.\nMake single requests smaller: `--max-num-batched-tokens` or `--chunked-prefill-size`, and \
             fewer or smaller images.\nLeave more room: a lower `--gpu-memory-utilization` or `--mem-fraction-static`."
        ),
        OomCause::Fragmentation => {
            let of_pools = "\n\nMemory in private pools stays with its CUDA graphs: let graphs share one pool.";
            let more = if oom.private_bytes >= Some(MUCH_UNUSED) { of_pools } else { "" };
            let only =
                if missing > 0 { format!(" Only {} was missing.", format::bytes(missing)) } else { String::new() };
            let sizes = if is_inference {
                "Between inputs of different sizes"
            } else {
                "If batches vary in size, start with the largest one, or pad them to few sizes.\nAfter an evaluation"
            };
            format!(
                "{combine}.{only}\n{sizes}, call ``{}.empty_cache()``, which gives back whole unused segments.{more}",
                oom.api.of_torch().0
            )
        }
        OomCause::Others if oom.api == OomApi::Mps => format!(
            "{OUTSIDE_OF_MPS}\nOr raise the limit of {}: `PYTORCH_MPS_HIGH_WATERMARK_RATIO`; the machine may then swap.",
            format::bytes(oom.allowed_bytes.unwrap_or(0))
        ),
        OomCause::Others | OomCause::Ranks if oom.call == Call::Load => format!(
            "{told}If the other processes are no ranks of this job, free the GPU from them{}: ``{list}``.",
            pids(oom)
        ),
        OomCause::Ranks => OTHER_RANKS.to_owned(),
        OomCause::Others => {
            let held = oom.reserved_bytes.filter(|held| *held > oom.capacity_bytes.unwrap_or(u64::MAX) / 2);
            let how = if engine.is_some() {
                "a lower `--gpu-memory-utilization` or `--mem-fraction-static`"
            } else {
                "a smaller batch"
            };
            let own = |verb: &str, held| {
                format!("{verb} less in this program, which holds {} itself: {how}.", format::bytes(held))
            };
            let others = format!(
                "Free the {} from what else runs on it{}.\nList its processes: ``{list}``; end notebooks and crashed \
                 runs that still hold memory.\nOr choose another device by `{choose}`.",
                if oom.api == OomApi::Npu { "NPU" } else { "GPU" },
                pids(oom)
            );
            // Who holds far more can free more.
            let is_far_more = held > oom.others_bytes().map(|others| others.saturating_mul(4));
            match held {
                Some(held) if is_far_more => format!("{told}{}\n{others}", own("Use", held)),
                Some(held) => format!("{told}{others}\n{}", own("Or use", held)),
                None => told.to_owned() + &others,
            }
        }
        OomCause::Outside if oom.outside_bytes() > Some(oom.capacity_bytes.unwrap_or(u64::MAX) / 2) => format!(
            "Look for another framework in this process: JAX and TensorFlow take most of the GPU when they start \
             (`XLA_PYTHON_CLIENT_PREALLOCATE=false`, `tf.config.experimental.set_memory_growth`), and engines, DALI, \
             CuPy and RMM have pools of their own. It holds {} outside PyTorch.\nOr let each use a process of its own.",
            format::bytes(oom.outside_bytes().unwrap_or(0))
        ),
        OomCause::Full | OomCause::Outside if engine.is_some() && oom.work == Work::Loading => {
            "Use a smaller model or one in fewer bits, or spread it \
             over more GPUs (`--tensor-parallel-size`, `--tp`, `--pipeline-parallel-size`).\n\n\
             It failed while the model was loaded: shares, lengths and numbers of requests change nothing."
                .to_owned()
        }
        OomCause::Full | OomCause::Unknown | OomCause::Outside if printed.has_too_small_share => {
            let EngineOptions { tokens, gpus, without_graphs, .. } = options_of(engine.unwrap_or_default());
            format!(
                "Make what is beside the KV cache smaller: no share of the GPU has room for both, since a little less leaves \
                 nothing for the cache. Use a smaller or quantized model (and draft model), or more GPUs (`{gpus}`).\nUse \
                 `{without_graphs}` and less of `{tokens}`."
            )
        }
        OomCause::Full | OomCause::Unknown | OomCause::Outside if engine.is_some() => {
            let name = engine.unwrap_or_default();
            let EngineOptions { share, tokens, requests, gpus, without_graphs } = options_of(name);
            format!(
                "Leave more room beside weights and KV cache: lower the share that {name} may use (`{share}`), \
                 `{tokens}` and `{requests}`.\nUse a smaller or quantized model, or spread it over more GPUs \
                 (`{gpus}`).\nUse `{without_graphs}`: CUDA graphs take memory of their own."
            )
        }
        OomCause::Outside => format!(
            "Look for what this process holds outside PyTorch: NCCL takes memory for each communicator and channel \
             (`NCCL_DEBUG=INFO` with `NCCL_DEBUG_SUBSYS=ALLOC` prints it), CUDA graphs and loaded kernels take some \
             hundred MiB each, and libraries such as vLLM, DALI or CuPy have pools of their own.\n\nOnly {} was missing.",
            format::bytes(missing)
        ),
        OomCause::Full if oom.work == Work::Loading => "Load the weights in fewer bits: ``dtype=torch.bfloat16``, or \
             quantized to 8 or 4 bits.\nSpread them over several devices (``device_map=\"auto\"``), or let each rank \
             load a part (FSDP, DeepSpeed's ZeRO-3).\nOr choose a smaller model.\n\nIt failed while the model was \
             loaded: a smaller batch changes nothing."
            .to_owned(),
        OomCause::Unknown | OomCause::Full if printed.is_of_comfy_ui => {
            "Use less at once: a smaller picture, fewer frames, batches of one, and *VAE Decode (Tiled)*.\n\
             Start it with `--lowvram` or `--novram`, or leave more free for the work itself: `--reserve-vram 1.5`.\n\
             Take the model in fewer bits: fp8 or GGUF.\nSee who else is on the GPU: ``nvidia-smi``."
                .to_owned()
        }
        OomCause::Unknown => format!(
            "Use less memory at once: a smaller batch, image or model.\n\
             Look for a longer message: those of PyTorch's own allocator state the figures.\n\
             See who holds the GPU's memory before the program starts: ``{list}``.{record}"
        ),
        OomCause::Full if oom.capacity_bytes.is_some_and(|capacity| oom.asked_bytes > Some(capacity / 3)) => {
            let [asked, capacity] = [oom.asked_bytes, oom.capacity_bytes].map(|bytes| bytes.unwrap_or(0));
            format!(
                "{told}Split the operation into parts (a smaller batch, chunks of the sequence, tiles of the image): this \
                 one request is {} of the {}.\nOr avoid the tensor: {avoid}.{record}",
                format::percent(asked, capacity),
                if oom.api == OomApi::Npu { "NPU" } else { "GPU" }
            )
        }
        OomCause::Full => {
            let is_of_graphs =
                oom.private_bytes.unwrap_or(0).saturating_mul(2) > oom.allocated_bytes.unwrap_or(u64::MAX);
            let graphs = if is_of_graphs { OF_GRAPHS } else { "" };
            let less = match oom.work {
                Work::Inference if oom.call == Call::WithoutGraph => {
                    "Use less at once: a smaller batch, image or context, fewer beams or shorter outputs, or tiles; \
                     take results to the host (``.cpu()``).\nKeep less of the model on the GPU: weights in `bfloat16`, \
                     8 or 4 bits, and parts on the host until they are needed."
                }
                Work::Inference => {
                    "Run it under ``torch.inference_mode()``: without, each layer's outputs stay for a backward pass.\n\
                     Use less at once: a smaller batch, image or context, or tiles; take results to the host (``.cpu()``).\n\
                     Keep less of the model on the GPU: weights in `bfloat16`, 8 or 4 bits, and parts on the host until they are \
                     needed."
                }
                Work::Training => {
                    "Use less memory at once: a smaller micro-batch with gradient accumulation, activation checkpointing \
                     (`torch.utils.checkpoint`), `bfloat16` autocast, or an optimizer with smaller state.\n\
                     Or spread weights, gradients and state over more GPUs (FSDP, DeepSpeed's ZeRO)."
                }
                Work::Unknown | Work::Loading => {
                    "Use less memory at once: a smaller batch, image or sequence, or `bfloat16`.\n\
                     In a training, also a smaller micro-batch with gradient accumulation, activation checkpointing \
                     (`torch.utils.checkpoint`), or an optimizer with smaller state.\n\
                     In an evaluation or inference, use ``with torch.no_grad():`` and weights in fewer bits."
                }
            };
            format!(
                "{graphs}{told}{less}\nIf it fails only after some steps, memory grows: look for losses or outputs that are kept.{record}"
            )
        }
    }
}

/// Returns the step that the failing call itself tells.
fn of_call(call: Call) -> &'static str {
    match call {
        Call::Copy => {
            "Make no second model on the GPU, which is what the failing line does (`deepcopy`): keep its `state_dict()` on \
             the host.\n"
        }
        Call::Load => {
            "Load checkpoints with ``map_location=\"cpu\"``: without, each tensor goes to the GPU that it was saved from, in \
             every process.\n"
        }
        Call::Collect => {
            "Set ``eval_accumulation_steps=8`` in `TrainingArguments`, and keep only what the metric needs \
             (`preprocess_logits_for_metrics`): the predictions of all batches are on the GPU until the evaluation ends.\n"
        }
        Call::GatherWeights => {
            "Save checkpoints in shards (`torch.distributed.checkpoint`), or set ``FullStateDictConfig(offload_to_cpu=True, \
             rank0_only=True)``, in DeepSpeed `stage3_gather_16bit_weights_on_model_save: false`: a full state dict gathers all \
             weights on each GPU.\n"
        }
        Call::Pipeline => {
            "Keep parts of the pipeline on the host until they run: ``pipe.enable_model_cpu_offload()`` instead of \
             `pipe.to(\"cuda\")`.\nOr quantize its largest parts to 8 or 4 bits.\n"
        }
        Call::Loss => {
            "Compute the loss in chunks of tokens, or by a fused linear cross entropy (Liger): logits of all tokens and classes \
             are there several times, once in 32 bits.\n"
        }
        Call::Boxes => {
            "Compare fewer boxes at a time: `gpu_assign_thr` matches them on the host where objects are many, and crops have \
             fewer.\n"
        }
        Call::State => {
            "Use an optimizer with less state (8 bits, Adafactor), or shard it (ZeRO, FSDP): what found no room is its state, \
             which the first step makes.\n"
        }
        Call::Other | Call::WithoutGraph | Call::Attention => "",
    }
}

/// What to do where CUDA graphs hold most of the memory.
const OF_GRAPHS: &str = "Capture fewer CUDA graphs, each of which keeps a pool: pad inputs to few shapes, or leave those that vary \
                         out (`torch._inductor.config.triton.cudagraph_skip_dynamic_graphs = True`).\n";

/// What Windows needs for each allocation of a GPU.
const PAGE_FILE: &str = "Make the page file larger (System, Advanced, Performance, Virtual memory): Windows promises memory of \
                         the host for each allocation of the GPU, and loading a model may use that up.\n";

/// Largest share of the host's memory that firmware sets aside by default for a GPU within the processor.
const CARVE_OUT_BYTES: u64 = 1 << 30;

/// What to do about memory that Metal counts to this process beside PyTorch's heaps.
pub(super) const OUTSIDE_OF_MPS: &str = "Use less at once, since what Metal needs for an operation counts as other memory: a smaller \
                              batch, image or sequence, or `torch.float16`.\n\
                              Free what this process holds beside PyTorch: other libraries on the GPU (MLX, Core ML, \
                              decoders), and ``torch.mps.empty_cache()``.\n\
                              Restart the program, which frees what earlier runs in it have left.";

/// What to do about ranks that open a context on each other's GPU.
pub(crate) const OTHER_RANKS: &str = "Call ``torch.cuda.set_device(local_rank)`` before anything uses the GPU, or let each rank \
                           see its own alone by `CUDA_VISIBLE_DEVICES`.\nLoad checkpoints with \
                           ``map_location=\"cpu\"``.\n\nSeveral processes hold the same small amount: other ranks of \
                           this job, with a CUDA context on this GPU.";
