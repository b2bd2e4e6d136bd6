//! Collects errors of other frameworks, each once, with the lines that follow: counters of a pool, parts of a program.
//!
//! ```text
//! Sum Total of in-use chunks: 6.66GiB              BufferAssignment stats:             Total hbm usage >= 22.47G:
//! Stats:                                                parameter allocation:  372.76MiB      reserved        530.00M
//! Limit:                      7365066752                constant allocation:    48.5KiB      program          21.95G
//! InUse:                      7151588096           preallocated temp allocation: 4.44GiB      arguments            0B
//! ```

use super::framework::{
    COMPUTING, ENCODING_OF_LLAMA, Framework, FrameworkOom, IMAGE, buffer_of_llama, julia_figures, use_of_tpu,
};
use crate::source::{leading_number, number_after};
use hashbrown::HashMap;
use shared::analysis::SourceLine;
use shared::base::size;

/// Words of XLA for the parts of a program, with our own.
const PROGRAM_PARTS: [(&str, &str); 7] = [
    ("parameter allocation:", "parameters"),
    ("constant allocation:", "constants"),
    ("maybe_live_out allocation:", "outputs"),
    ("preallocated temp allocation:", "temporaries"),
    ("reserved ", "reserved"),
    ("program ", "program"),
    ("arguments ", "arguments"),
];

/// GPUs of llama.cpp beyond this number are not followed.
const MOST_GPUS: u32 = 64;

/// Reader that knows which error the next lines describe.
#[derive(Debug, Default)]
pub(super) struct FrameworkReader {
    last: Option<usize>,
    /// Counters of TensorFlow's pool in front of an error, where versions before 1.13 print them.
    counters: FrameworkOom,
    /// Memory of llama.cpp's GPUs that was free at its start, without the buffers that it has made since.
    free_bytes: HashMap<u32, u64>,
    /// Buffers that llama.cpp has made on each GPU.
    made_bytes: HashMap<u32, u64>,
    /// Layers that Ollama found room for, where it was told to put more on the GPU.
    fitting_layers: Option<u64>,
    /// True once llama.cpp has begun to encode an image.
    is_encoding: bool,
}

impl FrameworkReader {
    /// Adds an error, or what it says beyond a line about the same failure.
    ///
    /// TensorFlow states a failure in up to three forms, and every framework logs it and raises it.
    pub(super) fn add(
        &mut self,
        all: &mut Vec<Repeated<FrameworkOom>>,
        mut error: FrameworkOom,
        place: Option<SourceLine>,
        left_out: &mut u64,
    ) {
        let operation = &mut error.operation;
        if self.is_encoding && (operation.is_empty() || operation == COMPUTING) {
            IMAGE.clone_into(operation);
        }
        if error.framework == Framework::LlamaCpp && !error.is_host {
            error.free_bytes = error.free_bytes.or(self.free_bytes.get(&error.gpu.unwrap_or(0)).copied());
            error.fitting_layers = self.fitting_layers;
            if error.free_bytes.is_none() {
                let made = self.made_bytes.get(&error.gpu.unwrap_or(0)).copied();
                error.in_use_bytes = error.in_use_bytes.or(made);
            }
        }
        if error.framework == Framework::TensorFlow {
            let before = std::mem::take(&mut self.counters);
            error.capacity_bytes = error.capacity_bytes.or(before.capacity_bytes);
            error.in_use_bytes = error.in_use_bytes.or(before.in_use_bytes);
        }
        let known = all.iter().rposition(|known| is_same(&known.error, &error));
        if let Some(known) = known {
            complete(&mut all[known].error, &error);
        }
        self.last = keep(all, known, error, place, left_out);
    }

    /// Reads a line that describes the last error; returns true if it does.
    pub(super) fn detail(&mut self, line: &str, all: &mut [Repeated<FrameworkOom>]) -> bool {
        self.is_encoding |= line.contains(ENCODING_OF_LLAMA);
        self.room_of_llama(line);
        let Some(Repeated { error, .. }) = self.last.and_then(|last| all.get_mut(last)) else {
            let is_begun = self.counters.in_use_bytes.is_some() || line.contains("Sum Total of in-use chunks: ");
            return is_begun && counter_of_pool(line, &mut self.counters).is_some();
        };
        match error.framework {
            Framework::TensorFlow => counter_of_pool(line, error),
            Framework::Xla if error.asked_bytes.is_none() && line.contains(" hbm") => use_of_tpu(line, error),
            Framework::Xla => part_of_program(line.trim(), error),
            Framework::CudaJl => julia_figures(line, error),
            Framework::LlamaCpp => buffer_of_llama(line, error),
            _ => None,
        }
        .is_some()
    }
}

impl FrameworkReader {
    /// Reads what llama.cpp and Ollama say of a GPU's room before a buffer fails.
    ///
    /// ```text
    /// using device CUDA0 (NVIDIA GeForce RTX 3090) - 23867 MiB free
    /// load_tensors:        CUDA0 model buffer size =  7605.33 MiB
    /// llama_kv_cache_init: CUDA0 KV buffer size = 16384.00 MiB
    /// msg="offload to cuda" layers.requested=99 layers.model=65 layers.offload=33 … memory.available="[11.4 GiB]"
    /// ```
    fn room_of_llama(&mut self, line: &str) {
        if let Some((_, device)) = line.split_once("using device CUDA")
            && let Some((gpu, free)) = leading_number(device).zip(size::before(line, " free"))
        {
            self.free_bytes.insert(gpu, free);
        } else if let Some((before, size)) = line.split_once("buffer size =")
            && let Some(gpu) = number_after(before, "CUDA").filter(|gpu| *gpu < MOST_GPUS)
        {
            let bytes: u64 = size::leading(size).unwrap_or(0);
            self.free_bytes.entry(gpu).and_modify(|free| *free = free.saturating_sub(bytes));
            // Without the weights, the rest is little of what it has.
            if before.contains(" model ") || self.made_bytes.contains_key(&gpu) {
                let made = self.made_bytes.entry(gpu).or_default();
                *made = made.saturating_add(bytes);
            }
        } else if let Some(free) = size::after(line, "memory.available=\"[") {
            self.free_bytes.insert(0, free);
            let (wanted, fitting) = (number_after(line, "layers.requested="), number_after(line, "layers.offload="));
            self.fitting_layers = fitting.filter(|fitting: &u64| wanted.is_some_and(|wanted: u64| wanted > *fitting));
        }
    }
}

