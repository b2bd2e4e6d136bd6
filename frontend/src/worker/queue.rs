//! Queues the questions that arrive while the Web Worker computes.

use super::allocations_data::AllocationsQuestion;
use super::protocol::Question;
use super::what_if_data::WhatIfQuestion;

/// Questions in the order of their arrival.
///
/// Only the newest view, point or copy matters: during a drag the worker would otherwise draw every position that the
/// pointer has passed.
#[derive(Clone, Debug, Default)]
pub struct Queue {
    waiting: Vec<(u32, Question)>,
}

impl Queue {
    /// Adds a question with its number.
    pub fn push(&mut self, number: u32, question: Question) {
        self.waiting.push((number, question));
    }

    /// Takes the next question to answer, and the numbers of the questions that a newer one supersedes.
    pub fn take_next(&mut self) -> (Vec<u32>, Option<(u32, Question)>) {
        let mut superseded = Vec::new();
        while !self.waiting.is_empty() {
            let (number, question) = self.waiting.remove(0);
            if self.waiting.iter().any(|(_, newer)| replaces(newer, &question)) {
                superseded.push(number);
            } else {
                return (superseded, Some((number, question)));
            }
        }
        (superseded, None)
    }

    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }
}

fn replaces(newer: &Question, older: &Question) -> bool {
    match (newer, older) {
        (Question::Picture { .. }, Question::Picture { .. })
        | (Question::Hit { .. }, Question::Hit { .. })
        | (
            Question::Allocations { question: AllocationsQuestion::Rows(_), .. },
            Question::Allocations { question: AllocationsQuestion::Rows(_), .. },
        )
        | (Question::Segments { .. }, Question::Segments { .. })
        | (
            Question::WhatIf { question: WhatIfQuestion::Replay(_), .. },
            Question::WhatIf { question: WhatIfQuestion::Replay(_), .. },
        )
        | (Question::Findings { .. }, Question::Findings { .. })
        | (Question::Preview(_), Question::Preview(_))
        | (Question::Copy(_), Question::Copy(_)) => true,
        (Question::Flame { question: newer, .. }, Question::Flame { question: older, .. }) => newer.replaces(older),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::worker::{Axis, TableRequest, WalkRequest};

    fn hit(x: f64) -> Question {
        Question::Hit { device: 0, axis: Axis::Events, x, bytes: 0.0, units_per_px: 1.0 }
    }

    #[test]
    fn only_the_newest_point_is_answered() {
        let mut queue = Queue::default();
        for (number, question) in [(1, hit(1.0)), (2, Question::Marks { device: 0 }), (3, hit(2.0)), (4, hit(3.0))] {
            queue.push(number, question);
        }
        assert_eq!(queue.take_next(), (vec![1], Some((2, Question::Marks { device: 0 }))));
        assert_eq!(queue.take_next(), (vec![3], Some((4, hit(3.0)))));
        assert_eq!(queue.take_next(), (vec![], None));
    }

    #[test]
    fn only_the_newest_replay_is_answered() {
        let replay = || Question::WhatIf { device: 0, question: WhatIfQuestion::Replay(Default::default()) };
        let sweep = WhatIfQuestion::Sweep { setup: Default::default(), is_new: false };
        let sweep = Question::WhatIf { device: 0, question: sweep };
        let mut queue = Queue::default();
        for (number, question) in [(1, replay()), (2, sweep.clone()), (3, replay())] {
            queue.push(number, question);
        }
        assert_eq!(queue.take_next(), (vec![1], Some((2, sweep))));
    }

    #[test]
    fn only_the_newest_rows_are_answered_and_every_walk() {
        let ask = |question| Question::Allocations { device: 0, question };
        let rows = |first| ask(AllocationsQuestion::Rows(TableRequest { first, ..TableRequest::default() }));
        let walk = ask(AllocationsQuestion::Walk(WalkRequest::default()));
        let mut queue = Queue::default();
        for (number, question) in [(1, walk.clone()), (2, rows(0)), (3, walk.clone()), (4, rows(64))] {
            queue.push(number, question);
        }
        assert_eq!(queue.take_next(), (vec![], Some((1, walk.clone()))));
        assert_eq!(queue.take_next(), (vec![2], Some((3, walk))));
        assert_eq!(queue.take_next(), (vec![], Some((4, rows(64)))));
    }

    #[test]
    fn details_are_never_dropped() {
        let details = |allocation| Question::Details { device: 0, allocation };
        let mut queue = Queue::default();
        queue.push(1, details(5));
        queue.push(2, details(6));
        assert_eq!(queue.take_next(), (vec![], Some((1, details(5)))));
        assert!(!queue.is_empty());
    }
}
