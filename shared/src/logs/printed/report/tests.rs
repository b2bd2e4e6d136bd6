//! Checks the diagnosis of messages that strangers have published, each with its source.

use super::*;
use crate::logs::{Log, LogReader, log_report};

fn log(text: &str) -> Log {
    let mut reader = LogReader::default();
    reader.push(text.as_bytes());
    reader.finish()
}

#[track_caller]
fn oom(text: &str) -> Oom {
    let log = log(text);
    assert_eq!(log.printed.ooms.len(), 1, "{text}");
    log.printed.ooms[0].error.clone()
}

/// The messages, shortened to their figures, with their causes as the threads and arithmetic tell them.
const MESSAGES: [(&str, OomCause, &str); 35] = [
    (
        "pytorch/pytorch#59778",
        OomCause::MoreFree,
        "CUDA out of memory. Tried to allocate 2.26 GiB (GPU 0; 6.00 GiB total capacity; 781.59 MiB already allocated; \
         3.03 GiB free; 1.24 GiB reserved in total by PyTorch)",
    ),
    (
        "pytorch/pytorch#16417, 2019",
        OomCause::MoreFree,
        "RuntimeError: CUDA out of memory. Tried to allocate 12.50 MiB (GPU 0; 10.92 GiB total capacity; 8.57 MiB already \
         allocated; 9.28 GiB free; 4.68 MiB cached)",
    ),
    (
        "pytorch/pytorch#16417, 2024",
        OomCause::Full,
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 22.00 MiB. GPU 0 has a total capacity of \
         23.65 GiB of which 11.06 MiB is free. Including non-PyTorch memory, this process has 23.60 GiB memory in use. Of \
         the allocated memory 22.90 GiB is allocated by PyTorch, and 194.87 MiB is reserved by PyTorch but unallocated.",
    ),
    (
        "Synthintel0/MyGirlGPT#11",
        OomCause::Full,
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 32.00 MiB. GPU 0 has a total capacty of 4.00 GiB \
         of which 41.56 MiB is free. Including non-PyTorch memory, this process has 3.44 GiB memory in use. Of the \
         allocated memory 2.58 GiB is allocated by PyTorch, and 1.90 MiB is reserved by PyTorch but unallocated.",
    ),
    (
        "kerrj/lerf#73",
        OomCause::Fragmentation,
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 0 has a total capacty of 23.65 GiB \
         of which 1.66 GiB is free. Including non-PyTorch memory, this process has 20.81 GiB memory in use. Of the \
         allocated memory 12.09 GiB is allocated by PyTorch, and 4.84 GiB is reserved by PyTorch but unallocated.",
    ),
    (
        "murong-xu/CADS#4",
        OomCause::Full,
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 22.78 GiB. GPU 0 has a total capacity of 31.47 GiB of \
         which 12.73 GiB is free. Including non-PyTorch memory, this process has 18.73 GiB memory in use. Of the allocated \
         memory 9.08 GiB is allocated by PyTorch, and 9.35 GiB is reserved by PyTorch but unallocated.",
    ),
    (
        "wxian3/NeuroLens#2",
        OomCause::TooLarge,
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 55.57 GiB. GPU 0 has a total capacty of \
         12.00 GiB of which 9.02 GiB is free. Of the allocated memory 984.52 MiB is allocated by PyTorch, and 463.48 MiB is \
         reserved by PyTorch but unallocated.",
    ),
    (
        "OPIXray-author/OPIXray#5",
        OomCause::Fragmentation,
        "CUDA out of memory. Tried to allocate 264.00 MiB (GPU 0; 2.00 GiB total capacity; 788.51 MiB already allocated; \
         145.93 MiB free; 1.02 GiB reserved in total by PyTorch)",
    ),
    (
        "ShannonAI/Self_Explaining_Structures_Improve_NLP_Models#6",
        OomCause::Full,
        "CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 1.96 GiB total capacity; 1.24 GiB already allocated; \
         2.88 MiB free; 1.25 GiB reserved in total by PyTorch)",
    ),
    (
        "qingze-bai/VSmTrans#3",
        OomCause::Full,
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 226.00 MiB. GPU 0 has a total capacity of 15.70 GiB \
         of which 210.38 MiB is free. Including non-PyTorch memory, this process has 15.48 GiB memory in use. Of the \
         allocated memory 14.81 GiB is allocated by PyTorch, and 336.73 MiB is reserved by PyTorch but unallocated.",
    ),
    (
        "carolchenyx/MGFN#35",
        OomCause::Fragmentation,
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.70 GiB. GPU 0 has a total capacty of 6.00 GiB \
         of which 0 bytes is free. Of the allocated memory 2.93 GiB is allocated by PyTorch, and 2.30 GiB is reserved by \
         PyTorch but unallocated.",
    ),
    (
        "levihsu/OOTDiffusion#167",
        OomCause::MoreFree,
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacty of 4.00 GiB \
         of which 2.80 GiB is free. Of the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by \
         PyTorch but unallocated.",
    ),
    (
        "light-and-ray/sd-webui-replacer#74",
        OomCause::TooLarge,
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 27.12 GiB. GPU 0 has a total capacty of \
         11.99 GiB of which 0 bytes is free. Of the allocated memory 16.16 GiB is allocated by PyTorch, and 144.59 MiB is \
         reserved by PyTorch but unallocated.",
    ),
    (
        "Comfy-Org/ComfyUI#9529",
        OomCause::MoreFree,
        "HIP out of memory. Tried to allocate 432.00 MiB. GPU 0 has a total capacity of 15.92 GiB of which 7.12 GiB is free. \
         Of the allocated memory 8.08 GiB is allocated by PyTorch, and 321.96 MiB is reserved by PyTorch but unallocated.",
    ),
    (
        "kyuz0/amd-strix-halo-image-video-toolboxes#3",
        OomCause::Others,
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 3.31 GiB. GPU 0 has a total capacity of 128.00 GiB of \
         which 780.24 MiB is free. Of the allocated memory 57.70 GiB is allocated by PyTorch, and 75.82 MiB is reserved by \
         PyTorch but unallocated.",
    ),
    (
        "pytorch/pytorch#138002",
        OomCause::Fragmentation,
        "!!! Exception during processing !!! HIP out of memory. Tried to allocate 6.64 GiB. GPU 0 has a total capacity of \
         19.92 GiB of which 6.22 GiB is free. Of the allocated memory 5.34 GiB is allocated by PyTorch, and 7.10 GiB is \
         reserved by PyTorch but unallocated.",
    ),
    (
        "pharmapsychotic/clip-interrogator-ext#74",
        OomCause::Limit,
        "MPS backend out of memory (MPS allocated: 6.04 GB, other allocations: 1.04 GB, max allowed: 6.77 GB). Tried to \
         allocate 459.07 MB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory \
         allocations (may cause system failure)",
    ),
    (
        "Comfy-Org/ComfyUI#7440",
        OomCause::Others,
        "MPS backend out of memory (MPS allocated: 9.57 GiB, other allocations: 17.35 GiB, max allowed: 27.20 GiB). Tried to \
         allocate 292.50 MiB on private pool.",
    ),
    (
        "vllm-project/vllm-ascend#19",
        OomCause::Others,
        "RuntimeError: NPU out of memory. Tried to allocate 22.00 MiB (NPU 0; 60.97 GiB total capacity; 10.24 GiB already \
         allocated; 10.24 GiB current active; 19.52 MiB free; 10.65 GiB reserved in total by PyTorch)",
    ),
    (
        "vllm-project/vllm#783, where another process had 15 GiB",
        OomCause::Others,
        "torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.63 GiB (GPU 0; 44.56 GiB total capacity; \
         27.91 GiB already allocated; 565.31 MiB free; 27.93 GiB reserved in total by PyTorch)",
    ),
    (
        "studio-dots-ai/dots.ocr#196",
        OomCause::TooLarge,
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 74.16 GiB. GPU 0 has a total capacity of 44.40 GiB of \
         which 29.89 GiB is free. Process 2684311 has 14.51 GiB memory in use. Of the allocated memory 13.44 GiB is \
         allocated by PyTorch, and 738.96 MiB is reserved by PyTorch but unallocated.",
    ),
    (
        "vllm-project/vllm#14452",
        OomCause::Outside,
        "(VllmWorker rank=0 pid=10672) ERROR 03-16 06:12:38 [multiproc_executor.py:375] torch.OutOfMemoryError: CUDA out of \
         memory. Tried to allocate 1.74 GiB. GPU 0 has a total capacity of 15.48 GiB of which 953.94 MiB is free. Including \
         non-PyTorch memory, this process has 14.53 GiB memory in use. Of the allocated memory 12.19 GiB is allocated by \
         PyTorch, with 81.88 MiB allocated in private pools (e.g., CUDA Graphs), and 368.65 MiB is reserved by PyTorch but \
         unallocated.",
    ),
    (
        "vllm-project/vllm#2140",
        OomCause::Full,
        "CUDA out of memory. Tried to allocate 3.50 GiB. GPU 0 has a total capacty of 23.69 GiB of which 3.09 GiB is free. \
         Including non-PyTorch memory, this process has 20.57 GiB memory in use. Of the allocated memory 20.13 GiB is \
         allocated by PyTorch, and 755.50 KiB is reserved by PyTorch but unallocated.",
    ),
    (
        "rhymes-ai/Aria#24, where the driver does not tell this process's memory",
        OomCause::Fragmentation,
        "CUDA out of memory. Tried to allocate 1.88 GiB. GPU 3 has a total capacity of 21.96 GiB of which 1.29 GiB is free. \
         Including non-PyTorch memory, this process has 0 bytes memory in use. Of the allocated memory 19.02 GiB is \
         allocated by PyTorch, and 1.32 GiB is reserved by PyTorch but unallocated.",
    ),
    (
        "facebookresearch/fairseq#2442",
        OomCause::Fragmentation,
        "2020-08-06 07:12:50 | WARNING | fairseq.trainer | OOM: Ran out of memory with exception: CUDA out of memory. Tried \
         to allocate 246.00 MiB (GPU 0; 31.75 GiB total capacity; 26.00 GiB already allocated; 460.38 MiB free; 27.88 GiB \
         reserved in total by PyTorch) (malloc at /opt/anaconda/c10/cuda/CUDACachingAllocator.cpp:501)",
    ),
    (
        "words of CUDACachingAllocator.cpp for a size beyond an exabyte",
        OomCause::Absurd,
        "CUDA out of memory. Tried to allocate more than 1EB memory.",
    ),
    (
        "words of 1.0 to 1.3, where `cached` is beside the tensors",
        OomCause::Fragmentation,
        "RuntimeError: CUDA out of memory. Tried to allocate 1.68 GiB (GPU 0; 10.76 GiB total capacity; 5.65 GiB already \
         allocated; 356.00 MiB free; 3.90 GiB cached)",
    ),
    (
        "a container that lists the process itself, with 2.6 GiB outside PyTorch",
        OomCause::Outside,
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.74 GiB. GPU 0 has a total capacity of 23.57 GiB of \
         which 594.88 MiB is free. Process 133267 has 22.97 GiB memory in use. Of the allocated memory 20.21 GiB is \
         allocated by PyTorch, with 128.00 MiB allocated in private pools (e.g., CUDA Graphs), and 185.98 MiB is reserved \
         by PyTorch but unallocated.",
    ),
    (
        "the same with 8.7 GiB outside PyTorch",
        OomCause::Outside,
        "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 200.00 MiB. GPU 0 has a total capacity of 79.25 GiB \
         of which 94.88 MiB is free. Process 111 has 79.10 GiB memory in use. Of the allocated memory 70.20 GiB is \
         allocated by PyTorch, and 185.98 MiB is reserved by PyTorch but unallocated.",
    ),
    (
        "a GPU that others fill, of which as much is free as was requested",
        OomCause::Others,
        "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 0; 7.93 GiB total capacity; 2.81 GiB already \
         allocated; 25.38 MiB free; 3.06 GiB reserved in total by PyTorch)",
    ),
    (
        "the end of a message",
        OomCause::Others,
        "Tried to allocate 216.00 MiB (GPU 0; 7.92 GiB total capacity; 69.17 MiB already allocated; 24.56 MiB free; 86.00 \
         MiB reserved in total by PyTorch) If reserved memory is >> allocated memory try setting max_split_size_mb",
    ),
    (
        "a limit that the message rounds up",
        OomCause::Limit,
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 255.98 GiB of \
         which 244.65 GiB is free. 1.05 GiB allowed; Of the allocated memory 1017.01 MiB is allocated by PyTorch, and \
         54.99 MiB is reserved by PyTorch but unallocated.",
    ),
    (
        "a GPU that shares the host's memory",
        OomCause::TooLarge,
        "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 16.00 GiB. GPU 0 has a total capacity of 15.49 GiB of \
         which 84.98 GiB is free. Of the allocated memory 1.67 GiB is allocated by PyTorch, and 8.08 GiB is reserved by \
         PyTorch but unallocated.",
    ),
    (
        "intel/intel-extension-for-pytorch#846, where the driver lends no 8 GiB at once",
        OomCause::MoreFree,
        "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 8.00 GiB. GPU 0 has a total capacity of 15.11 GiB. Of \
         the allocated memory 0 bytes is allocated by PyTorch, and 0 bytes is reserved by PyTorch but unallocated.",
    ),
    (
        "words of cudaMallocAsync, with figures in lines of their own",
        OomCause::Others,
        "torch.cuda.OutOfMemoryError: Allocation on device 0 would exceed allowed memory. (out of memory)\n\
         Currently allocated     : 6.89 GiB\nRequested               : 320.00 MiB\n\
         Device limit            : 23.69 GiB\nFree (according to CUDA): 2.94 MiB\n\
         PyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB",
    ),
];

