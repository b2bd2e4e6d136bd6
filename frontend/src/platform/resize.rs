//! Observes the size of an element.

use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, ResizeObserver};

/// Observer that calls back whenever an element changes its size, until it is dropped.
#[derive(Debug)]
pub struct ResizeListener {
    observer: ResizeObserver,
    // The closure must live as long as the browser may call it.
    _callback: Closure<dyn FnMut()>,
}

impl ResizeListener {
    /// Starts to observe; `None` if the browser can't.
    pub fn new(element: &Element, callback: impl FnMut() + 'static) -> Option<Self> {
        let callback = Closure::new(callback);
        let observer = ResizeObserver::new(AsRef::<wasm_bindgen::JsValue>::as_ref(&callback).unchecked_ref()).ok()?;
        observer.observe(element);
        Some(Self { observer, _callback: callback })
    }
}

impl Drop for ResizeListener {
    fn drop(&mut self) {
        self.observer.disconnect();
    }
}
