//! Tests visits without a network, and new builds of the page.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tempfile::TempDir;
use testkit::server::built_page;
use testkit::static_folder::StaticFolder;

use crate::journey::{Journey, snapshot};

const SNAPSHOT: &str = "virtual-py-resnet50-h100.pickle.gz";

/// Name of the asset folder of a later build.
const NEXT_BUILD: &str = "0123456789abcdef";

/// Expression of the names of the browser's caches for the page.
const CACHES: &str = "caches.keys()";

#[test]
fn a_second_visit_needs_no_network() {
    let mut page = Journey::start("/");
    page.wait_until_kept();
    page.may_write();
    page.end_server();

    page.visit("/");
    page.wait_for_page();
    page.attach(&[&snapshot(SNAPSHOT)]);
    page.wait_for_timeline();
    page.visit("/?sample&theme=dark");
    page.wait_for_page();
    page.wait_for_timeline();
    assert!(page.figures().text().contains("GiB"), "{}", page.figures().text());
}

#[test]
fn only_the_page_is_kept() {
    let page = Journey::with(SNAPSHOT);
    page.wait_until_kept();
    // Answers of the server's API and other pages are not cached.
    page.run("return fetch('/api/v1/limits').then(answer => answer.text())", Vec::new());
    page.run("return fetch('/jobs').then(answer => answer.text())", Vec::new());
    let kept = page.value(
        "(async () => {
            const names = await caches.keys();
            const requests = await Promise.all(names.map(async name => (await caches.open(name)).keys()));
            return requests.flat().map(request => new URL(request.url).pathname);
        })()",
    );
    let kept: Vec<String> = serde_json::from_value(kept).unwrap();
    let is_page = |path: &&String| {
        ["/index.html", "/snapscope.webmanifest", "/sample.pickle.gz"].contains(&path.as_str())
            || path.starts_with("/assets/") && !path.contains("jobs")
    };
    assert_eq!(kept.iter().filter(|path| !is_page(path)).count(), 0, "{kept:?}");
    assert!(kept.iter().any(|path| path.ends_with("/engine_bg.wasm")), "{kept:?}");
}

/// Copy of the built page that a test may change.
struct Copy {
    folder: TempDir,
    build: String,
}

impl Copy {
    fn make() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dist = built_page();
        for name in ["index.html", "jobs.html", "sample.pickle.gz", "snapscope.webmanifest", "sw.js"] {
            fs::copy(dist.join(name), folder.path().join(name)).unwrap();
        }
        let assets = fs::read_dir(dist.join("assets")).unwrap().next().unwrap().unwrap();
        let build = assets.file_name().into_string().unwrap();
        let target = folder.path().join("assets").join(&build);
        fs::create_dir_all(&target).unwrap();
        for asset in fs::read_dir(assets.path()).unwrap() {
            let asset = asset.unwrap();
            fs::copy(asset.path(), target.join(asset.file_name())).unwrap();
        }
        Self { folder, build }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Opens the page from a server of the copy, whose files may go away; returns both.
    #[track_caller]
    fn open(&self) -> (Journey, StaticFolder) {
        let server = StaticFolder::serve(self.path(), "/");
        let page = Journey::at(&server.url(""), "/");
        page.may_write();
        (page, server)
    }

    fn asset(&self, name: &str) -> PathBuf {
        self.path().join("assets").join(&self.build).join(name)
    }

    /// Removes an asset, as if the network failed; the returned function restores it.
    fn lose(&self, name: &str) -> impl FnOnce() + use<> {
        let (asset, away) = (self.asset(name), self.asset(&format!("{name}.away")));
        fs::rename(&asset, &away).unwrap();
        move || fs::rename(away, asset).unwrap()
    }

    /// Turns the copy into another build: renames the asset folder and all references to it, as the packer does.
    fn rebuild(&mut self, build: &str) {
        let assets = self.path().join("assets");
        fs::rename(assets.join(&self.build), assets.join(build)).unwrap();
        for name in ["index.html", "jobs.html", "snapscope.webmanifest", "sw.js"] {
            let file = self.path().join(name);
            let text = fs::read_to_string(&file).unwrap();
            fs::write(&file, text.replace(&self.build, build)).unwrap();
        }
        build.clone_into(&mut self.build);
    }
}

#[track_caller]
fn build_of(page: &Journey) -> String {
    let source = page.value("document.querySelector('script').src.split('/').at(-2)");
    source.as_str().expect("a script").to_owned()
}

/// Waits until the page's build is cached, replaces it by [`NEXT_BUILD`], and returns the name of the old one.
#[track_caller]
fn replaced_build(page: &Journey, copy: &mut Copy) -> String {
    page.wait_until_kept();
    let old = build_of(page);
    copy.rebuild(NEXT_BUILD);
    old
}

