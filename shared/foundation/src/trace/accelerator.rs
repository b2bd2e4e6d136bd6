//! Tells of which kind of device a snapshot is: CUDA (and ROCm, which has the same format), an XPU or an NPU.
//!
//! Findings are written about CUDA, and put into the words of another kind at their end.

use super::{BlockState, Setting, Trace};

/// Kind of device whose allocator wrote a snapshot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Accelerator {
    /// CUDA or ROCm, and whatever a snapshot does not tell from them.
    #[default]
    Cuda,
    /// GPU of Intel.
    Xpu,
    /// NPU of Ascend, by torch_npu.
    Npu,
}

/// Bytes that torch_npu adds to each request before it rounds (`round_size` in `NPUCachingAllocator.cpp`).
pub const NPU_PADDING_BYTES: u64 = 32;

/// Unit of blocks on every kind of device.
const BLOCK_BYTES: u64 = 512;

impl Accelerator {
    /// Finds the kind of device by the names of settings, by files in stacks, and by the sizes of blocks.
    ///
    /// A snapshot does not name it. Snapshots of CUDA have `PYTORCH_CUDA_ALLOC_CONF` since torch 2.3 and those of XPUs
    /// `PYTORCH_ALLOC_CONF`; torch_npu writes no settings, and its files are in stacks only where it replaces PyTorch's.
    pub fn of(trace: &Trace) -> Self {
        let has_settings_of = |one: &Self| matches!(trace.settings.get(one.variable()), Some(Setting::Text(_)));
        let named = [Self::Cuda, Self::Npu, Self::Xpu].into_iter().find(has_settings_of);
        named.or_else(|| of_frames(trace)).unwrap_or_else(|| if is_padded(trace) { Self::Npu } else { Self::Cuda })
    }

    /// Returns the word for a device, in the singular.
    pub fn device(self) -> &'static str {
        if self == Self::Npu { "NPU" } else { "GPU" }
    }

    /// Returns the environment variable that sets the allocator.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Cuda => "PYTORCH_CUDA_ALLOC_CONF",
            Self::Xpu => "PYTORCH_ALLOC_CONF",
            Self::Npu => "PYTORCH_NPU_ALLOC_CONF",
        }
    }

    /// Puts a text about CUDA into the words of this kind of device.
    pub fn words(self, text: String) -> String {
        if self == Self::Cuda {
            return text;
        }
        let words = WORDS.iter().map(|&(cuda, xpu, npu)| (cuda, if self == Self::Xpu { xpu } else { npu }));
        words.fold(text, |text, (cuda, own)| replace_words(&text, cuda, own))
    }
}

/// What advice names, for CUDA, XPUs and NPUs; longer words come before those that they contain.
const WORDS: [(&str, &str, &str); 15] = [
    ("PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "PYTORCH_NPU_ALLOC_CONF"),
    ("CUDA_VISIBLE_DEVICES", "ZE_AFFINITY_MASK", "ASCEND_RT_VISIBLE_DEVICES"),
    ("torch.cuda", "torch.xpu", "torch.npu"),
    ("`cudaFree` and `cudaMalloc`", "SYCL's `free` and `malloc_device`", "`aclrtFree` and `aclrtMalloc`"),
    ("nvidia-smi", "xpu-smi", "npu-smi info"),
    ("a CUDA context", "a SYCL context", "an NPU context"),
    ("CUDA context", "SYCL context", "NPU context"),
    ("CUDA graphs", "XPU graphs", "NPU graphs"),
    ("CUDA memory", "XPU memory", "NPU memory"),
    ("NCCL", "oneCCL", "HCCL"),
    ("cuBLAS", "oneMKL", "CANN's operators"),
    ("CUDA", "the driver", "the driver"),
    ("a GPU", "a GPU", "an NPU"),
    ("GPUs", "GPUs", "NPUs"),
    ("GPU", "GPU", "NPU"),
];

/// Replaces whole words, but no part of a name or of a path.
fn replace_words(text: &str, from: &str, to: &str) -> String {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '/' | '-');
    let mut replaced = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(from) {
        let (before, after) = (&rest[..start], &rest[start + from.len()..]);
        let begins = before.chars().next_back().is_none_or(|c| !is_name(c) && c != '.');
        let ends = after.chars().next().is_none_or(|c| !is_name(c));
        replaced += before;
        replaced += if begins && ends { to } else { from };
        rest = after;
    }
    replaced + rest
}

