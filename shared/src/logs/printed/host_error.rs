//! Recognizes errors of memory that state no figures of the GPU.

/// Error of memory outside PyTorch's allocator for GPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostError {
    pub kind: HostErrorKind,
    /// The line, shortened.
    pub text: String,
    /// Size of the request, if the message states it.
    pub asked_bytes: Option<u64>,
}

/// What an error of memory is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostErrorKind {
    /// A worker of a data loader was killed or ended without a message.
    WorkerKilled,
    /// Shared memory (`/dev/shm`) is too small for what workers send.
    SharedMemory,
    /// The host refused memory.
    HostMemory,
    /// Ray killed a task or an actor because the machine's memory was almost used up.
    RayKilled,
    /// An inference engine finds too little memory for its KV cache.
    KvCache,
    /// CUDA or a library of it found no memory beside what PyTorch holds.
    Library,
}

const WORDS: [(&str, HostErrorKind); 17] = [
    ("insufficient shared memory (shm)", HostErrorKind::SharedMemory),
    ("unable to write to file </torch_", HostErrorKind::SharedMemory),
    ("unable to open shared memory object", HostErrorKind::SharedMemory),
    ("is killed by signal: Killed", HostErrorKind::WorkerKilled),
    ("exited unexpectedly", HostErrorKind::WorkerKilled),
    ("DefaultCPUAllocator: ", HostErrorKind::HostMemory),
    ("Cannot allocate memory", HostErrorKind::HostMemory),
    ("numpy._core._exceptions._ArrayMemoryError", HostErrorKind::HostMemory),
    ("numpy.core._exceptions._ArrayMemoryError", HostErrorKind::HostMemory),
    ("exceeds the memory usage threshold of", HostErrorKind::RayKilled),
    ("No available memory for the cache blocks", HostErrorKind::KvCache),
    ("on startup is less than desired GPU memory utilization", HostErrorKind::KvCache),
    ("number of tokens that can be stored in KV cache", HostErrorKind::KvCache),
    ("Not enough memory. Please try to increase --mem-fraction-static", HostErrorKind::KvCache),
    ("CUDA error: out of memory", HostErrorKind::Library),
    ("CUBLAS_STATUS_ALLOC_FAILED", HostErrorKind::Library),
    ("Cuda failure 2 'out of memory'", HostErrorKind::Library),
];

impl HostError {
    /// Recognizes the error that a line contains.
    pub(super) fn of(line: &str) -> Option<Self> {
        const LONGEST: usize = 200;
        let (words, kind) = WORDS.iter().find(|(words, _)| line.contains(words))?;
        if *words == "exited unexpectedly" && !line.contains("DataLoader worker") {
            return None;
        }
        let (_, rest) = line.split_once("tried to allocate ").unwrap_or_default();
        let (digits, _) = rest.split_once(" bytes").unwrap_or_default();
        let text = line.trim().chars().take(LONGEST).collect();
        Some(Self { kind: *kind, text, asked_bytes: digits.parse().ok() })
    }
}
