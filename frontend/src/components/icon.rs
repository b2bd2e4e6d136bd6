//! Line icons of 16 pixels, in the colour of the surrounding text.

use yew::prelude::*;

/// Defines the icons by use, each with its drawing, which a comment describes.
macro_rules! icons {
    ($($name:ident => $path:literal,)+) => {
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum IconName {
            $($name),+
        }

        impl IconName {
            fn path(self) -> &'static str {
                match self {
                    $(Self::$name => $path),+
                }
            }
        }
    };
}

icons! {
    // A folder.
    Open => "M2 4.5A1.5 1.5 0 0 1 3.5 3h2.6l1.6 1.8h4.8A1.5 1.5 0 0 1 14 6.3v5.2a1.5 1.5 0 0 1-1.5 1.5h-9A1.5 1.5 0 0 1 2 11.5z",
    Close => "M4.5 4.5l7 7M11.5 4.5l-7 7", // a cross
    System => "M2.5 3.5h11v7h-11zM6 13.5h4M8 10.5v3", // a screen
    // A sun.
    Light => "M8 5.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6zM8 1.5v1.4M8 13.1v1.4M1.5 8h1.4M13.1 8h1.4M3.4 3.4l1 1M11.6 11.6l1 1M12.6 3.4l-1 1M4.4 11.6l-1 1",
    Dark => "M13.5 9.6A5.8 5.8 0 0 1 6.4 2.5a5.8 5.8 0 1 0 7.1 7.1z", // a moon
    // A question mark.
    Help => "M5.9 6.2a2.1 2.1 0 1 1 2.9 2c-.6.3-.8.6-.8 1.3M8 11.9v.1M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8z",
    Copy => "M5.5 5.5h8v8h-8zM10.5 5.5v-3h-8v8h3", // two sheets
    Done => "M3 8.5l3.2 3.2L13 4.8", // a tick
    Error => "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM8 4.8v4M8 11v.1", // a circle with a mark
    Warning => "M8 2.2l6.2 11.3H1.8zM8 6.5v3.2M8 11.5v.1", // a triangle with a mark
    Info => "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM8 7.4v3.8M8 4.9V5", // a circle with an i
    Peak => "M1.8 13l4.4-8.6 2.6 4.7 1.6-2.6L14.2 13z", // a summit
    Fit => "M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3", // four corners
    Private => "M4 7.2h8v6H4zM5.7 7V5.2a2.3 2.3 0 0 1 4.6 0V7", // a padlock
    Pin => "M9.8 2l4.2 4.2-2.4.6-2.3 2.3-.3 3L4 7l3-.3 2.3-2.3zM6.2 9.8L2.5 13.5",
    Drop => "M8 2v7M5 6.2L8 9.2l3-3M2.5 10v3.5h11V10", // an arrow into a tray
    // Three points that are joined.
    Share => "M12 2.2a1.9 1.9 0 1 0 0 3.8 1.9 1.9 0 0 0 0-3.8zM4 6.1a1.9 1.9 0 1 0 0 3.8 1.9 1.9 0 0 0 0-3.8zM12 10a1.9 1.9 0 1 0 0 3.8 1.9 1.9 0 0 0 0-3.8zM5.7 7.1l4.6-2.2M5.7 8.9l4.6 2.2",
    // Two links of a chain.
    Links => "M6.8 9.2a2.6 2.6 0 0 0 3.7 0l2.4-2.4a2.6 2.6 0 0 0-3.7-3.7L8 4.3M9.2 6.8a2.6 2.6 0 0 0-3.7 0L3.1 9.2a2.6 2.6 0 0 0 3.7 3.7L8 11.7",
    Add => "M8 3v10M3 8h10", // a plus
    Again => "M13.2 8a5.2 5.2 0 1 1-1.6-3.8M13.3 2v3h-3", // a circular arrow
    Stop => "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8zM6 6h4v4H6z", // a square in a circle
    Search => "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.3l3.4 3.4", // a looking glass
    Up => "M4 10l4-4 4 4", // an arrow head up
    Down => "M4 6l4 4 4-4", // an arrow head down
    Previous => "M10 3.5L5.5 8l4.5 4.5", // a point to the left
    Next => "M6 3.5L10.5 8L6 12.5", // a point to the right
    Back => "M6.2 3.5L2.8 6.9l3.4 3.4M3 6.9h6.4a3.1 3.1 0 0 1 0 6.2H7", // an arrow that turns back
    Edit => "M3 13l.7-3L10.6 3.1a1.2 1.2 0 0 1 1.7 0l.6.6a1.2 1.2 0 0 1 0 1.7L6 12.3zM9.3 4.4l2.3 2.3", // a pencil
    Delete => "M2.8 4.2h10.4M6 4V2.5h4V4M4.2 4.4l.6 9.1h6.4l.6-9.1M6.7 7v4M9.3 7v4", // a bin with a lid
    Flame => "M8 1.8c.6 2.8 4 4.2 4 7.6a4 4 0 0 1-8 0c0-1.6.8-2.6 1.6-3.6.3 1 .8 1.5 1.4 1.7C6.6 5.6 6.8 3.4 8 1.8z",
    Table => "M2.2 3h11.6v10H2.2zM2.2 6.3h11.6M2.2 9.6h11.6M6.2 3v10", // rows and columns
    List => "M6 4h8M6 8h8M6 12h8M2.6 4h.1M2.6 8h.1M2.6 12h.1", // lines with a point before each
    Bookmark => "M4.5 2.5h7v11L8 10.6l-3.5 2.9z", // a ribbon
    Measure => "M2 5.5h12v5H2zM5 5.5v2M8 5.5v3M11 5.5v2", // a ruler
    Code => "M5.5 4.5L2 8l3.5 3.5M10.5 4.5L14 8l-3.5 3.5", // two angle brackets
    Blocks => "M2 3.2h12v4.4H2zM2 7.6h12V12H2zM9 3.2v4.4M5.5 7.6V12", // blocks of a wall
    // Two sliders.
    Sliders => "M2 5h5M11 5h3M9 3.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6zM2 11h2M8 11h6M6 9.2a1.8 1.8 0 1 0 0 3.6 1.8 1.8 0 0 0 0-3.6z",
    Balance => "M2 5.5h11M10.2 2.7L13 5.5l-2.8 2.8M14 10.5H3M5.8 7.7L3 10.5l2.8 2.8", // two arrows that point apart
    Lines => "M3 3.5h10M3 6.5h10M3 9.5h7M3 12.5h9", // lines of text
}

/// Shows an icon, which is hidden from screen readers, so that a text or label must accompany it.
pub fn icon(name: IconName) -> Html {
    html! {
        <svg class="icon" viewBox="0 0 16 16" width="16" height="16" fill="none" stroke="currentColor"
            stroke-width="1.5" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">
            <path d={name.path()} />
        </svg>
    }
}
