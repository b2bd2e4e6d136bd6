//! Reads out-of-memory errors of PyTorch.
//!
//! The words have changed with the versions; all of them are in `c10/cuda/CUDACachingAllocator.cpp`, and those of Apple's
//! GPUs in `aten/src/ATen/mps/MPSAllocator.mm`:
//!
//! ```text
//! 1.x  Tried to allocate A (GPU 0; C total capacity; X already allocated; F free; U cached)
//! 1.4  … R reserved in total by PyTorch)
//! 2.1  Tried to allocate A. GPU 0 has a total capacty of C of which F is free. Process 17 has O memory in use.
//!      Including non-PyTorch memory, this process has P memory in use. Of the allocated memory X is allocated by PyTorch,
//!      and U is reserved by PyTorch but unallocated.
//! 2.4  … X is allocated by PyTorch, with G allocated in private pools (e.g., CUDA Graphs), and U is reserved …
//! ```

use crate::source::{leading_number, number_after};
use shared::base::size;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OomApi {
    #[default]
    Cuda,
    Hip,
    Xpu,
    Npu,
    Musa,
    Mps,
}

impl OomApi {
    /// Returns the command that lists the processes of a device, and the variable that chooses devices.
    pub(crate) fn tools(self) -> (&'static str, &'static str) {
        match self {
            Self::Cuda | Self::Mps => ("nvidia-smi", "CUDA_VISIBLE_DEVICES"),
            Self::Hip => ("rocm-smi --showpids", "HIP_VISIBLE_DEVICES"),
            Self::Xpu => ("xpu-smi ps", "ZE_AFFINITY_MASK"),
            Self::Npu => ("npu-smi info", "ASCEND_RT_VISIBLE_DEVICES"),
            Self::Musa => ("mthreads-gmi", "MUSA_VISIBLE_DEVICES"),
        }
    }

    /// Returns PyTorch's module for the device, and the variable that sets its allocator.
    pub(super) fn of_torch(self) -> (&'static str, &'static str) {
        match self {
            Self::Cuda => ("torch.cuda", "PYTORCH_CUDA_ALLOC_CONF"),
            Self::Hip => ("torch.cuda", "PYTORCH_HIP_ALLOC_CONF"),
            // Since PyTorch 2.9, before which XPU had no settings.
            Self::Xpu => ("torch.xpu", "PYTORCH_ALLOC_CONF"),
            Self::Npu => ("torch.npu", "PYTORCH_NPU_ALLOC_CONF"),
            Self::Musa => ("torch.musa", "PYTORCH_MUSA_ALLOC_CONF"),
            Self::Mps => ("torch.mps", "PYTORCH_CUDA_ALLOC_CONF"),
        }
    }
}

/// Versions of PyTorch by the words of their messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Age {
    /// Up to 1.3, whose allocator has no settings.
    WithoutSettings,
    /// Up to 2.0, whose segments are of fixed size.
    WithoutExpandable,
    #[default]
    Current,
}

/// What a program was doing, as far as its text tells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Work {
    #[default]
    Unknown,
    /// The weights of a model go to the GPU.
    Loading,
    Training,
    /// Forward passes alone, also those of an evaluation.
    Inference,
}

impl Work {
    /// Returns what the name of a function or of a program tells.
    pub(super) fn of_name(name: &str) -> Self {
        const TRAINING: &str = "train training trainer backward finetune fit epoch";
        const INFERENCE: &str = "infer inference predict prediction predictor generate generation evaluate evaluation \
                                 validate validation demo pipeline";
        let words = || name.split(|c: char| !c.is_ascii_alphabetic()).map(str::to_ascii_lowercase);
        let is_of = |all: &str| words().any(|word| all.split(' ').any(|known| known == word));
        match (is_of(INFERENCE), is_of(TRAINING)) {
            (true, _) => Self::Inference,
            (false, true) => Self::Training,
            (false, false) => Self::Unknown,
        }
    }

    /// Returns what the first call or program in a line tells: `loss.backward()`, `python train.py`.
    pub(super) fn of_line(line: &str) -> Self {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let behind = |end: &str| line.match_indices(end).map(|(place, _)| &line[..place]).collect::<Vec<_>>();
        let names = [behind("("), behind(".py")].concat();
        let told = names.iter().map(|before| Self::of_name(&before[before.trim_end_matches(is_name).len()..]));
        told.into_iter().find(|work| *work != Self::Unknown).unwrap_or_default()
    }

