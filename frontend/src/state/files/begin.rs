//! How an open file begins.

use super::FileId;
use crate::state::card::ThisCard;
use crate::state::origin::Origin;
use crate::state::view_state::ViewState;
use std::rc::Rc;

/// A file that was chosen.
#[derive(Clone, Debug, Default)]
pub struct NewFile {
    /// Its number.
    pub id: FileId,
    /// What the history of the browser calls it.
    pub key: Rc<str>,
    /// Its name without folders.
    pub name: Rc<str>,
    /// Its length, 0 where it is not known.
    pub size_bytes: u64,
    /// Where it came from.
    pub origin: Origin,
    /// Counts up with each choice of files: those that were opened together have the same.
    pub batch: u32,
    /// Whether its bytes are kept already.
    pub is_kept: bool,
    /// The view to begin with, and what is to be said about it.
    pub start: Start,
    /// Milliseconds on the page's clock.
    pub now_ms: f64,
}

/// How a file is shown first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// The view; `None` for the whole of the first device.
    pub view: Option<ViewState>,
    /// Why it is not the view that was asked for.
    pub notice: Option<Rc<str>>,
    /// The card that it was recorded on, where that is known; one of the view counts more.
    pub card: Option<ThisCard>,
}
