//! Reads out-of-memory errors of frameworks other than PyTorch.
//!
//! ```text
//! TensorFlow    Allocator (GPU_0_bfc) ran out of memory trying to allocate 18.00MiB (rounded to 18874368)requested by op Mul
//!               OOM when allocating tensor with shape[16,12,512,512] and type float on /job:…/device:GPU:2 by allocator …
//! XLA           Out of memory while trying to allocate 4770354232 bytes.
//!               Ran out of memory in memory space hbm. Used 21.95G of 15.48G hbm. Exceeded hbm capacity by 6.47G.
//! PaddlePaddle  Out of memory error on GPU 0. Cannot allocate 80.000000MB memory on GPU 0, 10.647278GB memory has been
//!               allocated and available memory is only 108.750000MB.
//!               enforce allocating <= available failed, 10513462067 > 1369702144
//! ONNX Runtime  Non-zero status code returned while running Mul node. Name:'Mul_8702' Status Message: …
//!               Failed to allocate memory for requested buffer of size 2830172160
//! CuPy          cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 1,024 bytes (allocated so far: 512 bytes).
//! llama.cpp     ggml_backend_cuda_buffer_type_alloc_buffer: allocating 144.00 MiB on device 4: cudaMalloc failed: out of memory
//!               ggml_backend_cpu_buffer_type_alloc_buffer: failed to allocate buffer of size 137438953504
//!               ggml_vulkan: Device memory allocation of size 1610612736 failed.
//! Ollama        model requires more system memory (5.5 GiB) than is available (3.4 GiB)
//! CUDA.jl       Out of GPU memory trying to allocate 11.921 GiB
//! MLX           [metal::malloc] Attempting to allocate 48736917632 bytes which is greater than the maximum allowed buffer
//!               size of 30150672384 bytes.
//! ```

use super::oom::OomCause;
use crate::source::{leading_number, number_after};
use shared::base::size;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Framework {
    #[default]
    TensorFlow,
    /// Compiler and runtime of JAX and torch_xla, and of TensorFlow's compiled functions.
    Xla,
    Paddle,
    OnnxRuntime,
    Cupy,
    LlamaCpp,
    Mlx,
    Ollama,
    /// Julia's arrays on CUDA.
    CudaJl,
}

impl Framework {
    pub fn name(self) -> &'static str {
        match self {
            Self::TensorFlow => "TensorFlow",
            Self::Xla => "XLA",
            Self::Paddle => "PaddlePaddle",
            Self::OnnxRuntime => "ONNX Runtime",
            Self::Cupy => "CuPy",
            Self::LlamaCpp => "llama.cpp",
            Self::Mlx => "MLX",
            Self::Ollama => "Ollama",
            Self::CudaJl => "CUDA.jl",
        }
    }
}

/// Out-of-memory error of a framework; sizes are in bytes, `None` where no line states them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FrameworkOom {
    pub framework: Framework,
    pub is_host: bool,
    /// True if the framework went on without the memory.
    pub is_spared: bool,
    /// True if the driver allows no buffer of that size, whatever is free.
    pub is_limited: bool,
    pub gpu: Option<u32>,
    /// Size of the request; of a program that does not fit on a TPU, what all of it needs.
    pub asked_bytes: Option<u64>,
    /// Shape and type of the tensor, such as `[16,12,512,512] of type float`, or empty.
    pub tensor: String,
    /// Name of the operation, or in words what the memory was for; empty if it is not known.
    pub operation: String,
    /// Size of the framework's pool, of the memory of a GPU or TPU, or of the largest buffer that is allowed.
    pub capacity_bytes: Option<u64>,
    /// Memory of the pool or the GPU that was in use, by whatever process.
    pub in_use_bytes: Option<u64>,
    pub free_bytes: Option<u64>,
    /// Of CUDA.jl's pool, what arrays take and what it keeps for more of them, and what a collection then freed.
    pub pool_bytes: Option<(u64, u64)>,
    pub collected_bytes: Option<u64>,
    /// Layers that fit on the GPU, where more were asked for.
    pub fitting_layers: Option<u64>,
    /// What a compiled program needs, by kind of allocation, without those that need nothing.
    pub program: Vec<(&'static str, u64)>,
    /// Size and shape of the largest allocation of that program, the shape empty until its line comes.
    pub largest: Option<(u64, String)>,
    /// True if the list of these parts has come to its end, which is a total, and that total: parts may share memory.
    pub is_listed: bool,
    pub total_bytes: Option<u64>,
}

