//! Defines the catalogs of cards, models and the gallery over HTTP.

use serde::{Deserialize, Serialize};

/// Virtual GPU: an element of `GET /api/v1/cards`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct CardRow {
    /// Name in a config, such as `h100-80gb`.
    pub name: String,
    /// Total memory as PyTorch reports it, in bytes.
    pub memory_bytes: u64,
    /// Compute capability, such as `9.0`.
    pub compute_capability: String,
}

/// Preset of a model: an element of `GET /api/v1/models`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ModelRow {
    /// Name in a config, such as `gpt2`.
    pub preset: String,
    /// Family of models whose keys it takes, such as `transformer`.
    pub family: String,
    /// Number of parameters; shared ones count once.
    pub parameters: u64,
}

/// Config or script of the gallery: an element of `GET /api/v1/gallery`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GalleryRow {
    /// File name without its suffix; those of a script are `gallery/{name}.py` and, for its snapshot,
    /// `gallery/{name}.pickle.gz`.
    pub name: String,
    /// Title in a few words.
    pub title: String,
    /// Topic under which the gallery lists it; empty if it has none.
    #[serde(default)]
    pub topic: String,
    /// Position in the gallery by topic, from 0; a repaired script has that of the faulty one.
    #[serde(default)]
    pub place: u64,
    /// Explanation of what to look for in the recording, a sentence a line.
    pub text: String,
    /// Text of the config; `None` for a script.
    pub config: Option<String>,
    /// Name of the repaired script, if this one has a mistake.
    pub repair: Option<String>,
    /// Lines that the repair removes and adds, each after `-` or `+` as in a patch; empty without a mistake.
    pub change: Vec<String>,
    /// Highest live bytes.
    pub peak_live_bytes: u64,
    /// Highest bytes of segments.
    pub peak_reserved_bytes: u64,
    /// Number of events of the recording.
    pub events: u64,
    /// Highest live bytes in each of several equal parts of the recording.
    pub live_curve: Vec<u64>,
    /// Highest segment bytes in the same parts.
    pub reserved_curve: Vec<u64>,
}
