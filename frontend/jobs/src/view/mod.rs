//! Texts, numbers and drawings that the pages show.

pub(crate) mod chart;
pub(crate) mod course;
pub(crate) mod fields;
pub(crate) mod job;
pub(crate) mod numbers;
pub(crate) mod picture;
pub(crate) mod prose;
pub(crate) mod refusal;
pub(crate) mod task;
pub(crate) mod time;