/// Finds the kind of device by the files in stacks; `None` if they name none.
fn of_frames(trace: &Trace) -> Option<Accelerator> {
    let of_file = |filename: &str| {
        let is_in = |folder: &str| filename.split(['/', '\\']).any(|part| part == folder);
        match () {
            () if is_in("torch_npu") => Some(Accelerator::Npu),
            () if is_in("torch") && is_in("xpu") => Some(Accelerator::Xpu),
            () => None,
        }
    };
    trace.frames.iter().find_map(|frame| of_file(trace.strings.get(frame.filename)))
}

/// Returns true if blocks for whole units are a unit larger, as on NPUs, in nearly all of at least eight cases.
///
/// CUDA gives a larger block only where it does not split off the rest, which is rarely a single unit.
fn is_padded(trace: &Trace) -> bool {
    let blocks = trace.devices.iter().flat_map(|device| &device.segments.blocks);
    let used = blocks.filter(|block| block.state != BlockState::Inactive);
    let whole = used.filter_map(|block| {
        let requested = block.requested_bytes.filter(|bytes| *bytes > 0 && bytes % BLOCK_BYTES == 0)?;
        Some(block.size_bytes.checked_sub(requested) == Some(BLOCK_BYTES))
    });
    let (padded, all) = whole.fold((0_usize, 0_usize), |(padded, all), is| (padded + usize::from(is), all + 1));
    all >= 8 && padded * 10 >= all * 9
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::{Settings, text};

    fn with_setting(name: &str) -> Trace {
        let entries = vec![(name.to_owned(), Setting::Text(String::new()))];
        Trace { settings: Settings { entries }, ..Trace::default() }
    }

    #[test]
    fn settings_are_the_strongest_sign() {
        assert_eq!(Accelerator::of(&with_setting("PYTORCH_CUDA_ALLOC_CONF")), Accelerator::Cuda);
        assert_eq!(Accelerator::of(&with_setting("PYTORCH_ALLOC_CONF")), Accelerator::Xpu);
        assert_eq!(Accelerator::of(&with_setting("PYTORCH_NPU_ALLOC_CONF")), Accelerator::Npu);
        assert_eq!(Accelerator::of(&Trace::default()), Accelerator::Cuda);
    }

    #[test]
    fn blocks_of_npus_are_padded() {
        let blocks = |size: u64, requested: u64| -> Trace {
            let block = |_| format!("block - {size} requested={requested}\n");
            let lines: String = (0..8).map(block).collect();
            text::parse(&format!("segment S 20MiB\n{lines}")).unwrap()
        };
        assert_eq!(Accelerator::of(&blocks(1536, 1024)), Accelerator::Npu);
        assert_eq!(Accelerator::of(&blocks(1024, 1024)), Accelerator::Cuda);
        assert_eq!(Accelerator::of(&blocks(1536, 1000)), Accelerator::Cuda, "not rounded to a multiple of 512");
    }

    #[test]
    fn words_are_replaced_but_no_names() {
        let check = |text: &str, words: &str| assert_eq!(Accelerator::Npu.words(text.to_owned()), words);
        check(
            "Set `PYTORCH_CUDA_ALLOC_CONF=a`, `torch.cuda.empty_cache()`",
            "Set `PYTORCH_NPU_ALLOC_CONF=a`, `torch.npu.empty_cache()`",
        );
        check(
            "stays on the GPU, and other GPUs need a CUDA context",
            "stays on the NPU, and other NPUs need an NPU context",
        );
        check("in GPU_loader (src/GPU/run.py:3)", "in GPU_loader (src/GPU/run.py:3)");
        check("returns segments to CUDA although", "returns segments to the driver although");
        assert_eq!(Accelerator::Xpu.words("nvidia-smi on the GPU".to_owned()), "xpu-smi on the GPU");
        assert_eq!(Accelerator::Cuda.words("CUDA".to_owned()), "CUDA");
    }
}
