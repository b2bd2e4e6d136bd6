//! Assigns actions to keys, and defines the commands that keys and buttons give to the timeline.

use super::DockTab;
use crate::ask::{AllocationKey, Axis, Toward};

/// Key press, as the browser reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyPress {
    /// `KeyboardEvent.key`.
    pub key: String,
    pub shift: bool,
    /// True if Ctrl, Alt or Meta was held; except for undo, such combinations are left to the browser.
    pub modified: bool,
    /// True if the focus is in a text field.
    pub in_text: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum KeyAction {
    /// Shows or hides the list of keys.
    Help,
    /// Opens the file dialog.
    Open,
    /// Leaves the selected kind, or else unpins the pinned allocation.
    Unpin,
    /// Selects all allocations with the stack of the pinned one.
    SelectKind,
    /// Focuses the search for allocations.
    Search,
    Axis(Axis),
    StepDevice(i32),
    /// Shows a file by its position, from 0.
    ShowFile(usize),
    /// Opens a view below the timeline, or closes it if it is open.
    Dock(DockTab),
    /// Maximises the view below the timeline, or returns it to its usual height.
    Maximize,
    Timeline(TimelineCommand),
}

/// Fraction of the view that one press pans.
const PAN_STEP: f64 = 0.1;
/// Factor of one zoom step.
const ZOOM_STEP: f64 = 1.4;

/// Returns the action of a key press, if it has one.
pub fn action_of(press: &KeyPress) -> Option<KeyAction> {
    if press.in_text {
        return None;
    }
    if press.modified {
        return matches!(press.key.as_str(), "z" | "Z").then_some(KeyAction::Timeline(TimelineCommand::Back));
    }
    plain_action(&press.key).or_else(|| move_of(press).map(KeyAction::Timeline))
}

/// Returns the tab that a key leads to from the chosen one; after the last comes the first.
///
/// The keys are those of the ARIA pattern for tabs. `count` is at least 1.
pub fn tab_after(key: &str, chosen: u32, count: u32) -> Option<u32> {
    Some(match key {
        "ArrowRight" => (chosen + 1) % count,
        "ArrowLeft" => (chosen + count - 1) % count,
        "Home" => 0,
        "End" => count - 1,
        _ => return None,
    })
}

fn plain_action(key: &str) -> Option<KeyAction> {
    Some(match key {
        "?" => KeyAction::Help,
        "o" | "O" => KeyAction::Open,
        "Escape" => KeyAction::Unpin,
        "k" | "K" => KeyAction::SelectKind,
        "n" => KeyAction::Timeline(TimelineCommand::StepKind { is_back: false }),
        "N" => KeyAction::Timeline(TimelineCommand::StepKind { is_back: true }),
        "/" => KeyAction::Search,
        "e" | "E" => KeyAction::Axis(Axis::Events),
        "t" | "T" => KeyAction::Axis(Axis::Time),
        "f" | "F" => KeyAction::Maximize,
        "[" => KeyAction::StepDevice(-1),
        "]" => KeyAction::StepDevice(1),
        "," => KeyAction::Timeline(TimelineCommand::Step { is_forward: false }),
        "." => KeyAction::Timeline(TimelineCommand::Step { is_forward: true }),
        "b" | "B" => KeyAction::Timeline(TimelineCommand::Bookmark),
        "x" | "X" => KeyAction::Timeline(TimelineCommand::Measure),
        "p" | "P" => KeyAction::Timeline(TimelineCommand::JumpToPeak),
        "Backspace" => KeyAction::Timeline(TimelineCommand::Back),
        "0" | "Home" => KeyAction::Timeline(TimelineCommand::Reset),
        _ => {
            let file = || digit(key).map(|digit| KeyAction::ShowFile(digit - 1));
            return dock_of(key).map(KeyAction::Dock).or_else(file);
        }
    })
}

/// Returns the key, in lower case, that opens a view below the timeline.
pub fn dock_key(tab: DockTab) -> &'static str {
    match tab {
        DockTab::Flame => "g",
        DockTab::Allocations => "l",
        DockTab::Events => "v",
        DockTab::Source => "c",
        DockTab::Segments => "m",
        DockTab::WhatIf => "i",
        DockTab::Compare => "r",
        DockTab::Logs => "j",
    }
}

fn dock_of(key: &str) -> Option<DockTab> {
    DockTab::ALL.into_iter().find(|&tab| dock_key(tab).eq_ignore_ascii_case(key))
}

fn digit(key: &str) -> Option<usize> {
    match key.as_bytes() {
        [digit @ b'1'..=b'9'] => Some(usize::from(digit - b'0')),
        _ => None,
    }
}

