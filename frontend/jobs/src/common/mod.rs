//! What several pages share.

pub(crate) mod browser;
pub(crate) mod hooks;
pub(crate) mod model;
pub(crate) mod parts;
