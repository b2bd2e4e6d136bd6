//! Checks what the diagnosis takes from what stands beside an error: figures, programs, calls and other errors.

use super::*;

#[test]
fn a_request_for_less_than_is_free_has_other_reasons() {
    let mps = |own: &str, asked: &str| {
        format!(
            "MPS backend out of memory (MPS allocated: {own} GB, other allocations: 0 bytes, max allowed: 7.93 GB). Tried to allocate {asked} on private pool."
        )
    };
    assert!(advice(&mps("1.31", "256 bytes")).contains("virtual one"));
    assert!(advice(&mps("7.90", "256.00 MB")).starts_with("Use less: a smaller batch"));
    let cuda = |asked: &str, held: &str, free: &str, reserved: &str| {
        format!(
            "CUDA out of memory. Tried to allocate {asked} GiB (GPU 0; 10.76 GiB total capacity; {held} GiB already allocated; {free} GiB free; {reserved} GiB reserved in total by PyTorch)\n"
        )
    };
    let cause = |text: &str| OomCause::of(&oom(text));
    assert_eq!(cause(&cuda("7.88", "0.60", "7.94", "0.62")), OomCause::Full, "one tensor is most of the GPU");
    assert_eq!(cause(&cuda("1.50", "4.21", "1.12", "4.84")), OomCause::Others, "they hold far more than is unused");
    let windows = cuda("0.05", "3.12", "7.40", "3.15") + "  File \"D:\\llm\\run.py\", line 3, in f\n";
    assert!(advice(&windows).starts_with("Make the page file larger"), "{}", advice(&windows));
}

#[test]
fn programs_get_options_of_their_own() {
    let comfy = "# ComfyUI Error Report\n- **Exception Message:** Allocation on device\n";
    assert!(advice(comfy).contains("`--lowvram`"));
    let vllm = format!("llm = LLM(model=\"m\", tensor_parallel_size=1)\n{}", small("", 80));
    assert!(advice(&vllm).contains("--gpu-memory-utilization"), "{}", advice(&vllm));
    let pool = "Sum Total of in-use chunks: 468.55MiB\nLimit:    491469210\nInUse:    491315200\n\
                W bfc_allocator.cc:271] Ran out of memory trying to allocate 3.78MiB.  See logs for memory state.\n";
    assert!(only(pool).evidence.shows.starts_with("Of the 469 MiB that TensorFlow may use, 469 MiB was in use"));
    let retried = "ggml_backend_cuda_buffer_type_alloc_buffer: allocating 38211.50 MiB on device 2: cudaMalloc failed: out of memory\n\
                   sched_reserve: compute buffer allocation failed, retrying without pipeline parallelism\n";
    let told = only(retried);
    assert!(told.severity == Severity::Info && told.title.ends_with("no failure"), "{told:?}");
    assert!(
        advice("error: Insufficient Memory (00000008:kIOGPUCommandBufferCallbackErrorOutOfMemory)").contains("iogpu")
    );
    let julia = only(
        "WARNING: CUDA memory allocation failed; attempting to free up memory...\n\
                      Effective GPU memory usage: 99.41% (23.507 GiB/23.647 GiB)\n\
                      Memory pool usage: 17.220 GiB (21.844 GiB reserved)\n... running a quick GC (freed 16.913 GiB)\n",
    );
    assert_eq!(julia.evidence.shows, "A collection freed 16.9 GiB of the 17.2 GiB that arrays took.");
    assert!(julia.severity == Severity::Info && julia.advice.contains("unsafe_free!"), "{julia:?}");
}

#[test]
fn what_a_text_states_beside_an_error_is_told_with_it() {
    let ray = "Memory on the node was 121.93GB / 128.32GB (0.950203), which exceeds the memory usage threshold of 0.95.\n\
               PID\tMEM(GB)\tCOMMAND\n6502\t88.31\tpython run_sim.py\n6611\t2.10\tray::SimEnv\n";
    let first = only(ray).steps.remove(0).text;
    assert_eq!(first, "Look first at process 6502 (python run_sim.py), which has the most memory: 88.31 GB.");
    let tpu = "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 47.12G of 30.75G hbm.\n\
               \x20 1. Size: 8.00G\n     Shape: f32[8,16,4096,4096]{3,2,1,0:T(8,128)}\n  2. Size: 9.00G\n     Shape: f32[9]\n";
    assert!(only(tpu).evidence.shows.ends_with("Its largest allocation is 8.00 GiB, f32[8,16,4096,4096]."));
    let lsf = "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.\n    Max Memory :    24310 MB\n\
               \x20   Total Requested Memory :   20000.00 MB\n";
    assert!(only(lsf).evidence.shows.ends_with("Max Memory: 24310 MB. Total Requested Memory: 20000.00 MB."));
    let offload = "[utils.py:789:see_memory_usage] CPU Virtual Memory:  used = 41.62 GB, percent = 11.1%\n\
                   [utils.py:789:see_memory_usage] CPU Virtual Memory:  used = 97.02 GB, percent = 25.9%\n  exitcode  : -9 (pid: 512)\n";
    assert!(only(offload).evidence.shows.contains("rose from 41.6 GiB to 97.0 GiB"), "{:?}", findings(offload));
    let both = "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.\n\
                sglang torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has a total capacity of 44.40 GiB \
                of which 1.00 GiB is free. Of the allocated memory 42.00 GiB is allocated by PyTorch, and 10.00 MiB is reserved by \
                PyTorch but unallocated.\n";
    assert!(findings(both).iter().any(|found| found.advice.contains("no share of the GPU has room for both")));
}

