//! Keyboard and pointer help, shown by the `?` key.

/// Keys of one topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyGroup {
    pub title: &'static str,
    /// Keys of each line, any of which works, and their effect.
    pub lines: &'static [(&'static [&'static str], &'static str)],
}

pub const KEYS: [KeyGroup; 4] = [
    KeyGroup {
        title: "Timeline",
        lines: &[
            (&["←", "→", "A", "D"], "Pan through the trace"),
            (&["↑", "↓", "W", "S"], "Pan through the bytes"),
            (&["+", "-"], "Zoom the trace, with Shift the bytes"),
            (&["P"], "Jump to the peak"),
            (&[",", "."], "Show the previous or next step"),
            (&["0", "Home"], "Show the whole trace"),
            (&["Backspace", "Ctrl Z"], "Back to the view before"),
            (&["E"], "Axis of events"),
            (&["T"], "Axis of time"),
            (&["Esc"], "Let the pinned allocation go"),
        ],
    },
    KeyGroup {
        title: "Allocations",
        lines: &[
            (&["/"], "Search allocations"),
            (&["Enter"], "Next match, with Shift the previous one"),
            (&["↑", "↓"], "Choose a row of the table"),
        ],
    },
    KeyGroup {
        title: "Pointer",
        lines: &[
            (&["Wheel"], "Zoom the trace about the pointer"),
            (&["Ctrl", "Wheel"], "Zoom the bytes"),
            (&["Shift", "Wheel"], "Pan"),
            (&["Drag"], "Pan both ways"),
            (&["Click"], "Pin an allocation, zoom in on a step"),
            (&["Double-click"], "Zoom in on an allocation"),
        ],
    },
    KeyGroup {
        title: "Files",
        lines: &[
            (&["O"], "Open snapshots"),
            (&["1", "9"], "Show an open file"),
            (&["[", "]"], "Previous and next device"),
            (&["?"], "Show or hide this list"),
        ],
    },
];