    /// Returns this, or the other where this is unknown.
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::Unknown { other } else { self }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Holder {
    pub pid: u32,
    pub bytes: u64,
}

/// Out-of-memory error; sizes are in bytes, `None` where the message does not state them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Oom {
    pub api: OomApi,
    pub gpu: Option<u32>,
    /// Rank of the process that printed it, if the line states it.
    pub rank: Option<u32>,
    pub asked_bytes: Option<u64>,
    /// True if the request was larger than any memory.
    pub is_absurd: bool,
    pub capacity_bytes: Option<u64>,
    pub free_bytes: Option<u64>,
    /// Limit that the program set for itself.
    pub allowed_bytes: Option<u64>,
    /// Memory of the process in all, with its CUDA context and libraries.
    pub process_bytes: Option<u64>,
    pub others: Vec<Holder>,
    /// Memory of tensors, in private pools as well.
    pub allocated_bytes: Option<u64>,
    /// Memory of tensors in private pools, which CUDA graphs use.
    pub private_bytes: Option<u64>,
    /// Memory that PyTorch holds, used or not.
    pub reserved_bytes: Option<u64>,
    pub work: Work,
    pub call: Call,
    pub age: Age,
    /// True if a person tells of an earlier one.
    pub is_said: bool,
}

/// What a traceback tells of the call that failed, beside the program's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Call {
    #[default]
    Other,
    /// It was made under `torch.no_grad()` or `torch.inference_mode()`.
    WithoutGraph,
    Copy,
    /// `torch.load` puts tensors where they were saved from.
    Load,
    /// A framework gathers the predictions of an evaluation.
    Collect,
    /// FSDP gathers all weights for a checkpoint.
    GatherWeights,
    /// A loss over all classes or tokens.
    Loss,
    /// All pairs of boxes are compared.
    Boxes,
    /// All parts of a pipeline of diffusers are moved at once.
    Pipeline,
    /// An optimizer makes its state.
    State,
    /// The line calls PyTorch's own attention, which did not take a kernel that spares the matrix of all pairs.
    Attention,
}

impl Call {
    /// Returns true if nothing else helps as much as another call.
    pub fn is_all(self) -> bool {
        matches!(self, Self::Load | Self::Collect | Self::GatherWeights | Self::Pipeline)
    }
}

/// Words of the errors, with the interface; the first that stand in a line decide.
///
/// Of those behind the first six, PyTorch states no figures: 0.4 and older, drivers and compilers. `Allocation on device`
/// is of `cudaMallocAsync`, whose figures follow in lines of their own.
pub(super) const WORDS: [(&str, OomApi); 15] = [
    ("CUDA out of memory", OomApi::Cuda),
    ("HIP out of memory", OomApi::Hip),
    ("XPU out of memory", OomApi::Xpu),
    ("NPU out of memory", OomApi::Npu),
    ("MUSA out of memory", OomApi::Musa),
    ("MPS backend out of memory", OomApi::Mps),
    ("Allocation on device", OomApi::Cuda),
    ("cuda runtime error (2) : out of memory", OomApi::Cuda),
    ("cuda runtime error (2): out of memory", OomApi::Cuda),
    ("error=2 : out of memory", OomApi::Cuda),
    ("cudaErrorMemoryAllocation", OomApi::Cuda),
    ("EL0004", OomApi::Npu),
    ("hip runtime error (2)", OomApi::Hip),
    ("UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", OomApi::Xpu),
    ("ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY", OomApi::Xpu),
];

/// Words in front of an error that was earlier.
const BEFORE: [&str; 6] = ["i had ", "we had ", "yesterday", "previously", "earlier", "used to get"];

