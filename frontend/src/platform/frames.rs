//! Animation frames, and the browser's settings for drawing them.

use super::browser::mark;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;

/// Calls back before the next frame is drawn, with its time in milliseconds since the page was opened.
pub fn on_next_frame(callback: impl FnOnce(f64) + 'static) {
    let closure = Closure::once_into_js(callback);
    if let Some(window) = web_sys::window() {
        // It fails only in a window that is about to close.
        let _ = window.request_animation_frame(closure.unchecked_ref());
    }
}

/// Sets a performance mark once the drawing of this frame is on the screen.
///
/// The next frame starts after this one was handed to the compositor, and a task queued behind it runs after that.
pub fn mark_when_presented(name: &'static str) {
    on_next_frame(move |_| {
        gloo_timers::callback::Timeout::new(0, move || mark(name)).forget();
    });
}

/// Returns true if the user prefers less motion.
pub fn prefers_reduced_motion() -> bool {
    web_sys::window()
        .and_then(|window| window.match_media("(prefers-reduced-motion: reduce)").ok().flatten())
        .is_some_and(|query| query.matches())
}

/// Returns the number of device pixels per CSS pixel.
pub fn pixel_ratio() -> f64 {
    web_sys::window().map_or(1.0, |window| window.device_pixel_ratio()).max(0.5)
}
