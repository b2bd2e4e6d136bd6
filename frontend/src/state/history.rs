//! Decides which changes of the view become steps that the browser's Back undoes.
//!
//! The address follows every change, so a change either adds a history entry or updates the current one. What a user
//! would call a step adds one: another file, device, view or tab, a pin, a finished zoom. Typed texts, the order of
//! tables and the like only update the entry.
//!
//! An entry names its file; Back and Forward close no file.

use super::view_state::ViewState;
use crate::draw::camera::View;
use crate::draw::span::Span;
use std::rc::Rc;

/// Content of a history entry.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Place {
    /// Name of the shown file; `None` for the page without a file.
    pub file: Option<Rc<str>>,
    /// View of the file; `None` while it is not ready.
    pub view: Option<ViewState>,
}

/// Change of the browser's history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    Same,
    /// The current entry is updated.
    Changed,
    /// An entry is added, so that Back leads to the previous one.
    New,
}

/// Tolerance for comparing edges of the view, as a fraction of the part in view.
const SAME_SHARE: f64 = 0.005;

/// Returns the history change for a new place; `before` is `None` if the page was opened with an address.
///
/// A move that no person has made by an action on the page adds no entry: by Back or Forward, or by the page itself.
pub fn entry_for(before: Option<&Place>, after: &Place, is_of_person: bool) -> Entry {
    let Some(before) = before else { return Entry::Changed };
    if before == after {
        return Entry::Same;
    }
    if !is_of_person {
        return Entry::Changed;
    }
    let is_step = match (&before.view, &after.view) {
        _ if before.file != after.file => after.file.is_some(),
        (Some(before), Some(after)) => is_step(before, after),
        _ => false,
    };
    if is_step { Entry::New } else { Entry::Changed }
}

fn is_step(before: &ViewState, after: &ViewState) -> bool {
    let (stacks, stacks_before) = (&after.choices.stacks, &before.choices.stacks);
    let is_pinned = after.pin.is_some() && after.pin != before.pin;
    let is_selected = after.kind != before.kind && after.kind.as_deref().is_some_and(|kind| !kind.is_passing());
    let is_walked = stacks.zoom != stacks_before.zoom || stacks.site != stacks_before.site;
    before.device != after.device
        || before.axis != after.axis
        || before.tab != after.tab
        || (before.dock, before.is_maximized) != (after.dock, after.is_maximized)
        || before.color != after.color
        || is_pinned
        || is_selected
        || is_walked
        || is_elsewhere(before.range, after.range)
}

/// Returns true if another part is in view, with a tolerance.
///
/// Cameras round, and a timeline that starts anew may differ by less than a pixel.
fn is_elsewhere(before: Option<View>, after: Option<View>) -> bool {
    let is_moved = |before: Span, after: Span| {
        let tolerance = SAME_SHARE * before.len().min(after.len());
        (before.start - after.start).abs() > tolerance || (before.end - after.end).abs() > tolerance
    };
    match (before, after) {
        (Some(before), Some(after)) => is_moved(before.x, after.x) || is_moved(before.y, after.y),
        (None, None) => false,
        _ => true,
    }
}

/// Name of the history entry for the page without a file, which tells it from an address that was just opened.
pub const NO_FILE: &str = "no file";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::AllocationKey;
    use crate::state::{DockTab, PanelTab, PinKey};

    fn place(file: &str, view: ViewState) -> Place {
        Place { file: Some(file.into()), view: Some(view) }
    }

    fn part(start: f64, end: f64) -> ViewState {
        let range = Some(View { x: Span::new(start, end), y: Span::new(0.0, 100.0) });
        ViewState { range, ..ViewState::default() }
    }

    fn pinned(event: u32) -> ViewState {
        let pin = Some(PinKey { allocation: AllocationKey::Event(event), moment: 9 });
        ViewState { pin, ..ViewState::default() }
    }

    #[track_caller]
    fn check(before: &Place, after: &Place, entry: Entry) {
        assert_eq!(entry_for(Some(before), after, true), entry);
    }

    #[track_caller]
    fn check_views(before: ViewState, after: ViewState, entry: Entry) {
        check(&place("a", before), &place("a", after), entry);
    }

    #[test]
    fn a_step_makes_an_entry() {
        let plain = ViewState::default;
        check_views(plain(), ViewState { device: 1, ..plain() }, Entry::New);
        check_views(plain(), ViewState { dock: Some(DockTab::Flame), ..plain() }, Entry::New);
        check_views(ViewState { dock: Some(DockTab::Flame), ..plain() }, plain(), Entry::New);
        let flame = || ViewState { dock: Some(DockTab::Flame), ..plain() };
        check_views(flame(), ViewState { is_maximized: true, ..flame() }, Entry::New);
        check_views(plain(), ViewState { tab: PanelTab::File, ..plain() }, Entry::New);
        check_views(plain(), pinned(3), Entry::New);
        check_views(pinned(3), pinned(4), Entry::New);
        check_views(plain(), part(2.0, 5.0), Entry::New);
        check_views(part(2.0, 5.0), part(3.0, 6.0), Entry::New);
        check_views(part(2.0, 5.0), plain(), Entry::New);
    }

    #[test]
    fn what_is_no_step_changes_the_entry() {
        let mut searched = ViewState::default();
        Rc::make_mut(&mut searched.choices).stacks.search = "adam".to_owned();
        check_views(ViewState::default(), searched, Entry::Changed);
        check_views(pinned(3), ViewState::default(), Entry::Changed);
        check_views(part(2.0, 5.0), part(2.001, 5.0), Entry::Changed);
        check_views(part(2.0, 5.0), part(2.0, 5.0), Entry::Same);
    }

    #[test]
    fn another_file_makes_an_entry() {
        let (home, a) = (Place::default(), place("a", ViewState::default()));
        let unread = Place { file: Some("b".into()), view: None };
        check(&home, &a, Entry::New);
        check(&a, &unread, Entry::New);
        check(&unread, &place("b", ViewState::default()), Entry::Changed);
        check(&a, &home, Entry::Changed);
    }

    #[test]
    fn what_nobody_did_makes_no_entry() {
        let (a, b) = (place("a", ViewState::default()), place("b", ViewState::default()));
        assert_eq!(entry_for(None, &a, true), Entry::Changed);
        assert_eq!(entry_for(Some(&a), &b, false), Entry::Changed);
    }
}