impl Oom {
    pub(super) fn of(line: &str) -> Option<Self> {
        let Some((start, api)) = WORDS.iter().find_map(|&(words, api)| Some((line.find(words)?, api))) else {
            // A message whose beginning was cut.
            let sized = || line.find("Tried to allocate ").filter(|_| line.contains("total capac"));
            let unsized_ = || line.find("GPU ").filter(|_| line.contains(" has a total capacity of "));
            let start = sized().or_else(unsized_)?;
            return Some(Self::of_text(&line[start..], OomApi::Cuda));
        };
        // A program that looks for the words in an error quotes them.
        let of_text = Self::of_text(&line[start..], api);
        // A comment of a script warns of it.
        let is_comment = line.trim_start().starts_with("# ") && of_text == Self { api, ..Self::default() };
        let is_quoted = line[..start].ends_with(['"', '\'', '`']) && !line[start..].contains("allocate");
        let before = line[..start].to_lowercase();
        let is_said = of_text.asked_bytes.is_none() && BEFORE.iter().any(|words| before.contains(words));
        let mut oom = (!is_quoted && !is_comment).then(|| Self { rank: rank(&line[..start]), is_said, ..of_text })?;
        // The figures of `cudaMallocAsync` may have been joined to one line.
        if line.contains("would exceed allowed memory") {
            oom.detail(line);
        }
        Some(oom)
    }

    /// Reads a line of figures that follows an error of `cudaMallocAsync`, or the rest of a message that was broken into
    /// lines; returns true if it is one.
    ///
    /// ```text
    /// Allocation on device 0 would exceed allowed memory. (out of memory)
    /// Currently allocated     : 6.89 GiB
    /// Requested               : 320.00 MiB
    /// ```
    pub(super) fn detail(&mut self, line: &str) -> bool {
        let figure = |words: &str| {
            let value = line.split_once(words)?.1.trim_start().strip_prefix(':')?;
            size::leading(value.trim_start())
        };
        let mut is_detail = false;
        for (place, words) in [
            (&mut self.allocated_bytes, "Currently allocated"),
            (&mut self.asked_bytes, "Requested"),
            (&mut self.capacity_bytes, "Device limit"),
            (&mut self.free_bytes, "Free (according to CUDA)"),
        ] {
            if let Some(bytes) = figure(words).filter(|_| place.is_none()) {
                *place = Some(bytes);
                is_detail = true;
            }
        }
        if line.contains(" is allocated by PyTorch") && self.allocated_bytes.is_none() {
            let rest = Self::of_text(line, self.api);
            self.allocated_bytes = rest.allocated_bytes;
            self.reserved_bytes = rest.reserved_bytes;
            self.allowed_bytes = self.allowed_bytes.or(rest.allowed_bytes);
            is_detail = true;
        }
        is_detail || line.contains("PyTorch limit (set by user-supplied memory fraction)")
    }

    /// Takes over what another message states about the same failure; returns false if they disagree.
    ///
    /// Frameworks log an exception and raise it again, with another prefix, shortened, or without its figures.
    pub(super) fn complete(&mut self, other: &Self) -> bool {
        fn agree<T: PartialEq>(a: &Option<T>, b: &Option<T>) -> bool {
            a.is_none() || b.is_none() || a == b
        }
        let figures = |oom: &Self| {
            let Self { asked_bytes, capacity_bytes, free_bytes, allowed_bytes, .. } = *oom;
            let Self { process_bytes, allocated_bytes, private_bytes, reserved_bytes, .. } = *oom;
            let held = [process_bytes, allocated_bytes, private_bytes, reserved_bytes];
            [asked_bytes, capacity_bytes, free_bytes, allowed_bytes].into_iter().chain(held)
        };
        let is_same = figures(self).zip(figures(other)).all(|(a, b)| agree(&a, &b))
            && self.api == other.api
            && self.is_absurd == other.is_absurd
            && agree(&self.gpu, &other.gpu)
            && agree(&self.rank, &other.rank);
        let states = |oom: &Self| oom.asked_bytes.is_some() as u8 + oom.reserved_bytes.is_some() as u8;
        if is_same {
            let work = self.work.or(other.work);
            if states(other) > states(self) {
                *self = Self { rank: other.rank.or(self.rank), ..other.clone() };
            }
            self.work = work;
            if self.call == Call::Other {
                self.call = other.call;
            }
        }
        is_same
    }

