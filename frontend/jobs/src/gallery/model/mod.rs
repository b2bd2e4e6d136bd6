//! Entries of the gallery, with their texts and drawings.

pub(crate) mod catalog;
pub(crate) mod picture;
pub(crate) mod prose;
