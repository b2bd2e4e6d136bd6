//! Checks the diagnosis of other frameworks' messages that strangers have published, each with its source.

use super::*;
use crate::log_report;
use crate::printed::Printed;
use crate::reader::read_text;
use crate::source::Source as _;
use shared::report::LogReport;

fn printed(text: &str) -> Printed {
    read_text(text).printed
}

fn report(text: &str) -> LogReport {
    log_report(&read_text(text))
}

/// Messages in lines: the source; the framework, the requested bytes, and the cause as the thread or arithmetic tells it;
/// words of the title; the text.
const MESSAGES: &str = include_str!("../../../../../../tests/data/logs/published-out-of-memory-frameworks.txt");

fn messages() -> impl Iterator<Item = [&'static str; 4]> {
    MESSAGES.split("\n\n").map(|message| message.lines().collect::<Vec<_>>().try_into().expect("four lines"))
}

#[test]
fn messages_that_strangers_published_are_read() {
    for [source, facts, title, message] in messages() {
        let printed = printed(message);
        let [Repeated { error, .. }] = printed.framework_ooms.as_slice() else { panic!("{source}: {printed:?}") };
        let asked = error.asked_bytes.map_or("unknown".to_owned(), |bytes| bytes.to_string());
        let cause = error.cause().map_or("unknown".to_owned(), |cause| format!("{cause:?}"));
        assert_eq!(format!("{:?} {asked} {cause}", error.framework), facts, "{source}");
        let finding = out_of_memory(&printed.framework_ooms[0]);
        let said = format!("{} {}", finding.title, finding.evidence.shows);
        assert!(said.contains(title), "{source}: {said}");
        assert_eq!(finding.severity, Severity::Error, "{source}");
    }
    assert_eq!(messages().count(), 27);
}

#[test]
fn paddle_counts_the_whole_gpu() {
    let [source, .., message] = messages().nth(9).expect("a message of PaddleGAN");
    let owners = report(message).owners.remove(0);
    let told = (owners.title, format::bytes(owners.capacity_bytes));
    assert_eq!(told, ("GPU 0".to_owned(), "24.0 GiB".to_owned()), "{source}");
}

/// Published log of a training that copied batches to the GPU, whose pool had become pieces.
const IN_PIECES: &str = "\
2023-10-02 16:36:14.402881: W tensorflow/tsl/framework/bfc_allocator.cc:485] Allocator (GPU_0_bfc) ran out of memory trying to allocate 585.94MiB (rounded to 614400000)requested by op _EagerConst
If the cause is memory fragmentation maybe the environment variable 'TF_GPU_ALLOCATOR=cuda_malloc_async' will improve the situation.
2023-10-02 16:36:14.407822: I tensorflow/tsl/framework/bfc_allocator.cc:1103] 1 Chunks of size 491520000 totalling 468.75MiB
2023-10-02 16:36:14.407831: I tensorflow/tsl/framework/bfc_allocator.cc:1107] Sum Total of in-use chunks: 561.92MiB
2023-10-02 16:36:14.407841: I tensorflow/tsl/framework/bfc_allocator.cc:1109] Total bytes in pool: 3502964736 memory_limit_: 3502964736 available bytes: 0 curr_region_allocation_bytes_: 7005929472
2023-10-02 16:36:14.407857: I tensorflow/tsl/framework/bfc_allocator.cc:1114] Stats:
Limit:                      3502964736
InUse:                       589212672
MaxInUse:                   3288551168
NumAllocs:                      469363
MaxAllocSize:               1228800000
";

#[test]
fn a_pool_with_room_is_in_pieces() {
    let report = report(IN_PIECES);
    let finding = &report.diagnosis.findings[0];
    assert_eq!(finding.title, "GPU 0 ran out of memory: 586 MiB was requested by TensorFlow for _EagerConst");
    let shows = "Of the 3.26 GiB that TensorFlow may use, 562 MiB was in use and 2.71 GiB was free.";
    assert_eq!(finding.evidence.shows, shows);
    assert!(finding.advice.starts_with("Set `TF_GPU_ALLOCATOR=cuda_malloc_async`"), "{}", finding.advice);
    let parts: Vec<u64> = report.owners[0].parts.iter().map(|part| part.bytes).collect();
    assert_eq!(parts, [589_212_672, 3_502_964_736 - 589_212_672]);
}

/// Published log, in which TensorFlow states one failure three times.
const STATED_AGAIN: &str = "\
2024-07-12 14:20:01.744246: W tensorflow/tsl/framework/bfc_allocator.cc:485] Allocator (GPU_0_bfc) ran out of memory trying to allocate 488.28MiB (rounded to 512000000)requested by op dual_encoder_all/model_1/conv2d_17/Relu_1
2024-07-12 14:20:01.747540: I tensorflow/tsl/framework/bfc_allocator.cc:1107] Sum Total of in-use chunks: 37.11GiB
Limit:                     40231108608
InUse:                     39851412480
2024-07-12 14:20:01.747621: W tensorflow/core/framework/op_kernel.cc:1828] OP_REQUIRES failed at conv_ops_fused_impl.h:452 : RESOURCE_EXHAUSTED: OOM when allocating tensor with shape[32,64,250,250] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
Node: 'dual_encoder_all/model_1/conv2d_17/Relu_1'
OOM when allocating tensor with shape[32,64,250,250] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc
";