    fn of_text(text: &str, api: OomApi) -> Self {
        let asked_bytes = size::after(text, "Tried to allocate ");
        let is_absurd = asked_bytes.is_none() && text.contains("Tried to allocate more than ");
        if api == OomApi::Mps {
            let own = size::after(text, "MPS allocated: ");
            let others = size::after(text, "other allocations: ");
            return Self {
                api,
                asked_bytes,
                allowed_bytes: size::after(text, "max allowed: "),
                allocated_bytes: own,
                reserved_bytes: own,
                process_bytes: own.zip(others).map(|(own, others)| own.saturating_add(others)),
                ..Self::default()
            };
        }
        let capacity_bytes = size::before(text, " total capacity")
            .or_else(|| size::before(text, " total;"))
            .or_else(|| size::after(text, "total capacity of "))
            .or_else(|| size::after(text, "total capacty of "));
        let allocated_bytes =
            size::before::<u64>(text, " is allocated by PyTorch").or_else(|| size::before(text, " already allocated"));
        let unused_bytes = size::before(text, " is reserved by PyTorch but unallocated");
        let reserved_bytes = allocated_bytes
            .zip(unused_bytes)
            .map(|(allocated, unused)| allocated.saturating_add(unused))
            .or_else(|| size::before(text, " reserved in total by PyTorch"))
            // Until 1.3 it is what is cached beside the tensors.
            .or_else(|| Some(size::before::<u64>(text, " cached")?.saturating_add(allocated_bytes?)));
        Self {
            api,
            gpu: ["GPU ", "(NPU ", "NPU ", "XPU ", "on device "].iter().find_map(|words| number_after(text, words)),
            asked_bytes,
            is_absurd,
            capacity_bytes,
            free_bytes: size::before(text, " is free").or_else(|| size::before(text, " free")),
            allowed_bytes: size::before(text, " allowed"),
            // Some drivers do not tell it, and PyTorch prints 0 or an overflow then.
            process_bytes: size::after(text, "this process has ")
                .filter(|bytes| *bytes > 0 && capacity_bytes.is_none_or(|capacity| *bytes <= capacity)),
            others: holders(text),
            allocated_bytes,
            private_bytes: size::before(text, " allocated in private pools"),
            reserved_bytes,
            age: match text {
                // Others have kept the words.
                _ if !matches!(api, OomApi::Cuda | OomApi::Hip) => Age::Current,
                _ if text.contains(" cached)") => Age::WithoutSettings,
                _ if text.contains(" already allocated") => Age::WithoutExpandable,
                _ => Age::Current,
            },
            ..Self::default()
        }
    }

    pub fn unused_bytes(&self) -> Option<u64> {
        Some(self.reserved_bytes?.saturating_sub(self.allocated_bytes?))
    }

    /// Returns the process itself, where the message lists it among the others.
    ///
    /// In a container, a process does not know the id by which the driver knows it. It is then the one whose memory is
    /// closest to what PyTorch has reserved, and not below it; if that is more than 1.5 GiB below, for the CUDA context
    /// and libraries, only if the GPU has no room for this process beside all that are listed.
    pub fn own_among_others(&self) -> Option<Holder> {
        const CONTEXT_BYTES: u64 = 3 << 29;
        let reserved_bytes = self.reserved_bytes.filter(|_| self.process_bytes.is_none())?;
        let has_no_room = || {
            let capacity_bytes = self.capacity_bytes?;
            let listed = self.others.iter().map(|holder| holder.bytes).fold(reserved_bytes, u64::saturating_add);
            Some(listed.saturating_add(self.free_bytes?) > capacity_bytes.saturating_add(capacity_bytes / 50))
        };
        let more = |holder: &Holder| holder.bytes.checked_sub(reserved_bytes);
        let own =
            self.others.iter().filter(|holder| more(holder).is_some()).min_by_key(|holder| more(holder)).copied()?;
        (has_no_room() == Some(true) || more(&own) <= Some(CONTEXT_BYTES)).then_some(own)
    }