#[test]
fn who_has_most_of_the_gpu_is_named() {
    let table = "|   0  NVIDIA GeForce RTX 3090        Off |   00000000:65:00.0 Off |                  N/A |\n\
                 | 41%   52C    P2            118W /  350W |   24212MiB /  24576MiB |      3%      Default |\n\
                 |    0   N/A  N/A      7731      C   ./llama-server                              23012MiB |\n";
    let error = "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`\n";
    let found = findings(&(error.to_owned() + table));
    let first = "End llama-server (process 7731), which has 22.5 GiB of the GPU, unless it is this program itself.";
    assert_eq!((found.len(), found[0].steps[0].text.as_str()), (1, first), "a full GPU is no news then");
    let steps = findings(&(error.to_owned() + &table.replace("23012MiB", "301MiB"))).remove(0).steps;
    assert!(steps[0].text.starts_with("Look for other processes"), "{steps:?}");
}

#[test]
fn the_failing_call_tells_what_to_do() {
    let first = |frames: &str| at(frames).lines().next().unwrap_or_default().to_owned();
    for (frames, words) in [
        ("  File \"/v/torch/serialization.py\", line 3, in default_restore_location\n", "map_location=\"cpu\""),
        ("  File \"/v/transformers/trainer_pt_utils.py\", line 3, in nested_concat\n", "eval_accumulation_steps"),
        (
            "  File \"/v/torch/distributed/fsdp/_state_dict_utils.py\", line 3, in _full_pre_state_dict_hook\n",
            "in shards",
        ),
        ("  File \"/v/torch/nn/functional.py\", line 3, in log_softmax\n", "chunks of tokens"),
        ("  File \"/v/mmdet/iou2d_calculator.py\", line 3, in bbox_overlaps\n", "gpu_assign_thr"),
        ("  File \"/v/diffusers/pipelines/pipeline_utils.py\", line 3, in to\n", "enable_model_cpu_offload"),
        ("  File \"/v/torch/optim/adam.py\", line 3, in _init_group\n", "8 bits"),
    ] {
        assert!(first(frames).contains(words), "{frames}{}", first(frames));
    }
}

#[test]
fn what_a_person_tells_of_before_is_no_error() {
    let before = "Yesterday I had CUDA out of memory so I put model.half(). Now I get this\n";
    let other = "Traceback (most recent call last):\n  File \"infer.py\", line 58, in <module>\n    out = model(x)\n\
                 RuntimeError: Input type (torch.cuda.FloatTensor) and weight type (torch.cuda.HalfTensor) should be the same\n";
    assert!(log(&format!("{before}{other}")).is_empty());
    assert!(!log(before).is_empty());
    let killed = "Loading checkpoint shards:  67%|██████▋   | 2/3 [00:41<00:20, 20.75s/it]Killed\nother line\n";
    assert_eq!(log(killed).printed.host_errors.len(), 1);
}

#[test]
fn room_is_told_where_a_text_has_it() {
    let llama = "llama_model_load_from_file_impl: using device CUDA0 (NVIDIA GeForce RTX 3090) - 23867 MiB free\n\
                 load_tensors:        CUDA0 model buffer size =  7605.00 MiB\n\
                 ggml_backend_cuda_buffer_type_alloc_buffer: allocating 16384.00 MiB on device 0: cudaMalloc failed: out of memory\n";
    assert_eq!(only(llama).evidence.shows, "15.9 GiB of the GPU was free.");
    let ollama = "msg=\"offload to cuda\" layers.requested=99 layers.model=65 layers.offload=33 memory.available=\"[11.4 GiB]\"\n\
                  ggml_backend_cuda_buffer_type_alloc_buffer: allocating 18508.35 MiB on device 0: cudaMalloc failed: out of memory\n";
    assert!(advice(ollama).starts_with("Leave `num_gpu` out, or set it to 33"));
    let both = format!(
        "index, name, memory.used [MiB], memory.total [MiB]\n0, Tesla T4, 15068 MiB, 15360 MiB\n1, Tesla T4, 3 MiB, 15360 MiB\n\n{}",
        small("", 80)
    );
    assert!(findings(&both).iter().any(|found| found.advice.contains("GPU that is nearly empty, GPU 1")));
}
