//! Reads a log or a pasted text line by line.

use super::counters::{self, Counters, LineTables, LineUse};
use super::framework::{Framework, FrameworkOom};
use super::framework_reader::{FrameworkReader, MOST_KEPT, Repeated, add};
use super::host_error::{HostError, HostErrorKind, TraceBack, has_shared_memory};
use super::oom::{Oom, OomApi, Work};
use super::operators::{OperatorTables, OperatorUse};
use super::progress::{self, Columns, Progress};
use crate::engine::engine_of;
use crate::source::LineReader;

/// Most lines of memory_profiler and tracemalloc, and most operators, that are kept.
const MOST_LINES: usize = 20_000;

/// Most lines behind an error without figures that may state them.
const LINES_OF_OOM: u8 = 16;

/// What a text says about memory, in its order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Printed {
    pub ooms: Vec<Repeated<Oom>>,
    pub framework_ooms: Vec<Repeated<FrameworkOom>>,
    pub host_errors: Vec<Repeated<HostError>>,
    pub counters: Vec<Counters>,
    /// Lines of memory_profiler's tables, and those that tracemalloc prints.
    pub line_uses: Vec<LineUse>,
    pub operators: Vec<OperatorUse>,
    /// Memory that was printed in the course of the run, by GPU.
    pub progress: Vec<Progress>,
    /// Name of the inference engine that printed the text, if one did.
    pub engine: Option<&'static str>,
    /// True if the text is about one of Apple's GPUs.
    pub is_of_mps: bool,
    /// True if ComfyUI printed the text.
    pub is_of_comfy_ui: bool,
    /// True if the text names files as Windows does.
    pub is_windows: bool,
    /// True if an engine has also found that less leaves nothing for its cache.
    pub has_too_small_share: bool,
    /// True if the text has a table of GPUs, and the number of one that is nearly empty.
    pub has_cards: bool,
    pub idle_gpu: Option<u32>,
    /// Process that has most of a GPU by that table: its name, its number and its bytes.
    pub holder: Option<(String, u32, u64)>,
    /// True if another program than one of PyTorch's printed the text, as far as it names any.
    pub is_foreign: bool,
    /// Number of errors and tables beyond those that are kept.
    pub left_out: u64,
}

#[derive(Debug, Default)]
pub struct PrintedReader {
    printed: Printed,
    trace_back: TraceBack,
    line_tables: LineTables,
    operator_tables: OperatorTables,
    columns: Columns,
    frameworks: FrameworkReader,
    /// Lines that may still state figures of the last error.
    lines_of_oom: u8,
    /// True while the weights of a model are being loaded.
    is_loading: bool,
    /// True behind the announcement of an exception that Python ignores, which is one of a program that ends.
    is_ignored: bool,
    /// True if an error was announced whose message may be cut off.
    is_headed: bool,
    /// True behind a line that starts a process.
    is_of_fork: bool,
    /// What the lines so far tell of the program's work.
    work: Work,
    /// Keys of the counters that the last ones have from `memory_stats`.
    seen: Vec<&'static str>,
    /// Number of lines so far, and whether they name PyTorch or another program.
    lines: usize,
    is_timed_out: bool,
    /// True if a traceback ends with an error that is not about memory.
    has_other_error: bool,
    is_out_of_range: bool,
    has_shared_memory: bool,
    names_torch: bool,
    names_other: bool,
    says_windows: bool,
    names_linux: bool,
}

impl LineReader for PrintedReader {
    type Log = Printed;

