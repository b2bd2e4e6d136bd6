//! Tells the service worker which files the viewer consists of, and remembers the input that a folder was packed from.

use crate::Paths;
use crate::files::{Files, INDEX, read_folder};
use crate::site::hex;
use anyhow::{Context, Result};
use sha2::{Digest, Sha256};
use std::fs;
use std::path::PathBuf;
use std::time::UNIX_EPOCH;

/// Files outside the assets that are kept offline: the viewer's page, the manifest for installing it, and the sample.
const KEPT: [&str; 3] = [INDEX, "snapscope.webmanifest", "sample.pickle.gz"];

/// Prepends a line to the script that names the folder of assets and every file to keep offline.
///
/// Any change of the page changes that line, which is how a browser notices a new version.
///
/// # Errors
///
/// Returns an error if a document is not UTF-8.
pub(crate) fn with_build<'a>(
    script: &[u8],
    site: &Files,
    folder: &str,
    assets: impl Iterator<Item = &'a String>,
) -> Result<Vec<u8>> {
    let (mut by_index, mut by_others) = (String::new(), String::new());
    for (path, document) in site.iter().filter(|(path, _)| path.ends_with(".html")) {
        let text = std::str::from_utf8(document).with_context(|| format!("static/{path} is not UTF-8"))?;
        if path == INDEX { &mut by_index } else { &mut by_others }.push_str(text);
    }
    // Assets that only the job pages use are left out, because those pages need the server.
    let is_of_others = |asset: &str| {
        let module = asset.strip_suffix("_bg.wasm").or(asset.strip_suffix(".js")).unwrap_or(asset);
        let names = [format!("/{asset}\""), format!("data-module=\"{module}\"")];
        let is_in = |text: &str| names.iter().any(|name| text.contains(name));
        is_in(&by_others) && !is_in(&by_index)
    };
    let kept = KEPT.iter().filter(|path| site.contains_key(**path)).map(|path| (*path).to_owned());
    let assets = assets.filter(|asset| !is_of_others(asset)).map(|asset| format!("{folder}/{asset}"));
    let files: Vec<String> = kept.chain(assets).map(|path| format!("{path:?}")).collect();
    let mut told = format!("const BUILD = {{ folder: {folder:?}, files: [{}] }};\n", files.join(", ")).into_bytes();
    told.extend_from_slice(script);
    Ok(told)
}

/// Hash of all input, including this program, and the folder that it belongs to.
pub(crate) struct Stamp {
    hash: String,
    out: PathBuf,
}

impl Stamp {
    /// Hashes the input of a run.
    ///
    /// # Errors
    ///
    /// Returns an error if a path cannot be read.
    pub(crate) fn of(paths: &Paths) -> Result<Self> {
        let mut hasher = Sha256::new();
        // The program is identified by its modification time, because it is many times larger than the page.
        let built = fs::metadata(std::env::current_exe()?)?.modified()?.duration_since(UNIX_EPOCH)?;
        hasher.update(built.as_nanos().to_le_bytes());
        for module in &paths.modules {
            hasher.update(fs::read(module).with_context(|| format!("reading {}", module.display()))?);
        }
        for (path, bytes) in read_folder(&paths.statics)? {
            hasher.update(path);
            hasher.update(bytes);
        }
        Ok(Self { hash: hex(&hasher.finalize()), out: paths.out.clone() })
    }

    /// Returns true if the folder exists and was made from this input.
    pub(crate) fn is_current(&self) -> bool {
        self.out.is_dir() && fs::read_to_string(self.path()).is_ok_and(|hash| hash == self.hash)
    }

    /// Writes the stamp beside the folder, because inside it the stamp would be served.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be written.
    pub(crate) fn save(&self) -> Result<()> {
        fs::write(self.path(), &self.hash).context("writing the stamp")
    }

    fn path(&self) -> PathBuf {
        self.out.with_extension("stamp")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_viewer_is_kept_and_the_jobs_are_not() {
        let files = [
            ("index.html", "<link href=\"assets/1/style.css\"><link href=\"assets/1/viewer.js\">"),
            (
                "jobs.html",
                "<html data-module=\"jobs\"><link href=\"assets/1/style.css\"><link href=\"assets/1/jobs.css\">",
            ),
            ("snapscope.webmanifest", "{\"src\": \"assets/1/icon.png\"}"),
            ("gallery/README.md", "for people"),
        ];
        let site = files.map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec())).into();
        let assets = ["engine_bg.wasm", "icon.png", "jobs.css", "jobs.js", "jobs_bg.wasm", "style.css", "viewer.js"];
        let assets = assets.map(str::to_owned);
        let told = with_build(b"// the script\n", &site, "assets/1", assets.iter()).unwrap();
        assert_eq!(
            std::str::from_utf8(&told).unwrap(),
            "const BUILD = { folder: \"assets/1\", files: [\"index.html\", \"snapscope.webmanifest\", \
             \"assets/1/engine_bg.wasm\", \"assets/1/icon.png\", \"assets/1/style.css\", \"assets/1/viewer.js\"] };\n\
             // the script\n"
        );
    }
}
