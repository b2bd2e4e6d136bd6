//! The bounds of every number of a config, each with its reason, in one table.
//!
//! They are wide: they admit what a person would train, and refuse what would take hours, overflow a size or fill the
//! host.

/// Bounds of a key that takes a whole number.
pub(super) struct Limit {
    pub path: &'static str,
    /// Smallest value that makes sense.
    pub least: u64,
    /// Largest value that is accepted.
    pub most: u64,
    /// Reason for the upper bound.
    pub because: &'static str,
}

const fn limit(path: &'static str, least: u64, most: u64, because: &'static str) -> Limit {
    Limit { path, least, most, because }
}

const NO_MODEL: &str = "no published model needs more";
const HOURS: &str = "memory use repeats from step to step, and more would take hours";

const LIMITS: &[Limit] = &[
    limit("batch", 1, 1 << 16, "no GPU can hold that many"),
    limit("sequence", 1, 1 << 20, NO_MODEL),
    limit("steps", 1, 10_000, HOURS),
    limit("accumulation", 1, 1024, HOURS),
    limit("checkpointing.every", 1, 1024, NO_MODEL),
    limit("loss.chunks", 1, 1 << 14, "smaller chunks are not worth the overhead"),
    limit("lora.rank", 1, 1 << 14, "no layer has that many features"),
    limit("data.shortest", 1, 1 << 20, NO_MODEL),
    limit("data.smallest", 1, 1 << 16, "no GPU can hold that many"),
    limit("data.seed", 0, (1 << 32) - 1, "a seed has 32 bits"),
    limit("data.pad_to_multiple_of", 1, 1 << 20, NO_MODEL),
    limit("data.samples", 1, 1 << 40, "no dataset has that many"),
    limit("data.prefetch", 0, 64, "no GPU can hold that many batches"),
    limit("evaluation.every", 1, 10_000, "no job has more steps"),
    limit("evaluation.batches", 1, 1024, HOURS),
    limit("evaluation.batch", 1, 1 << 16, "no GPU can hold that many"),
    limit("parallel.devices", 2, 16, "no machine has that many GPUs in one process"),
    limit("parallel.ranks", 2, 1 << 16, "no cluster has that many GPUs"),
    limit("parallel.bucket_mb", 1, 1 << 20, "no GPU has that much memory"),
    limit("parallel.micro_batches", 1, 1 << 16, "no GPU can hold that many"),
    limit("parallel.rank", 0, (1 << 16) - 1, "no cluster has that many GPUs"),
    limit("model.input", 1, 1 << 20, NO_MODEL),
    limit("model.hidden", 1, 1 << 18, NO_MODEL),
    limit("model.layers", 1, 1024, NO_MODEL),
    limit("model.classes", 2, 1 << 22, NO_MODEL),
    limit("model.image_size", 32, 4096, "a batch would not fit in host memory"),
    limit("model.patch_size", 1, 4096, "no image is larger"),
    limit("model.channels", 1, 1 << 16, NO_MODEL),
    limit("model.cross_attention_dim", 1, 1 << 18, NO_MODEL),
    limit("model.text_tokens", 1, 1 << 20, NO_MODEL),
    limit("model.vocabulary", 2, 1 << 22, NO_MODEL),
    limit("model.embedding", 1, 1 << 18, NO_MODEL),
    limit("model.intermediate", 1, 1 << 20, NO_MODEL),
    limit("model.experts", 1, 1024, NO_MODEL),
    limit("model.experts_per_token", 1, 1024, NO_MODEL),
    limit("model.heads", 1, 4096, NO_MODEL),
    limit("model.kv_heads", 1, 4096, NO_MODEL),
    limit("model.head_dim", 1, 4096, NO_MODEL),
    limit("model.max_positions", 1, 1 << 24, NO_MODEL),
    limit("model.token_types", 1, 1024, NO_MODEL),
];

/// Bounds of a key that takes a real number.
pub(super) struct RealLimit {
    pub path: &'static str,
    pub least: f64,
    pub most: f64,
    /// Bounds in words.
    pub words: &'static str,
}

const fn real(path: &'static str, least: f64, most: f64, words: &'static str) -> RealLimit {
    RealLimit { path, least, most, words }
}

const SHARE: &str = "from 0 to 1";
const ABOVE_0: f64 = f64::MIN_POSITIVE;
const BELOW_1: f64 = 1.0 - f64::EPSILON / 2.0;

/// Bounds of real numbers; PyTorch's own where it has any.
const REAL_LIMITS: &[RealLimit] = &[
    real("clip_grad_norm", ABOVE_0, 1e30, "above 0, or remove the key to turn clipping off"),
    real("memory_fraction", ABOVE_0, 1.0, "above 0 and at most 1"),
    real("optimizer.learning_rate", 0.0, 1e3, "from 0 to 1000"),
    real("optimizer.weight_decay", 0.0, 1e3, "from 0 to 1000"),
    real("optimizer.momentum", 0.0, 1.0, SHARE),
    real("optimizer.betas", 0.0, BELOW_1, "from 0 to below 1"),
    real("optimizer.epsilon", 0.0, 1.0, SHARE),
    real("lora.alpha", 0.0, 1e6, "from 0 to 10^6"),
    real("lora.dropout", 0.0, 1.0, SHARE),
    real("model.dropout", 0.0, 1.0, SHARE),
    real("model.embedding_dropout", 0.0, 1.0, SHARE),
    real("model.attention_dropout", 0.0, 1.0, SHARE),
    real("model.residual_dropout", 0.0, 1.0, SHARE),
    real("model.norm_epsilon", 0.0, 1.0, SHARE),
    real("model.rope_theta", 1.0, 1e12, "from 1 to 10^12"),
];

/// Longest text in a config, in characters.
pub(super) const MOST_CHARACTERS: usize = 1000;

/// Longest name of a job, in characters: it stands on a line of its own.
pub(super) const MOST_NAME_CHARACTERS: usize = 100;

/// Most parameters of a model: about five times the bytes of the largest named card.
pub(super) const MOST_PARAMETERS: u64 = 1_000_000_000_000;

/// Most bytes of one tensor: over a thousand times the memory of any named card, and far from overflowing a size.
pub(super) const MOST_TENSOR_BYTES: u128 = 1 << 48;

/// Most bytes of a batch of images or vectors, which is created in host memory.
pub(super) const MOST_BATCH_BYTES: u128 = 2 << 30;

/// Most events of a recording: each takes about 1 KiB while it runs.
pub(super) const MOST_EVENTS: u128 = 4_000_000;

/// Returns the bounds of a key that takes a whole number.
///
/// # Panics
///
/// Panics if the table has no row for the key, which a test of all keys would show.
pub(super) fn of_whole(path: &str) -> &'static Limit {
    whole(path).unwrap_or_else(|| panic!("no limit for {path}"))
}

/// Returns the bounds of a key, `None` if it takes no whole number.
pub(super) fn whole(path: &str) -> Option<&'static Limit> {
    LIMITS.iter().find(|limit| limit.path == path)
}

/// Returns the bounds of a key that takes a real number.
///
/// # Panics
///
/// Panics as [`of_whole`] does.
pub(super) fn of_real(path: &str) -> &'static RealLimit {
    REAL_LIMITS.iter().find(|limit| limit.path == path).unwrap_or_else(|| panic!("no limit for {path}"))
}