    /// Returns the other processes if they are ranks of the same job, each with a context on this GPU by mistake.
    ///
    /// They hold the same to 1/16, less than 1 GiB each, or less than 2 GiB if there are many.
    pub fn other_ranks(&self) -> Vec<Holder> {
        const MANY: usize = 4;
        let own = self.own_among_others();
        let others: Vec<Holder> = self.others.iter().filter(|holder| Some(**holder) != own).copied().collect();
        let sizes = || others.iter().map(|holder| holder.bytes);
        let (least, most) = (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0));
        let highest = if others.len() >= MANY { 2 * MUCH_BYTES } else { MUCH_BYTES };
        let are_alike = others.len() > 1 && most < highest && most - least <= most / 16;
        if are_alike { others } else { Vec::new() }
    }

    /// Returns the memory of other processes, if the message has it or it follows from the rest.
    pub fn others_bytes(&self) -> Option<u64> {
        let own = self.own_among_others();
        let listed: u64 = self.others.iter().map(|holder| holder.bytes).fold(0, u64::saturating_add);
        if listed > 0 {
            return Some(listed - own.map_or(0, |own| own.bytes));
        }
        let used_bytes = self.capacity_bytes?.saturating_sub(self.free_bytes?);
        // Three sizes with two decimals each leave that much.
        const ROUNDING: u64 = 16 << 20;
        let others = self.process_bytes.map(|own| used_bytes.saturating_sub(own))?;
        Some(if others < ROUNDING { 0 } else { others })
    }

    /// Returns the memory of this process outside PyTorch's allocator: context, NCCL and other libraries.
    pub fn outside_bytes(&self) -> Option<u64> {
        let process_bytes = self.process_bytes.or_else(|| self.own_among_others().map(|own| own.bytes))?;
        Some(process_bytes.saturating_sub(self.reserved_bytes?))
    }

    /// Returns the memory that neither PyTorch holds nor is free, whoever uses it.
    ///
    /// What `cudaMallocAsync` caches is in it, because that allocator does not know it.
    pub fn beside_bytes(&self) -> Option<u64> {
        let used_bytes = self.capacity_bytes?.saturating_sub(self.free_bytes?);
        Some(used_bytes.saturating_sub(self.reserved_bytes.or(self.allocated_bytes)?))
    }

    /// Returns true if the driver names more free memory than the GPU has: it shares memory with the host, and the figures
    /// are of two pools.
    pub fn is_shared(&self) -> bool {
        self.free_bytes.is_some_and(|free| self.capacity_bytes.is_some_and(|capacity| free > capacity))
    }
}

fn holders(text: &str) -> Vec<Holder> {
    let holder = |part: &str| {
        let (pid, rest) = part.split_once(" has ")?;
        let pid = pid.parse().ok()?;
        let (size, _) = rest.split_once(" memory in use")?;
        Some(Holder { pid, bytes: size::leading(size)? })
    };
    text.split("Process ").skip(1).filter_map(holder).filter(|holder| holder.bytes > 0).collect()
}

/// Returns the rank in front of a message: `[rank3]: …`, `(VllmWorker rank=3 pid=17) …`, `[3]<stderr>:…`.
fn rank(before: &str) -> Option<u32> {
    let lower = before.to_ascii_lowercase();
    let of_word =
        lower.split_once("rank").and_then(|(_, rest)| leading_number(rest.trim_start_matches(['=', ' ', ':', '_'])));
    of_word.or_else(|| before.trim_start().strip_prefix('[')?.split_once(']')?.0.parse().ok())
}

/// Memory that a CUDA context and the libraries of one process take, 600 MiB: more than that has another reason.
const CONTEXT_BYTES: u64 = 600 << 20;
/// More than a table of all pairs of millions of rows.
const ABSURD_BYTES: u64 = 1 << 46;
/// Memory of others that explains a failure, if it is also as much as was missing.
const MUCH_BYTES: u64 = 1 << 30;
/// The same on a small GPU, as a fraction of it.
const SMALL: u64 = 4;
/// Most of a small GPU that a context takes, as a fraction of it.
const CONTEXT_OF_SMALL: u64 = 5;
/// Fraction of the GPU that is free in surplus, from which a failure was not for lack of memory (1/50).
const SURPLUS: u64 = 50;
/// Fraction of the reserved memory that is unused, from which fragmentation explains a failure (1/20).
const UNUSED: u64 = 20;
/// The same if several such requests would fit into it (1/32).
const UNUSED_OF_SEVERAL: u64 = 32;
/// Multiple of the unused memory from which what others hold is the better explanation.
const FAR_MORE: u64 = 4;

/// Reason for which a request failed; the first one that applies, the plainest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OomCause {
    /// The request is too large for any memory: the size is a mistake of the program.
    Absurd,
    TooLarge,
    /// The program or the system limits the process to less than the GPU has.
    Limit,
    MoreFree,
    /// PyTorch holds enough memory that it does not use, in pieces that are too small.
    Fragmentation,
    /// Other ranks of the same job have opened this GPU, and hold a quarter of it or more.
    Ranks,
    Others,
    /// Memory of this process outside PyTorch's allocator is more than was missing.
    Outside,
    Full,
    Unknown,
}

