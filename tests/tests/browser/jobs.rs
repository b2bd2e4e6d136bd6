//! Tests the pages of jobs, from a config of the gallery to a recording in the viewer.

use std::ops::Deref;

use serde_json::json;
use server::config::SettingsArgs;
use testkit::browser::Browser;
use testkit::server::{Server, built_page};

use crate::journey::SELECT_ALL;

/// Model whose recording runs until it is cancelled.
const LONG: &str = "name = \"long\"\nsteps = 4000\nbatch = 1\nsequence = 64\n[model]\npreset = \"gpt2\"\nlayers = 2\n";

#[test]
fn a_private_server_lets_a_browser_in_once() {
    let settings = SettingsArgs { private: Some(true), token: Some("secret".to_owned()), ..SettingsArgs::default() };
    let page = Recording::start("/jobs", settings);
    assert_eq!(page.text("h1"), "Log in to this server");
    let log_in = |token: &str| {
        page.run("document.querySelector('#token').value = arguments[0];", vec![json!(token)]);
        page.click_text("button", "Log in");
    };
    log_in("wrong");
    page.wait_for_text("[role=alert]", "not the server's token");
    page.screenshot("login-wrong");
    log_in("secret");
    // The session allows reading and writing; the token is not asked for again.
    page.wait_for_text("main", "No jobs yet");
    page.visit("/jobs?new");
    page.wait_for("document.querySelector('textarea') !== null");
    page.write(LONG);
    page.wait_for_text(".problems", "Valid");
    page.click("[data-submit]");
    page.wait_for_state("running");
}

/// Server that records, and a browser on its page.
struct Recording {
    // Order matters: the browser closes before the server stops.
    browser: Browser,
    server: Server,
}

impl Deref for Recording {
    type Target = Browser;

    fn deref(&self) -> &Browser {
        &self.browser
    }
}

impl Recording {
    #[track_caller]
    fn start(path: &str, settings: SettingsArgs) -> Self {
        Self::start_sized(path, settings, (1280, 720))
    }

    #[track_caller]
    fn start_sized(path: &str, settings: SettingsArgs, (width, height): (u32, u32)) -> Self {
        let dist = Some(built_page());
        let server = Server::with(SettingsArgs { dist, jobs: Some("virtual=1".to_owned()), ..settings });
        let browser = Browser::open_sized(&server.url(path), width, height);
        let page = Self { browser, server };
        page.wait_for("document.querySelector('main h1') !== null");
        page
    }

    #[track_caller]
    fn visit(&self, path: &str) {
        self.goto(&self.server.url(path));
    }

    /// Replaces the text of the editor, as typing does.
    #[track_caller]
    fn write(&self, text: &str) {
        let script = "
            const field = document.querySelector('textarea');
            field.value = arguments[0];
            field.dispatchEvent(new InputEvent('input', { bubbles: true }));";
        self.run(script, vec![json!(text)]);
    }

    #[track_caller]
    fn wait_for_text(&self, selector: &str, part: &str) {
        self.wait_for(&format!("document.querySelector({selector:?})?.innerText.includes({part:?})"));
    }

    #[track_caller]
    fn config(&self) -> String {
        self.value("document.querySelector('textarea').value").as_str().expect("a text").to_owned()
    }

    /// Sets a field of the form, as a user does.
    #[track_caller]
    fn set(&self, key: &str, value: &str) {
        let script = "
            const field = document.querySelector(`[data-key='${arguments[0]}']`);
            field.value = arguments[1];
            field.dispatchEvent(new Event(field.tagName === 'SELECT' ? 'change' : 'input', { bubbles: true }));";
        self.run(script, vec![json!(key), json!(value)]);
    }

    /// Returns a figure by its label.
    #[track_caller]
    fn figure(&self, label: &str) -> String {
        let names = "[...document.querySelectorAll('.numbers-row dt, .figures dt')]";
        let value = format!("{names}.find(it => it.textContent === {label:?})?.nextElementSibling.textContent");
        self.value(&value).as_str().expect("a figure").to_owned()
    }

    #[track_caller]
    fn wait_for_state(&self, state: &str) {
        self.wait_for(&format!("document.querySelector('main')?.dataset.state === {state:?}"));
    }
}

