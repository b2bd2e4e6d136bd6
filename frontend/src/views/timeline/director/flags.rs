//! Moments that the user marks: their positions, and the moment under the pointer as a new one.

use super::{Director, Subject};
use crate::ask::GetMoments;
use crate::state::{FileAction, PointAction};
use std::rc::Rc;

impl Director {
    /// Requests the positions of the marked moments.
    pub(in crate::views::timeline) fn ask_flags(&self) {
        let (subject, flags) = (self.subject(), self.stage.borrow().props.flags.clone());
        if flags.is_empty() {
            self.with(|stage| stage.take_flags(Vec::new()));
            return;
        }
        let Subject { client, device, axis, .. } = subject.clone();
        let moments: Vec<u32> = flags.iter().map(|flag| flag.moment).collect();
        self.answer(
            &subject,
            async move { client.ask(GetMoments { device, axis, moments }).await },
            move |director, answer| {
                // Flags that were changed meanwhile have sent a question of their own.
                let is_current = Rc::ptr_eq(&flags, &director.stage.borrow().props.flags);
                if let (Ok(facts), true) = (answer, is_current) {
                    let placed = facts.iter().map(|facts| facts.position).zip(flags.iter().cloned()).collect();
                    director.with(|stage| stage.take_flags(placed));
                }
            },
        );
    }

    /// Marks the moment under the pointer, or without a pointer the middle of the view; a measurement without a pointer
    /// is of the middle half of the view.
    pub(super) fn mark(&self, action: fn(u32) -> PointAction) {
        let pointed = {
            let stage = self.stage.borrow();
            stage.hit.as_ref().filter(|_| stage.pointer.is_some()).map(|hit| hit.moment)
        };
        if let Some(moment) = pointed {
            self.act(FileAction::Point(action(moment)));
            return;
        }
        let is_range = action(0) == PointAction::Measure(0);
        for share in if is_range { &[0.25, 0.75][..] } else { &[0.5] } {
            let (corner, width) = self.with(|stage| (stage.plot_corner(), 2.0 * stage.plot_center().0));
            let (subject, question) = self.hit_at((corner.0 + width * share, corner.1), true);
            self.answer(&subject, question, move |director, answer| {
                if let Ok(hit) = answer {
                    director.act(FileAction::Point(action(hit.moment)));
                }
            });
        }
    }
}
