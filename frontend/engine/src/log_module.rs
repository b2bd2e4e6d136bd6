//! Reads logs by a module of its own, which is loaded for the first file that is no snapshot.

use js_sys::{ArrayBuffer, Function, Promise};
use logs::ReadsLogs;
use std::cell::OnceCell;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;

#[wasm_bindgen]
extern "C" {
    type LogModule;

    #[wasm_bindgen(method)]
    fn is_log(this: &LogModule, head: &[u8]) -> bool;

    #[wasm_bindgen(method)]
    fn begin_log(this: &LogModule) -> LogFile;

    /// Log in the memory of its module.
    #[derive(Debug)]
    pub(crate) type LogFile;

    #[wasm_bindgen(method)]
    fn push(this: &LogFile, bytes: &[u8]);

    #[wasm_bindgen(method, catch)]
    fn finish(this: &LogFile) -> Result<ArrayBuffer, JsValue>;
}

thread_local! {
    static MODULE: OnceCell<LogModule> = const { OnceCell::new() };
}

/// Loads the module by the worker's function for it, unless it is there.
///
/// # Errors
/// Returns the browser's error if the module can't be loaded.
pub(crate) async fn load(by: &Function) -> Result<(), JsValue> {
    if MODULE.with(|module| module.get().is_none()) {
        let loading: Promise = by.call0(&JsValue::NULL)?.unchecked_into();
        let loaded = JsFuture::from(loading).await?;
        MODULE.with(|module| drop(module.set(loaded.unchecked_into())));
    }
    Ok(())
}

fn with_module<T>(work: impl FnOnce(&LogModule) -> T) -> T {
    MODULE.with(|module| work(module.get().expect("the module is loaded for whatever is no snapshot")))
}

impl Default for LogFile {
    fn default() -> Self {
        with_module(LogModule::begin_log)
    }
}

impl ReadsLogs for LogFile {
    /// Report for the page.
    type Log = ArrayBuffer;

    fn is_log(head: &[u8]) -> bool {
        with_module(|module| module.is_log(head))
    }

    fn push(&mut self, bytes: &[u8]) {
        Self::push(self, bytes);
    }

    fn finish(self) -> Result<ArrayBuffer, (String, String)> {
        Self::finish(&self).map_err(|told| {
            let told: js_sys::Array = told.unchecked_into();
            let at = |index| told.get(index).as_string().unwrap_or_default();
            (at(0), at(1))
        })
    }
}
