//! Cards for a file that is not open yet: where it comes from, its progress, a choice of a part, and errors.

pub mod arrival_card;
pub mod awaited_bar;
pub mod error_card;
pub mod hero;
pub mod keep_box;
pub mod loading_card;
pub mod part_bar;
pub mod part_card;
pub mod preview_model;
pub mod preview_plot;
pub mod preview_view;
pub mod progress;
mod recipe;
