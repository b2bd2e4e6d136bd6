//! Recognizes errors of memory that state no figures of the GPU, and follows tracebacks of Python, so that an error has
//! the line that raised it.

use super::oom::{Call, Work};
use crate::engine::engine_of;
use crate::source::number_after;
use shared::analysis::SourceLine;
use shared::base::{frame_rules, size};

/// Error of memory outside PyTorch's allocator for GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    pub kind: HostErrorKind,
    pub text: String,
    pub asked_bytes: Option<u64>,
    /// Programs of Ray's list: the command, the first process, how many there are, and their memory in MB.
    pub programs: Vec<(String, u32, u32, u64)>,
    /// True if the weights of a model were being loaded.
    pub is_loading: bool,
}

/// What an error of memory is about; `report/host_error.rs` has a title for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostErrorKind {
    WorkerKilled,
    WorkerLeft,
    SharedMemory,
    BusError,
    HostMemory,
    Fork,
    Mapping,
    PageFile,
    Killed,
    ContainerKilled,
    Evicted,
    /// Kubernetes ended a pod that filled its disk.
    DiskFull,
    SlurmKilled,
    JobKilled,
    RayKilled,
    DaskKilled,
    YarnKilled,
    Nccl,
    Rmm,
    Library,
    /// cuDNN failed, and does not say why.
    Cudnn,
    Start,
    TensorRt,
    Resources,
    Pinned,
    OnChip,
    OnTpu,
    OpenFiles,
    Dispatched,
    Fault,
    /// Kubernetes ended a container that did not answer.
    Probe,
    /// Candidates that need more than there is were left out.
    Skipped,
    /// Another process has the GPU to itself.
    Busy,
    /// The GPU reports a fault of its own.
    Hardware,
}

