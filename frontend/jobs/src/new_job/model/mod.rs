//! Config of a new job, with its texts and numbers.

pub(crate) mod cards;
pub(crate) mod draft;
pub(crate) mod edit;
pub(crate) mod fields;
pub(crate) mod numbers;