impl FrameworkOom {
    pub(super) fn of(line: &str) -> Option<Self> {
        MESSAGES.iter().find_map(|&(words, framework, read)| {
            let start = line.find(words)?;
            let mut oom = Self { framework, ..Self::default() };
            read(&mut oom, &line[..start], &line[start + words.len()..]).map(|()| oom)
        })
    }

    /// Returns the reason of the failure, if the figures tell it.
    pub fn cause(&self) -> Option<OomCause> {
        const ABSURD_BYTES: u64 = 1 << 53;
        /// More than any GPU has.
        const ANY_GPU_BYTES: u64 = 320 << 30;
        let asked = self.asked_bytes?;
        let is_beyond = asked >= ANY_GPU_BYTES && !self.is_host && self.capacity_bytes.is_none();
        if asked >= ABSURD_BYTES || is_beyond {
            return Some(OomCause::Absurd);
        }
        if self.capacity_bytes.is_some_and(|capacity| asked > capacity) {
            return Some(OomCause::TooLarge);
        }
        let in_use = self.in_use_bytes?;
        let free = self.free_bytes.or_else(|| Some(self.capacity_bytes?.saturating_sub(in_use)))?;
        match self.framework {
            // Free memory of its own pool, not of the GPU: what is missing is a piece that is long enough.
            Framework::TensorFlow if asked <= free => Some(OomCause::Fragmentation),
            _ if asked <= free => Some(OomCause::MoreFree),
            _ => Some(OomCause::Full),
        }
    }

    /// Returns what a compiled program needs in all; 0 if the list of its parts is missing or was cut.
    pub fn program_bytes(&self) -> u64 {
        let bytes = self.program.iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
        if self.is_listed { self.total_bytes.unwrap_or(bytes) } else { 0 }
    }
}

/// Reads a message from the text before and behind its words; `None` if it is another one.
pub(super) type Read = fn(&mut FrameworkOom, &str, &str) -> Option<()>;

/// Words of each message, with its framework and its reader.
pub(super) const MESSAGES: [(&str, Framework, Read); 28] = [
    ("OOM when allocating tensor with shape", Framework::TensorFlow, tensor),
    ("ran out of memory trying to allocate ", Framework::TensorFlow, pool),
    // Before version 1.0.
    ("Ran out of memory trying to allocate ", Framework::TensorFlow, pool),
    ("failed to allocate memory", Framework::TensorFlow, without_figures),
    ("Dst tensor is not initialized", Framework::TensorFlow, copy_to_gpu),
    ("Out of memory while trying to allocate ", Framework::Xla, program),
    ("Out of memory allocating ", Framework::Cupy, allocating),
    // Before CuPy 7.
    ("out of memory to allocate ", Framework::Cupy, to_allocate),
    ("Failed to allocate request for ", Framework::Xla, program),
    ("Ran out of memory in memory space ", Framework::Xla, on_tpu),
    ("Out of memory error on GPU ", Framework::Paddle, paddle),
    ("enforce allocating <= available ", Framework::Paddle, paddle_enforced),
    ("Failed to allocate memory for requested buffer of size ", Framework::OnnxRuntime, buffer),
    ("is smaller than requested bytes of ", Framework::OnnxRuntime, buffer),
    ("cudaMalloc failed: out of memory", Framework::LlamaCpp, cuda_malloc),
    ("llama runner process has terminated: CUDA error: out of memory", Framework::LlamaCpp, llama),
    ("ggml_vulkan: Device memory allocation of size ", Framework::LlamaCpp, llama_on_vulkan),
    ("failed to allocate ", Framework::LlamaCpp, buffer_of_ggml),
    ("in function alloc at ", Framework::LlamaCpp, alloc_of_ggml),
    ("model requires more system memory (", Framework::Ollama, ollama),
    ("model request too large for system", Framework::Ollama, ollama),
    ("[metal::malloc] Attempting to allocate ", Framework::Mlx, metal),
    ("maximum recommended size of ", Framework::Mlx, beyond_metal),
    ("allocated size is greater than the recommended max working set size", Framework::Mlx, beyond_metal),
    ("[METAL] Command buffer execution failed: Insufficient Memory", Framework::Mlx, metal),
    ("error: Insufficient Memory (00000008:kIOGPU", Framework::LlamaCpp, llama_on_metal),
    ("Out of GPU memory trying to allocate ", Framework::CudaJl, julia),
    ("CUDA memory allocation failed; attempting to free up memory", Framework::CudaJl, julia_retries),
];

