//! What several pages share.

pub(crate) mod model;

pub(crate) mod browser;
pub(crate) mod use_fetched;
pub(crate) mod use_token;

pub(crate) mod figure_list;
pub(crate) mod key_notes;
pub(crate) mod no_server;
pub(crate) mod refusal_note;
pub(crate) mod state_badge;
pub(crate) mod token_dialog;
