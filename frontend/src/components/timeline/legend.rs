//! What the lines and patterns of the timeline mean.

use super::shown::theme_of;
use crate::{
    draw::{color::Color, shade, theme::Theme},
    state::Scheme,
};
use yew::prelude::*;

/// Whose colours the legend shows, and which of its entries.
#[derive(Clone, Debug, PartialEq, Properties)]
pub(super) struct LegendProps {
    /// Light or dark.
    pub(super) scheme: Scheme,
    /// Whether there is memory from before the trace.
    pub(super) has_initial: bool,
}

/// A line of keys; SVG attributes carry the colours, since the page's policy forbids inline styles.
#[component]
pub(super) fn Legend(props: &LegendProps) -> Html {
    let theme = theme_of(props.scheme);
    html! {
        <ul class="timeline-legend" aria-label="Legend">
            <li>{line(theme.live)}{"live"}</li>
            <li>{line(theme.reserved)}{"reserved"}</li>
            <li title="Neighbours too small to draw one by one, in the colour of most of their bytes">{merged(theme)}{"merged small ones"}</li>
            if props.has_initial {
                <li title="Allocated before the recording began">{initial(theme)}{"from before the trace"}</li>
            }
        </ul>
    }
}

fn line(color: Color) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true">
            <rect x="0" y="4" width="18" height="2" fill={color.css()} />
        </svg>
    }
}

fn merged(theme: &Theme) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true">
            { for [0u32, 1, 2].map(|number| {
                let (y, fill) = ((number * 10) as f64 / 3.0, shade::merged_fill(number, theme).css());
                html! { <rect y={y.to_string()} width="18" height="3.4" fill={fill} /> }
            }) }
        </svg>
    }
}

fn initial(theme: &Theme) -> Html {
    html! {
        <svg class="timeline-key" viewBox="0 0 18 10" aria-hidden="true">
            <rect width="18" height="10" fill={theme.initial.css()} />
            { for [-6, 2, 10].map(|x| html! {
                <path d={format!("M{x} 10 L{} 0", x + 10)} stroke={theme.initial_hatch.css()} stroke-width="2" fill="none" />
            }) }
        </svg>
    }
}