#[test]
fn a_config_of_the_gallery_becomes_a_recording() {
    let page = Recording::start("/jobs", SettingsArgs::default());
    page.wait_for("document.querySelectorAll('[data-config]').length > 20");
    assert!(page.text(".jobs, .empty").contains("No jobs yet"));
    page.wait_for("document.querySelector('[data-config=keep-losses] .thumb-live').getAttribute('d').length > 100");

    page.click("[data-config=keep-losses] a");
    page.wait_for("document.querySelector('textarea')?.value.includes('keep_losses')");
    page.wait_for_text(".problems", "Valid");
    page.click("[data-submit]");

    page.wait_for("location.pathname.startsWith('/jobs/')");
    page.wait_for("document.querySelector('[data-samples]')?.dataset.samples > 1");
    page.wait_for_state("finished");
    assert!(page.text(".numbers-row").contains("Peak reserved"), "{}", page.text(".numbers-row"));
    page.screenshot("job-finished");
    let id = page.value("location.pathname.split('/').pop()");
    let link = page.value("document.querySelector('[data-open]').getAttribute('href')");
    let expected = page.server.url(&format!("/?job={}", id.as_str().expect("an id")));
    assert_eq!(link, json!(expected));
    page.check_console();

    page.visit("/jobs");
    page.wait_for_text(".jobs", "Finished");
    assert!(page.text(".jobs").contains("Losses kept"), "{}", page.text(".jobs"));
}

#[test]
fn a_running_job_is_watched_and_cancelled() {
    let page = Recording::start("/jobs?new", SettingsArgs::default());
    page.write(LONG);
    page.wait_for_text(".problems", "Valid");
    page.click("[data-submit]");
    page.wait_for_state("running");
    // It can be cancelled as soon as it is shown as running.
    page.click("[data-cancel]");
    page.wait_for("document.querySelector('dialog')?.open");
    page.click_text("button", "Let it run");
    page.wait_for("document.querySelector('dialog') === null");
    // The curve grows during the recording.
    page.wait_for("+document.querySelector('[data-samples]')?.dataset.samples > 5");
    let before = page.value("+document.querySelector('[data-samples]').dataset.samples").as_f64().expect("a number");
    page.wait_for(&format!("+document.querySelector('[data-samples]').dataset.samples > {before}"));
    page.wait_for_text(".job-place", "of 4,000");
    page.screenshot("job-running");

    page.click("[data-cancel]");
    page.wait_for("document.querySelector('dialog')?.open");
    page.click("[data-confirm]");
    page.wait_for_state("cancelled");
    assert_eq!(page.value("document.querySelector('[data-open]')"), json!(null));

    // The new form has the config of the job.
    page.click_text("a", "Run again with");
    page.wait_for("document.querySelector('textarea')?.value.includes('name = \"long\"')");
    page.check_console();
}

/// Batch that does not fit on a small card.
const TOO_LARGE: &str = "name = \"too large\"\nbatch = 4096\nsequence = 64\nsteps = 2\ncard = \"t4-16gb\"\n\
    [model]\npreset = \"gpt2\"\nlayers = 8\n";

