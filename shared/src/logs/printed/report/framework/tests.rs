//! Checks the diagnosis of other frameworks' messages that strangers have published, each with its source.

use super::*;
use crate::logs::printed::Printed;
use crate::logs::source::Source as _;
use crate::logs::{LogReader, log_report};
use crate::report::LogReport;

fn printed(text: &str) -> Printed {
    let mut reader = LogReader::default();
    reader.push(text.as_bytes());
    reader.finish().printed
}

fn report(text: &str) -> LogReport {
    let mut reader = LogReader::default();
    reader.push(text.as_bytes());
    log_report(&reader.finish())
}

/// Sources of messages with the framework, the requested bytes, the cause as the thread or arithmetic tells it, and words
/// of the title.
#[expect(clippy::type_complexity, reason = "a table")]
const MESSAGES: [(&str, Framework, Option<u64>, Option<OomCause>, &str, &str); 16] = [
    (
        "IndicoDataSolutions/finetune#339",
        Framework::TensorFlow,
        Some(16 * 12 * 512 * 512 * 4),
        None,
        "GPU 2 ran out of memory: 192 MiB was requested by TensorFlow, a tensor of shape [16,12,512,512] of type float",
        "ResourceExhaustedError: OOM when allocating tensor with shape[16,12,512,512] and type float on \
         /job:localhost/replica:0/task:0/device:GPU:2 by allocator GPU_2_bfc",
    ),
    (
        "santi-pdp/segan#42, which states no type",
        Framework::TensorFlow,
        None,
        None,
        "TensorFlow ran out of memory, a tensor of shape [100,4096,32]",
        "ResourceExhaustedError (see above for traceback): OOM when allocating tensor with shape[100,4096,32]",
    ),
    (
        "tensorflow/tensorflow#47820, a Jetson",
        Framework::TensorFlow,
        Some(18_874_368),
        None,
        "GPU 0 ran out of memory: 18.0 MiB was requested by TensorFlow for Mul",
        "2021-03-15 17:16:57.309165: W tensorflow/core/common_runtime/bfc_allocator.cc:433] Allocator (GPU_0_bfc) ran out of \
         memory trying to allocate 18.00MiB (rounded to 18874368)requested by op Mul",
    ),
    (
        "faustomorales/keras-ocr#195",
        Framework::TensorFlow,
        None,
        None,
        "TensorFlow ran out of memory for AddV2",
        "ResourceExhaustedError: failed to allocate memory [Op:AddV2]",
    ),
    (
        "google-deepmind/alphafold#1023",
        Framework::Xla,
        Some(7_406_166_528),
        None,
        "XLA ran out of memory: 6.90 GiB was requested",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 7406166528 bytes.",
    ),
    (
        "google-deepmind/alphafold#197, 2021",
        Framework::Xla,
        Some(12_582_912),
        None,
        "XLA ran out of memory: 12.0 MiB was requested",
        "RuntimeError: Resource exhausted: Out of memory while trying to allocate 12582912 bytes.",
    ),
    (
        "LargeWorldModel/LWM#60",
        Framework::Xla,
        Some(23_568_633_037),
        Some(OomCause::TooLarge),
        "XLA ran out of memory: the program needs 22.0 GiB",
        "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in \
         memory space hbm. Used 21.95G of 15.48G hbm.",
    ),
    (
        "tensorflow/tpu#385",
        Framework::Xla,
        Some(8_997_956_485),
        Some(OomCause::TooLarge),
        "the program needs 8.38 GiB",
        "Compilation failure: Ran out of memory in memory space hbm. Used 8.38G of 8.00G hbm. Exceeded hbm capacity by \
         385.25M.",
    ),
    (
        "PaddlePaddle/Paddle#42228",
        Framework::Paddle,
        Some(102_760_704),
        Some(OomCause::Full),
        "GPU 0 ran out of memory: 98.0 MiB was requested by PaddlePaddle",
        "Out of memory error on GPU 0. Cannot allocate 98.000244MB memory on GPU 0, 6.000000GB memory has been allocated and \
         available memory is only 0.000000B.",
    ),
    (
        "PaddlePaddle/PaddleGAN#587",
        Framework::Paddle,
        Some(3_888_906_055),
        Some(OomCause::Full),
        "3.62 GiB was requested by PaddlePaddle",
        "Out of memory error on GPU 0. Cannot allocate 3.621826GB memory on GPU 0, 21.184814GB memory has been allocated and \
         available memory is only 2.814575GB. Please check whether there is any other process using GPU 0.",
    ),
    (
        "PaddlePaddle/PaddleOCR#1505, 2020, which has no owner; it was 13 workers on one GPU",
        Framework::Paddle,
        Some(26_216_704),
        None,
        "25.0 MiB was requested by PaddlePaddle",
        "Out of memory error on GPU 0. Cannot allocate 25.002197MB memory on GPU 0, available memory is only 15.187500MB.",
    ),
    (
        "microsoft/onnxruntime#20038",
        Framework::OnnxRuntime,
        Some(2_830_172_160),
        None,
        "ONNX Runtime ran out of memory: 2.64 GiB was requested for Mul",
        "onnx runtime error 6: Non-zero status code returned while running Mul node. Name:'Mul_8702' Status Message: \
         /workspace/onnxruntime/core/framework/bfc_arena.cc:368 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, \
         bool, onnxruntime::Stream*, bool, onnxruntime::WaitNotificationFn) Failed to allocate memory for requested buffer \
         of size 2830172160",
    ),
    (
        "microsoft/onnxruntime#22702, a shape that overflowed",
        Framework::OnnxRuntime,
        Some(4_585_490_524_328_388_608),
        Some(OomCause::Absurd),
        "ONNX Runtime ran out of memory: an impossible size was requested",
        "bfc_arena.cc:376 void* onnxruntime::BFCArena::AllocateRawInternal(size_t, bool, onnxruntime::Stream*, bool, \
         onnxruntime::WaitNotificationFn) Failed to allocate memory for requested buffer of size 4585490524328388608",
    ),
    (
        "words of bfc_arena.cc for a pool with a limit",
        Framework::OnnxRuntime,
        Some(3_000_000),
        Some(OomCause::TooLarge),
        "2.86 MiB was requested",
        "BFCArena::AllocateRawInternal: Available memory of 1000000 is smaller than requested bytes of 3000000",
    ),
    (
        "lmstudio-ai/lmstudio-bug-tracker#2240",
        Framework::Mlx,
        Some(48_736_917_632),
        Some(OomCause::TooLarge),
        "MLX ran out of memory: 45.4 GiB was requested",
        "RuntimeError: [metal::malloc] Attempting to allocate 48736917632 bytes which is greater than the maximum allowed \
         buffer size of 30150672384 bytes.",
    ),
    (
        "tensorflow/tensorflow#60401",
        Framework::TensorFlow,
        None,
        None,
        "TensorFlow ran out of memory for the copy of a tensor to the GPU",
        "InternalError: Failed copying input tensor from /job:localhost/replica:0/task:0/device:CPU:0 to \
         /job:localhost/replica:0/task:0/device:GPU:0 in order to run _EagerConst: Dst tensor is not initialized.",
    ),
];

