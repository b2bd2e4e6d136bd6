//! The drawing of a view as a file.

use super::DockProps;
use crate::components::export_button::{ExportButton, Making};
use crate::components::timeline::theme_of;
use crate::platform::png_of_canvas;
use crate::state::DockTab;
use crate::view::export::file_name;
use web_sys::Element;
use yew::prelude::*;

/// A button that saves what a view draws as PNG; nothing for a view that is a table or a form.
pub(super) fn picture_button(tab: DockTab, props: &DockProps, dock: &NodeRef) -> Html {
    let ending = match tab {
        DockTab::Flame => "-flame-graph.png",
        DockTab::Segments => "-segments.png",
        DockTab::Allocations | DockTab::WhatIf | DockTab::Compare => return Html::default(),
    };
    let of_file = props.peers.iter().find(|peer| peer.id == props.id);
    let name = file_name(of_file.map_or("", |peer| &peer.name), false, ending);
    let (dock, background) = (dock.clone(), theme_of(props.scheme).background.css());
    let make = Callback::from(move |()| -> Making {
        let (dock, background) = (dock.cast::<Element>(), background.clone());
        Box::pin(async move {
            let nothing = || "nothing is drawn here".to_owned();
            let dock = dock.ok_or_else(nothing)?;
            png_of_canvas(&dock, &background).await.map_err(|_| nothing())
        })
    });
    html! { <ExportButton key={ending} label="PNG" title="Save the drawing as PNG" {name} {make} /> }
}
