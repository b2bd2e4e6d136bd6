//! Checks the diagnosis of errors of host memory and of libraries, in the words of programs.

use super::*;
use crate::log_report;
use crate::reader::read_text as log;

/// Errors, each below the code of its finding and a word of the advice.
const ERRORS: &str = include_str!("../../../../../../tests/data/logs/host-errors.txt");

#[test]
fn errors_of_the_host_have_their_own_advice() {
    let errors: Vec<&str> = ERRORS.trim_end().split("\n\n").collect();
    assert_eq!(errors.len(), 92);
    for error in errors {
        let (told, text) = error.split_once('\n').expect("a text");
        let finding = &log_report(&log(text)).diagnosis.findings[0];
        let (code, word) = told.split_once(": ").expect("a word");
        assert!(finding.code.name() == code && finding.advice.contains(word), "{error}: {finding:?}");
    }
    let asked = |text: &str| log(text).printed.host_errors[0].error.asked_bytes;
    let numpy = "numpy.core._exceptions.MemoryError: Unable to allocate 7.91 GiB for an array with shape (9, 4)";
    assert_eq!(asked(numpy), Some((7.91 * f64::from(1 << 30)).round() as u64));
    let once = "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n";
    assert_eq!(log(once).printed.host_errors[0].count, 1);
    let far = format!("{}|CUDA_ERROR_OUT_OF_MEMORY", "bar ".repeat(99));
    assert!(log(&far).printed.host_errors[0].error.text.ends_with("|CUDA_ERROR_OUT_OF_MEMORY"));
    let left = "Exception ignored in: <function _Iter.__del__ at 0x7f>\nRuntimeError: DataLoader worker (pid 4) is killed by \
                signal: Killed. \n";
    assert_eq!(log_report(&log(left)).diagnosis.findings[0].severity, Severity::Info, "the program had ended");
    let tensorflow: String =
        [4, 3, 2].map(|gib| format!("failed to allocate {gib}.00G from device: CUDA_ERROR_OUT_OF_MEMORY\n")).concat();
    let [series] = log(&tensorflow).printed.host_errors.try_into().unwrap();
    assert_eq!(series.count, 3, "it tries with less");
    let start = "Traceback (most recent call last):\n  File \"/v/torch/cuda/__init__.py\", line 3, in _lazy_init\n    \
                 torch._C._cuda_init()\nRuntimeError: CUDA error: out of memory\n";
    assert!(log_report(&log(start)).diagnosis.findings[0].title.contains("no room for this process to start"));
    let bus = "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).\n\
               tmpfs            94G  336K   94G   1% /dev/shm\n";
    let told = |text: &str| log_report(&log(text)).diagnosis.findings.swap_remove(0).title;
    assert!(told(bus).contains("although /dev/shm has room"));
    let full = log_report(&log(&bus.replace("336K   94G   1%", "93G   1G   99%"))).diagnosis.findings;
    let titles: Vec<&str> = full.iter().map(|found| found.title.as_str()).collect();
    assert!(titles[0].contains("most often because /dev/shm has no room"), "{titles:?}");
    assert_eq!(titles[1], "/dev/shm is almost full: 93.0 GiB of 94.0 GiB are in use");
    let filled = format!("{bus}tmpfs            24G   23G   1G  96% /dev/shm\n");
    assert!(told(&filled).contains("most often because /dev/shm has no room"), "it has filled since");
    let small = told(&bus.replace(" 94G  336K   94G   1%", " 64M   57M  7.2M  89%"));
    assert!(
        small.contains("most often because /dev/shm has no room"),
        "64 MiB is what containers have by default: {small}"
    );
    let files =
        "RuntimeError: received 0 items of ancdata\nRuntimeError: unable to open shared memory object </torch_7_8>\n";
    assert_eq!(log(files).printed.host_errors.len(), 1, "one limit");
    assert!(
        told("RuntimeError: cuDNN error: CUDNN_STATUS_NOT_SUPPORTED.").starts_with("cuDNN failed without saying why")
    );
    let loading = "Loading checkpoint shards:  14%|█ | 1/7\ntorchrun: failed (exitcode: -9) local_rank: 2 (pid: 7)\n";
    let first = |text: &str| log_report(&log(text)).diagnosis.findings.swap_remove(0).steps.swap_remove(0).text;
    assert!(first(loading).starts_with("Let the ranks share the loading"));
    assert!(!first(&loading.replace(" 14%", "100%")).starts_with("Let the ranks share"));
    let guess = told("DataLoader worker (pid 7) is killed by signal: Bus error.");
    assert!(guess.starts_with("A process ended by a bus error, most often"), "{guess}");
    let slurm = told("slurmstepd: error: Job 9 exceeded memory limit (268713984 > 209715200), being killed");
    assert_eq!(slurm, "Slurm killed the job at 256 GiB, more than its 200 GiB");
    let ray = "ray.exceptions.OutOfMemoryError: Task was killed due to the node running low on memory.\nMemory on the node was \
               59.84GB / 62.51GB (0.957), which exceeds the memory usage threshold of 0.95.\n";
    let [killed] = log(ray).printed.host_errors.try_into().unwrap();
    assert!(killed.error.text.contains("59.84GB / 62.51GB"), "{killed:?}");
    let late = "[CRITICAL] WORKER TIMEOUT (pid:68)\nWorker (pid:68) was sent SIGKILL! Perhaps out of memory?";
    let comment = "# 0.85 risks the UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY seen on first decode";
    let locked = "warning: failed to munlock buffer: Cannot allocate memory";
    let listed = "- allocated by PyTorch: 26.23 GiB; reserved but unallocated: 840.88 MiB";
    for text in
        ["Killed 3 stale processes", "the workers were Killed", "step 3: 17 Killed", late, comment, locked, listed]
    {
        assert!(log(text).is_empty(), "{text}");
    }
    assert!(log("the job exited unexpectedly\nepoch 3 done\n").is_empty());
}
