//! Handles links: uploaded snapshots with a view and a preview.
//!
//! Invariant: space for an upload is reserved in the quota and on the disk before its body is read, and the unpacked
//! size of a file is limited while it is unpacked.

mod digest;
mod figures;
mod limits;
mod room;
mod token;
mod upload;

pub use digest::{DIGEST_COMMAND, DigestError, Digester, FINDINGS_COMMAND, print_digest, print_findings};
pub use figures::digest_of;
pub use limits::{days_of, expires_ms};
pub use room::{Holding, Place, Room};
pub use token::{Token, hash_of};
pub use upload::{Upload, UploadError};