/// Words of each error, all of which stand in a line.
pub(super) const WORDS: &[(&[&str], HostErrorKind)] = {
    use HostErrorKind::*;
    &[
        (&["block: [", "Assertion `"], Fault),
        (&["device-side assert triggered"], Fault),
        (&["illegal memory access was encountered"], Fault),
        (&["Liveness probe failed"], Probe),
        (&["failed liveness probe"], Probe),
        (&["Probe failed", "Liveness"], Probe),
        (&["Too many open files"], OpenFiles),
        (&["received 0 items of ancdata"], OpenFiles),
        (&["creating shared memory segment /dev/shm"], SharedMemory),
        (&["creating shared memory segment nccl-shm"], SharedMemory),
        (&["posix_fallocate failed", "No space left"], SharedMemory),
        (&["insufficient shared memory (shm)"], SharedMemory),
        (&["is killed by signal: Bus error"], SharedMemory),
        (&["Fatal Python error: Bus error"], SharedMemory),
        (&["unable to write to file </torch_"], SharedMemory),
        (&["unable to open shared memory object"], SharedMemory),
        (&["unable to allocate shared memory(shm)"], SharedMemory),
        (&["is killed by signal: Killed"], WorkerKilled),
        (&["is killed by signal: Unknown signal"], WorkerKilled),
        (&["DataLoader worker", "exited unexpectedly"], WorkerKilled),
        (&["background workers are no longer alive"], WorkerKilled),
        (&["WinError 1455"], PageFile),
        (&["os error 1455"], PageFile),
        (&["paging file is too small"], PageFile),
        (&["alloc_cpu.cpp", "\\c10\\"], PageFile),
        (&["DefaultCPUAllocator: "], HostMemory),
        (&["posix_memalign(", "12 vs 0"], HostMemory),
        (&["unable to mmap", "memory"], Mapping),
        (&["ibv_reg_mr", "Cannot allocate memory"], Pinned),
        (&["Cannot allocate memory"], HostMemory),
        (&["cannot allocate memory on host"], HostMemory),
        (&["Unable to allocate ", "for an array with shape"], HostMemory),
        (&["MemoryError: Unable to allocate"], HostMemory),
        (&["Unable to allocate ", " elements of size "], HostMemory),
        (&["RMM failure at"], Rmm),
        (&["out_of_memory: RMM"], Rmm),
        (&["OpenBLAS error: Memory allocation still failed"], HostMemory),
        (&["std::bad_alloc"], HostMemory),
        (&["UR_RESULT_ERROR_OUT_OF_HOST_MEMORY"], HostMemory),
        (&["slurmstepd", "oom_kill event"], SlurmKilled),
        (&["slurmstepd", "oom-kill event"], SlurmKilled),
        (&["slurmstepd", "memory limit"], SlurmKilled),
        (&["srun: error", "Out Of Memory"], SlurmKilled),
        (&["srun: error", "Killed"], SlurmKilled),
        (&[" OUT_OF_ME+"], SlurmKilled),
        (&["TERM_MEMLIMIT"], JobKilled),
        (&["PBS: job killed: ", "mem "], JobKilled),
        (&["State: OUT_OF_MEMORY"], SlurmKilled),
        (&["State=OUT_OF_MEMORY"], SlurmKilled),
        (&["Detected ", "oom_kill event"], SlurmKilled),
        (&["exitcode", ": -9"], Killed),
        (&["terminated with signal SIGKILL"], Killed),
        (&["Signal 9 (SIGKILL) received by PID"], Killed),
        (&["died with <Signals.SIGKILL: 9>"], Killed),
        (&["exits with return code = -9"], Killed),
        (&["was sent SIGKILL! Perhaps out of memory?"], Killed),
        (&["session crashed after using all available RAM"], Killed),
        (&["exit status 137"], Killed),
        (&["exit code 137"], Killed),
        (&["Exited (137)"], Killed),
        (&["Exit Code:", "137"], Killed),
        (&["systemd-oomd", "due to memory pressure"], Killed),
        (&["OOMKilled"], ContainerKilled),
        (&["The node was low on resource: memory"], Evicted),
        (&["ephemeral local storage usage exceeds"], DiskFull),
        (&["The node was low on resource: ephemeral-storage"], DiskFull),
        (&["zsh: killed"], Killed),
        (&["exceeds the memory usage threshold of"], RayKilled),
        (&["killed due to memory pressure"], RayKilled),
        (&["RayOutOfMemoryError"], RayKilled),
        (&["exceeded ", "% memory budget"], DaskKilled),
        (&["KilledWorker"], DaskKilled),
        (&["ontainer killed", "physical memory used"], YarnKilled),
        (&["running beyond physical memory limits"], YarnKilled),
        (&["killed due to the node running low on memory"], RayKilled),
        (&["of pinned memory"], Pinned),
        (&["pinned host memory"], Pinned),
        (&["bytes on host: CUDA_ERROR_OUT_OF_MEMORY"], Pinned),
        (&["cudaHostRegister", "out of memory"], Pinned),
        (&["cudaHostAlloc", "out of memory"], Pinned),
        (&["out of resource: shared memory"], OnChip),
        (&["memory space vmem", "exceeded scoped vmem limit"], OnTpu),
        (&["dispatched on the CPU or the disk"], Dispatched),
        (&["Failed to CUDA calloc"], Nccl),
        (&["NCCL WARN", "out of memory"], Nccl),
        (&["WARN Cuda failure", "out of memory"], Nccl),
        (&["driver error: out of memory"], Library),
        (&["CUDA error: out of memory"], Library),
        (&["HIP error: out of memory"], Library),
        (&["_STATUS_ALLOC_FAILED"], Library),
        (&["CUDA_ERROR_OUT_OF_MEMORY"], Library),
        (&["CUDA failed with error out of memory"], Library),
        (&["cudaMallocAsync", "out of memory"], Library),
        (&["CUDA runtime error: out of memory"], Library),
        (&["cudaMalloc failed: out of memory"], Library),
        (&["failed with error 2 out of memory"], Library),
        (&["CUDA error 2 at ", "out of memory"], Library),
        (&["Error out of memory at line"], Library),
        (&["CUBLAS_STATUS_NOT_INITIALIZED"], Library),
        (&["storage_manager", "Memory allocation failed"], Library),
        (&["Error Code 2: OutOfMemory"], TensorRt),
        (&["OutOfMemory Error in allocate"], TensorRt),
        (&["Error Code 1: Cuda Runtime (out of memory)"], TensorRt),
        (&["Requested amount of ", "memory (", "could not be allocated"], TensorRt),
        (&["Skipping tactic", "insufficient memory"], Skipped),
        (&["CUDA Error: out of memory at"], Library),
        (&["cudaMalloc error out of memory"], Library),
        (&["NvMapMemAlloc", " error 12"], Library),
        (&["NVML_SUCCESS == r INTERNAL ASSERT FAILED"], Library),
        (&["Unable to find a valid cuDNN algorithm"], Library),
        (&["CUDNN_STATUS_NOT_SUPPORTED"], Cudnn),
        (&["CUDNN_STATUS_EXECUTION_FAILED"], Cudnn),
        (&["CUDNN_STATUS_INTERNAL_ERROR"], Cudnn),
        (&["CUDNN_STATUS_MAPPING_ERROR"], Cudnn),
        (&["CUDA-capable devices are busy or unavailable"], Busy),
        (&["NVRM: Xid (", "): 48,"], Hardware),
        (&["NVRM: Xid (", "): 63,"], Hardware),
        (&["NVRM: Xid (", "): 64,"], Hardware),
        (&["NVRM: Xid (", "): 79,"], Hardware),
        (&["NVRM: Xid (", "): 94,"], Hardware),
        (&["NVRM: Xid (", "): 95,"], Hardware),
        (&["ERROR_OUT_OF_RESOURCES"], Resources),
    ]
};

