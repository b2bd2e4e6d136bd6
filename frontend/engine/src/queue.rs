//! Queues the questions that arrive while the Web Worker computes, and delays other work until the page has its first picture.
//!
//! A question that a newer one replaces is dropped. The page asks for the picture before anything else.

use frontend::ask::{Question, Report};

/// Questions in the order of their arrival, without those that a newer one replaces.
#[derive(Clone, Debug, Default)]
pub(crate) struct Queue {
    waiting: Vec<(u32, Question)>,
}

impl Queue {
    pub(crate) fn push(&mut self, number: u32, question: Question) {
        self.waiting.push((number, question));
    }

    /// Takes the next question to answer, and the numbers of the questions that a newer one supersedes.
    ///
    /// A question that `is_urgent` comes before all others.
    pub(crate) fn take_next(&mut self, is_urgent: impl Fn(&Question) -> bool) -> (Vec<u32>, Option<(u32, Question)>) {
        let mut superseded = Vec::new();
        while !self.waiting.is_empty() {
            let urgent = self.waiting.iter().position(|(_, question)| is_urgent(question));
            let (number, question) = self.waiting.remove(urgent.unwrap_or(0));
            if self.waiting.iter().any(|(_, newer)| newer.replaces(&question)) {
                superseded.push(number);
            } else {
                return (superseded, Some((number, question)));
            }
        }
        (superseded, None)
    }
}

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
    /// Returns the state after a report to the page, which may make it ask for the picture.
    pub(crate) fn after_report(self, report: &Report) -> Self {
        let begins = self == Self::NotDue && matches!(report, Report::Figures(_));
        if begins { Self::Awaited } else { self }
    }

    /// Returns true if the question is the one that other questions wait for, too.
    pub(crate) fn awaits(self, question: &Question) -> bool {
        self == Self::Awaited && matches!(question, Question::GetPicture(_))
    }

    /// Returns the state after an answer to a question.
    pub(crate) fn after_answer(self, question: &Question) -> Self {
        if matches!(question, Question::GetPicture(_)) { Self::Over } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use frontend::ask::*;

    #[track_caller]
    fn check(asked: &[Question], answered: &[(&[u32], u32)]) {
        let mut queue = Queue::default();
        (0..).zip(asked).for_each(|(number, question)| queue.push(number, question.clone()));
        for &(superseded, number) in answered {
            assert_eq!(
                queue.take_next(|_| false),
                (superseded.to_vec(), Some((number, asked[number as usize].clone())))
            );
        }
        assert_eq!(queue.take_next(|_| false), (vec![], None));
    }

    fn point(x: f64, is_click: bool) -> Question {
        GetHit { device: 0, areas: None, axis: Axis::Events, x, bytes: 0.0, units_per_px: 1.0, is_click }.into()
    }

    #[test]
    fn only_the_newest_is_answered_of_points_replays_and_rows() {
        let hit = |x| point(x, false);
        let marks = GetMarks { device: 0 }.into();
        check(&[hit(1.0), marks, hit(2.0), hit(3.0)], &[(&[0], 1), (&[2], 3)]);
        // A click is answered even if the pointer moves on.
        check(&[point(1.0, false), point(2.0, true), point(3.0, false)], &[(&[0], 1), (&[], 2)]);
        let replay = || GetReplay { device: 0, setup: Default::default() }.into();
        let sweep = GetSweep { device: 0, setup: Default::default(), is_new: false }.into();
        check(&[replay(), sweep, replay()], &[(&[0], 1), (&[], 2)]);
        let rows = |first| GetRows { device: 0, request: TableRequest { first, ..TableRequest::default() } }.into();
        let walk = || WalkTo { device: 0, request: WalkRequest::default() }.into();
        check(&[walk(), rows(0), walk(), rows(64)], &[(&[], 0), (&[1], 2), (&[], 3)]);
        // Walks and details are never dropped.
        let details = |allocation| GetDetails { device: 0, allocation }.into();
        check(&[details(5), details(6)], &[(&[], 0), (&[], 1)]);
    }

    #[test]
    fn an_urgent_question_is_answered_first() {
        let mut queue = Queue::default();
        let marks = |device| Question::from(GetMarks { device });
        (0..3).for_each(|device| queue.push(device, marks(device)));
        let next = [(); 3].map(|()| queue.take_next(|question| *question == marks(1)).1.map(|(number, _)| number));
        assert_eq!(next, [Some(1), Some(0), Some(2)]);
    }

    #[test]
    fn what_takes_long_waits_for_the_first_picture() {
        let mut engine = Engine::of("alloc a 5");
        let figures = engine.next_report().unwrap();
        let first = FirstPicture::default().after_report(&figures);
        assert_eq!(first, FirstPicture::Awaited);
        assert_eq!(first.after_report(&figures), first, "only the first figures count");
        assert_eq!(first.after_answer(&GetOutline { device: 0, axis: Axis::Events, columns: 9 }.into()), first);
        let question = GetPicture { device: 0, view: View::default(), kind: None }.into();
        assert!(first.awaits(&question));
        let over = first.after_answer(&question);
        assert!(over == FirstPicture::Over && !over.awaits(&question));
        assert_eq!(over.after_report(&figures), over, "it never comes back");
    }
}