#[test]
fn causes_of_messages_that_strangers_published() {
    for (source, cause, message) in MESSAGES {
        let found = OomCause::of(&oom(message));
        assert_eq!(found, cause, "{source}");
    }
}

#[test]
fn the_owners_of_a_card_fill_it() {
    for (source, _, message) in MESSAGES {
        let oom = oom(message);
        let Some(owners) = owners_at(&oom) else { continue };
        let total: u64 = owners.parts.iter().map(|owner| owner.bytes).sum();
        // Drivers that lend host memory, or do not count a part of their own, leave a difference.
        let is_lent = oom.allocated_bytes > oom.capacity_bytes || oom.is_shared() || oom.free_bytes.is_none();
        let difference = total.abs_diff(owners.capacity_bytes) as f64 / owners.capacity_bytes as f64;
        assert!(is_lent || difference < 0.04, "{source}: {difference} of {owners:?}");
    }
}

#[test]
fn every_version_states_the_same_figures() {
    let gib = |gib: f64| Some((gib * f64::from(1 << 30)).round() as u64);
    let old = oom(MESSAGES[0].2);
    assert_eq!((old.gpu, old.asked_bytes, old.capacity_bytes), (Some(0), gib(2.26), gib(6.0)));
    assert_eq!((old.free_bytes, old.reserved_bytes), (gib(3.03), gib(1.24)));
    let with_pools = oom(MESSAGES[21].2);
    assert_eq!((with_pools.rank, with_pools.process_bytes), (Some(0), gib(14.53)));
    assert_eq!(with_pools.private_bytes, Some((81.88 * f64::from(1 << 20)).round() as u64));
    let in_container = oom(MESSAGES[20].2);
    assert_eq!(in_container.own_among_others().map(|own| own.pid), Some(2_684_311));
    assert_eq!(in_container.others_bytes(), Some(0));
    assert_eq!(oom(MESSAGES[23].2).process_bytes, None, "0 bytes are unknown");
}

