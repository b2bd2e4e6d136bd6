//! Lays out the site: generates the bindings of modules, and decides under which path each file is served.
//!
//! Invariant: equal content has the same path, and changed content has another path.

use crate::files::{Files, INDEX, read_folder};
use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};
use std::ffi::OsStr;
use std::path::Path;
use wasm_bindgen_cli_support::Bindgen;

/// Suffixes of documents: pages, and the manifest for installing the viewer.
const DOCUMENTS: [&str; 2] = [".html", ".webmanifest"];

/// Script that keeps the viewer for visits without a network.
///
/// It stays at the top, because a browser looks for a newer version at the same path.
const SERVICE_WORKER: &str = "sw.js";

/// Suffixes of files that the browser may cache for ever; the others stay at the top under their own names.
const ASSETS: [&str; 6] = ["css", "js", "png", "svg", "wasm", "woff2"];

/// Moves the assets into one folder named by a hash of their content, and updates the references in documents.
///
/// There is one hash over all assets rather than one for each, so that the references among them stay relative and
/// unchanged, and a page never loads a script of one build with a module of another.
///
/// # Errors
///
/// Returns an error if a name occurs on both sides, the index is missing, or a document names no asset or a missing
/// one.
pub(crate) fn assemble(statics: Files, scripts: Files) -> Result<Files> {
    let mut all = statics;
    for (path, bytes) in scripts {
        if all.insert(path.clone(), bytes).is_some() {
            bail!("static/{path} has the name of a generated file");
        }
    }
    let (assets, mut site): (Files, Files) = all.into_iter().partition(|(path, _)| is_asset(path));
    if !site.contains_key(INDEX) {
        bail!("static/{INDEX} is missing");
    }
    let folder = format!("assets/{}", content_hash(&assets));
    let placed: Files = assets.iter().map(|(path, bytes)| (format!("{folder}/{path}"), bytes.clone())).collect();
    for (path, document) in site.iter_mut().filter(|(path, _)| is_document(path)) {
        let text = std::str::from_utf8(document).with_context(|| format!("static/{path} is not UTF-8"))?;
        let linked = link_assets(text, assets.keys(), &folder);
        if linked == text {
            bail!("static/{path} names none of the assets in double quotes");
        }
        // A space-separated list of names is read by scripts, which know the folder.
        let is_missing = |text: &str| match text.contains(' ') {
            true => text.split(' ').any(|name| is_asset(name) && !assets.contains_key(name)),
            false => is_asset(text) && !placed.contains_key(text),
        };
        if let Some(missing) = quoted(&linked).find(|text| is_missing(text)) {
            bail!("static/{path} names {missing}, which is not there");
        }
        *document = linked.into_bytes();
    }
    if let Some(script) = site.remove(SERVICE_WORKER) {
        site.insert(SERVICE_WORKER.to_owned(), with_build(&script, &site, &folder, assets.keys())?);
    }
    site.extend(placed);
    Ok(site)
}

fn is_document(path: &str) -> bool {
    DOCUMENTS.iter().any(|suffix| path.ends_with(suffix))
}

fn is_asset(path: &str) -> bool {
    path != SERVICE_WORKER
        && Path::new(path).extension().and_then(OsStr::to_str).is_some_and(|extension| ASSETS.contains(&extension))
}

/// Returns the texts between double quotes.
fn quoted(document: &str) -> impl Iterator<Item = &str> {
    document.split('"').skip(1).step_by(2)
}

/// Replaces each quoted asset name in a document by its path in `folder`.
fn link_assets<'a>(document: &str, assets: impl Iterator<Item = &'a String>, folder: &str) -> String {
    assets.fold(document.to_owned(), |text, asset| {
        text.replace(&format!("\"{asset}\""), &format!("\"{folder}/{asset}\""))
    })
}

/// Returns a short hash over names and contents, which is the same for the same files on every machine.
fn content_hash(files: &Files) -> String {
    let mut hasher = Sha256::new();
    for (path, bytes) in files {
        for part in [path.as_bytes(), bytes] {
            hasher.update((part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hex(&hasher.finalize()[..8])
}

/// Formats bytes as lower-case hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Runs wasm-bindgen over a compiled module and returns the generated files, which bear the module's name.
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

/// Files outside the assets that are kept offline: the viewer's page, the manifest for installing it, and the sample.
const KEPT: [&str; 3] = [INDEX, "snapscope.webmanifest", "sample.pickle.gz"];

/// Prepends a line to the script that names the folder of assets and every file to keep offline.
///
/// Any change of the page changes that line, which is how a browser notices a new version.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn files(entries: &[(&str, &str)]) -> Files {
        entries.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec())).collect()
    }

    fn statics(script: &str) -> Files {
        files(&[("index.html", "<script src=\"boot.js\"></script>"), ("boot.js", script), ("sample.pickle.gz", "x")])
    }

    #[test]
    fn assets_move_into_a_folder_named_by_their_content() {
        let site = assemble(statics("one"), files(&[("viewer.js", "two")])).unwrap();
        let index = std::str::from_utf8(&site["index.html"]).unwrap();
        let folder =
            index.strip_prefix("<script src=\"").and_then(|rest| rest.strip_suffix("boot.js\"></script>")).unwrap();
        assert_eq!(site[&format!("{folder}boot.js")], b"one");
        assert_eq!(site[&format!("{folder}viewer.js")], b"two");
        assert_eq!(site["sample.pickle.gz"], b"x");
    }

    #[test]
    fn every_document_refers_to_the_folder() {
        let mut statics = statics("one");
        statics.insert("jobs.html".into(), b"<script src=\"boot.js\"></script>".to_vec());
        let site = assemble(statics, Files::new()).unwrap();
        assert_eq!(site["jobs.html"], site["index.html"]);
    }

    #[test]
    fn the_folder_changes_with_the_content() {
        let paths = |script| assemble(statics(script), Files::new()).unwrap().into_keys().collect::<Vec<_>>();
        assert_eq!(paths("one"), paths("one"));
        assert_ne!(paths("one"), paths("other"));
    }

    #[track_caller]
    fn check_refused(index: &str, scripts: &[(&str, &str)], reason: &str) {
        let error = assemble(files(&[("index.html", index), ("boot.js", "")]), files(scripts)).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }

    #[test]
    fn assets_have_one_name_each_and_are_there() {
        check_refused("<p>", &[], "names none of the assets");
        check_refused("<link href=\"style.css\"><script src=\"boot.js\"></script>", &[], "names style.css");
        check_refused("<script src=\"boot.js\"></script>", &[("boot.js", "two")], "boot.js");
    }

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
