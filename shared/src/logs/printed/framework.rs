//! Reads out-of-memory errors of what shares a GPU with PyTorch, or runs its programs, but has an allocator of its own.
//!
//! ```text
//! XLA        Out of memory while trying to allocate 4770354232 bytes.
//!            Ran out of memory in memory space hbm. Used 21.95G of 15.48G hbm. Exceeded hbm capacity by 6.47G.
//!            followed by   BufferAssignment stats:             or   Total hbm usage >= 22.47G:
//!                               parameter allocation:  372.76MiB        reserved        530.00M
//!                            preallocated temp allocation: 4.44GiB      program          21.95G
//! CuPy       cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,024 bytes (allocated so far: 512 bytes).
//! llama.cpp  ggml_backend_cuda_buffer_type_alloc_buffer: allocating 144.00 MiB on device 4: cudaMalloc failed: out of memory
//! ```

use super::oom::{OomCause, number_after};
use crate::base::size;

/// Framework that ran out of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framework {
    /// Compiler and runtime of torch_xla and JAX.
    Xla,
    Cupy,
    LlamaCpp,
}

impl Framework {
    /// Returns the name as its makers write it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Xla => "XLA",
            Self::Cupy => "CuPy",
            Self::LlamaCpp => "llama.cpp",
        }
    }
}

/// Out-of-memory error of a framework; sizes are in bytes, `None` where no line states them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameworkOom {
    pub framework: Framework,
    pub gpu: Option<u32>,
    /// Size of the request; of a program that does not fit on a TPU, what all of it needs.
    pub asked_bytes: Option<u64>,
    /// Size of CuPy's pool, or of the memory of a TPU.
    pub capacity_bytes: Option<u64>,
    /// Memory of the pool that was in use.
    pub in_use_bytes: Option<u64>,
    /// What a compiled program needs, by kind of allocation, without those that need nothing.
    pub program: Vec<(&'static str, u64)>,
}

impl FrameworkOom {
    fn new(framework: Framework, asked_bytes: Option<u64>) -> Self {
        Self { framework, gpu: None, asked_bytes, capacity_bytes: None, in_use_bytes: None, program: Vec::new() }
    }

    /// Reads the error that a line contains.
    pub(super) fn of(line: &str) -> Option<Self> {
        MESSAGES.iter().find_map(|(words, read)| {
            let start = line.find(words)?;
            read(&line[..start], &line[start + words.len()..])
        })
    }

    /// Returns the reason of the failure, if the figures tell it.
    pub fn cause(&self) -> Option<OomCause> {
        let asked = self.asked_bytes?;
        if self.capacity_bytes.is_some_and(|capacity| asked > capacity) {
            return Some(OomCause::TooLarge);
        }
        let free = self.capacity_bytes?.saturating_sub(self.in_use_bytes?);
        Some(if asked <= free { OomCause::MoreFree } else { OomCause::Full })
    }

    /// Returns what a compiled program needs in all; 0 if no line states it.
    pub fn program_bytes(&self) -> u64 {
        self.program.iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add)
    }

    /// Reads a line behind XLA's error that states a part of the program; returns true if it does.
    pub(super) fn detail(&mut self, line: &str) -> bool {
        let line = line.trim();
        let part =
            PROGRAM_PARTS.iter().find_map(|(words, name)| Some((*name, size::leading(line.strip_prefix(words)?)?)));
        let Some((name, bytes)) = part.filter(|_| self.framework == Framework::Xla) else { return false };
        if bytes > 0 && self.program.iter().all(|(known, _)| *known != name) {
            self.program.push((name, bytes));
        }
        true
    }

    /// Adds what another line states about the same failure; returns false if it is about another one.
    pub(super) fn complete(&mut self, new: &Self) -> bool {
        // A sum with two decimals stands for an exact one.
        let is_near = |(a, b): (u64, u64)| a.abs_diff(b) <= 256.max(b / 100);
        let is_same = self.framework == new.framework
            && self.gpu.zip(new.gpu).is_none_or(|(a, b)| a == b)
            && self.asked_bytes.zip(new.asked_bytes).is_none_or(is_near);
        if is_same {
            self.gpu = self.gpu.or(new.gpu);
            self.asked_bytes = self.asked_bytes.or(new.asked_bytes);
            self.capacity_bytes = self.capacity_bytes.or(new.capacity_bytes);
            self.in_use_bytes = self.in_use_bytes.or(new.in_use_bytes);
        }
        is_same
    }
}

/// Reads a message from the text before and behind its words.
pub(super) type Read = fn(&str, &str) -> Option<FrameworkOom>;

/// Words of each message, with its reader.
pub(super) const MESSAGES: [(&str, Read); 6] = [
    ("Out of memory while trying to allocate ", program),
    ("Out of memory allocating ", allocating),
    // Before CuPy 7.
    ("out of memory to allocate ", to_allocate),
    ("Failed to allocate request for ", program),
    ("Ran out of memory in memory space hbm. Used ", on_tpu),
    ("cudaMalloc failed: out of memory", llama),
];

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

fn program(before: &str, rest: &str) -> Option<FrameworkOom> {
    let is_xla = before.contains("RESOURCE_EXHAUSTED") || before.contains("Resource exhausted");
    is_xla.then(|| FrameworkOom::new(Framework::Xla, size::leading(rest)))
}

fn allocating(before: &str, rest: &str) -> Option<FrameworkOom> {
    let held = size::after(rest, "allocated so far: ");
    if held.is_none() && !before.contains("cupy") {
        return program(before, rest);
    }
    Some(FrameworkOom {
        capacity_bytes: size::after(rest, "limit set to: "),
        in_use_bytes: held,
        ..FrameworkOom::new(Framework::Cupy, size::leading(rest))
    })
}

fn to_allocate(_: &str, rest: &str) -> Option<FrameworkOom> {
    let asked: Option<u64> = size::leading(rest);
    // The sum of what it had and of what it wanted.
    let total = size::after::<u64>(rest, "(total ")?;
    Some(FrameworkOom {
        capacity_bytes: size::after(rest, "limit set to "),
        in_use_bytes: asked.map(|asked| total.saturating_sub(asked)),
        ..FrameworkOom::new(Framework::Cupy, asked)
    })
}

fn on_tpu(_: &str, rest: &str) -> Option<FrameworkOom> {
    let (used, rest) = rest.split_once(" of ")?;
    Some(FrameworkOom { capacity_bytes: size::leading(rest), ..FrameworkOom::new(Framework::Xla, size::leading(used)) })
}

fn llama(before: &str, _: &str) -> Option<FrameworkOom> {
    Some(FrameworkOom {
        gpu: number_after(before, "on device "),
        ..FrameworkOom::new(Framework::LlamaCpp, size::after(before, "allocating "))
    })
}