#[test]
fn errors_without_figures_are_known_in_all_words() {
    for (text, device) in [
        ("torch.cuda.OutOfMemoryError: CUDA out of memory.", "GPU"),
        ("THCudaCheck FAIL file=/pytorch/THCStorage.cu line=58 error=2 : out of memory", "GPU"),
        ("RuntimeError: cuda runtime error (2) : out of memory at /pytorch/THCStorage.cu:58", "GPU"),
        ("torch.cuda.OutOfMemoryError: Allocation on device", "GPU"),
        ("Native API failed. Native API returns: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)", "GPU"),
        ("RuntimeError: NPU out of memory.", "NPU"),
    ] {
        let findings = log_report(&log(text)).diagnosis.findings;
        assert_eq!(
            findings.iter().map(|one| one.title.clone()).collect::<Vec<_>>(),
            [format!("{device} ran out of memory")]
        );
        assert!(findings[0].advice.contains("_record_memory_history"), "{findings:?}");
    }
    for quoted in ["    if \"CUDA out of memory\" in str(error):", "except RuntimeError:  # 'CUDA out of memory'"] {
        assert!(log(quoted).is_empty(), "{quoted}");
    }
}

/// Returns a message about `asked` MiB, with a prefix.
fn small(prefix: &str, asked: u32) -> String {
    format!(
        "{prefix}CUDA out of memory. Tried to allocate {asked}.00 MiB. GPU 0 has a total capacity of 10.76 GiB of which 6.00 \
         MiB is free. Including non-PyTorch memory, this process has 10.70 GiB memory in use. Of the allocated memory \
         10.00 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.\n"
    )
}