/// Ray lists ten processes.
const MOST_PROGRAMS: usize = 32;

impl HostError {
    /// Recognizes the error that a line contains; `is_ignored` if the line before says that Python ignores it.
    pub(super) fn of(line: &str, is_ignored: bool) -> Option<Self> {
        // A warning: what cannot be locked can be swapped out, and what cannot be unlocked is freed.
        if ["mlock", "munlock"].iter().any(|call| line.contains(call)) {
            return None;
        }
        let row = WORDS.iter().find(|(words, _)| words.iter().all(|words| line.contains(words)));
        let kind = match row {
            Some((_, HostErrorKind::WorkerKilled)) if is_ignored => HostErrorKind::WorkerLeft,
            Some((_, kind)) => *kind,
            None if is_of_shell(line) => HostErrorKind::Killed,
            None if is_memory_error(line) => HostErrorKind::HostMemory,
            None => return None,
        };
        let asked_bytes = [
            "tried to allocate ",
            "Unable to allocate ",
            "Failed to CUDA calloc ",
            "Scoped allocation with size ",
            "unable to mmap ",
            "failed to allocate ",
            "failed to alloc ",
            "host memory of size: ",
            "Requested amount of GPU memory (",
            "Requested amount of memory (",
        ];
        // PyTorch 1.1 and older forgot to put the number in its place.
        let misplaced = || Some(number_after::<u64>(line, "%dGB. Buy new RAM!")? << 30);
        let asked_bytes = asked_bytes.iter().find_map(|words| size::after(line, words)).or_else(misplaced);
        let at = row.and_then(|(words, _)| words.iter().filter_map(|words| line.find(words)).min());
        Some(Self { kind, text: excerpt(line, at.unwrap_or(0)), asked_bytes, programs: Vec::new(), is_loading: false })
    }

    /// Adds what a line below the error states of who had how much; returns true if it does.
    ///
    /// ```text
    /// PID   MEM(GB) COMMAND                          of Ray, the process with the most first
    /// 6502  88.31   python run_sim.py --tasks a
    ///     Max Memory :                                 24310 MB
    /// ```
    pub(super) fn detail(&mut self, line: &str) -> bool {
        let cells: Vec<&str> = line.split_ascii_whitespace().collect();
        if self.kind == HostErrorKind::OnChip && line.contains("Ignoring this choice") {
            self.kind = HostErrorKind::Skipped;
            return true;
        }
        let said = match (self.kind, &cells[..]) {
            (HostErrorKind::JobKilled, ["Max", "Memory", ":", ..] | ["Total", "Requested", "Memory", ":", ..]) => {
                format!(" {}.", cells.join(" ").replace(" :", ":"))
            }
            (HostErrorKind::RayKilled, [pid, gb, command @ ..]) => {
                let gb = Some(gb).filter(|gb| gb.contains('.')).and_then(|gb| gb.parse::<f64>().ok());
                let Some((pid, gb)) = pid.parse::<u32>().ok().zip(gb.filter(|gb| (0.0..1e6).contains(gb))) else {
                    return false;
                };
                let command: String = command.join(" ").chars().take(60).collect();
                let has_room = self.programs.len() < MOST_PROGRAMS;
                match self.programs.iter_mut().find(|program| program.0 == command) {
                    Some((_, _, count, mb)) => (*count, *mb) = (*count + 1, *mb + (gb * 1e3) as u64),
                    None if has_room => self.programs.push((command, pid, 1, (gb * 1e3) as u64)),
                    None => {}
                }
                return true;
            }
            _ => return false,
        };
        self.text += &said;
        true
    }

