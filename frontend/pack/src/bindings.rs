//! The JavaScript side of the module, written by wasm-bindgen.

use std::path::Path;

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

use crate::site::{Files, read_folder};

/// The name under which `boot.js` and `worker.js` import the module.
const OUT_NAME: &str = "snapscope";

/// Runs wasm-bindgen over a compiled module and returns the files it wrote.
///
/// # Errors
///
/// The module is missing, or was built with another version of wasm-bindgen.
pub(crate) fn generate(module: &Path) -> Result<Files> {
    let folder = tempfile::tempdir()?;
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .out_name(OUT_NAME)
        // The module lies beside its JavaScript: whoever starts it need not know its name.
        .omit_default_module_path(false)
        // The generated script finds the module beside itself.
        .omit_default_module_path(false)
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder.path())
        .with_context(|| format!("wasm-bindgen over {}", module.display()))?;
    read_folder(folder.path())
}
