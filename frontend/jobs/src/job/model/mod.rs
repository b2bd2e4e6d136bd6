//! Course of a job, with its texts and drawings.

pub(crate) mod chart;
pub(crate) mod watch;