fn tensor(oom: &mut FrameworkOom, _: &str, rest: &str) -> Option<()> {
    let (shape, rest) = rest.split_once(']')?;
    let (_, name) = rest.split_once("and type ").unwrap_or_default();
    let name = name.split_ascii_whitespace().next().unwrap_or_default();
    oom.tensor = if name.is_empty() { format!("{shape}]") } else { format!("{shape}] of type {name}") };
    let (_, device) = rest.split_once("/device:").unwrap_or_default();
    oom.is_host = device.starts_with("CPU");
    oom.gpu = number_after(device, "GPU:");
    oom.asked_bytes = tensor_bytes(shape.trim_start_matches('['), name);
    Some(())
}

/// Returns the size of a tensor, given its dimensions with commas between; `None` for types of unknown size.
fn tensor_bytes(dimensions: &str, name: &str) -> Option<u64> {
    let value_bytes: u64 = match name {
        "bool" | "int8" | "uint8" => 1,
        "half" | "float16" | "bfloat16" | "int16" | "uint16" => 2,
        "float" | "float32" | "int32" | "uint32" => 4,
        "double" | "float64" | "int64" | "uint64" | "complex64" => 8,
        "complex128" => 16,
        _ => return None,
    };
    let mut dimensions = dimensions.split(',').map(|dimension| dimension.trim().parse::<u64>().ok());
    dimensions.try_fold(value_bytes, |bytes, dimension| bytes.checked_mul(dimension?))
}

fn pool(oom: &mut FrameworkOom, before: &str, rest: &str) -> Option<()> {
    let is_tensorflow = before.contains("Allocator (") || rest.contains("See logs for memory state");
    let (_, operation) = rest.split_once("requested by op ").unwrap_or_default();
    if before.contains("/xla/") {
        oom.framework = Framework::Xla;
    }
    oom.is_host = before.contains("(cpu") || before.contains("(mklcpu");
    oom.is_spared = rest.contains("not a failure");
    oom.gpu = number_after(before, "(GPU_");
    oom.asked_bytes = number_after(rest, "(rounded to ").or_else(|| size::leading(rest));
    oom.operation = shortened(operation.split_ascii_whitespace().next().unwrap_or_default());
    is_tensorflow.then_some(())
}

fn without_figures(oom: &mut FrameworkOom, before: &str, rest: &str) -> Option<()> {
    let (_, operation) = rest.split_once("[Op:").unwrap_or_default();
    oom.operation = shortened(operation.split(']').next().unwrap_or_default());
    let is_tensorflow = before.contains("RESOURCE_EXHAUSTED") || before.contains("ResourceExhaustedError");
    (is_tensorflow || !operation.is_empty()).then_some(())
}

fn copy_to_gpu(oom: &mut FrameworkOom, _: &str, _: &str) -> Option<()> {
    "the copy of a tensor to the GPU".clone_into(&mut oom.operation);
    Some(())
}

fn program(oom: &mut FrameworkOom, before: &str, rest: &str) -> Option<()> {
    oom.asked_bytes = size::leading(rest);
    (before.contains("RESOURCE_EXHAUSTED") || before.contains("Resource exhausted")).then_some(())
}

fn allocating(oom: &mut FrameworkOom, before: &str, rest: &str) -> Option<()> {
    oom.in_use_bytes = size::after(rest, "allocated so far: ");
    if oom.in_use_bytes.is_none() && !before.contains("cupy") {
        oom.framework = Framework::Xla;
        return program(oom, before, rest);
    }
    oom.asked_bytes = size::leading(rest);
    oom.capacity_bytes = size::after(rest, "limit set to: ");
    Some(())
}

fn to_allocate(oom: &mut FrameworkOom, _: &str, rest: &str) -> Option<()> {
    oom.asked_bytes = size::leading(rest);
    // The sum of what it had and of what it wanted.
    let total = size::after::<u64>(rest, "(total ")?;
    oom.capacity_bytes = size::after(rest, "limit set to ");
    oom.in_use_bytes = oom.asked_bytes.map(|asked| total.saturating_sub(asked));
    Some(())
}

fn on_tpu(oom: &mut FrameworkOom, _: &str, rest: &str) -> Option<()> {
    use_of_tpu(rest, oom);
    // The kernels' own memory is another matter.
    (oom.asked_bytes.is_some() || rest.starts_with("hbm")).then_some(())
}

/// Reads `Used 32.10G of 31.25G hbm.`, which may stand in the next line.
pub(super) fn use_of_tpu(text: &str, oom: &mut FrameworkOom) -> Option<()> {
    let (used, rest) = text.split_once("Used ")?.1.split_once(" of ")?;
    (oom.asked_bytes, oom.capacity_bytes) = (Some(size::leading(used)?), Some(size::leading(rest)?));
    Some(())
}