fn move_of(press: &KeyPress) -> Option<TimelineCommand> {
    let pan = |x: f64, y: f64| TimelineCommand::Pan { x: x * PAN_STEP, y: y * PAN_STEP };
    let zoom = |factor: f64| match press.shift {
        false => TimelineCommand::Zoom { x: factor, y: 1.0 },
        true => TimelineCommand::Zoom { x: 1.0, y: factor },
    };
    Some(match press.key.as_str() {
        "ArrowLeft" | "a" | "A" => pan(-1.0, 0.0),
        "ArrowRight" | "d" | "D" => pan(1.0, 0.0),
        "ArrowUp" | "w" | "W" => pan(0.0, 1.0),
        "ArrowDown" | "s" | "S" => pan(0.0, -1.0),
        // With Shift, a key reports its upper character: "+" on the "=" key, "*" on the "+" key, and "_" on the "-"
        // key.
        "+" | "=" | "*" => zoom(ZOOM_STEP),
        "-" | "_" => zoom(1.0 / ZOOM_STEP),
        _ => return None,
    })
}

/// Movement of the timeline's camera, or from allocation to allocation.
///
/// The page listens to the keyboard and the toolbar, the timeline itself only to wheel and pointer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum TimelineCommand {
    /// Moves the view by fractions of its width and height; positive values move right and up.
    Pan { x: f64, y: f64 },
    /// Divides the visible ranges by these factors about the middle; 1 leaves an axis as it is.
    Zoom { x: f64, y: f64 },
    /// Goes back to the view before the last movement.
    Back,
    /// Shows the whole trace.
    Reset,
    /// Centres the peak, zoomed in enough to make its allocations readable.
    JumpToPeak,
    /// Shows the next or previous training step from edge to edge.
    Step { is_forward: bool },
    /// Pins the next or previous allocation of the selected kind, or else of the pinned allocation's stack.
    StepKind { is_back: bool },
    /// Pins the allocation next to the pinned one.
    StepAllocation(Toward),
    /// Pins an allocation, at a moment if it is alive then.
    Pin { key: AllocationKey, moment: u32 },
    /// Shows everything between two moments, which may be equal, at full height.
    Between { first: u32, last: u32 },
    /// Shows a part of the x axis, at full height.
    Positions { first: f64, last: f64 },
    /// Centres a moment at the current zoom.
    JumpTo { moment: u32 },
    /// Bookmarks the moment under the pointer, or the middle of the view.
    Bookmark,
    /// Sets an end of a measurement at the moment under the pointer, or both ends within the view.
    Measure,
}

/// Command with a number, so that issuing the same command twice in a row counts as two commands.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Issued {
    /// Number that counts up with every command of the page.
    pub number: u32,
    pub command: TimelineCommand,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(key: &str) -> KeyPress {
        KeyPress { key: key.to_owned(), ..KeyPress::default() }
    }

    #[track_caller]
    fn check(key: &str, action: Option<KeyAction>) {
        assert_eq!(action_of(&press(key)), action);
    }

    #[test]
    fn letters_and_digits_act() {
        check("?", Some(KeyAction::Help));
        check("t", Some(KeyAction::Axis(Axis::Time)));
        check("/", Some(KeyAction::Search));
        check("9", Some(KeyAction::ShowFile(8)));
        check("0", Some(KeyAction::Timeline(TimelineCommand::Reset)));
        check(".", Some(KeyAction::Timeline(TimelineCommand::Step { is_forward: true })));
        check("f", Some(KeyAction::Maximize));
        check("G", Some(KeyAction::Dock(DockTab::Flame)));
        check("F5", None);
        check("12", None);
    }

    #[test]
    fn the_browser_keeps_its_own_keys() {
        assert_eq!(action_of(&KeyPress { modified: true, ..press("o") }), None);
        assert_eq!(action_of(&KeyPress { in_text: true, ..press("o") }), None);
    }

    #[test]
    fn undoing_goes_back_but_never_where_text_is_typed() {
        let back = Some(KeyAction::Timeline(TimelineCommand::Back));
        let undo = KeyPress { modified: true, ..press("z") };
        check("Backspace", back);
        check("z", None);
        assert_eq!(action_of(&undo), back);
        assert_eq!(action_of(&KeyPress { in_text: true, ..undo }), None);
        assert_eq!(action_of(&KeyPress { in_text: true, ..press("Backspace") }), None);
    }

    #[test]
    fn each_view_below_the_timeline_has_its_own_key() {
        for tab in DockTab::ALL {
            check(dock_key(tab), Some(KeyAction::Dock(tab)));
        }
    }

    #[test]
    fn tabs_go_round() {
        assert_eq!(tab_after("ArrowRight", 3, 4), Some(0));
        assert_eq!(tab_after("ArrowLeft", 0, 4), Some(3));
        assert_eq!(tab_after("End", 0, 4), Some(3));
        assert_eq!(tab_after("p", 0, 4), None);
    }

    #[test]
    fn shift_zooms_the_other_axis() {
        let zoom = |press: &KeyPress| match action_of(press) {
            Some(KeyAction::Timeline(TimelineCommand::Zoom { x, y })) => (x > 1.0, y > 1.0),
            other => panic!("{other:?} is no zoom"),
        };
        assert_eq!(zoom(&press("+")), (true, false));
        assert_eq!(zoom(&KeyPress { shift: true, ..press("+") }), (false, true));
    }
}
