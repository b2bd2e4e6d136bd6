//! The part of a flame graph that the page keeps: told when it rests, and gone to when it comes from elsewhere.

use super::{Inner, Shown};
use crate::draw::camera::View;
use crate::draw::span::Span;
use crate::platform;
use crate::state::Zoom;
use yew::Callback;

impl Inner {
    /// Goes to the part that the page asks for, unless that is what it was told.
    ///
    /// Another part comes from elsewhere, such as the address.
    pub(super) fn place(&mut self, shown: &Shown, is_other: bool) {
        let asked = shown.props.zoom;
        if asked == self.told && (!is_other || self.is_touched) {
            return;
        }
        // Which rows there can be depends on the element.
        let size = platform::size_of_element(&self.host);
        self.camera = self.camera.fitted(size, shown.data.1.depth);
        self.camera.set_view(asked.map_or_else(|| self.whole(), view_of));
        (self.told, self.glide, self.resting) = (asked, None, None);
        self.is_placed = true;
    }

    /// Whether the view is not the one that the page knows of.
    pub(super) fn is_moved(&self) -> bool {
        self.resting.is_none() && self.glide.is_none() && self.zoom() != self.told
    }

    /// What is in view or about to be, and whom to tell where that is news.
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

/// The view of a part; its last row is the element's affair.
fn view_of(zoom: Zoom) -> View {
    View { x: Span::new(zoom.start, zoom.end), y: Span::new(zoom.row, zoom.row) }
}
