//! Keyboard and pointer help, shown by the `?` key.

/// Keys of one topic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyGroup {
    pub title: &'static str,
    /// Keys of each line, any of which works, and their effect.
    pub lines: &'static [(&'static [&'static str], &'static str)],
}

pub const KEYS: [KeyGroup; 5] = [
    KeyGroup {
        title: "Timeline",
        lines: &[
            (&["←", "→", "A", "D"], "Pan along the trace"),
            (&["↑", "↓", "W", "S"], "Pan along the bytes"),
            (&["+", "-"], "Zoom the trace; with Shift, zoom the bytes"),
            (&["P"], "Jump to the peak"),
            (&[",", "."], "Show the previous or next step"),
            (&["0", "Home"], "Show the whole trace"),
            (&["Backspace", "Ctrl Z"], "Go back to the previous view"),
            (&["E"], "Use the event axis"),
            (&["T"], "Use the time axis"),
            (&["Esc"], "Clear the selection, or unpin the allocation"),
        ],
    },
    KeyGroup {
        title: "Pinned allocation, with the focus in the timeline",
        lines: &[
            (&["Enter"], "Pin the largest allocation in view"),
            (&["←", "→"], "Pin the one allocated before or after it"),
            (&["↑", "↓"], "Pin the one above or below it; with Shift, the next larger or smaller one"),
            (&["K"], "Select all allocations of its stack"),
            (&["N"], "Pin the next one of the selection or of its stack; with Shift, the previous one"),
        ],
    },
    KeyGroup {
        title: "Allocations",
        lines: &[
            (&["/"], "Search allocations"),
            (&["Enter"], "Go to the next match; with Shift, to the previous match"),
            (&["↑", "↓"], "Select a row of the table"),
        ],
    },
    KeyGroup {
        title: "Pointer",
        lines: &[
            (&["Wheel"], "Zoom the trace around the pointer"),
            (&["Ctrl", "Wheel"], "Zoom the bytes"),
            (&["Shift", "Wheel"], "Pan"),
            (&["Drag"], "Pan in both directions"),
            (&["Click"], "Pin an allocation, or zoom in on a step"),
            (&["Double-click"], "Zoom in on an allocation"),
        ],
    },
    KeyGroup {
        title: "Files",
        lines: &[
            (&["O"], "Open snapshots"),
            (&["1", "9"], "Show an open file by its number"),
            (&["[", "]"], "Show the previous or next device"),
            (&["?"], "Show or hide this list"),
        ],
    },
];
