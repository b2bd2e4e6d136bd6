//! Files that the operating system opens with the installed page.

use super::browser::window;
use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::closure::Closure;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::File;

/// Calls `on_files` for each launch with files, including launches before this call.
///
/// Browsers that cannot install pages have no launch queue, and nothing happens.
pub fn on_launch(on_files: impl Fn(Vec<File>) + Clone + 'static) {
    let consumer: Closure<dyn FnMut(JsValue)> = Closure::new(move |launch: JsValue| {
        let on_files = on_files.clone();
        spawn_local(async move {
            // The handle of a file that was removed meanwhile gives an error.
            let files = files_of(&launch).await.unwrap_or_default();
            if !files.is_empty() {
                on_files(files);
            }
        });
    });
    let listening = || -> Result<(), JsValue> {
        let queue = Reflect::get(&window(), &"launchQueue".into())?;
        method(&queue, "setConsumer")?.call1(&queue, consumer.as_ref()).map(drop)
    };
    if listening().is_ok() {
        // The page listens as long as it is open.
        consumer.forget();
    }
}

async fn files_of(launch: &JsValue) -> Result<Vec<File>, JsValue> {
    let handles: Array = Reflect::get(launch, &"files".into())?.dyn_into()?;
    let mut files = Vec::new();
    for handle in handles.iter() {
        let promise: Promise = method(&handle, "getFile")?.call0(&handle)?.dyn_into()?;
        files.push(JsFuture::from(promise).await?.dyn_into()?);
    }
    Ok(files)
}

fn method(object: &JsValue, name: &str) -> Result<Function, JsValue> {
    Reflect::get(object, &name.into())?.dyn_into()
}
