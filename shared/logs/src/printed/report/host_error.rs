//! Builds findings on errors of memory that state no figures of the GPU.

use crate::printed::{HostError, HostErrorKind, Repeated};
use crate::source;
use shared::analysis::{Confidence, FindingCode, title_of_parts};
use shared::base::{Severity, format};
use shared::report::{Finding, HOST, NO_DEVICE};

pub(super) fn finding(repeated: &Repeated<HostError>) -> Finding {
    let Repeated { error, place, count } = repeated;
    let (code, (title, advice)) = (code(error.kind), statement(error.kind));
    let title = match (error.kind, error.asked_bytes) {
        (HostErrorKind::HostMemory | HostErrorKind::Mapping, Some(bytes)) => {
            format!("The host refused {} of memory", format::bytes(bytes))
        }
        (HostErrorKind::PageFile, Some(bytes)) => {
            format!("Windows refused {} of memory: {title}", format::bytes(bytes))
        }
        (HostErrorKind::PageFile, None) => format!("Windows refused memory: {title}"),
        (HostErrorKind::SharedMemory, _) if is_bus_error(error) => {
            "A process ended by a bus error, most often because /dev/shm has no room".to_owned()
        }
        (HostErrorKind::SlurmKilled, _) if limits(&error.text).is_some() => {
            let (used, limit) = limits(&error.text).unwrap_or_default();
            format!("Slurm killed the job at {}, more than its {}", format::bytes(used), format::bytes(limit))
        }
        (HostErrorKind::TensorRt, Some(bytes)) => format!("{title} for {}", format::bytes(bytes)),
        _ if error.text.contains("CUBLAS_STATUS_NOT_INITIALIZED") => {
            "cuBLAS could not start: little of the GPU was free, or an earlier call failed".to_owned()
        }
        _ => title.to_owned(),
    };
    // The state of a container stands in several lines of every tool.
    let is_repeated = *count > 2 && error.kind != HostErrorKind::ContainerKilled;
    let times = if is_repeated { format!(", printed {}", format::counted(*count, "time")) } else { String::new() };
    let is_of_gpu = matches!(code, FindingCode::OutsidePytorch | FindingCode::OutOfMemory);
    let device = if is_of_gpu { NO_DEVICE } else { HOST };
    let shows = format!("The text says: {}", error.text);
    let most = error.programs.iter().max_by_key(|(.., mb)| *mb);
    let of_ray = most.map_or_else(String::new, |(command, pid, count, mb)| {
        let gb = *mb as f64 / 1e3;
        match count {
            1 => format!("Look first at process {pid} ({command}), which has the most memory: {gb:.2} GB.\n"),
            count => format!(
                "Look first at the {count} processes of {command}, which together have the most memory: {gb:.2} GB.\n"
            ),
        }
    });
    let more = match error.kind {
        HostErrorKind::RayKilled => &of_ray,
        _ if error.text.contains("huge page") => {
            "Reserve huge pages: ``sysctl vm.nr_hugepages=…``; without any, most programs go on with ordinary pages.\n"
        }
        // C++ says it also of a size that it has read from a broken file.
        HostErrorKind::HostMemory if error.text.contains("bad_alloc") && error.asked_bytes.is_none() => {
            "See whether memory is short at all: ``free -h``. If not, look at the file that is loaded, which may be damaged or of \
             another version, and at libraries that clash.\n"
        }
        HostErrorKind::HostMemory if error.asked_bytes.is_some_and(|bytes| bytes < LITTLE_BYTES) => {
            "Look for a limit, since this is little: ``ulimit -v``, that of the job or container, on Windows the page file, \
             and 2 GiB for programs of 32 bits.\n"
        }
        HostErrorKind::HostMemory if error.text.contains("OpenBLAS") => {
            "Let it use fewer threads, each of which has buffers of its own: `OPENBLAS_NUM_THREADS=4`, `OMP_NUM_THREADS=4`.\n"
        }
        HostErrorKind::HostMemory if error.asked_bytes.is_some_and(|bytes| bytes >= LARGE_BYTES) => {
            "Look at the shape first, which may be wrong: one number too large, such as a coordinate, a length or a batch.\n"
        }
        HostErrorKind::SharedMemory if is_bus_error(error) => {
            "See how full it is: ``df -h /dev/shm``. If it has room, look at what was read: a mapped file (LMDB, `np.memmap`) \
             that was cut, or a full, broken or remote disk, ends a program in the same way.\n"
        }
        HostErrorKind::SharedMemory if error.text.contains("unable to open shared memory object") => {
            "See which limit was reached, which the message does not say: ``df -h /dev/shm`` and ``ulimit -n``.\n"
        }
        HostErrorKind::Library if error.text.contains("/xla/") => {
            "Let JAX take what it needs: `XLA_PYTHON_CLIENT_PREALLOCATE=false`, or give each process a share: \
             `XLA_PYTHON_CLIENT_MEM_FRACTION`. It takes three quarters of the GPU at its start.\n"
        }
        HostErrorKind::Library if error.text.contains("cumem_allocator") => {
            "Free what the trainer keeps before vLLM wakes up: ``torch.cuda.empty_cache()``, and offload weights and optimizer; \
             vLLM's sleep mode needs its whole share again (`gpu_memory_utilization`), and works without \
             `expandable_segments` only.\n"
        }
        HostErrorKind::Library if error.text.contains("NvMap") || error.text.contains("NVML_SUCCESS") => {
            "On a Jetson, whose GPU uses the memory of the machine, look at ``free -m``: load the model in fewer bits and without \
             a copy on the host (`low_cpu_mem_usage=True`), and close the desktop. The assertion only hides that memory ran \
             out.\n"
        }
        HostErrorKind::Library if error.text.contains("cuDNN algorithm") => {
            "Take it for a full GPU first: cuDNN finds no algorithm if none has room for its workspace. Use a smaller batch or \
             image; a new installation changes nothing.\n"
        }
        HostErrorKind::Killed if error.is_loading => {
            "Let the ranks share the loading, which it was killed in: each of them reads the whole model into the host's memory. Load \
             in the checkpoint's type (`dtype`), with `low_cpu_mem_usage=True`, or in one rank alone (FSDP's \
             `cpu_ram_efficient_loading`, `HfDeepSpeedConfig` under ZeRO-3).\n"
        }
        HostErrorKind::Killed if error.text.contains("systemd-oomd") => {
            "Look at ``journalctl -u systemd-oomd``: it ends whole groups of processes, such as a terminal with all in it, once \
             they wait for memory too long. Start the program in a group of its own (``systemd-run --user --scope``), or give \
             the machine more swap.\n"
        }
        HostErrorKind::Killed if error.text.contains("session crashed") => {
            "Look for what is loaded or converted at once: `astype(\"float32\")` needs four times an array of uint8, and merging \
             weights needs all of them. Work in parts, keep data on disk (`np.memmap`), or choose a runtime with more RAM.\n"
        }
        HostErrorKind::Library if error.text.contains(" from device: ") || error.text.contains("tensorflow") => {
            "Let TensorFlow take what it needs: `TF_FORCE_GPU_ALLOW_GROWTH=true`. It takes nearly all of the GPU at its start, \
             and tries with less each time that it fails, which is no error by itself.\n"
        }
        // cuBLAS has two reasons for this one.
        _ if error.text.contains("CUBLAS_STATUS_NOT_INITIALIZED") => INDEX_OUT_OF_RANGE,
        _ => "",
    };
    let advice = match advice.split_once("\n\n") {
        Some((steps, why)) if error.text.contains("CUBLAS_STATUS_ALLOC_FAILED") => {
            format!("{steps}\n{INDEX_OUT_OF_RANGE}\n{why}")
        }
        // Who killed it is known.
        _ if error.kind == HostErrorKind::Killed && !more.is_empty() => {
            advice.split_once('\n').map_or(advice, |(_, rest)| rest).to_owned()
        }
        _ => advice.to_owned(),
    };
    let severity = match error.kind {
        HostErrorKind::WorkerLeft | HostErrorKind::Skipped | HostErrorKind::Probe | HostErrorKind::DiskFull => {
            Severity::Info
        }
        // The program goes on without.
        HostErrorKind::Pinned if error.text.starts_with("WARNING") => Severity::Warning,
        _ => Severity::Error,
    };
    let (bytes, title) = (error.asked_bytes.unwrap_or(0), title_of_parts(&title, [times]));
    let found = source::finding(code, device, severity, bytes, title, shows, more.to_owned() + &advice);
    Finding { confidence: Confidence::Medium, line: place.clone(), ..found }
}

