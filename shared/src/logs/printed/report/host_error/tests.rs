//! Checks the diagnosis of errors of host memory and of libraries, in the words of programs.

use super::*;
use crate::logs::log_report;
use crate::logs::reader::read_text as log;

#[test]
fn errors_of_the_host_have_their_own_advice() {
    let check = |text: &str, code: FindingCode, word: &str| {
        let report = log_report(&log(text));
        let finding = &report.diagnosis.findings[0];
        assert_eq!(finding.code, code, "{text}");
        assert!(finding.advice.contains(word), "{finding:?}");
    };
    check(
        "RuntimeError: DataLoader worker (pid 3871) is killed by signal: Killed.",
        FindingCode::HostProcessKilled,
        "snapscope host",
    );
    check(
        "RuntimeError: DataLoader worker (pid(s) 13, 14) exited unexpectedly",
        FindingCode::HostProcessKilled,
        "dmesg",
    );
    check(
        "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
        FindingCode::SharedMemoryFull,
        "--shm-size",
    );
    check(
        "RuntimeError: [enforce fail at alloc_cpu.cpp:73] . DefaultCPUAllocator: can't allocate memory: you tried to \
         allocate 44302336 bytes. Error code 12 (Cannot allocate memory)",
        FindingCode::HostOutOfMemory,
        "memory mapping",
    );
    check(
        "Memory on the node (IP: 10.0.0.1, ID: ab) where the task (actor ID: cd, name=PPO.__init__) was running was 30.05GB / \
         31.43GB (0.956), which exceeds the memory usage threshold of 0.95.",
        FindingCode::HostProcessKilled,
        "RAY_memory_usage_threshold",
    );
    check(
        "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the \
         engine.",
        FindingCode::KvCacheTooSmall,
        "--gpu-memory-utilization",
    );
    check("RuntimeError: CUDA error: out of memory", FindingCode::OutsidePytorch, "set_per_process_memory_fraction");
    check(
        "RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        FindingCode::OutsidePytorch,
        "CUDA_LAUNCH_BLOCKING",
    );
    let cases = [
        (
            "DataLoader worker (pid 7) is killed by signal: Bus error. It is possible that dataloader's workers are out of \
             shared memory. Please try to raise your shared memory limit.",
            FindingCode::SharedMemoryFull,
            "--ipc=host",
        ),
        ("OSError: [WinError 1455] The paging file is too small", FindingCode::HostOutOfMemory, "page file larger"),
        (
            "RuntimeError: [enforce fail at ..\\c10\\core\\impl\\alloc_cpu.cpp:72] data. DefaultCPUAllocator: not enough \
             memory: you tried to allocate 26214400 bytes.",
            FindingCode::HostOutOfMemory,
            "page file larger",
        ),
        (
            "numpy.core._exceptions.MemoryError: Unable to allocate 7.91 GiB for an array with shape (1396913, 190, 4) and data \
          type float64",
            FindingCode::HostOutOfMemory,
            "memory mapping",
        ),
        ("srun: error: node7: task 0: Out Of Memory", FindingCode::HostProcessKilled, "--mem=64G"),
        ("slurmstepd: error: Detected 1 oom_kill event in StepId=191.batch.", FindingCode::HostProcessKilled, "sacct"),
        ("  6%|██    | 3787/62565 [04:47<1:10:53, 13.82it/s]Killed", FindingCode::HostProcessKilled, "dmesg"),
        ("run.sh: line 3:  4711 Killed                  python train.py", FindingCode::HostProcessKilled, "dmesg"),
        ("  exitcode  : -9 (pid: 4711)", FindingCode::HostProcessKilled, "dmesg"),
        (
            "ERROR:torch.distributed.elastic.multiprocessing.api:failed (exitcode: -9) local_rank: 0 (pid: 17) of binary: python",
            FindingCode::HostProcessKilled,
            "dmesg",
        ),
        (
            "n:4201:4302 [3] include/alloc.h:178 NCCL WARN Cuda failure 'out of memory'",
            FindingCode::OutsidePytorch,
            "NCCL_BUFFSIZE",
        ),
        ("RuntimeError: HIP error: out of memory", FindingCode::OutsidePytorch, "rocm-smi"),
        ("RuntimeError: CUDA driver error: out of memory", FindingCode::OutsidePytorch, "smaller batch"),
    ];
    for (text, code, word) in cases {
        check(text, code, word);
    }
    let asked = |text: &str| log(text).printed.host_errors[0].error.asked_bytes;
    assert_eq!(asked(cases[3].0), Some((7.91 * f64::from(1 << 30)).round() as u64));
    let left = "Exception ignored in: <function _Iter.__del__ at 0x7f>\nRuntimeError: DataLoader worker (pid 4) is killed by \
                signal: Killed. \n";
    assert_eq!(log_report(&log(left)).diagnosis.findings[0].severity, Severity::Info, "the program had ended");
    for text in ["Killed 3 stale processes", "the workers were Killed", "step 3: 17 Killed"] {
        assert!(log(text).is_empty(), "{text}");
    }
    assert!(log("the job exited unexpectedly\nepoch 3 done\n").is_empty());
}
