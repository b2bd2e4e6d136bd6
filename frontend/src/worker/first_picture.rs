//! What the worker holds back until the page has its first picture.

use super::protocol::{Question, Report};

/// Whether the first picture of a file is about to be asked for.
///
/// The page asks as soon as it has laid out the timeline, a few frames after it hears the first figures.
/// Whatever the worker began in between, of a large trace for a second, would stand before the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstPicture {
    /// No figures have been told: nobody can ask yet.
    #[default]
    NotDue,
    /// The page is about to ask.
    Awaited,
    /// It was drawn, or nobody wants it.
    Over,
}

impl FirstPicture {
    /// Notes what the page is told; whether it is about to ask from now on.
    pub fn told(&mut self, report: &Report) -> bool {
        let begins = *self == Self::NotDue && matches!(report, Report::Figures(_));
        if begins {
            *self = Self::Awaited;
        }
        begins
    }

    /// Notes that a question was answered.
    pub fn answered(&mut self, question: &Question) {
        if matches!(question, Question::Picture { .. }) {
            *self = Self::Over;
        }
    }

    /// Waits no longer, as in a tab that nobody looks at.
    pub fn give_up(&mut self) {
        *self = Self::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::{Axis, Engine};
    use shared::trace::text;

    #[test]
    fn what_takes_long_waits_for_the_first_picture() {
        let mut engine = Engine::new(text::parse("alloc a 5").unwrap());
        let mut first = FirstPicture::default();
        let figures = engine.next_report().unwrap();
        assert!(first.told(&figures));
        assert!(!first.told(&figures), "only the first figures count");
        first.answered(&Question::Outline { device: 0, axis: Axis::Events, columns: 9 });
        assert_eq!(first, FirstPicture::Awaited);
        let view = crate::worker::View {
            axis: Axis::Events,
            x0: 0.0,
            x1: 2.0,
            y0: 0.0,
            y1: 5.0,
            width_px: 9,
            height_px: 9,
            pixel_ratio: 1.0,
            color: crate::worker::ColorBy::Stack,
        };
        first.answered(&Question::Picture { device: 0, view });
        assert_eq!(first, FirstPicture::Over);
        assert!(!first.told(&figures), "it never comes back");
    }

    #[test]
    fn a_page_that_does_not_ask_is_not_waited_for() {
        let mut first = FirstPicture::Awaited;
        first.give_up();
        assert_eq!(first, FirstPicture::Over);
    }
}
