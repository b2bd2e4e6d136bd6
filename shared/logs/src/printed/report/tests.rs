//! Checks the diagnosis of messages that strangers have published, each with its source.

mod beside;

use super::*;
use crate::log_report;
use crate::printed::Call;
use crate::reader::read_text as log;

#[track_caller]
fn oom(text: &str) -> Oom {
    let log = log(text);
    assert_eq!(log.printed.ooms.len(), 1, "{text}");
    log.printed.ooms[0].error.clone()
}

fn findings(text: &str) -> Vec<Finding> {
    log_report(&log(text)).diagnosis.findings
}

#[track_caller]
fn only(text: &str) -> Finding {
    let [finding] = findings(text).try_into().expect("one finding");
    finding
}

/// Returns the advice on the gravest problem.
fn advice(text: &str) -> String {
    findings(text).swap_remove(0).advice
}

/// Returns the advice on an error below these frames.
fn at(frames: &str) -> String {
    advice(&format!("Traceback (most recent call last):\n{frames}\n{}", small("", 80)))
}

/// Messages, shortened to their figures: a line with the source, one with the cause as the thread and arithmetic tell it.
const MESSAGES: &str = include_str!("../../../../../tests/data/logs/published-out-of-memory.txt");

/// Returns the sources of the messages with the causes and the texts.
fn messages() -> impl Iterator<Item = (&'static str, &'static str, &'static str)> {
    MESSAGES.trim_end().split("\n\n").map(|message| {
        let (source, rest) = message.split_once('\n').expect("a source");
        let (cause, text) = rest.split_once('\n').expect("a cause");
        (source, cause, text)
    })
}

/// Returns the message whose source begins so.
#[track_caller]
fn message(source: &str) -> &'static str {
    messages().find(|message| message.0.starts_with(source)).expect("a message").2
}

#[test]
fn causes_of_messages_that_strangers_published() {
    for (source, cause, message) in messages() {
        assert_eq!(format!("{:?}", OomCause::of(&oom(message))), cause, "{source}");
    }
    assert_eq!(messages().count(), 37);
}

