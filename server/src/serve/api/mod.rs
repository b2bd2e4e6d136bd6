//! The interface under `/api/v1`: a file for each resource.
//!
//! A handler translates and delegates; what a resource is, the modules beside `serve` know.

pub(super) mod catalog;
pub(super) mod job_events;
pub(super) mod job_request;
pub(super) mod jobs;
pub(super) mod shares;