#[test]
fn a_new_build_takes_the_place_of_the_old_one() {
    let mut copy = Copy::make();
    let (page, server) = copy.open();
    let old = replaced_build(&page, &mut copy);

    page.visit("/");
    page.wait_for_page();
    assert_ne!(build_of(&page), old);
    page.wait_for(&format!("{CACHES}.then(names => names.length === 1 && names[0].endsWith('{NEXT_BUILD}'))"));
    drop(server);
    page.visit("/?sample");
    page.wait_for_page();
    assert_eq!(build_of(&page), copy.build);
    page.wait_for_timeline();
}

#[test]
fn an_open_page_keeps_its_build() {
    let mut copy = Copy::make();
    let (page, _server) = copy.open();
    let old = replaced_build(&page, &mut copy);
    page.run("return navigator.serviceWorker.getRegistration().then(kept => kept.update()).then(() => 1)", Vec::new());
    page.wait_for(&format!("{CACHES}.then(names => names.some(name => name.endsWith('{NEXT_BUILD}')))"));
    page.wait_until_kept();

    // The server no longer has the files of the old build.
    page.attach(&[&snapshot(SNAPSHOT)]);
    page.wait_for_timeline();
    let kept = page.value(&format!("{CACHES}.then(names => names.some(name => name.endsWith('{old}')))"));
    assert_eq!(kept, Value::Bool(true), "{}", page.value(CACHES));
}

#[test]
fn a_file_waits_for_a_decoder_that_does_not_come() {
    let copy = Copy::make();
    let bring_back = copy.lose("engine_bg.wasm");
    let (page, server) = copy.open();
    page.attach(&[&snapshot(SNAPSHOT)]);
    let alert = page.find("[role=alert]");
    alert.wait();
    let text = alert.text();
    for part in [SNAPSHOT, "decodes files could not be loaded", "Check the connection", "Try again"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    page.screenshot("no-decoder");

    bring_back();
    page.button("Try again").click();
    page.wait_for_timeline();

    // The script that starts the Web Worker can be missing as well.
    fs::remove_file(copy.asset("worker.js")).unwrap();
    let page = Journey::at(&server.url(""), "/");
    page.may_write();
    page.attach(&[&snapshot(SNAPSHOT)]);
    page.find("[role=alert]").wait_text("decodes files could not be loaded");
}

#[test]
fn a_file_waits_for_a_viewer_that_does_not_come() {
    let copy = Copy::make();
    let bring_back = copy.lose("viewer.js");
    let (page, _server) = copy.open();
    page.attach(&[&snapshot(SNAPSHOT)]);
    page.find("[role=alert]").wait_text("The viewer could not be loaded");
    page.screenshot("no-viewer");
    bring_back();
    page.button("Try again").click();
    page.wait_for_timeline();
    assert_eq!(page.files().count(), 1);
}

#[test]
fn the_page_can_be_installed() {
    let page = Journey::start("/");
    let found = page.devtools("Page.getAppManifest", json!({}));
    assert_eq!(found["errors"], json!([]), "{found:#}");
    let url = found["url"].as_str().expect("an address");
    assert!(url.ends_with("/snapscope.webmanifest"), "{url}");
    let manifest: Value = serde_json::from_str(found["data"].as_str().expect("a manifest")).unwrap();
    assert_eq!((&manifest["start_url"], &manifest["scope"]), (&json!("./"), &json!("./")));
    let accepted = &manifest["file_handlers"][0]["accept"];
    let endings: Vec<&Value> =
        accepted.as_object().unwrap().values().flat_map(|endings| endings.as_array().unwrap()).collect();
    for ending in [".pickle", ".pkl", ".gz", ".json"] {
        assert!(endings.contains(&&json!(ending)), "{ending} in {accepted}");
    }
    for icon in manifest["icons"].as_array().expect("icons") {
        let size = page.run(
            "const [source] = arguments;
            const image = new Image();
            image.src = source;
            return image.decode().then(() => `${image.naturalWidth}x${image.naturalHeight}`);",
            vec![icon["src"].clone()],
        );
        assert!(icon["sizes"] == "any" || icon["sizes"] == size, "{icon} is {size}");
    }
    let errors = page.devtools("Page.getInstallabilityErrors", json!({}));
    assert_eq!(errors["installabilityErrors"], json!([]), "{errors:#}");
}

#[test]
fn files_that_the_system_opens_are_opened() {
    let page = Journey::start("/");
    // A script simulates what an installed page receives, because headless Chromium installs none.
    let bytes = fs::read(snapshot(SNAPSHOT)).unwrap();
    page.devtools(
        "Page.addScriptToEvaluateOnNewDocument",
        json!({ "source": "Object.defineProperty(window, 'launchQueue', { value: {
            setConsumer(consumer) { window.launch = consumer; }
        } });" }),
    );
    page.visit("/");
    page.wait_for("typeof window.launch === 'function'");
    let script = "
        const [name, bytes] = arguments;
        const file = new File([new Uint8Array(bytes)], name);
        window.launch({ files: [{ getFile: async () => file }] });
        window.launch({ files: [] });
        window.launch({ files: [{ getFile: () => Promise.reject(new Error('gone')) }] });";
    page.run(script, vec![json!(SNAPSHOT), json!(bytes)]);
    page.wait_for_timeline();
    assert_eq!(page.files().count(), 1);
}