    fn line(&mut self, line: &str) -> bool {
        self.lines += 1;
        if self.lines <= LINES_OF_NAMES && !(self.names_torch && self.names_other) {
            // Torch of Lua has the same name.
            self.names_torch |= OF_TORCH.iter().any(|name| line.contains(name)) && !line.contains(".lua");
            self.names_other |= OTHERS.split(' ').any(|name| line.contains(name));
        }
        if self.lines <= LINES_OF_NAMES {
            self.has_shared_memory = has_shared_memory(line).unwrap_or(self.has_shared_memory);
            self.printed.is_of_comfy_ui |= OF_COMFY_UI.iter().any(|words| line.contains(words));
            self.printed.is_of_mps |= line.contains("MPS ") || line.contains("torch.mps");
            if let Some(engine) = [("LLM(model=", "vLLM"), ("text_generation_launcher", "TGI")]
                .iter()
                .find(|(words, _)| line.contains(words))
            {
                self.printed.engine.get_or_insert(engine.1);
            }
            self.printed.is_windows |= line.contains(":\\") || line.contains("\\site-packages\\");
            self.says_windows |= ["indows 10", "indows 11"].iter().any(|words| line.contains(words));
            self.names_linux |= ["WSL", "/home/", "/usr/"].iter().any(|words| line.contains(words));
            if self.work == Work::Unknown {
                self.work = Work::of_line(line);
            }
        }
        if self.trace_back.line(line) {
            // The head of a traceback in a notebook, whose message is at its end.
            self.is_headed |= line.trim_start().starts_with("OutOfMemoryError ");
            return true;
        }
        let Printed {
            ooms,
            framework_ooms,
            host_errors,
            counters,
            line_uses,
            operators,
            progress,
            engine,
            left_out,
            ..
        } = &mut self.printed;
        if let Some(row) = self.line_tables.line(line) {
            if line_uses.len() < MOST_LINES {
                line_uses.extend(row);
            }
            return true;
        }
        if let Some(row) = self.operator_tables.line(line) {
            operators.extend(row.filter(|_| operators.len() < MOST_LINES));
            return true;
        }
        let may_be_error = may_be_error(line);
        if let Some(is_loading) = loads(line) {
            self.is_loading = is_loading;
            // A bar of progress comes behind the error if both went to different streams.
            if let Some(last) = ooms.last_mut().filter(|_| is_loading) {
                last.error.work = Work::Loading;
            }
        }
        if let Some(mut oom) = may_be_error.then(|| Oom::of(line)).flatten() {
            oom.work = if self.is_loading { Work::Loading } else { self.trace_back.work() };
            oom.call = self.trace_back.call();
            *engine = engine.or_else(|| engine_of(line)).or(self.trace_back.engine());
            self.lines_of_oom = if oom.asked_bytes.is_none() { LINES_OF_OOM } else { 0 };
            // The words are those of PyTorch's own allocator.
            self.names_torch |= oom.asked_bytes.is_some();
            add(ooms, oom, self.trace_back.take_own(), left_out, Oom::complete);
            return true;
        }
        self.lines_of_oom = self.lines_of_oom.saturating_sub(1);
        if self.lines_of_oom > 0 && ooms.last_mut().is_some_and(|last| last.error.detail(line)) {
            return true;
        }
        if let Some(oom) = may_be_error.then(|| FrameworkOom::of(line)).flatten() {
            self.frameworks.add(framework_ooms, oom, self.trace_back.take_own(), left_out);
            return true;
        }
        if self.frameworks.detail(line, framework_ooms) {
            return true;
        }
        let is_ignored = std::mem::replace(&mut self.is_ignored, line.contains("Exception ignored in"));
        if line.contains("os.fork()") {
            self.is_of_fork = true;
        }
        // Gunicorn kills a worker that does not answer in time, and asks whether that was for memory.
        self.is_timed_out |= line.contains("WORKER TIMEOUT");
        // On the CPU, it is said by name.
        self.is_out_of_range |= line.contains("index out of range in self");
        let is_error = may_be_error && !(self.is_timed_out && line.contains("was sent SIGKILL!"));
        if let Some(mut error) = is_error.then(|| HostError::of(line, is_ignored)).flatten() {
            error.is_loading = self.is_loading;
            let is_of_fork = std::mem::take(&mut self.is_of_fork) || self.trace_back.is_of_fork();
            error.kind = match error.kind {
                HostErrorKind::HostMemory if is_of_fork => HostErrorKind::Fork,
                HostErrorKind::Library if self.trace_back.is_of_pinning() => HostErrorKind::Pinned,
                HostErrorKind::Library if self.trace_back.is_of_start() => HostErrorKind::Start,
                // Every call after a fault fails.
                HostErrorKind::Library if host_errors.iter().any(|one| one.error.kind == HostErrorKind::Fault) => {
                    HostErrorKind::Fault
                }
                kind => kind,
            };
            // C++ and some pages print the name of an exception and its message in lines of their own.
            if let Some(Repeated { error: last, .. }) = host_errors.last_mut()
                && (line.trim_start().starts_with("what():") || last.text == "MemoryError")
                && last.complete(&error)
            {
                last.text = error.text;
                return true;
            }
            add(host_errors, error, self.trace_back.take_own(), left_out, HostError::complete);
            return true;
        }
        if host_errors.last_mut().is_some_and(|last| last.error.detail(line)) {
            return true;
        }
        self.has_other_error |= is_exception(line);
        if self.columns.line(line, progress) || progress::line(line, progress) {
            return true;
        }
        if counters.len() >= MOST_KEPT {
            return false;
        }
        counters::summary_row(line, counters) || counters::line(line, counters, &mut self.seen)
    }