#[test]
fn forms_of_one_error_are_one() {
    let text = format!(
        "{}{}torch.OutOfMemoryError: CUDA out of memory.\nERROR: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has\n",
        small("torch.OutOfMemoryError: ", 512),
        small("WARNING:root:", 512)
    );
    let [error] = log(&text).printed.ooms.try_into().expect("one error");
    assert_eq!((error.count, error.error.process_bytes.is_some()), (4, true));
}

#[test]
fn errors_that_a_program_catches_are_one_finding() {
    let text: String = (0..300).map(|step| small("WARNING:root:", 500 + step)).collect();
    let report = log_report(&log(&text));
    let [finding] = report.diagnosis.findings.try_into().expect("one finding");
    let title = "GPU 0 ran out of memory 300 times: tried to allocate 500 MiB to 799 MiB";
    assert_eq!((finding.title.as_str(), report.owners.len()), (title, 1));
}

#[test]
fn advice_is_for_the_device_and_the_program() {
    let advice = |text: &str| log_report(&log(text)).diagnosis.findings[0].advice.clone();
    let npu = advice(MESSAGES[18].2);
    assert!(
        npu.contains("npu-smi info") && npu.contains("ASCEND_RT_VISIBLE_DEVICES") && !npu.contains("nvidia"),
        "{npu}"
    );
    let hip = advice(MESSAGES[14].2);
    assert!(hip.contains("rocm-smi --showpids") && !hip.contains("CUDA_VISIBLE"), "{hip}");
    let engine = advice(&small("(EngineCore_DP0 pid=367) ERROR [core.py:868] torch.OutOfMemoryError: ", 80));
    assert!(engine.contains("share that vLLM may use") && !engine.contains("checkpoint"), "{engine}");
    let warm_up = "RuntimeError: CUDA out of memory occurred when warming up sampler with 256 dummy requests. Please try \
                   lowering `max_num_seqs` or `gpu_memory_utilization` when initializing the engine.";
    let engine = advice(&format!("(VllmWorker rank=1 pid=2) ERROR [multiproc_executor.py:470] {warm_up}"));
    assert!(engine.contains("--max-num-seqs"), "{engine}");
    let traceback = "Traceback (most recent call last):\n  File \"/x/sglang/srt/model_runner.py\", line 3, in load\n";
    let engine = advice(&(traceback.to_owned() + &small("torch.OutOfMemoryError: ", 80)));
    assert!(engine.contains("share that SGLang may use"), "{engine}");
}

