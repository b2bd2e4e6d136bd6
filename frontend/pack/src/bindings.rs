//! Generates the JavaScript bindings of a module with wasm-bindgen.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

use crate::files::{Files, read_folder};

/// Runs wasm-bindgen over a compiled module and returns the generated files, which bear the module's name.
///
/// # Errors
///
/// Returns an error if the module is missing or was built with another version of wasm-bindgen.
pub(crate) fn generate(module: &Path) -> Result<Files> {
    let name = module.file_stem().and_then(OsStr::to_str).context("a module needs a name")?;
    let folder = tempfile::tempdir()?;
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .out_name(name)
        // The generated script looks for the module in its own folder.
        .omit_default_module_path(false)
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder.path())
        .with_context(|| format!("wasm-bindgen over {}", module.display()))?;
    read_folder(folder.path())
}
