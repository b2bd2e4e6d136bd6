//! Steps from allocation to allocation, by keys and by the buttons of a selection, and moments that the user marks.

use super::Director;
use crate::ask::{AllocationKey, FindAllocation, GetMoments, GetPlace, Hit, StepAllocation, StepKind, Toward};
use crate::draw::Span;
use crate::state::{FileAction, PointAction};
use crate::views::timeline::model as texts;
use std::rc::Rc;

impl Director {
    /// Pins the next or previous allocation of the selected kind, or else of the pinned allocation's kind.
    pub(super) fn step_kind(&self, is_back: bool) {
        let (_, device, _) = self.subject();
        let shown = self.stage.borrow().shown.clone();
        let kind = shown.ready.kind.as_deref().cloned().or_else(|| shown.ready.pinned_kind());
        let Some(kind) = kind else { return };
        let (from, moment) = (shown.pinned().map(|(allocation, _)| allocation), shown.moment().0);
        self.ask(StepKind { device, kind, from, is_back, moment }, |director, found| {
            if let Ok(Some(found)) = found {
                director.pin(found.hit);
            }
        });
    }

    /// Pins the allocation next to the pinned one, of those that are drawn by themselves.
    pub(in crate::views::timeline) fn step_allocation(&self, toward: Toward) {
        let (_, device, _) = self.subject();
        let (shown, min_bytes) = {
            let stage = self.stage.borrow();
            (stage.shown.clone(), stage.least_drawn_bytes())
        };
        let (from, moment) = (shown.pinned().map(|(allocation, _)| allocation), shown.moment().0);
        self.ask(StepAllocation { device, from, moment, toward, min_bytes }, |director, hit| {
            hit.into_iter().for_each(|hit| director.pin(hit));
        });
    }

    /// Pins the largest allocation in the middle of the view, or at the peak if that is in view.
    pub(in crate::views::timeline) fn enter(&self) {
        let (middle, peak) = {
            let stage = self.stage.borrow();
            let peak = texts::peak_position(&stage.shown.device, stage.shown.ready.axis);
            let peak = peak.filter(|&x| stage.camera.view().x.covers(Span::new(x, x)));
            let middle = (stage.plot_corner().0 + stage.plot_center().0, stage.plot_corner().1 + 1.0);
            (middle, peak.map(|_| stage.shown.device.peak_moment))
        };
        let ((client, device, _), question) = (self.subject(), self.hit_at(middle, true));
        let found = async move {
            let moment = match peak {
                Some(moment) => moment,
                None => question.await?.moment,
            };
            client.ask(StepAllocation { device, from: None, moment, toward: Toward::Larger, min_bytes: 0 }).await
        };
        self.answered(found, |director, hit| hit.into_iter().for_each(|hit| director.pin(hit)));
    }

    pub(super) fn pin_key(&self, key: AllocationKey, moment: u32) {
        let (_, device, _) = self.subject();
        self.ask(FindAllocation { device, key, moment }, |director, hit| director.pin(hit));
    }

    /// Pins an allocation that a key led to, and moves the view if it is not in sight.
    fn pin(&self, hit: Hit) {
        let ((_, device, axis), moment) = (self.subject(), hit.moment);
        let bytes = hit.allocation.as_ref().map(|found| (found.below_bytes, found.size_bytes));
        self.act(FileAction::Pin(Some(hit)));
        self.ask(GetPlace { device, axis, moment }, move |director, position| {
            if let Some((below_bytes, size_bytes)) = bytes {
                let y = Span::new(below_bytes as f64, (below_bytes + size_bytes) as f64);
                director.with(|stage| stage.reveal(position, y));
            }
        });
    }

    /// Requests the positions of the marked moments.
    pub(in crate::views::timeline) fn ask_flags(&self) {
        let ((_, device, axis), flags) = (self.subject(), self.stage.borrow().props.flags.clone());
        if flags.is_empty() {
            self.with(|stage| stage.flags = Vec::new());
            return;
        }
        let moments = flags.iter().map(|flag| flag.moment).collect();
        self.ask(GetMoments { device, axis, moments }, move |director, facts| {
            // Flags that were changed meanwhile have sent a question of their own.
            if Rc::ptr_eq(&flags, &director.stage.borrow().props.flags) {
                let placed = facts.iter().map(|facts| facts.position).zip(flags.iter().cloned()).collect();
                director.with(|stage| stage.flags = placed);
            }
        });
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
            self.answered(self.hit_at((corner.0 + width * share, corner.1), true), move |director, hit| {
                director.act(FileAction::Point(action(hit.moment)));
            });
        }
    }
}