#[test]
fn other_processes_are_named() {
    let message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of \
                   79.15 GiB of which 1.20 GiB is free. Process 4711 has 30.00 GiB memory in use. Process 17 has 1.50 GiB \
                   memory in use. Including non-PyTorch memory, this process has 46.45 GiB memory in use. Of the allocated \
                   memory 45.50 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.";
    let report = log_report(&log(message));
    let finding = &report.diagnosis.findings[0];
    assert_eq!((finding.code, finding.device), (FindingCode::OutOfMemory, 1));
    assert_eq!(finding.title, "GPU 1 ran out of memory: tried to allocate 2.00 GiB, 1.20 GiB of 79.2 GiB free");
    assert!(finding.advice.contains(": process 4711 has 30.0 GiB, process 17 has 1.50 GiB."), "{finding:?}");
    let parts = [
        "tensors 45.5 GiB",
        "PyTorch's cache 100 MiB",
        "this process outside PyTorch 873 MiB",
        "other processes 31.5 GiB",
    ];
    for part in parts {
        assert!(finding.evidence.shows.contains(part), "{part}: {finding:?}");
    }
}

/// A framework logs an exception, and raises it again; ranks prefix each line.
const TRAINING: &str = r#"step 12 loss 2.31
[rank1]: Traceback (most recent call last):
[rank1]:   File "/home/me/train.py", line 88, in train
[rank1]:     loss = model(batch)
[rank1]:   File "/venv/lib/python3.12/site-packages/torch/nn/modules/module.py", line 1739, in _wrapped_call_impl
[rank1]:     return self._call_impl(*args, **kwargs)
[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 10.00 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 9.00 GiB memory in use. Of the allocated memory 8.40 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.
[rank1]: torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of 10.00 GiB of which 1.00 GiB is free. Including non-PyTorch memory, this process has 9.00 GiB memory in use. Of the allocated memory 8.40 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.
"#;

#[test]
fn an_error_within_a_training_log_has_its_line() {
    let report = log_report(&log(TRAINING));
    assert_eq!(report.diagnosis.findings.len(), 1, "{:?}", report.diagnosis.findings);
    let finding = &report.diagnosis.findings[0];
    let title = "GPU 1 of rank 1 ran out of memory: tried to allocate 2.00 GiB, printed 2 times";
    assert_eq!(finding.title, title);
    assert_eq!(finding.line.as_ref().map(|line| line.line), Some(88));
    assert_eq!(report.title, "What was printed about memory: 1 out-of-memory error");
    assert_eq!(report.notices, []);
}

/// `torch.cuda.memory_summary()` of pytorch/pytorch#35901.
const SUMMARY: &str = "\
|===========================================================================|
|                  PyTorch CUDA memory summary, device ID 0                 |
|---------------------------------------------------------------------------|
|            CUDA OOMs: 1            |        cudaMalloc retries: 1         |
|===========================================================================|
|        Metric         | Cur Usage  | Peak Usage | Tot Alloc  | Tot Freed  |
|---------------------------------------------------------------------------|
| Allocated memory      |    1062 MB |    4877 MB |   89299 MB |   88237 MB |
|       from large pool |    1048 MB |    4865 MB |   89263 MB |   88215 MB |
|       from small pool |      14 MB |      14 MB |      35 MB |      21 MB |
|---------------------------------------------------------------------------|
| Active memory         |    1062 MB |    4877 MB |   89299 MB |   88237 MB |
|       from large pool |    1048 MB |    4865 MB |   89263 MB |   88215 MB |
|       from small pool |      14 MB |      14 MB |      35 MB |      21 MB |
|---------------------------------------------------------------------------|
| GPU reserved memory   |   12420 MB |   12420 MB |   16924 MB |    4504 MB |
|===========================================================================|
";

#[test]
fn a_pasted_memory_summary_shows_fragmentation() {
    let report = log_report(&log(SUMMARY));
    let codes: Vec<FindingCode> = report.diagnosis.findings.iter().map(|finding| finding.code).collect();
    assert_eq!(codes, [FindingCode::OutOfMemory, FindingCode::ReservedAboveLive, FindingCode::CacheEmptied]);
    let title = "PyTorch reserved 12.1 GiB, 2.5 times the 4.76 GiB ever allocated: fragmentation";
    assert_eq!(report.diagnosis.findings[1].title, title);
    assert_eq!(report.tables[0].rows.len(), 1);
    assert_eq!(report.notices, [], "every line of the table is understood");
}

#[test]
fn counters_of_memory_stats_are_read_in_every_form() {
    let keys = [
        ("allocated_bytes.all.current", 5_u64 << 30),
        ("allocated_bytes.all.peak", 6 << 30),
        ("reserved_bytes.all.peak", 7 << 30),
        ("num_ooms", 0),
        ("num_alloc_retries", 3),
    ];
    let form = |pair: &dyn Fn(&str, u64) -> String| keys.map(|(key, value)| pair(key, value)).join(", ");
    let json = format!("{{{}}}", form(&|key, value| format!("\"{key}\": {value}")));
    let python = format!("{{{}}}", form(&|key, value| format!("'{key}': {value}")));
    let ordered = format!("OrderedDict([{}])", form(&|key, value| format!("('{key}', {value})")));
    let lines = json.replace(", ", ",\n  ");
    for text in [&json, &python, &ordered, &lines] {
        let log = log(text);
        let [counters] = log.printed.counters.as_slice() else { panic!("{text}") };
        assert_eq!((counters.allocated.peak_bytes, counters.reserved.peak_bytes), (Some(6 << 30), Some(7 << 30)));
        assert_eq!((counters.retries, counters.ooms), (Some(3), Some(0)));
    }
    assert_eq!(log(&format!("{json}\n{json}")).printed.counters.len(), 2, "counters of two devices");
}

/// A table of which some rows are missing, as people paste it.
#[test]
fn rows_that_a_summary_lacks_are_unknown() {
    let title = "|    PyTorch CUDA memory summary, device ID 0    |\n";
    let ooms = "|   CUDA OOMs: 0    |   cudaMalloc retries: 0   |\n";
    let allocated = "| Allocated memory      |  14324 MiB |  27916 MiB |  14324 MiB |      0 B   |\n";
    let shows = |text: &str| {
        let report = log_report(&log(text));
        let [found] = report.diagnosis.findings.as_slice() else { panic!("{text}: {report:?}") };
        (found.title.clone(), found.evidence.shows.clone())
    };
    let (peak, told) = shows(&format!("{title}{ooms}{allocated}"));
    assert_eq!(peak, "The peak is 27.3 GiB allocated");
    assert!(told.starts_with("It never ran out") && !told.contains("0 B"), "{told}");
    let (_, told) = shows(&format!("{title}{allocated}"));
    assert!(told.starts_with("What was reserved is not in the text"), "{told}");
    assert!(shows(title).0.ends_with("are not in the text"));
    let retyped = "Allocated memory: 39.8 GiB\t40 GiB\nGPU reserved memory 40.5 GB 41 GB\n";
    let log = log(&format!("{title}{retyped}"));
    let [counters] = log.printed.counters.as_slice() else { panic!("{log:?}") };
    let bytes = [counters.allocated.peak_bytes, counters.reserved.now_bytes, counters.reserved.peak_bytes];
    assert_eq!(bytes, [Some(40 << 30), Some(81 << 29), Some(41 << 30)]);
}

/// As the README of memory_profiler shows it, with a loop.
const LINES: &str = "\
Filename: /srv/me/load.py

Line #    Mem usage    Increment  Occurrences   Line Contents
=============================================================
     3   38.816 MiB   38.816 MiB           1   @profile
     4                                         def my_func():
     5   46.492 MiB    7.676 MiB           1       a = [1] * (10 ** 6)
     6  199.117 MiB  152.625 MiB          20       b.append([2] * (2 * 10 ** 7))
     7   46.629 MiB -152.488 MiB           1       del b
     8   46.629 MiB    0.000 MiB           1       return a


done
";

#[test]
fn tables_of_memory_profiler_name_the_largest_line() {
    let report = log_report(&log(LINES));
    let finding = &report.diagnosis.findings[0];
    assert_eq!(finding.title, "Line 6 of load.py adds the most host memory: 153 MiB in 20 runs");
    assert_eq!(finding.evidence.shows, "The line is `b.append([2] * (2 * 10 ** 7))`. The process had at most 199 MiB.");
    let rows = &report.tables[0].rows;
    assert_eq!(rows.len(), 4, "the decorator has what was there before");
    assert_eq!(rows[3][1], LogCell::Text("-152 MiB".to_owned()));
    assert_eq!(rows[0][3], LogCell::Count(20));
    let without_times = LINES.replace("Occurrences  ", "").replace("         20  ", "").replace("          1  ", "");
    assert_eq!(log(&without_times).printed.line_uses[2].times, None);
}

#[test]
fn memory_that_a_program_prints_shows_its_growth() {
    let steps = |bytes: &dyn Fn(u64) -> u64| -> String {
        (0..20).map(|step| format!("step {step} loss 0.3 memory_allocated: {}\n", bytes(step))).collect()
    };
    let title = |text: &str| {
        let findings = log_report(&log(text)).diagnosis.findings;
        let [finding] = findings.try_into().expect("one finding");
        finding.title
    };
    let grows = title(&steps(&|step| (1 << 30) + (step << 26)));
    assert_eq!(grows, "Allocated memory climbs from 1.00 GiB to 2.19 GiB");
    let flat = title(&steps(&|step| (1 << 30) + ((step % 2) << 26)));
    assert_eq!(flat, "At most 1.06 GiB was printed as allocated");
    let line = |step: u64| {
        format!("nvidia-smi GPU-0 memory (MB) {}\ntorch.cuda.memory_allocated(0) 318986240\n", 2796 + 2 * step)
    };
    let outside = title(&(0..20).map(line).collect::<String>());
    assert_eq!(outside, "GPU memory outside PyTorch climbs from 2.73 GiB to 2.77 GiB");
}