impl OomCause {
    /// Decides by the figures of a message.
    ///
    /// The rules are checked with messages that strangers have published, listed in `report/tests.rs`; one whose
    /// cause is known to be another refutes them.
    pub fn of(oom: &Oom) -> Self {
        // On a Mac, what the process holds tells without the request.
        let asked = oom.asked_bytes.or_else(|| oom.process_bytes.filter(|_| oom.api == OomApi::Mps).map(|_| 0));
        let Some(asked) = asked else { return if oom.is_absurd { Self::Absurd } else { Self::Unknown } };
        if asked >= ABSURD_BYTES {
            return Self::Absurd;
        }
        let capacity = oom.capacity_bytes.unwrap_or(u64::MAX);
        if asked > capacity {
            return Self::TooLarge;
        }
        let reserved = oom.reserved_bytes.unwrap_or(0);
        if oom.api == OomApi::Mps {
            let process = oom.process_bytes.unwrap_or(0);
            let limit = oom.allowed_bytes.filter(|_| oom.asked_bytes.is_some()).unwrap_or(0);
            if process.saturating_add(asked) < limit - limit / SURPLUS {
                return Self::MoreFree;
            }
            let others = process.saturating_sub(reserved);
            return if others > reserved { Self::Others } else { Self::Limit };
        }
        // The message rounds the limit to hundredths of its unit.
        let least = |allowed: u64| allowed - (1 << (allowed.max(1).ilog2() / 10 * 10)) / 200;
        if oom.allowed_bytes.is_some_and(|allowed| reserved.saturating_add(asked) > least(allowed)) {
            return Self::Limit;
        }
        // Many of Intel's GPUs do not tell how much is free, and none of them lends more than 4 GiB at once unasked.
        let has_room = || reserved.saturating_add(asked) <= capacity - capacity / 10;
        if oom.api == OomApi::Xpu && oom.free_bytes.is_none() && oom.capacity_bytes.is_some() && has_room() {
            return Self::MoreFree;
        }
        // The driver lends memory of the host: what is unused in it is not what is missing.
        if oom.allocated_bytes > oom.capacity_bytes.or(Some(u64::MAX)) {
            return Self::Full;
        }
        let free = oom.free_bytes.unwrap_or(0);
        let missing = asked.saturating_sub(free);
        if missing == 0 && free - asked >= capacity / SURPLUS {
            return Self::MoreFree;
        }
        // Of a request for most of the GPU, the driver's share is what is missing.
        if oom.free_bytes.is_some() && missing == 0 && asked >= capacity / 2 {
            return Self::Full;
        }
        let unused = oom.unused_bytes().unwrap_or(0);
        // A driver takes a few MiB more than it is asked for. If nothing seems to be missing, unused memory is to blame only
        // if others do not hold far more.
        let is_beside = unused.saturating_mul(FAR_MORE) < oom.beside_bytes().unwrap_or(0);
        let fits_several = unused >= asked.saturating_mul(FAR_MORE) && unused >= reserved / UNUSED_OF_SEVERAL;
        let is_share = unused >= reserved / UNUSED || fits_several && !is_beside;
        let ranks = oom.other_ranks();
        let of_ranks = ranks.iter().map(|rank| rank.bytes).fold(0, u64::saturating_add);
        if of_ranks >= missing && of_ranks >= capacity / 4 {
            return Self::Ranks;
        }
        // What holds most of the GPU is told, even if the last request would have fitted into pieces.
        let is_outside = oom.outside_bytes().max(oom.others_bytes()) > Some(capacity / 2);
        if unused >= missing && is_share && unused > 0 && !is_beside && !is_outside {
            return Self::Fragmentation;
        }
        let least = MUCH_BYTES.min(capacity / SMALL).max(capacity / 20);
        let explains = |bytes: u64| bytes >= missing && bytes >= least;
        // Without the memory of this process in the message, the context is part of what others seem to hold.
        let own_is_known = oom.process_bytes.is_some() || oom.outside_bytes().is_some();
        let others = if own_is_known { oom.others_bytes() } else { oom.beside_bytes() };
        let context = if own_is_known { 0 } else { CONTEXT_BYTES.min(capacity / CONTEXT_OF_SMALL) };
        let fills = !own_is_known && reserved >= capacity / 10 * 9;
        if others.is_some_and(|bytes| explains(bytes.saturating_sub(context))) && ranks.is_empty() && !fills {
            return Self::Others;
        }
        if oom.outside_bytes().is_some_and(|bytes| explains(bytes.saturating_sub(CONTEXT_BYTES))) {
            return Self::Outside;
        }
        Self::Full
    }
}
