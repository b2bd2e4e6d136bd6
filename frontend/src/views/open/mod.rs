//! Cards for a file that is not open yet: where it comes from, its progress, a choice of a part, and errors.

pub mod cards;
pub mod hero;
pub mod part_card;
pub mod preview_model;