fn paddle(oom: &mut FrameworkOom, _: &str, rest: &str) -> Option<()> {
    let (_, asked) = rest.split_once("Cannot allocate ")?;
    let (_, held) = asked.split_once("memory on GPU ").unwrap_or_default();
    let (_, held) = held.split_once(", ").unwrap_or_default();
    // Since 1.8 with "only".
    let (_, free) = rest.split_once("available memory is ").unwrap_or_default();
    let free_bytes = size::leading(free.trim_start_matches("only "));
    let in_use_bytes = size::leading::<u64>(held).filter(|_| held.contains("has been allocated"));
    // A driver that fails tells no figures.
    if in_use_bytes.max(free_bytes) != Some(0) {
        (oom.in_use_bytes, oom.free_bytes) = (in_use_bytes, free_bytes);
    }
    oom.gpu = leading_number(rest);
    oom.asked_bytes = size::leading(asked);
    // The difference of the GPU's memory and what is free, whoever uses it.
    oom.capacity_bytes = oom.in_use_bytes.zip(oom.free_bytes).map(|(in_use, free)| in_use.saturating_add(free));
    Some(())
}

fn paddle_enforced(oom: &mut FrameworkOom, _: &str, rest: &str) -> Option<()> {
    let (_, figures) = rest.split_once("failed, ")?;
    let (asked, free) = figures.split_once(" > ")?;
    (oom.asked_bytes, oom.free_bytes) = (leading_number(asked), leading_number(free));
    Some(())
}

fn buffer(oom: &mut FrameworkOom, before: &str, rest: &str) -> Option<()> {
    let (_, running) = before.split_once("while running ").unwrap_or_default();
    oom.asked_bytes = Some(leading_number(rest)?);
    oom.capacity_bytes = number_after(before, "Available memory of ");
    oom.operation = shortened(running.split_once(" node").map_or("", |(name, _)| name));
    Some(())
}

fn cuda_malloc(oom: &mut FrameworkOom, before: &str, rest: &str) -> Option<()> {
    // MXNet and others word it the same way.
    if before.contains("ggml") || before.contains("allocating ") { llama(oom, before, rest) } else { None }
}

fn llama(oom: &mut FrameworkOom, before: &str, rest: &str) -> Option<()> {
    oom.gpu = number_after(before, "on device ");
    oom.asked_bytes = size::after(before, "allocating ");
    buffer_of_llama(rest, oom);
    Some(())
}

/// Words of llama.cpp's next messages, with what the buffer was for.
const BUFFERS: [(&str, &str); 6] = [
    ("loading model: unable to allocate", WEIGHTS),
    ("for kv cache", KV_CACHE),
    ("ggml_gallocr_reserve", COMPUTING),
    ("allocate compute", COMPUTING),
    ("compute buffers", COMPUTING),
    ("compute buffer allocation failed", COMPUTING),
];

pub(super) const WEIGHTS: &str = "the weights";
pub(super) const KV_CACHE: &str = "the KV cache";
pub(super) const COMPUTING: &str = "computing";
pub(super) const IMAGE: &str = "an image";
pub(super) const ON_METAL: &str = "a command of Metal";

/// What llama.cpp prints before it encodes an image.
pub(super) const ENCODING_OF_LLAMA: &str = "encoding image";

/// Reads what a buffer was for; returns `None` if a text does not say it.
pub(super) fn buffer_of_llama(line: &str, error: &mut FrameworkOom) -> Option<()> {
    let is_limited = line.contains("exceeds device memory allocation limit");
    error.is_limited |= is_limited;
    // Each GPU of a pipeline has its inputs several times.
    error.is_spared |= line.contains("retrying without pipeline parallelism");
    let buffer = BUFFERS.iter().find(|(words, _)| error.operation.is_empty() && line.contains(words));
    if let Some((_, buffer)) = buffer {
        (*buffer).clone_into(&mut error.operation);
    }
    (is_limited || error.is_spared || buffer.is_some()).then_some(())
}

fn llama_on_metal(oom: &mut FrameworkOom, _: &str, _: &str) -> Option<()> {
    ON_METAL.clone_into(&mut oom.operation);
    Some(())
}

fn llama_on_vulkan(oom: &mut FrameworkOom, _: &str, rest: &str) -> Option<()> {
    oom.asked_bytes = leading_number(rest);
    Some(())
}

