//! Contains the steps, titles and reasons of clues, in the notation of [`Advice`](shared::analysis::Advice).

pub(super) const NO_GRAD: &str = "Evaluate under ``with torch.no_grad():``. `volatile=True` has had no effect since PyTorch 0.4, so that the graphs \
                       of the evaluation are kept.";
pub(super) const COLUMNS: &str = "Make fewer or smaller columns: ``pd.get_dummies(…, sparse=True)``, `dtype=\"uint8\"`, or leave out columns with \
                       thousands of values. It makes one column for each value.";
pub(super) const DISTANCES: &str = "Compute the distances of some rows at a time, and keep of each part only what is needed, such as `topk`: a table \
                         of all pairs grows with the square of the rows.";
pub(super) const SPARSE: &str = "Keep the matrix sparse: `toarray()` makes room for all of its zeros. Many estimators take it as it is; else convert some \
                      rows at a time, or reduce it first (`TruncatedSVD`).";
pub(super) const LIST_OF_BATCHES: &str =
    "Loop over the loader itself: a list of its batches keeps all of the data in memory at once.";
pub(super) const REFERENCE: &str = "Spare the second model: with PEFT's adapters, TRL takes the model without them as its reference; or let it \
                         compute the reference once, before the training (`precompute_ref_log_probs=True`).";
pub(super) const STATES: &str = "Do without `retain_graph=True`: cut states that are carried on off their graph, ``h = h.detach()``, and add up the \
                      losses of one pass before one `backward()`. With it, each step can go back through all earlier ones, \
                      and keeps them.";
pub(super) const CACHE: &str = "Limit the cache, or leave it out: it keeps all that was ever read, and each worker of a data loader has one of \
                     its own. Files that are read again come from the system's cache.";
pub(super) const BUFFER: &str = "Make this buffer in host memory (`device=\"cpu\"`), and add the parts to it as they come; in nnU-Net: \
                      `perform_everything_on_device=False`.";
pub(super) const PIPELINE: &str = "Keep parts of the pipeline on the host until they run: ``pipe.enable_model_cpu_offload()`` instead of \
                        `pipe.to(\"cuda\")`.";
pub(super) const SERVERS: &str = "Start fewer processes: each worker of Gunicorn (`-w`) has a model and a context of its own. Let one process with \
                       threads serve all: ``gunicorn -w 1 --threads 8``.";
pub(super) const ORT_LIMIT: &str = "Raise `gpu_mem_limit`, which the text sets, or leave it out: the session takes no more than that, whatever is free.";
pub(super) const WAS_FULL: &str = "Free the GPU first: little of it was free when the program began. ``nvidia-smi`` lists who has it, \
                        such as an earlier run or a notebook.";
pub(super) const NUMBERS: &str = "Add up numbers: ``total_loss += loss.item()``. A sum or a list of losses keeps what each of them was computed \
                       from.";
pub(super) const OUTPUTS: &str = "Keep outputs in host memory: ``outputs.append(out.detach().cpu())``, or update the metric after each batch, under \
                       ``with torch.no_grad():``. A list of outputs on the GPU keeps all of them, and their graphs if gradients \
                       are on.";
pub(super) const DECODING: &str = "Decode in tiles, since it fails in the VAE: *VAE Decode (Tiled)* in ComfyUI, ``pipe.vae.enable_tiling()`` in \
                        diffusers.";
pub(super) const TILED: &str = "Decode in smaller tiles, since it has failed with tiles as well: a smaller `tile_size`, a smaller picture or fewer frames, or \
                     on the host (`--cpu-vae`).";
pub(super) const MERGING: &str = "Save the adapters alone (`save_pretrained`), or let the merge have less memory: `maximum_memory_usage=0.5`. Merging \
                       takes all weights in 16 bits at once.";
pub(super) const DATA_FRAME: &str = "Read the file in parts: `byte_range`, `usecols` and smaller types in `read_csv`, `dask_cudf.read_csv` for all of \
                          it, or let RMM use the host's memory as well (`managed_memory=True`). Reading takes a multiple of \
                          the file's size.";
pub(super) const FRACTION: &str = "Raise the share that the program gives itself, or leave it out: `torch.cuda.set_per_process_memory_fraction`. \
                        Beyond it, requests fail however much of the GPU is free.";
