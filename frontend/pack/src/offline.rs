//! Tells the service worker which files the viewer consists of.

use crate::files::{Files, INDEX};
use anyhow::{Context, Result};

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
