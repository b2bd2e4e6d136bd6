//! Animation frames, the browser's settings for drawing them, and sizes of elements.

use super::browser::{bring_into_view, found, mark, media, window};
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, ResizeObserver};

/// Calls back before the next frame is drawn, with its time in milliseconds since the page was opened.
pub fn on_next_frame(callback: impl FnOnce(f64) + 'static) {
    let closure = Closure::once_into_js(callback);
    // It fails only in a window that is about to close.
    let _ = window().request_animation_frame(closure.unchecked_ref());
}

/// Sets a performance mark once the drawing of this frame is on the screen.
///
/// The next frame starts after this one was handed to the compositor, and a task queued behind it runs after that.
pub fn mark_when_presented(name: &'static str) {
    on_next_frame(move |_| {
        gloo_timers::callback::Timeout::new(0, move || mark(name)).forget();
    });
}

/// Scrolls to an element in the frame in which it is first there, within a second, and once more in the next.
///
/// On a busy machine what was just chosen is drawn some frames later, and what is drawn above it moves it.
pub fn bring_into_view_soon(selector: &'static str) {
    try_to_bring(selector, FRAMES_OF_A_SECOND, 2);
}

const FRAMES_OF_A_SECOND: u32 = 60;

fn try_to_bring(selector: &'static str, frames: u32, times: u32) {
    on_next_frame(move |_| {
        let is_there = found(selector).is_some();
        if is_there {
            bring_into_view(selector);
        }
        let times = times - u32::from(is_there);
        if frames > 0 && times > 0 {
            try_to_bring(selector, frames - 1, times);
        }
    });
}

pub fn prefers_reduced_motion() -> bool {
    media("(prefers-reduced-motion: reduce)").is_some_and(|query| query.matches())
}

/// Returns the number of device pixels per CSS pixel.
pub fn pixel_ratio() -> f64 {
    window().device_pixel_ratio().max(0.5)
}

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
