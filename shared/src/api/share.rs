//! Links over HTTP.

use serde::{Deserialize, Serialize};

/// The part `view` of a share that is uploaded: everything but the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ShareRequest {
    /// What people call it; the snapshot's own figures are added.
    pub title: String,
    /// The view that the link restores: the page's own text, which the server keeps as it is.
    pub view_state: String,
    /// Days until it ends; `None` for never, where the server allows that.
    pub days: Option<u32>,
}

/// What whoever shares gets back: once, and nobody else.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShareCreated {
    /// The name of the link: its page is `/s/{token}`.
    pub token: String,
    /// What deletes it again.
    pub delete_token: String,
    /// When it ends, in milliseconds since 1970; `None` for never.
    pub expires_ms: Option<i64>,
}

/// A link: the answer of `GET /api/v1/shares/{token}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShareResource {
    /// What people call it.
    pub title: String,
    /// The view that it restores.
    pub view_state: String,
    /// Bytes of the snapshot, compressed; at `/api/v1/shares/{token}/snapshot`.
    pub snapshot_bytes: u64,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it ends; `None` for never.
    pub expires_ms: Option<i64>,
    /// What the snapshot adds up to.
    pub digest: SnapshotDigest,
}

/// A snapshot in numbers and one curve: what the preview of a link shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SnapshotDigest {
    /// How many devices have events or segments.
    pub devices: u32,
    /// Events of all devices.
    pub events: u64,
    /// The device whose live bytes are highest; the rest is about it.
    pub device: i64,
    /// The highest live bytes.
    pub peak_live_bytes: u64,
    /// The highest sum of segment bytes.
    pub peak_reserved_bytes: u64,
    /// Live bytes after the last event.
    pub end_live_bytes: u64,
    /// The highest live bytes within each of equal parts of the trace.
    pub live_curve: Vec<u64>,
    /// The highest segment bytes within the same parts.
    pub reserved_curve: Vec<u64>,
}

/// What this server takes: the answer of `GET /api/v1/limits`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerLimits {
    /// The largest snapshot that can be shared, in compressed bytes.
    pub upload_bytes: u64,
    /// The choices for how long a link lives, in days.
    pub share_days: Vec<u32>,
    /// Whether a link may live for ever.
    pub share_for_ever: bool,
    /// Whether submitting and deleting need a token.
    pub needs_token: bool,
    /// What jobs can run on: `virtual`, and real GPUs such as `cuda:0`.
    pub kinds: Vec<String>,
    /// True while the server's own recorder is being built, as `./dev serve` does at first: jobs wait for it.
    #[serde(default)]
    pub is_recorder_being_built: bool,
}