#[test]
fn a_finished_job_tells_one_story() {
    let page = Recording::start("/jobs?new", SettingsArgs::default());
    page.write(TOO_LARGE);
    page.wait_for_text(".problems", "Valid");
    page.click("[data-submit]");
    page.wait_for_state("finished");
    page.wait_for("document.querySelector('main').dataset.outcome === 'out-of-memory'");
    assert!(page.text(".page-title").contains("Out of memory"), "{}", page.text(".page-title"));
    // The chart is that of the snapshot: its peaks are the figures of the job, to the byte.
    page.wait_for_text(".legend", "From the snapshot");
    let id = page.value("location.pathname.split('/').pop()").as_str().expect("an id").to_owned();
    let job = page.server.get(&format!("/api/v1/jobs/{id}"), &[]).json();
    let drawn = |name: &str| page.value(&format!("+document.querySelector('[data-samples]').dataset.{name}"));
    assert_eq!(drawn("peakLive"), job["result"]["peak_live_bytes"]);
    assert_eq!(drawn("peakReserved"), job["result"]["peak_reserved_bytes"]);
    page.screenshot("job-out-of-memory");

    page.click("[data-rename]");
    // The field has the focus once the dialog is open.
    page.wait_for("document.activeElement?.matches('[data-name]') ?? false");
    page.press(SELECT_ALL);
    page.press("far too large\u{e007}");
    page.wait_for_text(".page-title", "far too large");
    page.wait_for("document.title.startsWith('far too large')");

    // The list has the same words and figures.
    let (peak, took) = (page.figure("Peak live"), page.figure("Duration"));
    page.visit("/jobs");
    page.wait_for_text(".jobs", "far too large");
    let line = page.text(".jobs .job-link");
    for part in ["Out of memory", &took, &format!("Peak live {peak}")] {
        assert!(line.contains(part), "{part:?} in {line:?}");
    }

    // The viewer shows the name, the figures and the card.
    page.visit(&format!("/?job={id}"));
    page.wait_for("document.title.includes('far too large')");
    page.wait_for("document.querySelector('.figures dt') !== null");
    assert_eq!(page.figure("Peak live"), peak);
    let chosen = "[...document.querySelectorAll('select')].map(it => it.selectedOptions[0]?.text ?? '')";
    page.wait_for(&format!("{chosen}.some(text => text.startsWith('t4-16gb'))"));
    page.check_console();

    page.visit(&format!("/jobs/{id}"));
    page.wait_for_state("finished");
    page.click("[data-delete]");
    page.wait_for("document.querySelector('dialog')?.open");
    page.screenshot("job-delete");
    page.click_text("button", "Keep it");
    page.wait_for("document.querySelector('dialog') === null");
    page.click("[data-delete]");
    page.wait_for("document.querySelector('dialog')?.open");
    page.click("[data-confirm]");
    page.wait_for("location.pathname === '/jobs'");
    page.wait_for_text(".empty", "No jobs yet");
    assert_eq!(page.server.get(&format!("/api/v1/jobs/{id}"), &[]).status, 404);
    page.check_console();
}

#[test]
fn form_and_text_change_each_other() {
    let page = Recording::start("/jobs?new", SettingsArgs::default());
    page.write("# mine\nmodel = \"gpt2\"\nbatch = 2 # small\n");
    page.wait_for("document.querySelector('[data-key=batch]').value === '2'");
    page.set("batch", "8");
    page.set("optimizer.kind", "sgd");
    page.set("card", "t4-16gb");
    page.wait_for("document.querySelector('textarea').value.includes('t4-16gb')");
    assert_eq!(page.config(), "# mine\nmodel = \"gpt2\"\nbatch = 8 # small\noptimizer = \"sgd\"\ncard = \"t4-16gb\"\n");

    page.write("model = \"gpt2\"\n\nbatch = 0\n");
    page.wait_for_text(".problems", "Line 3:1 · batch");
    assert_eq!(page.value("[...document.querySelectorAll('.line.wrong')].map(line => line.textContent)"), json!(["3"]));
    assert_eq!(page.value("document.querySelector('[data-submit]').disabled"), json!(true));
    page.check_console();
}

#[test]
fn a_config_of_hugging_face_is_dropped() {
    let page = Recording::start("/jobs?new", SettingsArgs::default());
    let config = br#"{"model_type": "gpt2", "n_layer": 6, "task_specific_params": {}}"#;
    page.drop_file("config.json", config);
    page.wait_for("document.querySelector('textarea').value.includes('layers = 6')");
    let notes = page.value("[...document.querySelectorAll('.key-note')].map(note => note.textContent).join('|')");
    assert!(notes.as_str().expect("a text").contains("task_specific_params"), "{notes}");
    page.drop_file("training_args.json", br#"{"per_device_train_batch_size": 16}"#);
    page.wait_for("document.querySelector('textarea').value.includes('batch = 16')");
    page.check_console();
}

#[test]
fn the_token_is_asked_for_once() {
    let settings = SettingsArgs { token: Some("a token that is long enough".to_owned()), ..SettingsArgs::default() };
    let page = Recording::start("/jobs?new", settings);
    page.write("steps = 2\n[model]\nfamily = \"mlp\"\ninput = 64\nhidden = [128]\nclasses = 10\n");
    page.wait_for_text(".problems", "Valid");
    page.click("[data-submit]");
    page.wait_for("document.querySelector('dialog')?.open");
    page.press("a token that is long enough\u{e007}");
    page.wait_for_state("finished");
    page.check_console();
}

#[test]
fn the_pages_fit_on_a_phone() {
    let page = Recording::start_sized("/jobs", SettingsArgs::default(), (375, 812));
    page.wait_for("document.querySelectorAll('[data-config]').length > 20");
    for path in ["/jobs", "/jobs?new"] {
        page.visit(path);
        page.wait_for("document.querySelector('main h1') !== null");
        let overhang = page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overhang, 0, "{path}");
    }
}