#[test]
fn the_owners_of_a_card_fill_it() {
    for (source, _, message) in messages() {
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
    let old = oom(message("pytorch/pytorch#59778"));
    assert_eq!((old.gpu, old.asked_bytes, old.capacity_bytes), (Some(0), gib(2.26), gib(6.0)));
    assert_eq!((old.free_bytes, old.reserved_bytes), (gib(3.03), gib(1.24)));
    let with_pools = oom(message("vllm-project/vllm#14452"));
    assert_eq!((with_pools.rank, with_pools.process_bytes), (Some(0), gib(14.53)));
    assert_eq!(with_pools.private_bytes, Some((81.88 * f64::from(1 << 20)).round() as u64));
    let in_container = oom(message("studio-dots-ai/dots.ocr#196"));
    assert_eq!(in_container.own_among_others().map(|own| own.pid), Some(2_684_311));
    assert_eq!(in_container.others_bytes(), Some(0));
    assert_eq!(oom(message("rhymes-ai/Aria#24")).process_bytes, None, "0 bytes are unknown");
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
        let finding = only(text);
        assert_eq!(finding.title, format!("{device} ran out of memory"));
        assert!(finding.advice.contains("_record_memory_history"), "{finding:?}");
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
fn what_is_printed_again_or_by_each_rank_is_one_finding() {
    let text = format!(
        "{}{}torch.OutOfMemoryError: CUDA out of memory.\nERROR: CUDA out of memory. Tried to allocate 512.00 MiB. GPU 0 has\n",
        small("torch.OutOfMemoryError: ", 512),
        small("WARNING:root:", 512)
    );
    let [error] = log(&text).printed.ooms.try_into().expect("one error");
    assert_eq!((error.count, error.error.process_bytes.is_some()), (4, true));
    let rank = |rank: u32| small(&format!("[rank{rank}]: "), 512).replace("GPU 0", &format!("GPU {rank}"));
    let all: String = (0..4).map(rank).collect();
    let title = "4 ranks ran out of memory: tried to allocate 512 MiB, 6.00 MiB of 10.8 GiB free";
    assert_eq!(only(&all).title, title);
    let two = all.replace("[rank", "[worker").lines().take(2).collect::<Vec<_>>().join("\n");
    assert!(findings(&two)[0].title.starts_with("GPU 0 and GPU 1 ran out of memory: "), "{two}");
    let cut = "CUDA out of memory. Tried to allocate 294.00 MiB. GPU 0 has a total capacity of 31.36 GiB of which 82.62 MiB is \
               free. Process 73820 has 30.29 GiB memory in use. Including non-PyTorch memory, this process has 994.00 MiB memory \
               in use. Of the allocated";
    assert_eq!(OomCause::of(&oom(cut)), OomCause::Others);
    let text: String = (0..300).map(|step| small("WARNING:root:", 500 + step)).collect();
    let report = log_report(&log(&text));
    let [finding] = report.diagnosis.findings.try_into().expect("one finding");
    let title = "GPU 0 ran out of memory 300 times: tried to allocate 500 MiB to 799 MiB";
    assert_eq!((finding.title.as_str(), report.owners.len()), (title, 1));
}

#[test]
fn advice_is_for_the_device_and_the_program() {
    let npu = advice(message("vllm-project/vllm-ascend#19"));
    let names_npu = npu.contains("npu-smi info") && npu.contains("ASCEND_RT_VISIBLE_DEVICES");
    assert!(names_npu && !npu.contains("nvidia"), "{npu}");
    let hip = advice(message("kyuz0/amd-strix-halo-image-video-toolboxes#3"));
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
    let cut = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.00 GiB. GPU 1 has a total capacity of 47.40 GiB of \
               which 1.83 GiB is free.";
    assert!(advice(cut).starts_with("See who holds the other 45.6 GiB, which the message does not say: `nvidia-smi`."));
    let killed =
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization`\nKilled\n";
    assert_eq!(findings(killed).len(), 1, "the engine had failed by itself");
    let full = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 298.00 MiB. GPU 1 has a total capacity of 39.38 GiB \
                of which 65.38 MiB is free. Including non-PyTorch memory, this process has 39.31 GiB memory in use. Of the \
                allocated memory 35.91 GiB is allocated by PyTorch, and 120.72 MiB is reserved by PyTorch but unallocated.\n";
    let at = |function: &str| format!("  File \"vllm/v1/worker.py\", line 98, in {function}\n{full}");
    assert!(advice(&at("apply_top_k_top_p")).starts_with("Leave more room beside weights and KV cache"));
    assert!(!advice(&at("create_weights")).contains("--gpu-memory-utilization"), "nothing but weights is there");
}

#[test]
fn other_processes_are_named() {
    let message = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB. GPU 1 has a total capacity of \
                   79.15 GiB of which 1.20 GiB is free. Process 4711 has 30.00 GiB memory in use. Process 17 has 1.50 GiB \
                   memory in use. Including non-PyTorch memory, this process has 46.45 GiB memory in use. Of the allocated \
                   memory 45.50 GiB is allocated by PyTorch, and 100.00 MiB is reserved by PyTorch but unallocated.";
    let finding = &findings(message)[0];
    assert_eq!((finding.code, finding.device), (FindingCode::OutOfMemory, 1));
    assert_eq!(finding.title, "GPU 1 ran out of memory: tried to allocate 2.00 GiB, 1.20 GiB of 79.2 GiB free");
    assert!(finding.advice.contains(": process 4711 has 30.0 GiB, process 17 has 1.50 GiB."), "{finding:?}");
    let parts =
        "tensors 45.5 GiB, PyTorch's cache 100 MiB, this process outside PyTorch 873 MiB, other processes 31.5 GiB";
    assert!(finding.evidence.shows.contains(parts), "{finding:?}");
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
    let title = "GPU 1 of rank 1 ran out of memory: tried to allocate 2.00 GiB";
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
        let found = only(text);
        (found.title, found.evidence.shows)
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
fn tables_of_memory_profiler_and_tracemalloc_name_the_largest_line() {
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
    let text = "[ Top 10 differences ]\n\
                /v/torch/utils/data/sampler.py:110: size=7804 KiB (+7804 KiB), count=221927 (+221927), average=36 B\n\
                <frozen importlib._bootstrap_external>:580: size=300 KiB (-20.0 KiB), count=3266 (-3), average=94 B\n";
    let report = log_report(&log(text));
    let title = "Line 110 of sampler.py adds the most host memory: 7.62 MiB in 221,927 blocks";
    assert_eq!(report.diagnosis.findings[0].title, title);
    assert_eq!(report.tables[0].rows[1][1], LogCell::Text("-20.0 KiB".to_owned()));
    let hourly = only("/srv/tracker.py:57: size=1311 MiB (+1204 MiB), count=448211 (+411960), average=3067 B\n");
    assert_eq!(hourly.title, "Line 57 of tracker.py adds the most host memory: 1.18 GiB in 411,960 blocks");
    assert_eq!(hourly.severity, Severity::Warning);
    let lists: String = (1..4)
        .map(|list| format!("shape_base.py:360: size={}.0 MiB, count={}, average=5 MiB\n", 37 * list, 8 * list))
        .collect();
    let found = log_report(&log(&lists));
    assert_eq!(
        found.diagnosis.findings[0].title,
        "Line 360 of shape_base.py adds the most host memory: 74.0 MiB in 24 blocks"
    );
    assert_eq!(found.tables[0].rows.len(), 1, "each list names it again");
    let copied = "Filename: v.py\n\nLine #    Mem usage    Increment  Occurrences   Line Contents\n\
                  =====================================================\n\
                  \x20   11   6391.8 MiB   6238.9 MiB        1055           ok, f = cap.read()\n\
                  \x20   14  12630.7 MiB   6238.9 MiB           1       arr = np.stack(frames)\n";
    assert_eq!(only(copied).title, "Lines 11 and 14 of v.py add 6.09 GiB each");
}

#[test]
fn memory_that_a_program_prints_shows_its_growth_and_its_peak() {
    let steps = |bytes: &dyn Fn(u64) -> u64| -> String {
        (0..20).map(|step| format!("step {step} loss 0.3 memory_allocated: {}\n", bytes(step))).collect()
    };
    let title = |text: &str| only(text).title;
    let grows = title(&steps(&|step| (1 << 30) + (step << 26)));
    assert_eq!(grows, "Allocated memory climbs from 1.00 GiB to 2.19 GiB");
    let flat = title(&steps(&|step| (1 << 30) + ((step % 2) << 26)));
    assert_eq!(flat, "At most 1.06 GiB was printed as allocated");
    let bare: String =
        (0..6).map(|step: u64| format!("step {step}  alloc {} MB  peak 9911 MB\n", 1270 + step.min(1) * 9)).collect();
    assert!(only(&bare).evidence.shows.contains("no leak"), "{:?}", only(&bare));
    let before: String = (0..6).map(|step| format!("{step}00 alloc MB {}\n", 1532 + 316 * step)).collect();
    assert_eq!(title(&before), "Allocated memory climbs from 1.50 GiB to 3.04 GiB");
    let line = |step: u64| {
        format!("nvidia-smi GPU-0 memory (MB) {}\ntorch.cuda.memory_allocated(0) 318986240\n", 2796 + 2 * step)
    };
    let outside = title(&(0..20).map(line).collect::<String>());
    assert_eq!(outside, "GPU memory outside PyTorch climbs from 2.73 GiB to 2.77 GiB");
    let step = |step: u64| {
        let reserved = 52.0 + step as f64;
        format!("Step {step} | loss:2.4 lr:2e-05 peak_memory_active:47.3 peak_memory_reserved:{reserved:.2} \n")
    };
    let text: String = (1..8).map(step).collect();
    let finding = findings(&text).remove(0);
    assert_eq!(finding.title, "PyTorch's reserved memory climbs from 53.0 GiB to 59.0 GiB");
    assert_eq!(finding.code, FindingCode::ReservedAboveLive);
    let line = |rank: u32, mib: u32| format!("[Rank {rank}] (after 1 iterations) memory (MB) | reserved: {mib}.0\n");
    let finding = only(&(line(14, 2048) + &line(0, 3072) + &line(22, 1024)));
    assert_eq!(finding.title, "At most 3.00 GiB was printed as reserved of rank 0");
    let text = "[see_memory_usage] MA 0.5 GB         Max_MA 0.5 GB         CA 0.5 GB         Max_CA 1 GB\n\
                [see_memory_usage] CPU Virtual Memory:  used = 26.23 GB, percent = 83.8%\n\
                [see_memory_usage] CPU Virtual Memory:  used = 28.95 GB, percent = 92.5%\n";
    let is_of_host = |finding: &Finding| finding.code == FindingCode::HostNearlyFull;
    let told = findings(text).into_iter().find(is_of_host).expect("a finding");
    assert_eq!(told.title, "The host's memory was 92.5 % in use: 29.0 GiB");
    assert_eq!(told.severity, Severity::Warning);
}

#[test]
fn ranks_on_one_gpu_are_no_strangers() {
    let found = findings(message("hiyouga/LLaMA-Factory (ranks)"));
    let [error, ranks] = found.as_slice() else { panic!("{found:?}") };
    assert!(!error.advice.contains("62201") && error.advice.contains("micro-batch"), "{error:?}");
    assert!(ranks.advice.contains("set_device(local_rank)"), "{ranks:?}");
}

#[test]
fn what_fails_while_a_model_is_loaded_needs_no_smaller_batch() {
    let error = "RuntimeError: NPU out of memory. Tried to allocate 386.00 MiB (NPU 2; 60.97 GiB total capacity; 59.57 GiB \
                 already allocated; 16.54 MiB free; 60.06 GiB reserved in total by PyTorch)\n";
    let bar = "Loading checkpoint shards:  42%|████      | 16/38 [00:14<00:19,  1.13it/s]\n";
    for text in [error.to_owned() + bar, bar.to_owned() + error] {
        let advice = advice(&text);
        assert!(advice.contains("device_map") && !advice.contains("torch.cuda"), "{advice}");
    }
    assert!(advice(&(bar.replace(" 42%", "100%") + error)).contains("micro-batch"));
}

#[test]
fn a_mac_has_no_cuda_context() {
    let text = "RuntimeError: MPS backend out of memory (MPS allocated: 16.00 GB, other allocations: 3.31 GB, max allowed: \
                18.13 GB). Tried to allocate 256 bytes on shared pool.";
    let said = format!("{:?}", findings(text));
    assert!(!said.contains("CUDA") && !said.contains("cache 0 B") && said.contains("torch.mps.empty_cache"), "{said}");
}

#[test]
fn a_message_is_read_however_it_is_divided() {
    let text = "ERROR Exception in worker while processing method profile: CUDA out of memory. Tried to allocate 19.63 GiB. GPU 3 \
                has a total capacity of 79.15 GiB of which 17.73 GiB is free. Traceback (most recent call last):\n";
    assert_eq!(oom(text).gpu, Some(3));
    let headless = "GPU 0 has a total capacity of 190.00 GiB of which 0 bytes is free.\n50.00 GiB allowed; Of the allocated \
                    memory 9.50 GiB is allocated by PyTorch, and 1.00 GiB is reserved by PyTorch but unallocated";
    let found = oom(headless);
    assert_eq!((found.allocated_bytes, found.reserved_bytes), (Some(19 << 29), Some(21 << 29)));
    let figures = [
        "Currently allocated     : 26.50 GiB",
        "Device limit            : 16.00 GiB",
        "Free (according to CUDA): 0 bytes",
    ];
    let of_driver = "Allocation on device 0 would exceed allowed memory. (out of memory)";
    for joint in ["\n", " / "] {
        let found = oom(&format!("{of_driver}{joint}{}", figures.join(joint)));
        assert_eq!((found.allocated_bytes, found.capacity_bytes), (Some(53 << 29), Some(16 << 30)), "{joint:?}");
    }
    let text =
        "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm.\nUsed 32.10G of 31.25G hbm. Exceeded by 876.30M.";
    let found = &log(text).printed.framework_ooms[0].error;
    let gib = |gib: f64| Some((gib * f64::from(1 << 30)).round() as u64);
    assert_eq!((found.asked_bytes, found.capacity_bytes), (gib(32.1), gib(31.25)));
}

#[test]
fn frames_of_notebooks_tell_what_failed_and_where() {
    let error = "OutOfMemoryError: CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 14.74 GiB of which \
                 682.12 MiB is free. Of the allocated memory 13.55 GiB is allocated by PyTorch.";
    let older = "OutOfMemoryError                          Traceback (most recent call last)\n\
                 /tmp/ipykernel_36/77.py in fit(model)\n      1 x = 2\n----> 2 opt.step()\n      3 print(x)\n\n\
                 /v/site-packages/bitsandbytes/optim/optimizer.py in init_state(self, group, p)\n    293     if empty:\n\
                 --> 294         return torch.zeros_like(p)\n";
    let newer = "Cell In[3], line 2, in fit(model)\n      1 x = 2\n----> 2 opt.step()\n\
                 File /v/site-packages/torch/optim/adam.py:178, in Adam._init_group(self, group)\n\
                 --> 178         state[\"exp_avg\"] = torch.zeros_like(p)\n";
    let oldest = older.replace("/tmp/ipykernel_36/77.py", "<ipython-input-3-9f>");
    for (head, file) in
        [(older, "/tmp/ipykernel_36/77.py"), (newer, "Cell In[3]"), (oldest.as_str(), "ipython-input-3-9f")]
    {
        let [found] = log(&format!("{head}\n{error}\n")).printed.ooms.try_into().unwrap();
        let place = found.place.expect("a line of the notebook's own");
        assert_eq!((place.file.as_str(), place.line, place.function.as_str()), (file, 2, "fit"));
        assert_eq!(found.error.call, Call::State, "{head}");
    }
}

#[test]
fn a_size_beyond_all_memory_is_a_mistake() {
    let huge = "CUDA out of memory. Tried to allocate 152638.00 GiB (GPU 0; 23.69 GiB total capacity; 1.10 GiB already allocated)";
    assert_eq!(OomCause::of(&oom(huge)), OomCause::Absurd);
    assert_eq!(OomCause::of(&oom(&huge.replace("152638", "3726"))), OomCause::TooLarge);
}

#[test]
fn programs_of_others_get_no_advice_for_pytorch() {
    let error = "CUDA error: out of memory\n";
    assert!(advice(error).contains("torch.cuda"));
    let foreign = advice(&format!("ggml_cuda_init: found 1 CUDA devices\n{error}"));
    assert!(foreign.contains("nvidia-smi") && !foreign.contains("orch"), "{foreign}");
    assert!(advice(&format!("import torch, jax\n{error}")).contains("torch.cuda"));
    let own =
        "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 7.00 GiB already allocated)";
    let of_both = advice(&format!("ggml is also loaded\n{own}\n"));
    assert!(of_both.contains("torch.utils.checkpoint"), "the words are PyTorch's");
}

#[test]
fn a_difference_that_rounding_hides_is_told() {
    let text = "CUDA out of memory. Tried to allocate 15.41 GiB (GPU 3; 79.10 GiB total capacity; 61.00 GiB already allocated; \
                15.40 GiB free; 61.20 GiB reserved in total by PyTorch)";
    let title = "GPU 3 ran out of memory: tried to allocate 15.4 GiB, 10.2 MiB more than is free";
    assert_eq!(findings(text)[0].title, title);
}

#[test]
fn advice_is_for_what_the_program_does() {
    let frame = |file: &str, name: &str, call: &str| format!("  File \"{file}\", line 3, in {name}\n    {call}");
    let training = at(&frame("main.py", "<module>", "loss.backward()"));
    assert!(training.contains("micro-batch") && !training.contains("inference"), "{training}");
    let predict = frame("C:\\\\nnunet\\\\training\\\\trainer.py", "predict_3D", "y = self.net(x)");
    for inference in [
        at(&predict),
        at(&frame("demo.py", "main", "y = net(x)")),
        advice(&("python infer.py\n".to_owned() + &small("", 80))),
    ] {
        let is_told = inference.starts_with("Run it under `torch.inference_mode()`");
        assert!(is_told && !inference.contains("micro"), "{inference}");
    }
    let moved = at(&frame("/v/torch/nn/modules/module.py", "_apply", "param_applied = fn(param)"));
    assert!(moved.contains("quantized to 8 or 4 bits"), "{moved}");
    let unknown = at(&frame("a.py", "main", "y = net(x)"));
    assert!(unknown.contains("micro-batch") && unknown.contains("no_grad"), "{unknown}");
}

#[test]
fn settings_exist_in_the_version_that_wrote_the_message() {
    let pieces = |held: &str| {
        format!(
            "CUDA out of memory. Tried to allocate 2.00 GiB (GPU 0; 8.00 GiB total capacity; 4.00 GiB already allocated; 1.00 GiB free; {held})"
        )
    };
    let reserved = pieces("6.50 GiB reserved in total by PyTorch");
    assert!(advice(&pieces("2.50 GiB cached")).starts_with("Update PyTorch: since 2.1"));
    assert!(advice(&reserved).contains("max_split_size_mb"));
    let on_windows = advice(&format!("File \"C:\\\\train.py\", line 3, in main\n{reserved}"));
    let is_told = on_windows.contains("backend:cudaMallocAsync");
    assert!(is_told && !on_windows.contains("expandable_segments:True"), "{on_windows}");
    let larger = reserved.replace("8.00 GiB", "8.50 GiB");
    assert_eq!(findings(&format!("{reserved}\n{larger}")).len(), 2, "two cards");
}

#[test]
fn advice_leaves_out_what_cannot_help() {
    let free = |cached: &str| {
        format!(
            "CUDA out of memory. Tried to allocate 64.00 MiB (GPU 0; 6.00 GiB total capacity; 1.00 GiB already allocated; \
             3.00 GiB free; {cached} reserved in total by PyTorch)"
        )
    };
    assert!(!advice(&free("1.01 GiB")).contains("expandable_segments"), "nothing is unused");
    assert!(advice(&free("1.50 GiB")).contains("expandable_segments"));
    let frame = |function: &str| format!("  File \"lib/x.py\", line 3, in {function}\n    y = f(x)\n");
    let evaluation = at(&(frame("decorate_context") + &frame("generate")));
    assert!(evaluation.starts_with("Use less at once") && !evaluation.contains("inference_mode"), "{evaluation}");
    assert!(at(&frame("__deepcopy__")).starts_with("Make no second model on the GPU"));
    let limit = |unused: &str| {
        advice(&format!(
            "CUDA out of memory. Tried to allocate 1.00 GiB. GPU 0 has a total capacity of 80.00 GiB of which 60.00 GiB is \
             free. 20.00 GiB allowed; Of the allocated memory 10.00 GiB is allocated by PyTorch, and {unused} is reserved by \
             PyTorch but unallocated."
        ))
    };
    assert!(limit("9.50 GiB").contains("9.50 GiB that no tensor uses"));
}
