//! The drawing of a view as a file.

use super::DockProps;
use crate::components::export_button::{ExportButton, Making};
use crate::components::timeline::theme_of;
use crate::draw::svg::{Sketch, svg};
use crate::platform::{png_of, text_blob};
use crate::state::DockTab;
use crate::view::export::file_name;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use yew::prelude::*;

/// Pixels of a PNG for each of the picture's own.
const PNG_SCALE: f64 = 2.0;

/// What the elements of a view have drawn last, from top to bottom: a saved picture is what is on the screen.
#[derive(Clone, Debug, Default)]
pub(super) struct Easel {
    sketches: Rc<RefCell<BTreeMap<u8, Sketch>>>,
}

impl PartialEq for Easel {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.sketches, &other.sketches)
    }
}

impl Easel {
    /// Keeps what an element has drawn.
    pub(super) fn put(&self, place: u8, sketch: Sketch) {
        self.sketches.borrow_mut().insert(place, sketch);
    }

    /// Forgets an element that is gone.
    pub(super) fn clear(&self, place: u8) {
        self.sketches.borrow_mut().remove(&place);
    }
}

/// The easel of the dock around a view.
///
/// # Panics
/// Outside of the dock, which provides it.
#[hook]
pub(super) fn use_easel() -> Easel {
    use_context().expect("the dock provides an easel")
}

/// Buttons that save what a view draws as SVG and as PNG; nothing for a view that is a table or a form.
pub(super) fn picture_buttons(tab: DockTab, props: &DockProps, easel: &Easel) -> Html {
    let (what, ending) = match tab {
        DockTab::Flame if props.file.choices.stacks.controls.is_table => ("Sandwich", "-sandwich"),
        DockTab::Flame => ("Flame graph", "-flame-graph"),
        DockTab::Segments => ("Segments", "-segments"),
        DockTab::WhatIf => ("What if", "-what-if"),
        DockTab::Compare if !props.are_ranks => ("Comparison", "-comparison"),
        DockTab::Compare | DockTab::Allocations => return Html::default(),
    };
    let file = props.file_name();
    let button = |label: &'static str, title: &'static str, is_pixels: bool| {
        let (easel, scheme, heading) = (easel.clone(), props.scheme, format!("{file} · {what}"));
        let make = Callback::from(move |()| -> Making {
            let document = {
                let sketches = easel.sketches.borrow();
                (!sketches.is_empty()).then(|| svg(&heading, sketches.values(), theme_of(scheme)))
            };
            Box::pin(async move {
                let document = document.ok_or_else(|| "nothing is drawn here".to_owned())?;
                let file = text_blob(&document, "image/svg+xml").map_err(|_| "no room".to_owned())?;
                match is_pixels {
                    false => Ok(file),
                    true => png_of(&file, PNG_SCALE).await.map_err(|_| "the browser can’t draw it".to_owned()),
                }
            })
        });
        let name = file_name(&file, false, &format!("{ending}.{}", if is_pixels { "png" } else { "svg" }));
        html! { <ExportButton key={format!("{ending}{label}")} {label} {title} {name} {make} /> }
    };
    html! {
        <>
            { button("SVG", "Save the drawing as SVG", false) }
            { button("PNG", "Save the drawing as PNG", true) }
        </>
    }
}