fn counter_of_pool(line: &str, error: &mut FrameworkOom) -> Option<()> {
    if let Some((_, rest)) = line.split_once("Sum Total of in-use chunks: ") {
        error.in_use_bytes.get_or_insert(size::leading(rest)?);
        return Some(());
    }
    let (name, value) = line.trim().split_once(':')?;
    let bytes = leading_number(value.trim_start())?;
    match name {
        "Limit" => error.capacity_bytes = Some(bytes),
        // More exact than the sum above it.
        "InUse" => error.in_use_bytes = Some(bytes),
        _ => return None,
    }
    Some(())
}

fn part_of_program(line: &str, error: &mut FrameworkOom) -> Option<()> {
    // The total stands below the parts on GPUs, and above them on TPUs.
    if line.starts_with("total allocation:") || line.starts_with("Total hbm usage") {
        error.is_listed = true;
        // Of TPUs it is only a lower bound.
        error.total_bytes = size::after(line, "total allocation:");
        return Some(());
    }
    // The list of the largest begins with the first of them.
    if let (Some(size), None) = (line.split_once("1. Size: "), &error.largest) {
        error.largest = Some((size::leading(size.1)?, String::new()));
        return Some(());
    }
    if let (Some(shape), Some((_, empty))) = (line.strip_prefix("Shape: "), &mut error.largest)
        && empty.is_empty()
    {
        shape.split('{').next().unwrap_or_default().clone_into(empty);
        return Some(());
    }
    let (rest, name) = PROGRAM_PARTS.iter().find_map(|(words, name)| Some((line.strip_prefix(words)?, *name)))?;
    let bytes = size::leading(rest)?;
    if bytes > 0 && error.program.iter().all(|(known, _)| *known != name) {
        error.program.push((name, bytes));
    }
    Some(())
}

/// Returns true if two lines are about the same failure, as far as both state it.
fn is_same(known: &FrameworkOom, new: &FrameworkOom) -> bool {
    let agree = |a: &str, b: &str| a.is_empty() || b.is_empty() || a == b;
    // A sum with two decimals stands for an exact one, and TensorFlow rounds to 256 bytes.
    let is_near = |(a, b): (u64, u64)| a.abs_diff(b) <= 256.max(b / 100);
    known.framework == new.framework
        && (known.is_host, known.is_spared) == (new.is_host, new.is_spared)
        && known.gpu.zip(new.gpu).is_none_or(|(a, b)| a == b)
        && known.asked_bytes.zip(new.asked_bytes).is_none_or(is_near)
        && agree(&known.tensor, &new.tensor)
}

fn complete(error: &mut FrameworkOom, more: &FrameworkOom) {
    error.gpu = error.gpu.or(more.gpu);
    error.asked_bytes = error.asked_bytes.or(more.asked_bytes);
    error.capacity_bytes = error.capacity_bytes.or(more.capacity_bytes);
    error.in_use_bytes = error.in_use_bytes.max(more.in_use_bytes);
    error.free_bytes = error.free_bytes.or(more.free_bytes);
    for (text, other) in [(&mut error.tensor, &more.tensor), (&mut error.operation, &more.operation)] {
        if text.is_empty() {
            text.clone_from(other);
        }
    }
    error.is_limited |= more.is_limited;
}

/// Most different errors, and most tables of counters, that are kept.
pub(super) const MOST_KEPT: usize = 1000;

/// Error with the place that raised it and the number of times that it was printed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repeated<T> {
    pub error: T,
    /// Line of the user's own code, if a traceback stood before it.
    pub place: Option<SourceLine>,
    pub count: u64,
}

/// Adds an error, or counts it if it was printed before, as frameworks do that log an exception and raise it again.
///
/// `complete` adds to a known error what the new one states; it returns false if they are two.
pub(super) fn add<T>(
    all: &mut Vec<Repeated<T>>,
    error: T,
    place: Option<SourceLine>,
    left_out: &mut u64,
    complete: impl Fn(&mut T, &T) -> bool,
) {
    let known = all.iter_mut().position(|known| complete(&mut known.error, &error));
    keep(all, known, error, place, left_out);
}

/// Counts an error that is known, or keeps a new one; returns its position, `None` without room for it.
fn keep<T>(
    all: &mut Vec<Repeated<T>>,
    known: Option<usize>,
    error: T,
    place: Option<SourceLine>,
    left_out: &mut u64,
) -> Option<usize> {
    if let Some(position) = known {
        let known = &mut all[position];
        known.count += 1;
        known.place = known.place.take().or(place);
    } else if all.len() < MOST_KEPT {
        all.push(Repeated { error, place, count: 1 });
    } else {
        *left_out += 1;
        return None;
    }
    known.or(all.len().checked_sub(1))
}