    /// Takes over the size that another message states about the same kind of failure; returns false if it is another.
    pub(super) fn complete(&mut self, other: &Self) -> bool {
        // TensorFlow tries with less each time.
        let is_series = |error: &Self| {
            let is_of_host = error.text.contains(" on host: ") || error.text.contains("pinned host memory");
            error.kind == HostErrorKind::Library && error.text.contains(" from device: ")
                || error.kind == HostErrorKind::Pinned && is_of_host
        };
        let agree = self.asked_bytes.is_none()
            || other.asked_bytes.is_none()
            || self.asked_bytes == other.asked_bytes
            || is_series(self) && is_series(other);
        // What says why a program ended comes with its exit code.
        let says_why = |kind| {
            use HostErrorKind::{ContainerKilled, DiskFull, JobKilled, Probe, SlurmKilled};
            matches!(kind, ContainerKilled | DiskFull | SlurmKilled | JobKilled | Probe)
        };
        let is_killed = |kind| kind == HostErrorKind::Killed;
        let is_explained = is_killed(self.kind) && says_why(other.kind);
        let is_left_out = (self.kind, other.kind) == (HostErrorKind::Skipped, HostErrorKind::OnChip);
        let is_same_kind =
            self.kind == other.kind || is_left_out || is_explained || says_why(self.kind) && is_killed(other.kind);
        let is_same = is_same_kind && agree;
        if is_same {
            // Ray states its figures in one of its messages.
            if is_explained || self.kind == HostErrorKind::RayKilled && !self.text.contains("GB / ") {
                self.text.clone_from(&other.text);
                self.kind = other.kind;
            }
            self.asked_bytes = self.asked_bytes.or(other.asked_bytes);
        }
        is_same
    }
}

/// Returns whether shared memory has room, for a line of `df` about it: the 64 MiB that containers have by default are none.
pub(super) fn has_shared_memory(line: &str) -> Option<bool> {
    const MUCH_USED: f64 = 90.0;
    let before = line.trim_end().strip_suffix("/dev/shm")?.trim_end().strip_suffix('%')?;
    let mut cells = before.split_ascii_whitespace().rev();
    let share: f64 = cells.next()?.parse().ok()?;
    // In KiB, unless a letter was asked for.
    let is_small = cells.nth(2).is_some_and(|size| size.ends_with(['K', 'M']) || size == "65536");
    Some(share < MUCH_USED && !is_small)
}

/// Returns true for Python's error without a message, behind the prefix of a logger or not.
fn is_memory_error(line: &str) -> bool {
    line.trim_end()
        .strip_suffix("MemoryError")
        .is_some_and(|before| before.is_empty() || ["] ", "- ", ": "].iter().any(|end| before.ends_with(end)))
}

/// Returns a line, or the part of a long one around what was found in it.
fn excerpt(line: &str, at: usize) -> String {
    const LONGEST: usize = 200;
    const BEFORE: usize = 60;
    if line.trim().chars().count() <= LONGEST || at <= BEFORE {
        return line.trim().chars().take(LONGEST).collect();
    }
    let start = line[..at].char_indices().rev().nth(BEFORE).map_or(0, |(start, _)| start);
    let start = line[start..at].find(' ').map_or(start, |space| start + space);
    "…".chars().chain(line[start..].trim().chars()).take(LONGEST).collect()
}

/// Returns true for what a shell prints about a process that was killed: `Killed` behind a progress bar or alone, or
/// `run.sh: line 3: 4711 Killed   python train.py`.
fn is_of_shell(line: &str) -> bool {
    let Some((before, behind)) = line.trim_start().split_once("Killed") else { return false };
    let is_end = behind.trim().is_empty() && !before.ends_with(|c: char| c.is_alphabetic() || c == ' ')
        || behind.trim() == "(core dumped)";
    let number = before.trim_end();
    let is_job =
        behind.starts_with("  ") && number.len() < before.len() && number.ends_with(|c: char| c.is_ascii_digit());
    is_end || is_job
}

