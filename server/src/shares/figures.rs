//! Reads the stored figures of a link's snapshot.

use shared::api::SnapshotDigest;

use crate::database::ShareRow;

/// Returns the figures of a link's snapshot.
pub fn digest_of(row: &ShareRow) -> SnapshotDigest {
    // Figures of an older version that can no longer be parsed are shown as unknown.
    serde_json::from_str(&row.digest).unwrap_or_default()
}
