//! Handles the API under `/api/v1`, with one file per resource.
//!
//! Handlers translate and delegate; the modules next to `serve` implement the resources.

pub(super) mod catalog;
pub(super) mod gallery;
pub(super) mod job_request;
pub(super) mod jobs;
mod share_form;
pub(super) mod shares;
