//! Addresses and texts that several pages share.

pub(crate) mod job;
pub(crate) mod refusal;
pub(crate) mod route;
pub(crate) mod task;