/// Most frames of a traceback that are kept, and most bytes of a line of code.
const MOST_FRAMES: usize = 256;
const LONGEST_CALL: usize = 400;

const LOADING: &str = "from_pretrained load_model load_weights create_weights initialize_model \
                       set_module_tensor_to_device align_module_device";

/// Functions in a traceback that tell what was done.
const CALLS: [(&str, Call); 7] = [
    ("__deepcopy__", Call::Copy),
    ("default_restore_location _cuda_deserialize", Call::Load),
    ("nested_concat torch_pad_and_concatenate", Call::Collect),
    (
        "_full_pre_state_dict_hook _common_unshard_pre_state_dict_hook _zero3_consolidated_16bit_state_dict",
        Call::GatherWeights,
    ),
    ("cross_entropy log_softmax selective_log_softmax fixed_cross_entropy ForCausalLMLoss nll_loss", Call::Loss),
    ("bbox_overlaps", Call::Boxes),
    ("_init_group init_state get_state_buffer", Call::State),
];

const PINNING: [&str; 3] = ["allocate_cpu_cache", "pin_memory", "_pin_memory_loop"];

/// Frames of the traceback that was printed last, outermost first.
#[derive(Debug, Default)]
pub(super) struct TraceBack {
    /// Each with its line of code, as far as that is printed.
    frames: Vec<(SourceLine, String)>,
}

impl TraceBack {
    /// Reads a line if it belongs to a traceback.
    pub(super) fn line(&mut self, line: &str) -> bool {
        if let Some((before, _)) = line.split_once("Traceback (most recent call last)") {
            self.frames.clear();
            // Loggers put the error itself in front, and a bar of progress ends in no line of its own.
            return !before.contains("emory") && !before.contains("%|");
        }
        let Some(frame) = frame(line).or_else(|| frame_of_notebook(line)) else {
            if let Some((number, code)) = marked(line)
                && let Some((frame, call)) = self.frames.last_mut().filter(|(frame, _)| frame.line == UNKNOWN)
            {
                frame.line = number;
                call.push_str(&code[..code.floor_char_boundary(LONGEST_CALL)]);
                return true;
            }
            let is_open = |(frame, call): &&mut (SourceLine, String)| call.is_empty() && frame.line != UNKNOWN;
            if let Some((_, call)) = self.frames.last_mut().filter(is_open) {
                call.push_str(&line[..line.floor_char_boundary(LONGEST_CALL)]);
            }
            return false;
        };
        if self.frames.len() == MOST_FRAMES {
            // The innermost frames are those that matter.
            self.frames.remove(0);
        }
        self.frames.push((frame, String::new()));
        // Some loggers join all lines.
        !line.contains("out of memory")
    }

    /// Returns what the program was doing, by the innermost function or call that tells it, or else by the files.
    pub(super) fn work(&self) -> Work {
        let of_frame = |(frame, call): &(SourceLine, String)| {
            let is_moved =
                ["_apply", "convert"].contains(&frame.function.as_str()) && frame.file.ends_with("module.py");
            match frame.function.as_str() {
                function if is_moved || LOADING.split(' ').any(|known| known == function) => Work::Loading,
                _ if frame.file.contains("/optim/") || frame.file.contains("\\optim\\") => Work::Training,
                function => Work::of_name(function).or(Work::of_line(call)),
            }
        };
        let of_frames = self.frames.iter().rev().map(of_frame);
        let of_files = self.frames.iter().rev().map(|(frame, _)| Work::of_line(&frame.file));
        of_frames.chain(of_files).find(|work| *work != Work::Unknown).unwrap_or_default()
    }

    pub(super) fn call(&self) -> Call {
        let has = |name: &str| self.frames.iter().any(|(frame, _)| frame.function == name);
        let of_frame = |(frame, _): &(SourceLine, String)| {
            let is_of_pipeline = frame.function == "to" && frame.file.ends_with("pipeline_utils.py");
            let known = CALLS.iter().find(|(names, _)| names.split(' ').any(|name| frame.function == name));
            if is_of_pipeline { Some(Call::Pipeline) } else { known.map(|(_, call)| *call) }
        };
        match () {
            () if self.frames.iter().any(|frame| of_frame(frame).is_some()) => {
                self.frames.iter().rev().find_map(of_frame).unwrap_or_default()
            }
            () if self.frames.last().is_some_and(|(_, call)| call.contains("scaled_dot_product_attention(")) => {
                Call::Attention
            }
            () if has("decorate_context") => Call::WithoutGraph,
            () => Call::Other,
        }
    }

