//! Defines shared links over HTTP.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Part `view` of an uploaded share: everything but the snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ShareRequest {
    /// Title for people; the figures of the snapshot are added to it.
    pub title: String,
    /// View that the link restores, as text of the page that the server stores unchanged.
    pub view_state: String,
    /// Days until the link expires; `null` for never, if the server allows that.
    pub days: Option<u32>,
}

/// Answer to an upload, which only the uploader receives, and only once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShareCreated {
    /// Token of the link, whose page is `/s/{token}`.
    pub token: String,
    /// Token that deletes the link.
    pub delete_token: String,
    /// Time of expiry, in milliseconds since 1970; `null` for never.
    pub expires_ms: Option<i64>,
}

/// Link: the answer of `GET /api/v1/shares/{token}`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ShareResource {
    /// Title for people.
    pub title: String,
    /// View that the link restores.
    pub view_state: String,
    /// Compressed size in bytes of the snapshot at `/api/v1/shares/{token}/snapshot`.
    pub snapshot_bytes: u64,
    /// Time of creation, in milliseconds since 1970.
    pub created_ms: i64,
    /// Time of expiry, in milliseconds since 1970; `null` for never.
    pub expires_ms: Option<i64>,
    /// Figures of the snapshot.
    pub digest: SnapshotDigest,
}

/// Figures and curves of a snapshot, which the preview of a link shows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct SnapshotDigest {
    /// Number of devices with events or segments.
    pub devices: u32,
    /// Number of events of all devices.
    pub events: u64,
    /// CUDA index of the device whose live bytes are highest; the remaining fields are about it.
    pub device: i64,
    /// Highest live bytes.
    pub peak_live_bytes: u64,
    /// Highest sum of segment bytes.
    pub peak_reserved_bytes: u64,
    /// Live bytes after the last event.
    pub end_live_bytes: u64,
    /// Highest live bytes in each of several equal parts of the trace.
    pub live_curve: Vec<u64>,
    /// Highest segment bytes in the same parts.
    pub reserved_curve: Vec<u64>,
}

/// Limits of this server: the answer of `GET /api/v1/limits`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct ServerLimits {
    /// Maximum size of a shared snapshot, in compressed bytes.
    pub upload_bytes: u64,
    /// Allowed lifetimes of a link, in days.
    pub share_days: Vec<u32>,
    /// True if a link may have no expiry.
    pub share_for_ever: bool,
    /// True if submitting and deleting need a token.
    pub needs_token: bool,
    /// Device kinds for jobs: `virtual`, and real GPUs such as `cuda:0`.
    pub kinds: Vec<String>,
    /// Real GPUs on which no job can run although a worker serves them, each with the reason.
    #[serde(default)]
    pub problems: BTreeMap<String, String>,
    /// True while the server's own recorder is being built, as `./dev serve` does at first: jobs wait for it.
    #[serde(default)]
    pub is_recorder_being_built: bool,
}
