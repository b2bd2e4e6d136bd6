//! Holds that a text means the same however it was pasted.

use crate::Log;
use crate::reader::read_text as read;

/// Messages of programs in their own words.
const MESSAGES: [&str; 19] = [
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 GiB (GPU 0; 79.15 GiB total capacity; 58.30 GiB already allocated; 12.80 GiB free; 66.35 GiB reserved in total by PyTorch)",
    "RuntimeError: CUDA out of memory. Tried to allocate 1.68 GiB (GPU 0; 10.76 GiB total capacity; 5.65 GiB already allocated; 356.00 MiB free; 3.90 GiB cached)",
    "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 192.00 MiB. GPU 3 has a total capacity of 31.89 GiB of which 13.22 GiB is free.",
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 1.74 GiB. GPU 0 has a total capacity of 23.57 GiB of which 594.88 MiB is free. Process 133267 has 22.97 GiB memory in use. Of the allocated memory 20.21 GiB is allocated by PyTorch, with 128.00 MiB allocated in private pools (e.g., CUDA Graphs), and 185.98 MiB is reserved by PyTorch but unallocated.",
    "torch.OutOfMemoryError: HIP out of memory. Tried to allocate 2.00 MiB. GPU 0 has a total capacity of 255.98 GiB of which 244.65 GiB is free. 1.05 GiB allowed; Of the allocated memory 1017.01 MiB is allocated by PyTorch, and 54.99 MiB is reserved by PyTorch but unallocated.",
    "WARNING:root:CUDA out of memory. Tried to allocate 1.75 GiB. GPU 0 has a total capacity of 10.76 GiB of which 356.00 MiB is free. Including non-PyTorch memory, this process has 10.40 GiB memory in use. Of the allocated memory 5.13 GiB is allocated by PyTorch, and 4.77 GiB is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation.  See documentation for Memory Management  (https://pytorch.org/docs/stable/notes/cuda.html#environment-variables)",
    "RuntimeError: NPU out of memory. Tried to allocate 88.00 MiB (NPU 0; 60.96 GiB total capacity; 4.24 GiB already allocated; 4.24 GiB current active; 7.47 MiB free; 4.37 GiB reserved in total by PyTorch)",
    "RuntimeError: MPS backend out of memory (MPS allocated: 17.80 GB, other allocations: 336.00 KB, max allowed: 18.13 GB). Tried to allocate 2.00 GB on private pool. Use PYTORCH_MPS_HIGH_WATERMARK_RATIO=0.0 to disable upper limit for memory allocations (may cause system failure).",
    "(EngineCore pid=100) ERROR 08-03 21:49:23 [core.py:1231] ValueError: Free memory on device (67.24/79.25 GiB) on startup is less than desired GPU memory utilization (0.9, 71.33 GiB). Decrease GPU memory utilization or reduce GPU memory used by other processes.",
    "ValueError: No available memory for the cache blocks. Try increasing `gpu_memory_utilization` when initializing the engine.",
    "ValueError: The model's max seq len (131072) is larger than the maximum number of tokens that can be stored in KV cache (15792). Try increasing `gpu_memory_utilization` or decreasing `max_model_len` when initializing the engine.",
    "numpy._core._exceptions._ArrayMemoryError: Unable to allocate 7.91 GiB for an array with shape (1396913, 190, 4) and data type float64",
    "RuntimeError: [enforce fail at ..\\c10\\core\\impl\\alloc_cpu.cpp:72] data. DefaultCPUAllocator: not enough memory: you tried to allocate 26214400 bytes.",
    "RuntimeError: unable to write to file </torch_4077_1923>: No space left on device (28)",
    "ERROR: Unexpected bus error encountered in worker. This might be caused by insufficient shared memory (shm).",
    "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: Out of memory while trying to allocate 20029400304 bytes.",
    "ResourceExhaustedError: OOM when allocating tensor with shape[64,512,7,7] and type float on /job:localhost/replica:0/task:0/device:GPU:0 by allocator GPU_0_bfc [Op:Conv2D]",
    "[Sun Mar 30 08:24:00 2025] Out of memory: Killed process 7899 (python) total-vm:26184840kB, anon-rss:15370088kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:38964kB oom_score_adj:0",
    "RuntimeError: DataLoader worker (pid 40121) is killed by signal: Killed. Details are lost due to multiprocessing. Rerunning with num_workers=0 may give better error trace.",
];

/// Returns what a log says in figures, whatever the text of the line around them.
fn meaning(text: &str) -> String {
    let mut log = read(text);
    for error in &mut log.printed.host_errors {
        error.error.text.clear();
    }
    for error in &mut log.printed.framework_ooms {
        error.count = 1;
    }
    format!("{:?} {:?}", log.printed, log.host.kills)
}

/// Wraps a text between words as mails do.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_ascii_whitespace() {
        let last = lines.last_mut().unwrap();
        if !last.is_empty() && last.len() + 1 + word.len() > width {
            lines.push(word.to_owned());
        } else {
            *last += if last.is_empty() { "" } else { " " };
            *last += word;
        }
    }
    lines
}