pub(super) const CUPY_LIMIT: &str =
    "Raise `CUPY_GPU_MEMORY_LIMIT`, which the text sets, or leave it out: CuPy takes no more than that.";
pub(super) const MPS_LIMIT: &str = "Raise the limit of MPS for each client: `CUDA_MPS_PINNED_DEVICE_MEM_LIMIT`, or fewer replicas for each GPU. Beyond \
                         it, requests fail however much of the GPU is free.";
pub(super) const COMPOSE_LIMIT: &str =
    "Raise `mem_limit` of the service: the container has no more than that, whatever the machine has.";
pub(super) const HUGE_PAGES: &str = "Give back the huge pages that nothing uses: ``sysctl vm.nr_hugepages=0``. They are set aside, and no other \
                          program can have their memory.";
pub(super) const WSL: &str = "Give WSL more memory: `memory=` below `[wsl2]` in `.wslconfig`, then ``wsl --shutdown``. Unless it is set, WSL has half \
                   of the machine's.";
pub(super) const DOCKER_DESKTOP: &str = "Give Docker Desktop's virtual machine more memory: Settings, Resources, or with its WSL 2 backend `memory=` in `.wslconfig`.";
pub(super) const IN_WORKER: &str = "Use fewer workers, a smaller batch or a smaller `prefetch_factor`: a worker of the data loader, of which each prepares \
                         batches of its own, found no host memory for one.";
pub(super) const FULL_STATE: &str = "Save in shards, or gather on the host: ``FullStateDictConfig(offload_to_cpu=True, rank0_only=True)``. It failed while \
                          FSDP gathered all weights for a checkpoint.";
pub(super) const TRIALS: &str = "Run each trial in a process of its own: what earlier trials have left in this one (models, optimizers, errors that were \
                      caught) still has its memory. Or end each with ``del model, trainer``, ``gc.collect()`` and \
                      ``torch.cuda.empty_cache()``.";
pub(super) const PARALLEL: &str = "Let Ollama serve one request at a time, `OLLAMA_NUM_PARALLEL=1`: it makes the context, and with it the KV cache, as many \
                        times as `parallel` says.";
pub(super) const OF_OLLAMA: &[(&str, &str)] = &[(
    "Spread the layers by `--tensor-split` if other GPUs have room.",
    "Spread the layers over all GPUs: `OLLAMA_SCHED_SPREAD=1`.",
)];
pub(super) const WITHOUT_FP8: &[(&str, &str)] =
    &[("in fewer bits: fp8 or GGUF", "in fewer bits: GGUF with 4 to 6 of them")];
pub(super) const RESOLUTION: (&str, &str) = (
    "The web UI's attention needs more memory for this picture than was free",
    "Lower the resolution or the upscaling of *Hires. fix*, which the attention's memory grows with faster than the picture.\n\
     Start it with `--opt-sdp-attention` or `--xformers`, which spare the matrix of all pairs.\n\n\
     The line says how much it needs and how much was free.",
);
pub(super) const EACH_RANK_LOADS: &str = "Let the ranks share the loading: each of them reads the whole model into the host's memory. Under ZeRO-3, \
                               create `HfDeepSpeedConfig` before `from_pretrained`; also load in the checkpoint's type \
                               (`torch_dtype`), with `low_cpu_mem_usage=True`.";

pub(super) const TIMEOUT: &str = "Look for the reason of the timeout first, which came before: a rank that failed, waits or is slower. What a rank \
                       receives after it is garbage, such as the size that it asks for here.";
pub(super) const VECTORS: &str = "Keep fewer bytes of each vector on the GPU: `GpuClonerOptions().useFloat16 = True`, or an index with compressed \
                       vectors (IVF-PQ). Faiss also takes memory for its own work when it starts: \
                       ``res.setTempMemory(64 << 20)``.";