fn buffer_of_ggml(oom: &mut FrameworkOom, before: &str, rest: &str) -> Option<()> {
    let asked_bytes = size::after(rest, "buffer, size = ").or_else(|| number_after(rest, "buffer of size "));
    oom.asked_bytes = Some(asked_bytes?);
    oom.is_host = before.contains("cpu_buffer") || rest.starts_with("CPU ");
    buffer_of_llama(before, oom);
    buffer_of_llama(rest, oom);
    before.contains("ggml").then_some(())
}

fn alloc_of_ggml(_: &mut FrameworkOom, _: &str, rest: &str) -> Option<()> {
    rest.contains("ggml").then_some(())
}

fn ollama(oom: &mut FrameworkOom, _: &str, rest: &str) -> Option<()> {
    // `164.8 GiB) than is available (13.4 GiB)`, or ` requested="5.5 GiB" available="3.4 GiB"`.
    oom.is_host = true;
    oom.asked_bytes = size::after(rest, " requested=\"").or_else(|| size::leading(rest));
    oom.free_bytes = size::after(rest, " available=\"").or_else(|| size::after(rest, "than is available ("));
    Some(())
}

fn metal(oom: &mut FrameworkOom, _: &str, rest: &str) -> Option<()> {
    oom.asked_bytes = size::leading(rest);
    oom.capacity_bytes = size::after(rest, "maximum allowed buffer size of ");
    Some(())
}

/// Reads `requires 7717 MB which is close to the maximum recommended size of 5461 MB` of MLX, and of llama.cpp
/// `ggml_metal_add_buffer: … (40455.77 / 10922.67), warning: current allocated size is greater than the recommended …`.
fn beyond_metal(oom: &mut FrameworkOom, before: &str, rest: &str) -> Option<()> {
    let mebibytes = |text: &str| size::leading(&format!("{} MiB", text.trim()));
    let pair = before.rsplit_once('(').and_then(|(_, pair)| pair.split_once(')')?.0.split_once('/'));
    (oom.in_use_bytes, oom.capacity_bytes) = match pair.filter(|_| before.contains("ggml_metal")) {
        Some((used, most)) => {
            oom.framework = Framework::LlamaCpp;
            (mebibytes(used), mebibytes(most))
        }
        None => (size::after(before, "requires "), size::leading(rest)),
    };
    (oom.in_use_bytes? > oom.capacity_bytes?).then_some(())
}

fn julia(oom: &mut FrameworkOom, _: &str, rest: &str) -> Option<()> {
    oom.asked_bytes = size::leading(rest);
    julia_figures(rest, oom);
    Some(())
}

fn julia_retries(oom: &mut FrameworkOom, _: &str, _: &str) -> Option<()> {
    oom.is_spared = true;
    Some(())
}

/// Reads the figures of CUDA.jl, each in a line of its own; returns `None` if there are none.
///
/// ```text
/// Effective GPU memory usage: 99.85% (15.758 GiB/15.782 GiB)
/// Memory pool usage: 13.411 GiB (15.281 GiB reserved)             since 3.0
/// Memory pool usage: 980.317 MiB (980.317 MiB allocated, 0 bytes cached)
/// ... running a quick GC (freed 16.913 GiB)
/// ```
pub(super) fn julia_figures(text: &str, oom: &mut FrameworkOom) -> Option<()> {
    let of_gpu = text.split_once("Effective GPU memory usage: ").and_then(|(_, rest)| rest.split_once('('));
    if let Some((used, total)) = of_gpu.and_then(|(_, rest)| rest.split_once('/')) {
        (oom.in_use_bytes, oom.capacity_bytes) = (size::leading(used), size::leading(total));
    }
    let pool = text.split_once("Memory pool usage: ").map(|(_, rest)| rest);
    if let Some(pool) = pool {
        let used: Option<u64> = size::leading(pool);
        let reserved = || Some(size::before::<u64>(pool, " reserved")?.saturating_sub(used?));
        let cached = size::before(pool, " cached").or_else(reserved)?;
        oom.pool_bytes = used.zip(Some(cached));
        // What the pool keeps is there for arrays.
        oom.in_use_bytes = oom.in_use_bytes.map(|bytes| bytes.saturating_sub(cached));
    }
    let collected = text.split_once(" GC (freed ").and_then(|(_, rest)| size::leading(rest));
    oom.collected_bytes = oom.collected_bytes.or(collected);
    (of_gpu.is_some() || pool.is_some() || collected.is_some()).then_some(())
}

fn shortened(name: &str) -> String {
    name.chars().take(100).collect()
}