    pub(super) fn is_of_pinning(&self) -> bool {
        let is_pinning = |(frame, call): &(SourceLine, String)| {
            PINNING.contains(&frame.function.as_str()) || call.contains("pin_memory(")
        };
        self.frames.iter().any(is_pinning)
    }

    /// Returns true if the innermost frame is a first use of the GPU.
    pub(super) fn is_of_start(&self) -> bool {
        let starts = ["_lazy_init", "barrier", "init_process_group", "set_device", "mem_get_info"];
        self.frames.last().is_some_and(|(frame, _)| starts.contains(&frame.function.as_str()))
    }

    /// Returns true if the innermost frame starts a process.
    pub(super) fn is_of_fork(&self) -> bool {
        let starts = ["_launch", "_execute_child", "_fork_exec", "fork_exec"];
        let is_start =
            |frame: &SourceLine| starts.contains(&frame.function.as_str()) || frame.file.ends_with("popen_fork.py");
        self.frames.last().is_some_and(|(frame, _)| is_start(frame))
    }

    pub(super) fn engine(&self) -> Option<&'static str> {
        self.frames.iter().find_map(|(frame, _)| engine_of(&frame.file))
    }

    /// Takes the innermost frame of the user's own code, at the end of the traceback.
    pub(super) fn take_own(&mut self) -> Option<SourceLine> {
        let mut frames = std::mem::take(&mut self.frames);
        frames.retain(|(frame, _)| frame.line != UNKNOWN);
        let innermost = frames.iter().rev().map(|(frame, _)| (frame.function.as_str(), frame.file.as_str()));
        let position = frame_rules::innermost_own_position(innermost)?;
        Some(frames.swap_remove(frames.len() - 1 - position).0)
    }
}

/// Line of a frame of a notebook until the marked line of its code comes.
const UNKNOWN: u64 = 0;

/// Reads `/lib/optimizer.py in step(self, closure)`, `File /lib/optimizer.py:12, in Adam.step(self)` and
/// `Cell In[5], line 12, in train(model)`, as notebooks print frames.
fn frame_of_notebook(line: &str) -> Option<SourceLine> {
    const CELLS: [&str; 3] = ["Cell In", "Input In", "<ipython-input"];
    let is_cell = CELLS.iter().any(|words| line.starts_with(words));
    if !is_cell && !line.starts_with('/') && !line.starts_with("File ") {
        return None;
    }
    let (place, function) = line.rsplit_once(", in ").or_else(|| line.split_once(" in ")).unwrap_or((line, ""));
    let place = place.trim_end().strip_prefix("File ").unwrap_or(place);
    let (file, number) = match place.rsplit_once(", line ").or_else(|| place.rsplit_once(':')) {
        Some((file, number)) => (file, number.trim().parse().ok()?),
        None => (place, UNKNOWN),
    };
    let is_file = is_cell || file.ends_with(".py") || file.ends_with(".pyx");
    let function = function.split('(').next().unwrap_or_default();
    let function = function.rsplit_once('.').map_or(function, |(_, function)| function).trim().to_owned();
    let is_frame = is_file && !file.contains('"') && !(function.is_empty() && number == UNKNOWN);
    let file = file.trim_matches(['<', '>']).to_owned();
    is_frame.then_some(SourceLine { file, function, line: number })
}

/// Reads the line of code that a notebook marks: `--> 294     self.init_state(group, p)`.
fn marked(line: &str) -> Option<(u64, &str)> {
    let rest = line.trim_start().strip_prefix('-')?.trim_start_matches('-').strip_prefix('>')?.trim_start();
    let (number, code) = rest.split_once(' ')?;
    Some((number.parse().ok()?, code.trim()))
}

/// Reads `File "train.py", line 12, in main`, behind whatever prefix.
fn frame(line: &str) -> Option<SourceLine> {
    let (_, rest) = line.split_once("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let (number, function) = rest.split_once(", in ").unwrap_or((rest, ""));
    let number = number.split([';', ' ']).next().unwrap_or_default();
    let function = function.trim_start().split([';', ' ']).next().unwrap_or_default();
    Some(SourceLine { file: file.to_owned(), function: function.to_owned(), line: number.parse().ok()? })
}
