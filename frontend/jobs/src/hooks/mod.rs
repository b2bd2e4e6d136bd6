//! Hooks that exchange data with the server.

mod use_draft;
mod use_fetched;
mod use_orders;
mod use_submit;
mod use_token;
mod use_watch;

pub(crate) use use_draft::use_draft;
pub(crate) use use_fetched::{Fetched, use_fetched};
pub(crate) use use_orders::{Order, use_orders};
pub(crate) use use_submit::{SubmitHandle, use_submit};
pub(crate) use use_token::{TokenHandle, use_token};
pub(crate) use use_watch::use_watch;
