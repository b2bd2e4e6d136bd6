//! Tests what is found in steps, and the kernels of operators.

use super::read;
use crate::torch_profiler::{HabitKind, habits};

/// PyTorch 2.11 on the virtual GPU, a model that calls `contiguous()` six times, without functions of C.
const STEPS: &[u8] = include_bytes!("../../../../../tests/data/logs/torch2.11-profiler-steps.json.gz");

/// Copies, waits and the spans around them of `tests/data/negative_queue_length_values_check/rank0.json.gz` of
/// facebookresearch/HolisticTraceAnalysis (MIT): a recommendation model on real GPUs.
const REAL: &[u8] = include_bytes!("../../../../../tests/data/logs/kineto-dlrm-steps.json.gz");

/// One event of a trace.
pub(super) fn event(category: &str, name: &str, start: u32, duration: u32, number: u32) -> String {
    format!(
        "{{\"ph\":\"X\",\"cat\":\"{category}\",\"name\":\"{name}\",\"tid\":7,\"ts\":{start},\"dur\":{duration},\
         \"args\":{{\"correlation\":{number},\"bytes\":4096}}}},"
    )
}

/// A trace with `steps` steps, each of which copies `copies` tensors from the host within `modules` modules, and reads
/// one value of the GPU.
fn trace(steps: u32, copies: u32, modules: u32) -> String {
    let mut text = "{\"schemaVersion\":1,\"traceEvents\":[".to_owned();
    for step in 0..steps {
        let start = 1000 * step;
        text += &event("user_annotation", &format!("ProfilerStep#{step}"), start, 1000, 0);
        for module in 0..modules {
            text += &event("python_function", &format!("nn.Module: Layer_{module}"), start + 1 + module, 800, 0);
        }
        text += &event("python_function", "model.py(3): forward", start + 10, 700, 0);
        for copy in 0..copies {
            let (start, number) = (start + 20 + 10 * copy, start + copy + 1);
            text += &event("cpu_op", "aten::to", start, 9, 0);
            text += &event("cuda_runtime", "cudaMemcpyAsync", start + 1, 2, number);
            text += &event("gpu_memcpy", "Memcpy HtoD (Pageable -> Device)", start + 2, 1, number);
        }
        text += &event("cpu_op", "aten::item", start + 900, 50, 0);
        text += &event("cuda_runtime", "cudaMemcpyAsync", start + 901, 2, start + 900);
        text += &event("cuda_runtime", "cudaStreamSynchronize", start + 905, 5, 0);
        text += &event("gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", start + 906, 1, start + 900);
    }
    text + "]}"
}

fn kinds(text: &str) -> Vec<HabitKind> {
    habits(&read(text.as_bytes(), 100)).into_iter().map(|habit| habit.kind).collect()
}

#[test]
fn copies_and_reads_of_a_real_trace_are_counted() {
    let profile = read(REAL, REAL.len());
    let habits = habits(&profile);
    let [copies, reads] = habits.as_slice() else { panic!("{habits:?}") };
    // The oracle is a sum over the JSON: 45 and 30 such copies.
    assert_eq!((copies.kind, copies.steps, copies.times, copies.bytes), (HabitKind::CopiesToGpu, 5, 9, 1344));
    assert_eq!((reads.kind, reads.steps, reads.times), (HabitKind::Reads, 5, 6));
    assert_eq!((reads.wait_us, reads.steps_us), (759_297.0, 1_074_033.0));
    let places: Vec<(&str, usize)> = copies.places.iter().map(|(name, times)| (profile.name(*name), *times)).collect();
    assert_eq!(places, [("## sparse_data_dist ##", 35), ("## all2all_data:recat_permute_gen ##", 10)]);
}

#[test]
fn memory_of_each_step_has_its_origin() {
    let profile = read(STEPS, STEPS.len());
    let habits = habits(&profile);
    let [contiguous, creations] = habits.as_slice() else { panic!("{habits:?}") };
    assert_eq!((contiguous.kind, contiguous.times, contiguous.bytes), (HabitKind::Contiguous, 6, 25_165_824));
    assert_eq!((creations.kind, creations.times, creations.bytes), (HabitKind::Creations, 1, 1 << 20));
    assert_eq!(profile.name(creations.places[0].0), "model.py(5): forward");
}

#[test]
fn a_batch_and_a_loss_are_normal() {
    assert_eq!(kinds(&trace(4, 7, 0)), []);
    assert_eq!(kinds(&trace(4, 7, 1)), [], "the outermost module copies the batch");
    assert_eq!(kinds(&trace(4, 8, 1)), [HabitKind::CopiesToGpu]);
    assert_eq!(kinds(&trace(4, 1, 2)), [HabitKind::CopiesInModel], "a layer has no batch");
    assert_eq!(kinds(&trace(2, 8, 2)), [], "two steps show nothing");
}

#[test]
fn a_read_waits_for_its_copy() {
    let profile = read(trace(3, 0, 0).as_bytes(), 100);
    let waits: Vec<f64> = profile.transfers.iter().map(|transfer| transfer.wait_us).collect();
    assert_eq!(waits, [7.0; 3]);
}

#[test]
fn kernels_belong_to_the_operators_that_launched_them() {
    let memory = |start: u32| {
        format!(
            "{{\"ph\":\"i\",\"name\":\"[memory]\",\"tid\":7,\"ts\":{start},\"args\":{{\"Bytes\":512,\"Addr\":{start},\"Device Type\":1}}}},"
        )
    };
    let text = "{\"schemaVersion\":1,\"traceEvents\":[".to_owned()
        + &event("cpu_op", "aten::linear", 10, 50, 0)
        + &event("cpu_op", "aten::addmm", 15, 20, 0)
        + &memory(16)
        + &memory(20)
        + &event("cuda_runtime", "cudaLaunchKernel", 30, 2, 1)
        + &event("cuda_runtime", "cudaLaunchKernelExC", 50, 2, 2)
        + &event("cuda_runtime", "cudaLaunchKernel", 70, 2, 3)
        + &event("kernel", "gemm", 100, 40, 1)
        + &event("kernel", "add", 150, 2, 2)
        + &event("kernel", "other", 160, 900, 3)
        + "]}";
    let profile = read(text.as_bytes(), 50);
    let operations: Vec<(&str, f64)> =
        profile.operations.iter().map(|one| (profile.name(one.name), one.kernels_us)).collect();
    assert_eq!(operations, [("aten::linear", 42.0)]);
    assert!(profile.courses[0].events.iter().all(|event| event.operation == Some(0)));
}
