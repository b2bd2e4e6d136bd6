//! Delays other work of the Web Worker until the page has its first picture.
//!
//! The page asks for the picture before anything else.

use frontend::ask::{Question, Report};

/// State of the request for the first picture of a file.
///
/// The page asks as soon as it has laid out the timeline, a few frames after it receives the first figures. Work that
/// the worker starts in between would delay the picture, for a large trace by a second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum FirstPicture {
    /// No figures have been sent, so that the page cannot ask yet.
    #[default]
    NotDue,
    /// The page is about to ask.
    Awaited,
    /// The picture was drawn, or the page does not want one.
    Over,
}

impl FirstPicture {
    /// Records a report to the page; returns true if it makes the page ask for the picture.
    pub(crate) fn told(&mut self, report: &Report) -> bool {
        let begins = *self == Self::NotDue && matches!(report, Report::Figures(_));
        if begins {
            *self = Self::Awaited;
        }
        begins
    }

    /// Returns true if the question is the one that other questions wait for, too.
    pub(crate) fn awaits(self, question: &Question) -> bool {
        self == Self::Awaited && matches!(question, Question::GetPicture(_))
    }

    /// Records that a question was answered.
    pub(crate) fn answered(&mut self, question: &Question) {
        if matches!(question, Question::GetPicture(_)) {
            *self = Self::Over;
        }
    }

    /// Stops waiting, as for a tab in the background.
    pub(crate) fn give_up(&mut self) {
        *self = Self::Over;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use frontend::ask::{Axis, GetOutline, GetPicture};
    use shared::analysis::PictureRequest;
    use shared::trace::text;

    #[test]
    fn what_takes_long_waits_for_the_first_picture() {
        let mut engine = Engine::new(text::parse("alloc a 5").unwrap());
        let mut first = FirstPicture::default();
        let figures = engine.next_report().unwrap();
        assert!(first.told(&figures));
        assert!(!first.told(&figures), "only the first figures count");
        first.answered(&GetOutline { device: 0, axis: Axis::Events, columns: 9 }.into());
        assert_eq!(first, FirstPicture::Awaited);
        let view = frontend::ask::View {
            request: PictureRequest {
                axis: Axis::Events,
                x0: 0.0,
                x1: 2.0,
                y0: 0.0,
                y1: 5.0,
                width_px: 9,
                height_px: 9,
            },
            pixel_ratio: 1.0,
            color: frontend::ask::ColorBy::Stack,
            scheme: Default::default(),
            marking: Default::default(),
        };
        let question = GetPicture { device: 0, view, kind: None }.into();
        assert!(first.awaits(&question));
        first.answered(&question);
        assert!(first == FirstPicture::Over && !first.awaits(&question));
        assert!(!first.told(&figures), "it never comes back");
    }

    #[test]
    fn a_page_that_does_not_ask_is_not_waited_for() {
        let mut first = FirstPicture::Awaited;
        first.give_up();
        assert_eq!(first, FirstPicture::Over);
    }
}
