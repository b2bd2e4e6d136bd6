//! Places of texts in the plot, none of which overlaps another.

use crate::draw::{Op, Rect};

/// Places in the plot that are taken by texts.
#[derive(Clone, Debug, PartialEq)]
pub struct Places {
    room: Rect,
    taken: Vec<Rect>,
}

impl Places {
    pub fn new(room: Rect) -> Self {
        Self { room, taken: Vec::new() }
    }

    pub fn room(&self) -> Rect {
        self.room
    }

    /// Takes the first of these places that is inside the plot and overlaps none that is taken.
    pub fn take(&mut self, places: impl IntoIterator<Item = Rect>) -> Option<Rect> {
        let found = places.into_iter().find(|place| self.is_free(place))?;
        self.taken.push(found);
        Some(found)
    }

    /// Takes the place of the first of these texts whose place is free.
    pub fn take_text(&mut self, texts: impl IntoIterator<Item = Op>) -> Option<Op> {
        let found = texts.into_iter().find(|text| text.text_rect().is_some_and(|place| self.is_free(&place)))?;
        self.taken.extend(found.text_rect());
        Some(found)
    }

    /// Marks a place as taken, even if it overlaps others.
    pub fn note(&mut self, place: Rect) {
        self.taken.push(place);
    }

    fn is_free(&self, place: &Rect) -> bool {
        self.room.covers(*place) && !self.taken.iter().any(|taken| taken.overlaps(*place))
    }
}