/// Holds that each message means the same as it is and wrapped at each width, pasted in some way.
#[track_caller]
fn check(paste: impl Fn(&[String]) -> String) {
    for message in MESSAGES {
        let plain = meaning(&paste(&[message.to_owned()]));
        for width in 40..=160 {
            let text = paste(&wrapped(message, width));
            assert_eq!(meaning(&text), plain, "at {width}:\n{text}");
        }
    }
}

/// Returns how each line is printed.
fn each(print: impl Fn(&str) -> String) -> impl Fn(&[String]) -> String {
    move |lines| lines.iter().map(|line| print(line) + "\n").collect()
}

#[test]
fn messages_mean_the_same_at_any_width_in_quotations_and_behind_what_collectors_print() {
    check(|lines| lines.join("\n"));
    check(|lines| format!("step 1 loss 0.5\r\n{}\r\nstep 3 loss 0.4\r\nMax memory: 3.2 GB\r\n", lines.join("\r\n")));
    check(|lines| format!("step 1\n\0\0\0{}\n\0\n", lines.join("\n")));
    check(|lines| lines.join("\u{a0}\n").replace(' ', "\u{a0}"));
    check(each(|line| format!("> {line}")));
    check(each(|line| format!(">> {line}\r")));
    check(each(|line| format!("│ {line:<170} │")));
    check(each(|line| format!("\x1b[31m{line}\x1b[0m")));
    check(|lines| format!("```text\n{}\n```\nThanks for any help\n", lines.join("\n")));
    check(each(|line| format!("2025-01-01T10:00:00.123456789Z {line}")));
    check(each(|line| format!("2025-01-01 10:00:00,123 [ERROR] trainer: {line}")));
    check(each(|line| format!("[rank0]: {line}")));
    check(each(|line| format!("trainer-1  | {line}")));
    check(each(|line| format!("[pod/train-0/main] {line}")));
    check(each(|line| format!("{{\"log\":{:?},\"stream\":\"stderr\"}}", line.to_owned() + "\n")));
    check(each(|line| format!("{{\"ts\": 1, \"level\": \"error\", \"msg\": {line:?}}}")));
}

#[test]
fn sentences_may_have_lines_of_their_own() {
    for message in MESSAGES.iter().filter(|message| message.contains("out of memory. Tried to allocate")) {
        let mut lines = message.replace(". ", ".\n").replace(" (GPU", "\n(GPU");
        assert_eq!(meaning(&lines), meaning(message), "{lines}");
        lines = lines.replace(", and ", ",\nand ");
        assert_eq!(meaning(&lines), meaning(message), "{lines}");
    }
}

/// Returns true if a text says nothing else about GPUs than another one, though perhaps less.
fn is_part(less: &Log, all: &Log) -> bool {
    let known = |less: Option<u64>, all: Option<u64>| less.is_none() || less == all;
    less.printed.ooms.iter().all(|less| {
        all.printed.ooms.iter().any(|all| {
            let (less, all) = (&less.error, &all.error);
            let bytes = |oom: &crate::printed::Oom| {
                [oom.asked_bytes, oom.capacity_bytes, oom.free_bytes, oom.allocated_bytes, oom.allowed_bytes]
            };
            less.api == all.api && bytes(less).into_iter().zip(bytes(all)).all(|(less, all)| known(less, all))
        })
    })
}

#[test]
fn a_message_that_is_cut_says_less_and_nothing_else() {
    for message in MESSAGES {
        let all = read(message);
        for width in 40..=160 {
            let lines = wrapped(message, width);
            for end in 1..=lines.len() {
                assert!(is_part(&read(&lines[..end].join("\n")), &all), "{:?}", &lines[..end]);
            }
        }
    }
}

#[test]
fn a_terminal_cuts_within_words() {
    let error = "RuntimeError: CUDA out of memory. Tried to allocate 20.00 GiB (GPU 0; 79.15 GiB total capacity; 58.30 GiB \
                 already allocated; 12.80 GiB free; 66.35 GiB reserved in total by PyTorch)";
    let plain = meaning(error);
    for width in 40..=160 {
        let lines: Vec<&str> =
            (0..error.len()).step_by(width).map(|at| &error[at..error.len().min(at + width)]).collect();
        assert_eq!(meaning(&lines.join("\n")), plain, "{lines:?}");
    }
}

#[test]
fn other_lines_pass_one_by_one() {
    let text = "2025-01-01 10:00:00 INFO Out of memory is not near\n2025-01-01 10:00:01 INFO memory 3 GB\n\
                torch.cuda.memory_allocated(0) 318986240\ntorch.cuda.memory_reserved(0) 759169024\n\
                RuntimeError: expected scalar type Half\nstep 3 loss 0.4\n\
                CUDA out of memory.\nml 17 99.5 12.3 98765 81234 pts/0 Rl+ 10:12 1:02 python train.py\n\
                CUDA out of memory. Tried to allocate 2.00 GiB\nCUDA out of memory. Tried to allocate 2.00 GiB\n";
    for size in [1, 7, text.len()] {
        let (mut lines, mut passed) = (super::PastedLines::default(), Vec::new());
        text.as_bytes().chunks(size).for_each(|chunk| lines.push(chunk, &mut |line| passed.push(line.to_owned())));
        lines.finish(&mut |line| passed.push(line.to_owned()));
        assert_eq!(passed, text.lines().collect::<Vec<_>>());
    }
}
