//! Dialog with the keyboard shortcuts, and with what the pointer does.

use crate::components::Dialog;
use yew::prelude::*;

/// Topics with their lines: keys, any of which works, and their effect.
type Topic = (&'static str, &'static [(&'static [&'static str], &'static str)]);

const KEYS: [Topic; 6] = [
    (
        "Timeline",
        &[
            (&["←", "→", "A", "D"], "Pan horizontally"),
            (&["↑", "↓", "W", "S"], "Pan vertically"),
            (&["+", "-"], "Zoom horizontally; with Shift, vertically"),
            (&["P"], "Jump to the peak"),
            (&[",", "."], "Show the previous or next step"),
            (&["0", "Home"], "Show the whole trace"),
            (&["Backspace", "Ctrl Z"], "Go back to the previous view"),
            (&["B"], "Bookmark the moment under the pointer"),
            (&["X"], "Measure from the moment under the pointer, and to it"),
            (&["E"], "Use the event axis"),
            (&["T"], "Use the time axis"),
            (&["Esc"], "Clear the selection, or unpin the allocation"),
        ],
    ),
    (
        "Pinned allocation, with the focus in the timeline",
        &[
            (&["Enter"], "Pin the largest allocation in view"),
            (&["←", "→"], "Pin the one allocated before or after it"),
            (&["↑", "↓"], "Pin the one above or below it; with Shift, the next larger or smaller one"),
            (&["K"], "Select all allocations of its stack"),
            (&["N"], "Pin the next one of the selection or of its stack; with Shift, the previous one"),
        ],
    ),
    (
        "Allocations",
        &[
            (&["/"], "Search allocations"),
            (&["Enter"], "Go to the next match; with Shift, to the previous match"),
            (&["↑", "↓"], "Select a row of the table"),
        ],
    ),
    (
        "Views below",
        &[
            (&["G"], "Flame graph"),
            (&["L"], "Allocations"),
            (&["V"], "Events"),
            (&["C"], "Source"),
            (&["M"], "Segments"),
            (&["I"], "What if"),
            (&["R"], "Compare"),
            (&["J"], "Logs"),
            (&["F"], "Maximize the view, or return to the timeline"),
        ],
    ),
    (
        "Pointer",
        &[
            (&["Wheel"], "Zoom the trace around the pointer"),
            (&["Ctrl", "Wheel"], "Zoom vertically"),
            (&["Shift", "Wheel"], "Pan"),
            (&["Drag"], "Pan in both directions"),
            (&["Click"], "Pin an allocation, or zoom in on a step"),
            (&["Double-click"], "Zoom in on an allocation"),
        ],
    ),
    (
        "Files",
        &[
            (&["O"], "Open snapshots"),
            (&["1", "9"], "Show an open file by its number"),
            (&["[", "]"], "Show the previous or next device"),
            (&["?"], "Show or hide this list"),
        ],
    ),
];

pub fn help_dialog(on_close: &Callback<()>) -> Html {
    let line = |(keys, text): &(&[&'static str], &'static str)| {
        html! {
            <div class="key-line">
                <dt>{ for keys.iter().map(|key| html! { <kbd>{ *key }</kbd> }) }</dt>
                <dd>{ *text }</dd>
            </div>
        }
    };
    let topic = |(title, lines): &Topic| {
        html! { <section><h3>{ *title }</h3><dl>{ for lines.iter().map(line) }</dl></section> }
    };
    html! {
        <Dialog id="keys-title" title="Keyboard shortcuts" {on_close}>
            <div class="key-groups">{ for KEYS.iter().map(topic) }</div>
        </Dialog>
    }
}

#[cfg(test)]
mod tests {
    use super::KEYS;
    use crate::state::{DockTab, dock_key};

    #[test]
    fn each_view_below_is_listed_with_its_key() {
        let views = KEYS.iter().find(|group| group.0 == "Views below").unwrap();
        let keys: Vec<_> = views.1.iter().map(|(keys, _)| keys[0].to_lowercase()).collect();
        assert!(DockTab::ALL.into_iter().all(|tab| keys.iter().any(|key| key == dock_key(tab))), "{keys:?}");
    }
}
