//! Runs the page that is shown before a file is opened.
//!
//! It is a small WebAssembly module of its own, so that a first visitor sees the page before the viewer is loaded.

use frontend::{pages, platform};
use std::cell::RefCell;
use wasm_bindgen::prelude::wasm_bindgen;

thread_local! {
    static PAGE: RefCell<Option<yew::AppHandle<pages::Home>>> = const { RefCell::new(None) };
}

/// Starts the page in the element `app`; `assets` is the URL of the folder of its scripts.
///
/// `hand_over` is called with an array of files, the name of a dialog or nothing, and the address of a snapshot or
/// nothing; its promise is fulfilled when the viewer has taken the place of this page.
///
/// # Panics
/// Panics if the document has no such element.
#[wasm_bindgen]
pub fn start(assets: &str, hand_over: js_sys::Function) {
    let root = platform::start(assets);
    let props = pages::HomeProps { hand_over: platform::HandOver::new(hand_over) };
    let page = yew::Renderer::<pages::Home>::with_root_and_props(root, props).render();
    PAGE.set(Some(page));
}

/// Ends the page, so that the viewer can take its place.
#[wasm_bindgen]
pub fn leave() {
    if let Some(page) = PAGE.take() {
        page.destroy();
    }
}