#[test]
fn lines_about_one_failure_are_one_error() {
    let again = printed(STATED_AGAIN);
    let [Repeated { error, count, .. }] = again.framework_ooms.as_slice() else { panic!("{again:?}") };
    assert_eq!((error.cause(), *count), (Some(OomCause::Full), 3));
    assert_eq!((error.tensor.as_str(), error.gpu), ("[32,64,250,250] of type float", Some(0)));
    assert_eq!((error.capacity_bytes, error.in_use_bytes), (Some(40_231_108_608), Some(39_851_412_480)));
    // tensorflow/tensorflow#3304.
    let text = "Ran out of memory trying to allocate 1.00MiB. See logs for memory state.\n\
                Sum Total of in-use chunks: 479.76MiB\nLimit:                   503270604\nInUse:                   503061248\n";
    let error = &printed(text).framework_ooms[0].error;
    assert_eq!((error.cause(), error.in_use_bytes), (Some(OomCause::Full), Some(503_061_248)));
}

#[test]
fn a_slower_algorithm_is_no_error() {
    let text = "W tensorflow/core/common_runtime/bfc_allocator.cc:243] Allocator (GPU_0_bfc) ran out of memory trying to \
                allocate 1.25GiB with freed_by_count=0. The caller indicates that this is not a failure, but may mean that \
                there could be performance gains if more memory were available.";
    let findings = report(text).diagnosis.findings;
    let told: Vec<_> = findings.iter().map(|found| (found.severity, found.title.as_str())).collect();
    assert_eq!(told, [(Severity::Info, "TensorFlow found no room for 1.25 GiB and went on without it: no failure")]);
    assert!(printed("INTERNAL_PHASE_1: Out of memory while trying to allocate room for block").is_empty());
    assert!(printed("solver: failed to allocate memory\n").is_empty());
}

#[test]
fn the_parts_of_a_program_add_up_to_its_total() {
    // patrickbryant1/AFProfile#8, which states a total of 14.44GiB.
    let text = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 4770354232 bytes.\n\
                BufferAssignment OOM Debugging.\nBufferAssignment stats:\n             parameter allocation:  372.76MiB\n\
                              constant allocation:    48.5KiB\n        maybe_live_out allocation:    9.64GiB\n     \
                preallocated temp allocation:    4.44GiB\n                 total allocation:   14.44GiB\n";
    let owners = report(text).owners.remove(0);
    let names: Vec<&str> = owners.parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["parameters", "constants", "outputs", "temporaries"]);
    assert_eq!(format::bytes(owners.capacity_bytes), "14.4 GiB");
    // jax-ml/jax#13428: another program had the GPU.
    let small = text.replace("14.44GiB", "12.00MiB").replace("372.76MiB", "6.00MiB").replace("9.64GiB", "6.00MiB");
    let small = small.replace("4.44GiB", "0B");
    let shows = report(&small).diagnosis.findings[0].evidence.shows.clone();
    assert!(shows.starts_with("The program that was to run needs only 12.0 MiB in all"), "{shows}");
    // Arrays that a step replaces share memory with its results.
    let donated = report(&text.replace("14.44GiB", "10.00GiB")).owners.remove(0);
    assert_eq!(format::bytes(donated.capacity_bytes), "10.0 GiB");
}

#[test]
fn a_buffer_of_llama_has_advice_of_its_own() {
    let failed = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 6943.00 MiB on device 0: cudaMalloc failed: out of memory\n";
    let limited = "ggml_vulkan: Device memory allocation of size 2495610880 failed.\n\
                   ggml_vulkan: Requested buffer size exceeds device memory allocation limit: ErrorOutOfDeviceMemory\n";
    let reserving = "ggml_gallocr_reserve_n: failed to allocate CUDA0 buffer of size 7280263168\n";
    let beyond = "ggml_metal_add_buffer: allocated 'data' buffer, size = 2821.31 MB, (35589.77 / 10922.67), warning: current \
                  allocated size is greater than the recommended max working set size\n\
                  ggml_metal_add_buffer: allocated 'eval' buffer, size = 1536.00 MB, (37125.77 / 10922.67), warning: current \
                  allocated size is greater than the recommended max working set size\n";
    let mlx = "[WARNING] Generating with a model that requires 7717 MB which is close to the maximum recommended size of 5461 MB.";
    for (text, title, advice) in [
        (
            format!("{failed}llama_model_load: error loading model: unable to allocate CUDA0 buffer\n"),
            "for the weights",
            "--n-cpu-moe",
        ),
        (
            format!("{failed}llama_init: failed to allocate buffer for kv cache\n"),
            "for the KV cache",
            "--no-kv-offload",
        ),
        (format!("{failed}{reserving}"), "for computing", "--ubatch-size"),
        (limited.to_owned(), "allows no buffer of 2.32 GiB", "no single buffer of this size"),
        (format!("encoding image or slice...\n{reserving}"), "for an image", "--image-max-tokens"),
        (failed.to_owned(), "6.78 GiB was requested by llama.cpp", "--n-gpu-layers"),
        (beyond.to_owned(), "llama.cpp takes 36.3 GiB where Metal recommends at most 10.7 GiB", "--n-gpu-layers"),
        (mlx.to_owned(), "MLX takes 7.54 GiB where Metal recommends at most 5.33 GiB", "iogpu.wired_limit_mb"),
    ] {
        let findings = report(&text).diagnosis.findings;
        assert_eq!(findings.len(), 1, "{text}");
        assert!(findings[0].title.contains(title) && findings[0].advice.contains(advice), "{text}: {findings:?}");
    }
    let made = format!(
        "load_tensors:        CUDA0 model buffer size =  8148.38 MiB\nCUDA0 KV buffer size =  6400.00 MiB\n{failed}"
    );
    let shows = report(&made).diagnosis.findings.remove(0).evidence.shows;
    assert!(shows.starts_with("llama.cpp itself held 14.2 GiB"), "{shows}");
}
