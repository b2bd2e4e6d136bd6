//! Properties of the timeline.

use crate::ask::Hit;
use crate::hooks::{FileHandle, Seen, ShownFile};
use crate::state::Issued;
use crate::views::timeline::draw::flags::Flag;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct TimelineProps {
    /// Last command of the page, executed once per number.
    pub command: Option<Issued>,
    /// Bookmarks, the chosen event, and the measurement.
    pub flags: Rc<Vec<Flag>>,
    /// Called when another part comes into view.
    pub on_view: Callback<Seen>,
    /// Called with what is under the pointer, and with `None` when the pointer leaves the plot.
    pub on_hover: Callback<Option<Hit>>,
}

/// What the stage draws from, without yew.
pub(super) type Given = (FileHandle, Rc<ShownFile>, TimelineProps);
