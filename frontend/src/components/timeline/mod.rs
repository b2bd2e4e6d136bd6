//! The timeline of one device: plot, axes, minimap and what the pointer does on them.

use crate::platform::WorkerClient;
use crate::state::{Issued, Scheme};
use crate::worker::{AxisKind, DeviceFigures, Hit};
use std::rc::Rc;
use yew::prelude::*;

/// What the page gives to the timeline, and what it hears back.
#[derive(Clone, PartialEq, Properties)]
pub struct TimelineProps {
    /// The worker that holds the file.
    pub client: WorkerClient,
    /// The device that is shown.
    pub device: Rc<DeviceFigures>,
    /// What runs along x.
    pub axis: AxisKind,
    /// Light or dark.
    pub scheme: Scheme,
    /// The page's last command, executed once per number.
    pub command: Option<Issued>,
    /// The allocation that is pinned: the page's state, so that Esc can clear it.
    pub pinned: Option<u32>,
    /// What is under the pointer, `None` when it leaves the plot.
    pub on_hover: Callback<Option<Hit>>,
    /// A click on an allocation, or `None` for a click on empty space.
    pub on_pin: Callback<Option<Hit>>,
}

/// The timeline of one device.
#[component]
pub fn Timeline(props: &TimelineProps) -> Html {
    html! { <div class="timeline" data-timeline="" tabindex="0" data-device={props.device.device.to_string()} /> }
}