/// Returns true if an error only guesses that shared memory is full.
fn is_bus_error(error: &HostError) -> bool {
    error.text.to_lowercase().contains("bus error")
}

/// Reads what a job used and what it was allowed, in KiB: `exceeded memory limit (268713984 > 209715200)`.
fn limits(text: &str) -> Option<(u64, u64)> {
    let (used, rest) = text.split_once("memory limit (")?.1.split_once(" > ")?;
    let kibibytes = |text: &str| text.parse::<u64>().ok()?.checked_mul(1 << 10);
    Some((kibibytes(used)?, kibibytes(rest.split_once(')')?.0)?))
}

/// Requests below 64 MiB are no mistake of the program.
const LITTLE_BYTES: u64 = 64 << 20;

/// More than one batch needs.
const LARGE_BYTES: u64 = 2 << 30;

const INDEX_OUT_OF_RANGE: &str = "See whether an index is out of range, which can be the reason as well: run with \
                                  ``CUDA_LAUNCH_BLOCKING=1``.\n";

fn code(kind: HostErrorKind) -> FindingCode {
    use HostErrorKind::*;
    match kind {
        WorkerKilled | WorkerLeft | Killed | Probe | ContainerKilled | Evicted | DiskFull | SlurmKilled | JobKilled
        | RayKilled | DaskKilled | YarnKilled => FindingCode::HostProcessKilled,
        SharedMemory | BusError | OpenFiles => FindingCode::SharedMemoryFull,
        HostMemory | Fork | Mapping | PageFile | Pinned => FindingCode::HostOutOfMemory,
        Nccl | Rmm | Library | Cudnn | Start => FindingCode::OutsidePytorch,
        TensorRt | Resources | OnChip | OnTpu | Dispatched | Skipped => FindingCode::OutOfMemory,
        Busy => FindingCode::GpuShared,
        Fault | Hardware => FindingCode::KernelFault,
    }
}

