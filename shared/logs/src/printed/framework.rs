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
    /// What a compiled program needs, by kind of allocation, without those that need nothing.
    pub program: Vec<(&'static str, u64)>,
    /// True if the list of these parts has come to its end, which is a total.
    pub is_listed: bool,
}

impl FrameworkOom {
    fn new(framework: Framework) -> Self {
        Self { framework, ..Self::default() }
    }

    pub(super) fn of(line: &str) -> Option<Self> {
        MESSAGES.iter().find_map(|(words, read)| {
            let start = line.find(words)?;
            read(&line[..start], &line[start + words.len()..])
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
        if self.is_listed { bytes } else { 0 }
    }
}

/// Reads a message from the text before and behind its words.
pub(super) type Read = fn(&str, &str) -> Option<FrameworkOom>;

/// Words of each message, with its reader.
pub(super) const MESSAGES: [(&str, Read); 27] = [
    ("OOM when allocating tensor with shape", tensor),
    ("ran out of memory trying to allocate ", pool),
    // Before version 1.0.
    ("Ran out of memory trying to allocate ", pool),
    ("failed to allocate memory", without_figures),
    ("Dst tensor is not initialized", copy_to_gpu),
    ("Out of memory while trying to allocate ", program),
    ("Out of memory allocating ", allocating),
    // Before CuPy 7.
    ("out of memory to allocate ", to_allocate),
    ("Failed to allocate request for ", program),
    ("Ran out of memory in memory space ", on_tpu),
    ("Out of memory error on GPU ", paddle),
    ("enforce allocating <= available ", paddle_enforced),
    ("Failed to allocate memory for requested buffer of size ", buffer),
    ("is smaller than requested bytes of ", buffer),
    ("cudaMalloc failed: out of memory", cuda_malloc),
    ("llama runner process has terminated: CUDA error: out of memory", llama),
    ("ggml_vulkan: Device memory allocation of size ", llama_on_vulkan),
    ("failed to allocate ", buffer_of_ggml),
    ("in function alloc at ", alloc_of_ggml),
    ("model requires more system memory (", ollama),
    ("model request too large for system", ollama),
    ("[metal::malloc] Attempting to allocate ", metal),
    ("maximum recommended size of ", beyond_metal),
    ("allocated size is greater than the recommended max working set size", beyond_metal),
    ("[METAL] Command buffer execution failed: Insufficient Memory", metal),
    ("error: Insufficient Memory (00000008:kIOGPU", llama),
    ("Out of GPU memory trying to allocate ", julia),
];

fn tensor(_: &str, rest: &str) -> Option<FrameworkOom> {
    let (shape, rest) = rest.split_once(']')?;
    let (_, name) = rest.split_once("and type ").unwrap_or_default();
    let name = name.split_ascii_whitespace().next().unwrap_or_default();
    let tensor = if name.is_empty() { format!("{shape}]") } else { format!("{shape}] of type {name}") };
    let (_, device) = rest.split_once("/device:").unwrap_or_default();
    Some(FrameworkOom {
        is_host: device.starts_with("CPU"),
        gpu: number_after(device, "GPU:"),
        asked_bytes: tensor_bytes(shape.trim_start_matches('['), name),
        tensor,
        ..FrameworkOom::new(Framework::TensorFlow)
    })
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

fn pool(before: &str, rest: &str) -> Option<FrameworkOom> {
    let is_tensorflow = before.contains("Allocator (") || rest.contains("See logs for memory state");
    let (_, operation) = rest.split_once("requested by op ").unwrap_or_default();
    is_tensorflow.then(|| FrameworkOom {
        is_host: before.contains("(cpu") || before.contains("(mklcpu"),
        is_spared: rest.contains("not a failure"),
        gpu: number_after(before, "(GPU_"),
        asked_bytes: number_after(rest, "(rounded to ").or_else(|| size::leading(rest)),
        operation: shortened(operation.split_ascii_whitespace().next().unwrap_or_default()),
        ..FrameworkOom::new(Framework::TensorFlow)
    })
}

fn without_figures(before: &str, rest: &str) -> Option<FrameworkOom> {
    let (_, operation) = rest.split_once("[Op:").unwrap_or_default();
    let is_tensorflow = before.contains("RESOURCE_EXHAUSTED") || before.contains("ResourceExhaustedError");
    (is_tensorflow || !operation.is_empty()).then(|| FrameworkOom {
        operation: shortened(operation.split(']').next().unwrap_or_default()),
        ..FrameworkOom::new(Framework::TensorFlow)
    })
}

fn copy_to_gpu(_: &str, _: &str) -> Option<FrameworkOom> {
    let operation = "the copy of a tensor to the GPU".to_owned();
    Some(FrameworkOom { operation, ..FrameworkOom::new(Framework::TensorFlow) })
}

fn program(before: &str, rest: &str) -> Option<FrameworkOom> {
    let is_xla = before.contains("RESOURCE_EXHAUSTED") || before.contains("Resource exhausted");
    is_xla.then(|| FrameworkOom { asked_bytes: size::leading(rest), ..FrameworkOom::new(Framework::Xla) })
}

fn allocating(before: &str, rest: &str) -> Option<FrameworkOom> {
    let held = size::after(rest, "allocated so far: ");
    if held.is_none() && !before.contains("cupy") {
        return program(before, rest);
    }
    Some(FrameworkOom {
        asked_bytes: size::leading(rest),
        capacity_bytes: size::after(rest, "limit set to: "),
        in_use_bytes: held,
        ..FrameworkOom::new(Framework::Cupy)
    })
}

fn to_allocate(_: &str, rest: &str) -> Option<FrameworkOom> {
    let asked: Option<u64> = size::leading(rest);
    // The sum of what it had and of what it wanted.
    let total = size::after::<u64>(rest, "(total ")?;
    Some(FrameworkOom {
        asked_bytes: asked,
        capacity_bytes: size::after(rest, "limit set to "),
        in_use_bytes: asked.map(|asked| total.saturating_sub(asked)),
        ..FrameworkOom::new(Framework::Cupy)
    })
}

fn on_tpu(_: &str, rest: &str) -> Option<FrameworkOom> {
    let mut oom = FrameworkOom::new(Framework::Xla);
    use_of_tpu(rest, &mut oom);
    // The kernels' own memory is another matter.
    (oom.asked_bytes.is_some() || rest.starts_with("hbm")).then_some(oom)
}

/// Reads `Used 32.10G of 31.25G hbm.`, which may stand in the next line.
pub(super) fn use_of_tpu(text: &str, oom: &mut FrameworkOom) -> Option<()> {
    let (used, rest) = text.split_once("Used ")?.1.split_once(" of ")?;
    (oom.asked_bytes, oom.capacity_bytes) = (Some(size::leading(used)?), Some(size::leading(rest)?));
    Some(())
}

fn paddle(_: &str, rest: &str) -> Option<FrameworkOom> {
    let (_, asked) = rest.split_once("Cannot allocate ")?;
    let (_, held) = asked.split_once("memory on GPU ").unwrap_or_default();
    let (_, held) = held.split_once(", ").unwrap_or_default();
    // Since 1.8 with "only".
    let (_, free) = rest.split_once("available memory is ").unwrap_or_default();
    let free = free.trim_start_matches("only ");
    let in_use_bytes = size::leading::<u64>(held).filter(|_| held.contains("has been allocated"));
    let free_bytes = size::leading(free);
    // A driver that fails tells no figures.
    let is_told = in_use_bytes.max(free_bytes) != Some(0);
    let (in_use_bytes, free_bytes) = (in_use_bytes.filter(|_| is_told), free_bytes.filter(|_| is_told));
    Some(FrameworkOom {
        gpu: leading_number(rest),
        asked_bytes: size::leading(asked),
        // The difference of the GPU's memory and what is free, whoever uses it.
        capacity_bytes: in_use_bytes.zip(free_bytes).map(|(in_use, free)| in_use.saturating_add(free)),
        in_use_bytes,
        free_bytes,
        ..FrameworkOom::new(Framework::Paddle)
    })
}

fn paddle_enforced(_: &str, rest: &str) -> Option<FrameworkOom> {
    let (_, figures) = rest.split_once("failed, ")?;
    let (asked, free) = figures.split_once(" > ")?;
    Some(FrameworkOom {
        asked_bytes: leading_number(asked),
        free_bytes: leading_number(free),
        ..FrameworkOom::new(Framework::Paddle)
    })
}

fn buffer(before: &str, rest: &str) -> Option<FrameworkOom> {
    let (_, running) = before.split_once("while running ").unwrap_or_default();
    Some(FrameworkOom {
        asked_bytes: Some(leading_number(rest)?),
        capacity_bytes: number_after(before, "Available memory of "),
        operation: shortened(running.split_once(" node").map_or("", |(name, _)| name)),
        ..FrameworkOom::new(Framework::OnnxRuntime)
    })
}

fn cuda_malloc(before: &str, rest: &str) -> Option<FrameworkOom> {
    // MXNet and others word it the same way.
    if before.contains("ggml") || before.contains("allocating ") { llama(before, rest) } else { None }
}

fn llama(before: &str, rest: &str) -> Option<FrameworkOom> {
    let mut oom = FrameworkOom {
        gpu: number_after(before, "on device "),
        asked_bytes: size::after(before, "allocating "),
        ..FrameworkOom::new(Framework::LlamaCpp)
    };
    buffer_of_llama(rest, &mut oom);
    Some(oom)
}

/// Words of llama.cpp's next messages, with what the buffer was for.
const BUFFERS: [(&str, &str); 5] = [
    ("loading model: unable to allocate", WEIGHTS),
    ("for kv cache", KV_CACHE),
    ("ggml_gallocr_reserve", COMPUTING),
    ("allocate compute", COMPUTING),
    ("compute buffers", COMPUTING),
];

pub(super) const WEIGHTS: &str = "the weights";
pub(super) const KV_CACHE: &str = "the KV cache";
pub(super) const COMPUTING: &str = "computing";
pub(super) const IMAGE: &str = "an image";

/// What llama.cpp prints before it encodes an image.
pub(super) const ENCODING_OF_LLAMA: &str = "encoding image";

/// Reads what a buffer was for; returns `None` if a text does not say it.
pub(super) fn buffer_of_llama(line: &str, error: &mut FrameworkOom) -> Option<()> {
    let is_limited = line.contains("exceeds device memory allocation limit");
    error.is_limited |= is_limited;
    let buffer = BUFFERS.iter().find(|(words, _)| error.operation.is_empty() && line.contains(words));
    if let Some((_, buffer)) = buffer {
        (*buffer).clone_into(&mut error.operation);
    }
    (is_limited || buffer.is_some()).then_some(())
}

fn llama_on_vulkan(_: &str, rest: &str) -> Option<FrameworkOom> {
    Some(FrameworkOom { asked_bytes: leading_number(rest), ..FrameworkOom::new(Framework::LlamaCpp) })
}

fn buffer_of_ggml(before: &str, rest: &str) -> Option<FrameworkOom> {
    let asked_bytes = Some(size::after(rest, "buffer, size = ").or_else(|| number_after(rest, "buffer of size "))?);
    let mut oom = FrameworkOom {
        is_host: before.contains("cpu_buffer") || rest.starts_with("CPU "),
        asked_bytes,
        ..FrameworkOom::new(Framework::LlamaCpp)
    };
    buffer_of_llama(before, &mut oom);
    buffer_of_llama(rest, &mut oom);
    before.contains("ggml").then_some(oom)
}

fn alloc_of_ggml(_: &str, rest: &str) -> Option<FrameworkOom> {
    rest.contains("ggml").then(|| FrameworkOom::new(Framework::LlamaCpp))
}

fn ollama(_: &str, rest: &str) -> Option<FrameworkOom> {
    // `164.8 GiB) than is available (13.4 GiB)`, or ` requested="5.5 GiB" available="3.4 GiB"`.
    Some(FrameworkOom {
        is_host: true,
        asked_bytes: size::after(rest, " requested=\"").or_else(|| size::leading(rest)),
        free_bytes: size::after(rest, " available=\"").or_else(|| size::after(rest, "than is available (")),
        ..FrameworkOom::new(Framework::Ollama)
    })
}

fn metal(_: &str, rest: &str) -> Option<FrameworkOom> {
    Some(FrameworkOom {
        asked_bytes: size::leading(rest),
        capacity_bytes: size::after(rest, "maximum allowed buffer size of "),
        ..FrameworkOom::new(Framework::Mlx)
    })
}

/// Reads `requires 7717 MB which is close to the maximum recommended size of 5461 MB` of MLX, and of llama.cpp
/// `ggml_metal_add_buffer: … (40455.77 / 10922.67), warning: current allocated size is greater than the recommended …`.
fn beyond_metal(before: &str, rest: &str) -> Option<FrameworkOom> {
    let mebibytes = |text: &str| size::leading(&format!("{} MiB", text.trim()));
    let pair = before.rsplit_once('(').and_then(|(_, pair)| pair.split_once(')')?.0.split_once('/'));
    let (framework, used, most) = match pair.filter(|_| before.contains("ggml_metal")) {
        Some((used, most)) => (Framework::LlamaCpp, mebibytes(used), mebibytes(most)),
        None => (Framework::Mlx, size::after(before, "requires "), size::leading(rest)),
    };
    let is_beyond = used? > most?;
    is_beyond.then(|| FrameworkOom { in_use_bytes: used, capacity_bytes: most, ..FrameworkOom::new(framework) })
}

fn julia(_: &str, rest: &str) -> Option<FrameworkOom> {
    let mut oom = FrameworkOom { asked_bytes: size::leading(rest), ..FrameworkOom::new(Framework::CudaJl) };
    julia_figures(rest, &mut oom);
    Some(oom)
}

/// Reads the figures of CUDA.jl, each in a line of its own; returns `None` if there are none.
///
/// ```text
/// Effective GPU memory usage: 99.85% (15.758 GiB/15.782 GiB)
/// Memory pool usage: 13.411 GiB (15.281 GiB reserved)             since 3.0
/// Memory pool usage: 980.317 MiB (980.317 MiB allocated, 0 bytes cached)
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
        // What the pool keeps is there for arrays.
        oom.in_use_bytes = oom.in_use_bytes.map(|bytes| bytes.saturating_sub(cached));
    }
    (of_gpu.is_some() || pool.is_some()).then_some(())
}

fn shortened(name: &str) -> String {
    name.chars().take(100).collect()
}
