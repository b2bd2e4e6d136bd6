//! Reads the clock and formats days.

use js_sys::{Date, Object, Reflect};

/// Language of the page.
const LANGUAGE: &str = "en-GB";

/// Returns the milliseconds since 1970.
pub fn unix_ms() -> i64 {
    Date::now() as i64
}

/// Formats the day of a moment, such as `27 Nov 2026`.
pub fn day_text(unix_ms: i64) -> String {
    let options = Object::new();
    // It fails only for frozen objects.
    let _ = Reflect::set(&options, &"dateStyle".into(), &"medium".into());
    Date::new(&(unix_ms as f64).into()).to_locale_date_string(LANGUAGE, &options).into()
}
