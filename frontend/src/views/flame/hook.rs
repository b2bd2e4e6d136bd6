//! Hooks for flame graphs and tables of call sites, and what a graph's canvas gets and reports.

use super::model::BoxText;
use crate::ask::{FlameBoxes, FlameSites, FlameSource, FlameTree, GetBoxes, GetSites, NameMark};
use crate::hooks::{use_answer, use_subject};
use crate::state::{Rootward, Zoom};
use std::rc::Rc;
use yew::prelude::*;

/// Answer, or an error message if the filter's text is invalid.
pub type Readable<T> = Rc<Result<Rc<T>, String>>;

/// Returns the boxes of a tree within a range, together with the tree.
///
/// The previous answer stays until the new one arrives.
#[hook]
pub fn use_flame_boxes(
    tree: &FlameTree,
    range: Option<(f64, f64)>,
    search: &str,
) -> Option<Readable<(FlameTree, FlameBoxes)>> {
    let (client, device) = use_subject();
    let asked = (client, device, tree.clone(), range, search.to_owned());
    use_answer(asked, |(client, device, tree, range, search)| async move {
        let boxes = client.ask(GetBoxes { device, tree: tree.clone(), range, search }).await?;
        Ok(boxes.map(|boxes| Rc::new((tree, boxes))))
    })
}

/// Returns all call sites of some stacks.
///
/// The previous answer stays until the new one arrives.
#[hook]
pub fn use_flame_sites(source: &FlameSource) -> Option<Readable<FlameSites>> {
    let (client, device) = use_subject();
    use_answer((client, device, source.clone()), |(client, device, source)| async move {
        Ok(client.ask(GetSites { device, source }).await?.map(Rc::new))
    })
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chosen {
    pub(super) tree: FlameTree,
    /// Number of the box's node; `None` if the box merges several nodes.
    pub(super) node: Option<u32>,
    /// Mark of the box's site; `None` if the box is not a site.
    pub(super) site: Option<NameMark>,
    pub(super) text: BoxText,
}

/// Outcome of a request for boxes, as texts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Told {
    /// Summary of what the search finds.
    pub(super) found: Option<AttrValue>,
    pub(super) error: Option<AttrValue>,
}

#[derive(Clone, PartialEq, Properties)]
pub(super) struct FlameCanvasProps {
    pub(super) tree: FlameTree,
    /// Search text, empty if nothing is searched.
    pub(super) search: AttrValue,
    /// Mark of the line or function whose boxes are outlined, because its allocations are selected.
    #[prop_or_default]
    pub(super) outlined: Option<NameMark>,
    /// Direction in which the root lies.
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
