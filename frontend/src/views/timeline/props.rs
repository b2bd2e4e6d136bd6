//! Properties of the timeline.

use crate::ask::{Axis, ColorBy, DeviceFigures, Hit, Kind, KindFacts, Parts, Readable};
use crate::draw::camera::View;
use crate::hooks::Seen;
use crate::platform::WorkerClient;
use crate::state::{Issued, PointAction, Scheme};
use crate::views::timeline::draw::flags::Flag;
use std::rc::Rc;
use yew::prelude::*;

#[derive(Clone, PartialEq, Properties)]
pub struct TimelineProps {
    pub client: WorkerClient,
    /// Figures of the shown device.
    pub device: Rc<DeviceFigures>,
    /// Quantity along x.
    pub axis: Axis,
    pub scheme: Scheme,
    /// Property of allocations that colours stand for.
    pub color: ColorBy,
    /// The steps and phases; `None` until they are found.
    pub parts: Option<Rc<Parts>>,
    /// Last command of the page, executed once per number.
    pub command: Option<Issued>,
    /// The pinned allocation and its size in bytes, which are a state of the page so that Esc can clear them.
    pub pinned: Option<(u32, u64)>,
    /// The selected kind, whose allocations keep their colours.
    pub kind: Option<Rc<Kind>>,
    /// Kind of the pinned allocation.
    pub pinned_kind: Option<Rc<Kind>>,
    /// Bookmarks, the chosen event, and the measurement.
    pub flags: Rc<Vec<Flag>>,
    /// Memory of a card to compare with, drawn as a line.
    pub capacity_bytes: Option<u64>,
    /// Part to show first; `None` for the whole trace.
    pub start: Option<View>,
    /// Moment of the bytes in the legend, and true if it is the pin's instead of the peak's.
    pub legend_moment: (u32, bool),
    /// Called with another property for the colours.
    pub on_color: Callback<ColorBy>,
    /// Called when another part comes into view.
    pub on_view: Callback<Seen>,
    /// Called with what is under the pointer, and with `None` when the pointer leaves the plot.
    pub on_hover: Callback<Option<Hit>>,
    /// Totals of the selected kind, once they are known.
    pub kind_facts: Option<Rc<Readable<KindFacts>>>,
    /// Called with a kind to select, and with `None` to select none.
    pub on_kind: Callback<Option<Kind>>,
    /// Called with a clicked allocation, and with `None` for a click on empty space.
    pub on_pin: Callback<Option<Hit>>,
    /// Called with a moment to bookmark or to measure.
    pub on_point: Callback<PointAction>,
}
