//! Components of the pages.

pub(crate) mod figure_list;
pub(crate) mod refusal_note;
pub(crate) mod state_badge;

pub(crate) mod no_server;
pub(crate) mod token_dialog;

pub(crate) mod gallery;
mod gallery_card;
pub(crate) mod job_list;

pub(crate) mod config_form;
pub(crate) mod editor;
mod field;
pub(crate) mod key_notes;
pub(crate) mod problem_list;
pub(crate) mod task_choice;

pub(crate) mod compare;
pub(crate) mod job_actions;
mod job_change;
pub(crate) mod job_outcome;
pub(crate) mod job_progress;
pub(crate) mod memory_chart;
pub(crate) mod several;