#[test]
fn messages_that_strangers_published_are_read() {
    for (source, framework, asked, cause, title, message) in MESSAGES {
        let printed = printed(message);
        let [Repeated { error, .. }] = printed.framework_ooms.as_slice() else { panic!("{source}: {printed:?}") };
        assert_eq!((error.framework, error.asked_bytes, error.cause()), (framework, asked, cause), "{source}");
        let finding = out_of_memory(&printed.framework_ooms[0]);
        let said = format!("{} {}", finding.title, finding.evidence.shows);
        assert!(said.contains(title), "{source}: {said}");
        assert_eq!(finding.severity, Severity::Error, "{source}");
    }
}

#[test]
fn paddle_counts_the_whole_gpu() {
    let (source, .., message) = MESSAGES[9];
    let owners = report(message).owners.remove(0);
    assert_eq!(
        (owners.title.as_str(), format::bytes(owners.capacity_bytes).as_str()),
        ("GPU 0", "24.0 GiB"),
        "{source}"
    );
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
    let printed = printed(STATED_AGAIN);
    let [Repeated { error, count, .. }] = printed.framework_ooms.as_slice() else { panic!("{printed:?}") };
    assert_eq!((error.cause(), *count), (Some(OomCause::Full), 3));
    assert_eq!((error.tensor.as_str(), error.gpu), ("[32,64,250,250] of type float", Some(0)));
    assert_eq!((error.capacity_bytes, error.in_use_bytes), (Some(40_231_108_608), Some(39_851_412_480)));
}

#[test]
fn counters_are_more_exact_than_the_sum() {
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
    assert!(printed(text).is_empty());
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
    let small = text.replace("372.76MiB", "6.00MiB").replace("9.64GiB", "6.00MiB").replace("4.44GiB", "0B");
    let shows = report(&small).diagnosis.findings[0].evidence.shows.clone();
    assert!(shows.starts_with("The program that was to run needs only 12.0 MiB in all"), "{shows}");
}