/// Returns the title and the advice for a kind of error.
fn statement(kind: HostErrorKind) -> (&'static str, &'static str) {
    match kind {
        HostErrorKind::WorkerKilled => (
            "A data loader's worker was killed, most often because host memory ran out",
            "Look for `Out of memory: Killed process` in `dmesg`, or for the container's memory limit.\nUse fewer workers \
             (`num_workers`), a smaller `prefetch_factor` and smaller batches.\n[record] To see whether memory climbs \
             within an epoch, sample the training with ``snapscope host -- python train.py``.",
        ),
        HostErrorKind::WorkerLeft => (
            "A data loader's worker was killed when its program ended: no lack of memory",
            "Nothing has to be done if the program had finished.\nTo end workers in order, delete the iterator of the \
             loader before the program ends.\n\nThe error was raised while Python cleaned up, where nobody can catch it.",
        ),
        HostErrorKind::SharedMemory => (
            "Shared memory has no room: /dev/shm, by which processes send each other tensors",
            "Give the container more shared memory: ``docker run --shm-size=8g`` or `--ipc=host`; in Kubernetes, mount an \
             `emptyDir` with `medium: Memory` at /dev/shm.\nUntil then, use fewer workers or a smaller \
             `prefetch_factor`, and keep no batches that they have sent.",
        ),
        HostErrorKind::BusError => (
            "Processes ended by a bus error, although /dev/shm has room by this text",
            "See how full it was at that moment: ``df -h /dev/shm`` while it runs; other jobs of the node share it, and a \
             container may have one of its own.\n\
             See what was read: a mapped file that was cut, or a full or broken disk, ends a program in the same way.\n\
             See the memory limit of the job or container, to which files in /dev/shm count.",
        ),
        HostErrorKind::HostMemory => (
            "The host refused memory",
            "If the host's memory or the container's limit is used up, load files by memory mapping, keep fewer batches in \
             memory, and use fewer workers.\n\
             [record] See which processes climb: ``snapscope host -- python train.py``.",
        ),
        HostErrorKind::Fork => (
            "The host refused memory for another process",
            "Use fewer workers (`num_workers`), and start them before the program is large.\n\
             Let the machine promise more memory: ``sysctl vm.overcommit_memory=1``, or more swap.\n\
             [record] If it comes after some epochs, see what climbs: ``snapscope host -- python train.py``.\n\n\
             A fork asks for as much memory as its parent has, even if it never writes to it.",
        ),
        HostErrorKind::Mapping => (
            "The host refused to map a file",
            "Let the machine promise more memory: ``sysctl vm.overcommit_memory=1``, more swap, or a larger limit of the \
             container or of `ulimit -v`.\nOr load the file in parts (`safe_open` of safetensors).",
        ),
        HostErrorKind::PageFile => (
            "the page file is too small",
            "Make the page file larger: System, Advanced, Performance, Virtual memory; on the disk with the most space, \
             as large as the memory of all workers and models.\nUse fewer workers (`num_workers`): on Windows each one \
             loads PyTorch's libraries anew, which takes some GiB of the page file.\nEnd programs that hold much memory.\n\n\
             Windows promises memory only as far as RAM and page file reach, even if it is never used.",
        ),
        HostErrorKind::Killed => (
            "The process was killed, most often because host memory ran out",
            "See who killed it: `Out of memory: Killed process` in ``dmesg``; in a container, ``docker inspect`` or \
             ``kubectl describe pod`` says `OOMKilled`.\nGive the container, WSL (`.wslconfig`) or the machine more memory, or keep \
             less in it: load files by memory mapping, use fewer workers and smaller batches.\n\
             [record] See which processes climb: ``snapscope host -- python train.py``.\n\n\
             Signal 9, exit codes 137 and -9 are the same. Whoever is killed prints nothing, and GPU memory is not the reason.",
        ),
        HostErrorKind::Probe => (
            "Kubernetes ended a container that did not answer its probe: no lack of memory",
            "Give it more time: `initialDelaySeconds` and `timeoutSeconds` of the `livenessProbe`, or a `startupProbe` while \
             it loads.\nSee what it does meanwhile: loading, compiling, or waiting for others.\n\n\
             It ends by SIGKILL, exit code 137, if it goes on after its grace period. A container that the kernel killed for \
             memory is `OOMKilled`.",
        ),
        HostErrorKind::Skipped => (
            "Candidates that need more memory than there is were left out: no failure",
            "Nothing has to be done: another one is taken, which may be slower.\n\
             To let TensorRT try more of them, free the GPU from other programs while it builds.\n\n\
             Autotuning tries many kernels, some of which are made for larger GPUs.",
        ),
        HostErrorKind::Busy => (
            "Another process has the GPU to itself: no lack of memory",
            "Let each rank use its own GPU before anything else does: ``torch.cuda.set_device(local_rank)``.\n\
             See who has it: ``nvidia-smi``, where `E. Process` means that one process excludes all others; ``sudo nvidia-smi \
             -c DEFAULT`` lets several use it.\n\n\
             A run that was killed may be left on it.",
        ),
        HostErrorKind::Hardware => (
            "The GPU reports a fault of its own memory or of its bus: no lack of memory",
            "Take the GPU out of use, and reset it or restart the machine: ``nvidia-smi -q -d ECC,ROW_REMAPPER``.\n\
             If it comes again, have it replaced.\n\n\
             The driver numbers its faults (Xid): 48, 63, 64, 94 and 95 are of memory that can't be read correctly, 79 is a GPU that \
             has fallen off the bus.",
        ),
        HostErrorKind::ContainerKilled => (
            "A container was killed because it reached its memory limit",
            "Raise its limit: `resources.limits.memory` in Kubernetes, ``docker run --memory``.\n\
             Or keep less in it: load files by memory mapping, use fewer workers and smaller batches.\n\
             [record] See which processes climb: ``snapscope host -- python train.py``.\n\n\
             Files in /dev/shm count for the limit, too. GPU memory is not the reason.",
        ),
        HostErrorKind::Evicted => (
            "Kubernetes moved a pod away because its node was short of memory",
            "Request as much memory as the pod needs (`resources.requests.memory`): those that use more than they request \
             go first, and without a request that is any.\n\
             See what fills the node: ``kubectl top pods -A --sort-by=memory`` and ``kubectl describe node``.\n\n\
             A limit, or none, does not keep a pod on a node that has no memory left.",
        ),
        HostErrorKind::DiskFull => (
            "Kubernetes ended a pod because its disk was full: no lack of memory",
            "Write less to the container's disk: keep fewer checkpoints, and caches of data and models on a volume \
             (`HF_HOME`, `TMPDIR`).\nOr raise the limit: `resources.limits.ephemeral-storage`.",
        ),
        HostErrorKind::SlurmKilled => (
            "Slurm killed the job: it used more host memory than it had asked for",
            "Ask for more than it had: `#SBATCH --mem` (of each node), `--mem-per-cpu` or `--mem-per-gpu`; ``seff JOBID`` or ``sacct -j JOBID \
             -o MaxRSS,ReqMem`` shows what it used.\nOr use less host memory: fewer workers, memory mapping, smaller \
             batches.\n[record] See which processes climb: ``snapscope host -- python train.py``.",
        ),
        HostErrorKind::JobKilled => (
            "The batch system killed the job: it used more host memory than it had asked for",
            "Ask for more than it had: in LSF `-R \"rusage[mem=…]\"` and `-M`, in PBS `-l select=1:mem=…`, in Grid Engine `-l \
             h_vmem=…`.\nOr use less host memory: fewer workers, memory mapping, smaller batches.\n\
             [record] See which processes climb: ``snapscope host -- python train.py``.",
        ),
        HostErrorKind::RayKilled => (
            "Ray killed a task: its node used more memory than Ray's threshold",
            "Run fewer tasks at a time: give each more `num_cpus` or a `memory` of its own.\n\
             Keep smaller batches and replay buffers, and release references to objects in the object store.\n\n\
             `RAY_memory_usage_threshold` changes the limit, and \
             `RAY_memory_monitor_refresh_ms=0` turns it off; then the kernel kills processes instead.",
        ),
        HostErrorKind::DaskKilled => (
            "Dask ended a worker that used more host memory than it may",
            "Give each worker more: fewer of them on a machine, and a larger `memory_limit`.\n\
             Work on smaller parts: more partitions, smaller chunks, fewer `persist()` and `compute()` of whole results.\n\n\
             A worker pauses at 80 % of its limit, and is ended and begun anew at 95 %; `KilledWorker` says that a task has \
             ended several workers.",
        ),
        HostErrorKind::YarnKilled => (
            "YARN killed a container of Spark: it used more memory than it had asked for",
            "Ask for more beside the heap: `spark.executor.memoryOverhead`, for Python `spark.executor.pyspark.memory`.\n\
             Use less at once: fewer cores for each executor (`spark.executor.cores`), more partitions.\n\n\
             The limit is that of heap and overhead together; arrays of Python and native code lie outside the heap.",
        ),
        HostErrorKind::Nccl => (
            "NCCL found no free memory on the GPU",
            "Leave room for NCCL: use a smaller batch, or limit PyTorch's share: \
             ``torch.cuda.set_per_process_memory_fraction(0.9)``; if an engine fills the GPU, lower its share \
             (`--mem-fraction-static`, `--gpu-memory-utilization`).\nMake its buffers smaller: `NCCL_BUFFSIZE`, \
             `NCCL_MAX_NCHANNELS`, and fewer process groups.\nSee what it takes: run with ``NCCL_DEBUG=INFO`` and \
             ``NCCL_DEBUG_SUBSYS=ALLOC``, and open that log here.\n\n\
             NCCL takes memory outside PyTorch's allocator, for each communicator at its first use.",
        ),
        HostErrorKind::Rmm => (
            "A pool of RAPIDS' memory manager (RMM) is used up",
            "Make the pool larger (`rmm.reinitialize`, `--rmm-pool-size`), or let it spill to the host \
             (`managed_memory=True`).\nIf PyTorch shares the GPU, let both use one pool: \
             ``torch.cuda.memory.change_current_allocator(rmm_torch_allocator)``.\nWork in smaller parts.",
        ),
        HostErrorKind::Library => (
            "A call of the GPU's driver or of a library found no free memory on the GPU",
            "Look for other processes on the GPU: ``nvidia-smi`` or ``rocm-smi --showpids``.\nUse a smaller batch, \
             model or context.\nWhere PyTorch fills the GPU, leave room: \
             ``torch.cuda.set_per_process_memory_fraction(0.9)``.\n\nThe context, cuBLAS, cuDNN, NCCL and engines with \
             pools of their own take memory outside PyTorch's allocator, when they are first used.",
        ),
        HostErrorKind::Cudnn => (
            "cuDNN failed without saying why: often the GPU is full",
            "Try a smaller batch or image first, and see how much is free then: ``nvidia-smi``. cuDNN says the same if it finds no \
             room for its workspace.\nIf much is free, make its inputs contiguous (`.contiguous()`), and compare the versions of \
             driver, CUDA and cuDNN: an old driver or a GPU that it does not know fails like this, too.",
        ),
        HostErrorKind::Start => (
            "The GPU had no room for this process to start on it",
            "See who holds it: ``nvidia-smi`` or ``rocm-smi --showpids``; end notebooks and crashed runs.\nWith \
             several ranks, let each use its own GPU: ``torch.cuda.set_device(local_rank)`` before anything else.\nTry \
             another GPU (`CUDA_VISIBLE_DEVICES`) or node: one that has a fault says the same.\n\nA context takes some \
             hundred MiB. Nothing of the program was on the GPU yet, so that a smaller batch changes nothing.",
        ),
        HostErrorKind::TensorRt => (
            "TensorRT found no memory on the GPU",
            "While an engine is built, lower the workspace (`setMemoryPoolLimit`, `--memPoolSize=workspace:1024`): a tactic \
             that does not fit is skipped, and the build goes on.\n\
             While it runs, build it for a smaller largest batch or shape, since a context takes memory for that one.\n\
             End other processes on the GPU: ``nvidia-smi``; on a Jetson, whatever uses the memory that both share.",
        ),
        HostErrorKind::Resources => (
            "A kernel found no resources on the GPU: memory or something else",
            "See how much memory is free: ``xpu-smi ps``; if little is, use a smaller batch.\n\
             Otherwise make the kernel's blocks smaller or use fewer warps: registers and on-chip memory are resources, too.\n\
             Update the driver: it also gives up like this when a kernel runs for too long.",
        ),
        HostErrorKind::Pinned => (
            "The host could not page-lock memory for the GPU",
            "Raise the limits: ``ulimit -l unlimited``, in a container ``--ulimit memlock=-1``; in WSL, more memory in \
             `.wslconfig`.\nPin less: ``pin_memory=False``, fewer prefetched batches, or less that is offloaded to the \
             host.\n\n\
             Page-locked memory can't be swapped, and systems allow less of it than is free. GPU memory is not the reason.",
        ),
        HostErrorKind::OnChip => (
            "A kernel asks for more on-chip shared memory than the GPU has",
            "Make its blocks smaller, or use fewer stages: `BLOCK_M`, `BLOCK_N`, ``num_stages=1``.\n\
             Update Triton and the library that has the kernel: newer versions choose sizes by the GPU.\n\
             Or use another implementation, such as PyTorch's `scaled_dot_product_attention`.\n\n\
             Each multiprocessor has 64 to 228 KiB, by the GPU's generation; kernels that were tuned for a larger one fail. \
             The memory of the GPU itself is not the reason.",
        ),
        HostErrorKind::OnTpu => (
            "A kernel asks for more on-chip memory (VMEM) than it may use of the TPU",
            "Make its blocks smaller: fewer tokens, pages or heads at a time.\n\
             Update JAX, libtpu and the library that has the kernel: sizes of blocks are tuned by the TPU's generation.\n\
             If the chip has more, raise the limit: ``LIBTPU_INIT_ARGS=--xla_tpu_scoped_vmem_limit_kib=…``.\n\n\
             The memory of the TPU itself (HBM) is not the reason.",
        ),
        HostErrorKind::OpenFiles => (
            "The process has as many open files as it may: memory is not the reason",
            "Call ``torch.multiprocessing.set_sharing_strategy(\"file_system\")``.\nOr raise the limit: ``ulimit -n \
             65536``.\nKeep no batches of a loader with workers: each shared tensor is an open file until it is freed.",
        ),
        HostErrorKind::Fault => (
            "A kernel on the GPU used an index or an address out of range: no lack of memory",
            "Run it with ``CUDA_LAUNCH_BLOCKING=1``, or once on the CPU: the traceback then ends at the line.\nCompare \
             the largest index with its table: tokens with the embedding, positions with the longest sequence, labels \
             with the number of classes.\nIf the kernel is a library's, update it, or use another implementation.\n\n\
             Every call after it fails too, also `cublasCreate` and allocations.",
        ),
        HostErrorKind::Dispatched => (
            "The quantized model does not fit on the GPU",
            "Free the GPU first: ``nvidia-smi`` lists processes; an earlier model of the same notebook counts, too.\n\
             Quantize to 4 bits instead of 8, or choose a smaller model.\n\
             Or allow it: ``llm_int8_enable_fp32_cpu_offload=True`` with a `device_map`, which is slow.\n\n\
             Parts of it would be on the host. `device_map=\"auto\"` takes what is free when the model is loaded, less a \
             margin (`max_memory` sets it).",
        ),
    }
}

#[cfg(test)]
mod tests;
