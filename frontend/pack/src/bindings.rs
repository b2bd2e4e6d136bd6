//! The JavaScript side of a module, written by wasm-bindgen.

use std::ffi::OsStr;
use std::path::Path;

use anyhow::{Context, Result};
use wasm_bindgen_cli_support::Bindgen;

use crate::site::{Files, read_folder};

/// Runs wasm-bindgen over a compiled module and returns the files it wrote, which have the module's name.
///
/// # Errors
///
/// The module is missing, or was built with another version of wasm-bindgen.
pub(crate) fn generate(module: &Path) -> Result<Files> {
    let name = module.file_stem().and_then(OsStr::to_str).context("a module needs a name")?;
    let folder = tempfile::tempdir()?;
    Bindgen::new()
        .input_path(module)
        .web(true)?
        .out_name(name)
        // The generated script finds the module beside itself.
        .omit_default_module_path(false)
        .typescript(false)
        .remove_name_section(true)
        .remove_producers_section(true)
        .generate(folder.path())
        .with_context(|| format!("wasm-bindgen over {}", module.display()))?;
    read_folder(folder.path())
}
