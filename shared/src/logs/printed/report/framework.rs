//! Builds findings on out-of-memory errors of XLA, CuPy and llama.cpp.

use crate::analysis::{Confidence, FindingCode, title_of_parts};
use crate::base::{Severity, format};
use crate::logs::printed::{Framework, FrameworkOom, Repeated};
use crate::report::{Finding, LogOwner, LogOwners, NO_DEVICE};

/// A program that needs less than 1 GiB fills no GPU by itself.
const SMALL_PROGRAM_BYTES: u64 = 1 << 30;

pub(super) fn out_of_memory(repeated: &Repeated<FrameworkOom>) -> Finding {
    let Repeated { error: oom, place, count } = repeated;
    let line = place.clone();
    let at = line.as_ref().map_or_else(String::new, |line| format!(" in {}", line.place()));
    let times = if *count > 1 { format!(", printed {}", format::counted(*count, "time")) } else { String::new() };
    let stated = Finding::stated(
        FindingCode::OutOfMemory,
        oom.gpu.map_or(NO_DEVICE, i64::from),
        oom.asked_bytes.unwrap_or(0),
        title_of_parts(&title(oom), [at, times]),
        shows(oom),
        advice(oom),
    );
    let confidence = if oom.cause().is_some() { Confidence::High } else { Confidence::Low };
    Finding { severity: Severity::Error, confidence, line, ..stated }
}

/// Returns the memory at the failure by owner; `None` if the figures do not tell it.
pub(super) fn owners(oom: &FrameworkOom) -> Option<LogOwners> {
    let owner = |name: &str, bytes: u64| LogOwner { name: name.to_owned(), bytes };
    let total_bytes = oom.program_bytes();
    if total_bytes > 0 {
        let parts = oom.program.iter().map(|(name, bytes)| owner(name, *bytes)).collect();
        return Some(LogOwners { title: "Compiled program".to_owned(), capacity_bytes: total_bytes, parts });
    }
    let (capacity_bytes, in_use) = oom.capacity_bytes.zip(oom.in_use_bytes)?;
    let free = capacity_bytes.saturating_sub(in_use);
    let title = format!("{}'s pool", oom.framework.name());
    Some(LogOwners { title, capacity_bytes, parts: vec![owner("in use", in_use), owner("free", free)] })
}

fn title(oom: &FrameworkOom) -> String {
    let name = oom.framework.name();
    let asked = oom.asked_bytes.map(format::bytes);
    match (asked, oom.gpu) {
        (Some(asked), _) if is_tpu(oom) => format!("{name} ran out of memory: the program needs {asked}"),
        (Some(asked), Some(gpu)) => format!("GPU {gpu} ran out of memory: {asked} was requested by {name}"),
        (None, Some(gpu)) => format!("GPU {gpu} ran out of memory: memory was requested by {name}"),
        // The framework is the only one that is known to have no memory.
        (Some(asked), None) => format!("{name} ran out of memory: {asked} was requested"),
        (None, None) => format!("{name} ran out of memory"),
    }
}

/// Returns true if a compiled program does not fit on a TPU, of which only the message states the capacity.
fn is_tpu(oom: &FrameworkOom) -> bool {
    oom.framework == Framework::Xla && oom.capacity_bytes.is_some()
}

fn shows(oom: &FrameworkOom) -> String {
    let name = oom.framework.name();
    let program = oom.program_bytes();
    match (oom.capacity_bytes, oom.in_use_bytes) {
        (Some(capacity), _) if is_tpu(oom) => {
            format!("The memory of the TPU that programs can use is {}.", format::bytes(capacity))
        }
        (Some(capacity), Some(in_use)) => format!(
            "Of the {} that {name} may use, {} was in use and {} was free.",
            format::bytes(capacity),
            format::bytes(in_use),
            format::bytes(capacity.saturating_sub(in_use))
        ),
        _ if program >= SMALL_PROGRAM_BYTES => {
            format!("The program that was to run needs {} in all.", format::bytes(program))
        }
        _ if program > 0 => format!(
            "The program that was to run needs only {} in all, so that something else fills the memory: arrays that are \
             still referred to, or other processes.",
            format::bytes(program)
        ),
        _ => "The text does not state how much memory was free, nor who held the rest.".to_owned(),
    }
}

fn advice(oom: &FrameworkOom) -> String {
    let text = match oom.framework {
        Framework::Xla if is_tpu(oom) => {
            "Shard the model or the batch over more cores, use a smaller batch or `bfloat16`, or recompute activations \
             (`jax.checkpoint`, in torch_xla `torch_xla.utils.checkpoint`).\nBelow the message, XLA lists the program's largest \
             allocations with the lines of code that they come from."
        }
        Framework::Xla => {
            "Use a smaller batch, `bfloat16`, `jax.checkpoint` for large blocks, and `donate_argnums` for arrays that a step \
             replaces.\n[record] To see which arrays are live and where they come from, call \
             ``jax.profiler.save_device_memory_profile(\"memory.prof\")`` before the failing line, and read that file by \
             `pprof`.\nIf other processes use the GPU, end them or set `XLA_PYTHON_CLIENT_MEM_FRACTION` for each, because JAX \
             reserves most of the GPU when it starts."
        }
        Framework::LlamaCpp => {
            "Keep fewer layers on the GPU: `--n-gpu-layers`, in Ollama `num_gpu`.\nShorten the context (`--ctx-size`, \
             `num_ctx`), or quantize its cache (`--cache-type-k q8_0`, `--cache-type-v q8_0`) with `--flash-attn`.\nUse a \
             smaller quantization of the model, or smaller batches (`--ubatch-size`).\nSpread the layers by \
             `--tensor-split` if other GPUs have room."
        }
        Framework::Cupy => {
            "Free what CuPy keeps in its pool before others need it: \
             ``cupy.get_default_memory_pool().free_all_blocks()``.\nLet PyTorch and CuPy share one pool: \
             ``pytorch_pfn_extras.cuda.use_torch_mempool_in_cupy()``, or limit CuPy's by \
             `CUPY_GPU_MEMORY_LIMIT`.\nCompute in chunks."
        }
    };
    text.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::log_report;
    use crate::logs::printed::Printed;
    use crate::logs::reader::read_text;
    use crate::logs::source::Source as _;
    use crate::report::LogReport;

    fn printed(text: &str) -> Printed {
        read_text(text).printed
    }

    fn report(text: &str) -> LogReport {
        log_report(&read_text(text))
    }

    /// Messages in lines: the source; the framework, the requested bytes, and the cause as the thread or arithmetic tells it;
    /// words of the title; the text.
    const MESSAGES: &str = include_str!("../../../../../tests/data/logs/published-out-of-memory-frameworks.txt");

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
        assert_eq!(messages().count(), 7);
    }

    #[test]
    fn words_without_the_framework_are_no_error_of_it() {
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
}
