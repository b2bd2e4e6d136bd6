//! What can be recorded and where, over HTTP.

use serde::{Deserialize, Serialize};

/// A virtual card: an element of `GET /api/v1/cards`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CardRow {
    /// As in a config, such as `h100-80gb`.
    pub name: String,
    /// Total memory as PyTorch reports it, in bytes.
    pub memory_bytes: u64,
    /// The compute capability, such as `9.0`.
    pub compute_capability: String,
}

/// A preset: an element of `GET /api/v1/models`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelRow {
    /// As in a config, such as `gpt2`.
    pub preset: String,
    /// Whose keys it takes, such as `transformer`.
    pub family: String,
    /// Parameters, counted once where they are shared.
    pub parameters: u64,
}

/// A config of the gallery: an element of `GET /api/v1/gallery`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GalleryRow {
    /// The file's name without its end.
    pub name: String,
    /// What it is, in a few words.
    pub title: String,
    /// What to look for, in sentences.
    pub text: String,
    /// The config.
    pub config: String,
    /// The name of its repair, for a mistake.
    pub repair: Option<String>,
    /// Highest requested bytes alive.
    pub peak_live_bytes: u64,
    /// Highest rounded bytes of blocks in use.
    pub peak_allocated_bytes: u64,
    /// Highest bytes of segments.
    pub peak_reserved_bytes: u64,
    /// Events of the recording.
    pub events: u64,
    /// The highest live bytes within each of equal parts of the recording.
    pub live_curve: Vec<u64>,
    /// The highest segment bytes within the same parts.
    pub reserved_curve: Vec<u64>,
}
