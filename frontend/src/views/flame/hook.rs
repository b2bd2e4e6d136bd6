//! Hooks for flame graphs and tables of call sites, and what a graph's canvas gets and reports.

use super::model::BoxText;
use crate::ask::{FlameTree, NameMark};
use crate::state::{Rootward, Zoom};
use yew::prelude::*;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) tree: FlameTree,
    /// Number of the box's node; `None` if the box merges several nodes.
    pub(super) node: Option<u32>,
    /// Mark of the box's site; `None` if the box is not a site.
    pub(super) site: Option<NameMark>,
    pub(super) text: BoxText,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    pub(super) found: Option<AttrValue>,
    pub(super) error: Option<AttrValue>,
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FlameCanvasProps {
    pub(super) tree: FlameTree,
    pub(super) search: AttrValue,
    /// Mark of the line or function whose boxes are outlined, because its allocations are selected.
    #[prop_or_default]
    pub(super) outlined: Option<NameMark>,
    pub(super) rootward: Rootward,
    pub(super) label: AttrValue,
    /// Position of this drawing from the top among the drawings of the view.
    #[prop_or_default]
    pub(super) place: u8,
    /// Stored part to show; `None` for the whole graph.
    #[prop_or_default]
    pub(super) zoom: Option<Zoom>,
    #[prop_or_default]
    pub(super) on_zoom: Callback<Option<Zoom>>,
    /// Called when a box is chosen, and with `None` when none is chosen any more.
    pub(super) on_chosen: Callback<Option<Chosen>>,
    #[prop_or_default]
    pub(super) on_told: Callback<Told>,
}
