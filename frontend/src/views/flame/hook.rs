//! Hooks for flame graphs and tables of call sites.

use crate::ask::{FlameBoxes, FlameSites, FlameSource, FlameTree, GetBoxes, GetSites};
use crate::hooks::{use_answer, use_subject};
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