    fn finish(mut self) -> Printed {
        if self.is_headed && self.printed.ooms.is_empty() {
            self.printed.ooms.push(Repeated { error: Oom::default(), place: self.trace_back.take_own(), count: 1 });
        }
        self.printed.line_uses = counters::last_of_lists(&self.printed.line_uses);
        self.printed.is_windows |= self.says_windows && !self.names_linux;
        self.printed.is_foreign = self.names_other && !self.names_torch;
        // The same failure, in the words of a person or of CUDA.
        let Printed { ooms, framework_ooms, host_errors, is_foreign, .. } = &mut self.printed;
        let is_told = |oom: &Repeated<FrameworkOom>| {
            matches!(oom.error.framework, Framework::LlamaCpp | Framework::Xla | Framework::TensorFlow)
        };
        if framework_ooms.iter().any(is_told) {
            host_errors.retain(|one| one.error.kind != HostErrorKind::Library);
        }
        let is_library = |one: &Repeated<HostError>| one.error.kind == HostErrorKind::Library;
        if *is_foreign && (!framework_ooms.is_empty() || host_errors.iter().any(is_library)) {
            ooms.retain(|oom| oom.error.asked_bytes.is_some());
        }
        // A person tells of what was before.
        if self.has_other_error {
            ooms.retain(|oom| !oom.error.is_said);
        }
        if self.is_out_of_range {
            let of_cublas = |one: &&mut Repeated<HostError>| one.error.text.contains("CUBLAS_STATUS");
            host_errors.iter_mut().filter(of_cublas).for_each(|one| one.error.kind = HostErrorKind::Fault);
        }
        // The file of shared memory is the one too many.
        if host_errors.iter().any(|one| one.error.kind == HostErrorKind::OpenFiles) {
            host_errors.retain(|one| !one.error.text.contains("unable to open shared memory object"));
        }
        // After the first failure, Intel's driver has no room for its own calls either.
        if ooms.iter().any(|oom| oom.error.api == OomApi::Xpu) {
            host_errors.retain(|one| one.error.kind != HostErrorKind::Resources);
        }
        let of_shared_memory = |one: &&mut Repeated<HostError>| one.error.kind == HostErrorKind::SharedMemory;
        if self.has_shared_memory {
            host_errors.iter_mut().filter(of_shared_memory).for_each(|one| one.error.kind = HostErrorKind::BusError);
        }
        for oom in &mut self.printed.ooms {
            oom.error.work = oom.error.work.or(self.work);
        }
        self.printed
    }
}

/// Lines at the beginning of a text in which names of programs are looked for.
const LINES_OF_NAMES: usize = 4096;

/// Words of PyTorch and of what is built on it.
const OF_TORCH: [&str; 8] =
    ["torch", "PyTorch", "transformers", "accelerate", "deepspeed", "diffusers", "lightning", "vllm"];

const OF_COMFY_UI: [&str; 4] = ["ComfyUI", "comfy/", "!!! Exception during processing !!!", "lowram load"];

const OTHERS: &str = ".lua ggml llama.cpp llama_ tensorflow paddle cudf cuml rmm:: RMM numba java.lang rustc jax mxnet \
                      cupy julia";

/// Returns whether a model's weights are being loaded, if a bar of progress says so.
fn loads(line: &str) -> Option<bool> {
    let (_, bar) = line.split_once("checkpoint shards:")?;
    Some(!bar.contains("100%"))
}

/// Parts of the words of every error: most lines have none of them, and are spared a search for all words.
const PARTS: [&str; 37] = [
    "total capac",
    "emory",
    "ssert",
    "lloc",
    "ALLOC",
    "rror",
    "illed",
    "OUT_OF",
    "oom",
    "exit",
    "SIGKILL",
    "EL0004",
    "RMM",
    "Dst tensor",
    "request",
    "</torch_",
    "unexpectedly",
    "paging file",
    "many open files",
    "dispatched on",
    "background workers",
    "Exit Code:",
    "Exited (",
    "ephemeral",
    "KilledWorker",
    "CUBLAS",
    "CUDNN_STATUS",
    "posix_memalign",
    "ancdata",
    "MEMLIMIT",
    "session crashed",
    "recommended size",
    "robe",
    "busy or",
    "NVRM",
    "cuDNN alg",
    "ASSERT",
];

/// Returns true for the line of an exception at the end of a traceback: `RuntimeError: …`.
fn is_exception(line: &str) -> bool {
    let name = line.split_once(": ").map_or("", |(name, _)| name);
    name.ends_with("Error") && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_'))
}

fn may_be_error(line: &str) -> bool {
    PARTS.iter().any(|part| line.contains(part))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::printed::{framework, host_error, oom};

    #[test]
    fn every_error_has_a_part_by_which_it_is_found() {
        let host = host_error::WORDS.iter().map(|(words, _)| words.concat());
        let gpu = oom::WORDS.iter().map(|(words, _)| (*words).to_owned());
        let frameworks = framework::MESSAGES.iter().map(|(words, ..)| (*words).to_owned());
        for words in host.chain(gpu).chain(frameworks) {
            assert!(may_be_error(&words), "{words}");
        }
    }
}
