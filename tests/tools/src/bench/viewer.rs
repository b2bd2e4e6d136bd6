//! Serves the viewers that can be measured: this project's page and others given by path.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::serving::{Launch, ServeProcess};
use testkit::static_folder::{Answer, StaticFolder, file};

/// Viewer served on this machine.
pub struct Viewer {
    pub name: String,
    pub url: String,
    pub kind: Kind,
    /// False for a page that shows the same whatever the file, so that it is measured with one file only.
    pub reads_files: bool,
    /// Keeps the page served while it is measured, as does `_site`.
    _server: Option<ServeProcess>,
    _site: Option<StaticFolder>,
}

/// Kind of page, which decides where its plot is and how it signals that the plot is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// This project's page, which sets performance marks.
    Own,
    /// PyTorch's own page, `MemoryViz.js`, with an SVG polygon for each allocation.
    Official,
    /// Any page that draws on a canvas or in SVG.
    Page,
}

impl Viewer {
    /// Starts `snapscope` and returns its built page as a viewer.
    pub fn own(snapscope: &Path) -> Self {
        let server = ServeProcess::launch(&Launch { program: Some(snapscope.to_owned()), ..Launch::default() });
        let url = format!("http://{}/", server.address);
        Self {
            name: "snapscope".to_owned(),
            url,
            kind: Kind::Own,
            reads_files: true,
            _server: Some(server),
            _site: None,
        }
    }

    /// Serves a viewer from a page, a folder with an `index.html`, or a folder with PyTorch's `MemoryViz.js`.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no page or a file that it needs is missing.
    pub fn at(name: &str, path: &Path) -> Result<Self, String> {
        let folder = if path.is_file() { path.parent().unwrap_or(path) } else { path }.to_owned();
        let is_official = folder.join("MemoryViz.js").is_file();
        let (kind, answer) = if is_official {
            (Kind::Official, official(folder)?)
        } else if path.is_file() {
            let page = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
            (Kind::Page, with_page(folder, page))
        } else if folder.join("index.html").is_file() {
            (Kind::Page, Box::new(move |path: &str| file(&folder, path)) as Answer)
        } else {
            return Err(format!("{} has neither an index.html nor a MemoryViz.js", path.display()));
        };
        Ok(Self { reads_files: true, ..Self::of(name, kind, answer) })
    }

    /// Serves a page that draws one picture and reads no file: nothing is faster in this browser on this machine.
    pub fn bare() -> Self {
        Self::of("bare", Kind::Page, with_page(PathBuf::new(), include_bytes!("bare.html").to_vec()))
    }

    fn of(name: &str, kind: Kind, answer: Answer) -> Self {
        let site = StaticFolder::answering("/", answer);
        Self { name: name.to_owned(), url: site.url(""), kind, reads_files: false, _server: None, _site: Some(site) }
    }
}

impl Kind {
    /// Returns a JavaScript expression that is true once the timeline is in the page.
    pub fn is_drawn(self) -> &'static str {
        match self {
            // Its mark comes one frame later, when the picture is on the screen.
            Self::Own => "document.querySelector('[data-timeline]')?.dataset.bands > 0",
            Self::Official => "document.querySelectorAll('svg polygon').length > 0",
            Self::Page => {
                "(document.querySelectorAll('svg :is(rect, path, polygon)').length > 100
                || [...document.querySelectorAll('canvas')].some(benchHasColours))"
            }
        }
    }

    /// Returns an expression of the element that receives wheel and pointer events.
    pub fn plot(self) -> &'static str {
        match self {
            Self::Own => "document.querySelector('[data-timeline]')",
            Self::Official => "document.querySelector('svg g[clip-path] rect')",
            Self::Page => "benchLargest('canvas, svg')",
        }
    }

    /// Returns the mark that the page sets once the model is ready, if it sets one.
    pub fn parsed_mark(self) -> Option<&'static str> {
        (self == Self::Own).then_some("snapshot-parsed")
    }
}

fn with_page(folder: PathBuf, page: Vec<u8>) -> Answer {
    Box::new(move |path: &str| if path.is_empty() { Some(page.clone()) } else { file(&folder, path) })
}

/// Serves PyTorch's page as its host does, but with d3 from a local file instead of another host.
fn official(folder: PathBuf) -> Result<Answer, String> {
    const PAGE: &str = "<!doctype html><meta charset=utf-8><script src=d3.min.js></script>\n\
        <body><script type=module src=MemoryViz.js></script>";
    if !folder.join("d3.min.js").is_file() {
        return Err(format!("{} has no d3.min.js: `npm pack d3@7` has it in dist/", folder.display()));
    }
    Ok(Box::new(move |path| match path {
        "" => Some(PAGE.as_bytes().to_vec()),
        "MemoryViz.js" => {
            let script = String::from_utf8(file(&folder, path)?).ok()?;
            Some(with_local_d3(&script).into_bytes())
        }
        _ => file(&folder, path),
    }))
}

/// Replaces imports from other hosts, which are d3 and its parts, by the global `d3`.
fn with_local_d3(script: &str) -> String {
    let line = |line: &str| {
        let imported = line.strip_prefix("import ")?;
        let (names, from) = imported.split_once(" from ")?;
        let names = from.trim_start_matches(['"', '\'']).starts_with("https://").then_some(names)?;
        Some(format!("const {} = globalThis.d3;", names.trim_start_matches("* as ")))
    };
    script.lines().map(|text| line(text).unwrap_or_else(|| text.to_owned()) + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_comes_from_other_hosts_is_taken_from_the_global() {
        let script = "'use strict';\n\
            import * as d3 from \"https://cdn.jsdelivr.net/npm/d3@7/+esm\";\n\
            import {zoom, zoomIdentity} from \"https://cdn.skypack.dev/d3-zoom@1\";\n\
            import {process_alloc_data} from \"./process_alloc_data.js\";\n";
        let local = "'use strict';\nconst d3 = globalThis.d3;\nconst {zoom, zoomIdentity} = globalThis.d3;\n\
            import {process_alloc_data} from \"./process_alloc_data.js\";\n";
        assert_eq!(with_local_d3(script), local);
    }

    #[test]
    fn a_folder_says_what_it_is() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |file: &str| Viewer::at("other", &folder.path().join(file)).map(|viewer| viewer.kind);
        assert!(at("").unwrap_err().contains("neither"));
        fs::write(folder.path().join("index.html"), "<canvas>").expect("room");
        assert_eq!((at(""), at("index.html")), (Ok(Kind::Page), Ok(Kind::Page)));
        fs::write(folder.path().join("MemoryViz.js"), "").expect("room");
        assert!(at("").unwrap_err().contains("d3.min.js"));
        fs::write(folder.path().join("d3.min.js"), "").expect("room");
        assert_eq!((at(""), at("MemoryViz.js")), (Ok(Kind::Official), Ok(Kind::Official)));
    }
}
