//! Exchange of a flame graph's zoom with the page, which stores it.

use super::{Inner, Shown};
use crate::draw::{Span, View};
use crate::platform;
use crate::state::Zoom;
use yew::Callback;

impl Inner {
    /// Moves to the part that the page asks for, unless this stage reported it.
    ///
    /// Another part comes from outside the stage, such as the address.
    pub(super) fn place(&mut self, shown: &Shown, is_other: bool) {
        let asked = shown.props.zoom;
        if asked == self.told && (!is_other || self.is_touched) {
            return;
        }
        // The element's size decides which rows can be in view.
        let size = platform::size_of_element(&self.host);
        self.camera = self.camera.fitted(size, shown.data.1.depth);
        self.camera.set_view(asked.map_or_else(|| self.whole(), view_of));
        (self.told, self.glide, self.resting) = (asked, None, None);
        self.is_placed = true;
    }

    /// Returns true if the view rests and the page does not know it yet.
    pub(super) fn is_moved(&self) -> bool {
        self.resting.is_none() && self.glide.is_none() && self.zoom() != self.told
    }

    /// Returns the part in view, or the part that the view glides to, if the page does not know it yet.
    ///
    /// The callback that reports it comes first.
    pub(super) fn zoomed(&mut self) -> Option<(Callback<Option<Zoom>>, Option<Zoom>)> {
        let zoom = self.zoom();
        (std::mem::replace(&mut self.told, zoom) != zoom)
            .then(|| self.shown.as_ref().map(|shown| (shown.props.on_zoom.clone(), zoom)))
            .flatten()
    }

    fn zoom(&self) -> Option<Zoom> {
        let mut camera = self.camera;
        if let Some(glide) = &self.glide {
            camera.set_view(glide.target());
        }
        let View { x, y } = camera.view();
        (!camera.is_whole() || y.start > 0.0).then_some(Zoom { start: x.start, end: x.end, row: y.start })
    }
}

/// Returns the view of a part; its last row follows from the element's height.
fn view_of(zoom: Zoom) -> View {
    View { x: Span::new(zoom.start, zoom.end), y: Span::new(zoom.row, zoom.row) }
}