pub(super) const TENTH: (&str, &str) = (
    "TensorFlow notes a request above a tenth of the host's free memory: no failure",
    "Nothing has to be done unless the host's memory runs out: watch it, as by ``free -h``.\n\
     If it does, use smaller batches, and keep the data set in files instead of one array.\n\
     ``TF_CPP_MIN_LOG_LEVEL=2`` hides the message; the tenth can't be changed.",
);
pub(super) const NO_ANSWER: (&str, &str) = (
    "A worker of the engine does not answer: no lack of memory",
    "Look for an error of a worker above it, and see what they do: ``py-spy dump --pid PID``.\n\
     If they compile or load, wait. If they wait for each other, try without direct access between GPUs: \
     ``NCCL_P2P_DISABLE=1``.\n\n\
     The block in shared memory carries messages between the engine's processes; it is free once each of them has read it.",
);
pub(super) const OF_KV_CACHE: (&str, &str) = (
    "TensorRT-LLM takes most of the GPU that is free for its KV cache, on purpose",
    "Give it less, if others need the memory: ``KvCacheConfig(free_gpu_memory_fraction=0.2)``, \
     `--kv_cache_free_gpu_mem_fraction`, or a number of tokens (`max_tokens`).\n\n\
     The cache is allocated once, at the start, as nine tenths of what the weights leave, whatever the requests need.",
);
pub(super) const FEWER_TOKENS: &str = "Lower `--max-batch-prefill-tokens`, to no less than `--max-input-tokens`.";
pub(super) const NO_EXECUTOR: (&str, &str) = (
    "TensorRT-LLM has no room for what it needs beside the weights",
    "Make the weights smaller on each GPU: quantize to FP8 or 4 bits, or shard them (`tp_size`, `pp_size`).\n\
     Need less beside them: `max_num_tokens`, `max_batch_size`, and a smaller `free_gpu_memory_fraction` of what is left.\n\
     The message lists what was free before and after each part.",
);
pub(super) const PREFILL: (&str, &str) = (
    "TGI has no room for as many tokens at once as it is to accept",
    "Leave more room for it: a quantized model (`--quantize`), or more GPUs (`--num-shard`).",
);
pub(super) const AT_START: (&str, &str) = (
    "TensorFlow takes nearly all of the GPU when it starts, whatever the model needs",
    "Nothing has to be done, unless others need the GPU: `TF_FORCE_GPU_ALLOW_GROWTH=true` lets TensorFlow take what it needs.\n\n\
     It shares this memory out by itself, so that nvidia-smi does not show what the model needs.",
);
pub(super) const UNSEEN: (&str, &str) = (
    "A process that holds GPU memory can't be seen from here",
    "Look on the host itself, outside of containers: ``sudo fuser -v /dev/nvidia*`` and ``docker ps``. Numbers of processes are \
     those of the host, or of another container.\n\
     If nobody has it there, either, reset the GPU or restart the machine: ``sudo nvidia-smi --gpu-reset -i 0``.",
);

pub(super) const OF_BATCH_FINDER: &str =
    "Nothing has to be done: it tries batches until one fails, and goes on with a smaller one.";

pub(super) const WITHOUT_BATCH: &[(&str, &str)] = &[
    ("a smaller micro-batch with gradient accumulation, ", ""),
    ("a smaller batch, image or sequence", "a smaller image or a shorter sequence"),
    ("a smaller batch, chunks of the sequence", "chunks of the sequence"),
];
pub(super) const WITHOUT_GRAPHS: &[(&str, &str)] = &[
    ("use `with torch.no_grad():` and weights in fewer bits", "use weights in fewer bits"),
    ("Run it under `torch.inference_mode()`: without, each layer's outputs stay for a backward pass.", ""),
];
pub(super) const WITHOUT_MATRIX: &[(&str, &str)] = &[(
    "attention without the matrix of all pairs (`scaled_dot_product_attention`)",
    "attention whose kernel spares the matrix of all pairs (16 bits, no mask of its own)",
)];
pub(super) const WITHOUT_TYPE: &[(&str, &str)] =
    &[("in fewer bits: `dtype=torch.bfloat16`, or quantized to 8 or 4 bits", "quantized to 8 or 4 bits")];
pub(super) const WITHOUT_ORT_LIMIT: &[(&str, &str)] = &[(", and `gpu_mem_limit` so that sessions can share it", "")];
pub(super) const WITHOUT_CHECKPOINTING: &[(&str, &str)] =
    &[("activation checkpointing (`torch.utils.checkpoint`), ", "")];
pub(super) const WITHOUT_BFLOAT16: &[(&str, &str)] = &[("`bfloat16` autocast, ", ""), (", or `bfloat16`.", ".")];
