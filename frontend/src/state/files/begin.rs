//! Data with which a file is opened.

use super::FileId;
use crate::state::card::ThisCard;
use crate::state::origin::Origin;
use crate::state::view_state::ViewState;
use std::rc::Rc;

/// File that was chosen.
#[derive(Clone, Debug, Default)]
pub struct NewFile {
    pub id: FileId,
    /// Name in the browser's history.
    pub key: Rc<str>,
    /// File name without folders.
    pub name: Rc<str>,
    /// Size in bytes; 0 if unknown.
    pub size_bytes: u64,
    pub origin: Origin,
    /// Number that counts up with each choice of files; files opened together share it.
    pub batch: u32,
    /// True if a copy of its bytes is stored already.
    pub is_kept: bool,
    /// Initial view, with a notice about it.
    pub start: Start,
    /// Milliseconds on the page's clock.
    pub now_ms: f64,
}

/// Initial view of a file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Start {
    /// View to show; `None` for the whole of the device that the file begins with.
    pub view: Option<ViewState>,
    /// Reason why it is not the view that was asked for.
    pub notice: Option<Rc<str>>,
    /// Card that it was recorded on, if known; a card in the view takes precedence.
    pub card: Option<ThisCard>,
}

impl Start {
    /// Parses a view, with a notice if the text is invalid; an empty text names no view.
    pub fn of_text(text: &str) -> Self {
        if text.is_empty() {
            return Self::default();
        }
        match ViewState::from_text(text) {
            Ok(view) => Self { view: Some(view), ..Self::default() },
            Err(error) => Self { notice: Some(error.to_string().into()), ..Self::default() },
        }
    }
}
