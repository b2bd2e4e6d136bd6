//! Tests the pages of jobs, from a config of the gallery to a recording in the viewer.

use std::ops::Deref;

use serde_json::json;
use server::config::SettingsArgs;
use testkit::browser::{Browser, Locator};
use testkit::environment::Environment;
use testkit::server::Server;

use crate::journey::{Quiet, SELECT_ALL};

/// Model whose recording runs until it is cancelled.
const LONG: &str = "name = \"long\"\nsteps = 4000\nbatch = 1\nsequence = 64\n[model]\npreset = \"gpt2\"\nlayers = 2\n";

#[test]
fn a_private_server_lets_a_browser_in_once() {
    let settings = SettingsArgs { private: Some(true), token: Some("secret".to_owned()), ..SettingsArgs::default() };
    let page = Recording::start("/jobs", settings);
    assert_eq!(page.heading("*").text(), "Log in to this server");
    let log_in = |token: &str| {
        page.textbox("Token").write(token);
        page.button("Log in").click();
    };
    page.may_write();
    log_in("wrong");
    page.find("[role=alert]").wait_text("not the server's token");
    page.screenshot("login-wrong");
    log_in("secret");
    // The session allows reading and writing; the token is not asked for again.
    page.jobs().wait_text("No jobs yet");
    page.visit("/jobs?new");
    page.submit(LONG);
    page.wait_for_state("running");
}

struct Recording {
    // Order matters: the browser closes before the server stops.
    browser: Quiet,
    server: Server,
}

impl Deref for Recording {
    type Target = Quiet;

    fn deref(&self) -> &Quiet {
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
        let server = Server::with(SettingsArgs { jobs: Some("virtual=1".to_owned()), ..settings });
        let browser = Quiet::new(Browser::open_sized(&server.url(path), width, height));
        let page = Self { browser, server };
        page.wait_for_page();
        page
    }

    #[track_caller]
    fn wait_for_page(&self) {
        self.find("main h1").wait();
    }

    #[track_caller]
    fn visit(&self, path: &str) {
        self.goto(&self.server.url(path));
    }

    fn editor(&self) -> Locator<'_> {
        self.textbox("Config")
    }

    #[track_caller]
    fn submit(&self, config: &str) {
        self.editor().write(config);
        self.status("Problems").wait_text("Valid");
        self.button("Record").click();
    }

    #[track_caller]
    fn wait_for_config(&self, part: &str) {
        self.editor().wait_until(&format!("it.value.includes({})", json!(part)));
    }

    fn field(&self, key: &str) -> Locator<'_> {
        self.find(&format!("[data-key='{key}']"))
    }

    /// Returns the list of jobs, or what is said in its place.
    fn jobs(&self) -> Locator<'_> {
        self.region("Jobs")
    }

    fn chart(&self) -> Locator<'_> {
        self.role("figure", "*").find("[data-samples]")
    }

    /// Presses a button of the job that asks before it does anything.
    #[track_caller]
    fn ask(&self, button: &str) -> Locator<'_> {
        self.button(button).click();
        self.dialog("*").wait();
        self.dialog("*")
    }

    #[track_caller]
    fn figure(&self, label: &str) -> String {
        let names = self.find("[data-figures] dt");
        let value = names
            .value_of_all(&format!("all.find(it => it.textContent === {label:?})?.nextElementSibling.textContent"));
        value.as_str().expect("a figure").to_owned()
    }

    #[track_caller]
    fn wait_for_state(&self, state: &str) {
        self.find("main").wait_until(&format!("it.dataset.state === {state:?}"));
    }
}

#[test]
fn a_config_of_the_gallery_becomes_a_recording() {
    let page = Recording::start("/jobs", SettingsArgs::default());
    page.find("[data-config]").wait_until_all("all.length > 20");
    page.jobs().wait_text("No jobs yet");
    let config = page.find("[data-config=resnet50-t4]");
    config.img("Memory over the recording*").find("path").wait_until("it.getAttribute('d').length > 100");

    config.link("Edit config*").click();
    page.wait_for_config("resnet50");
    page.status("Problems").wait_text("Valid");
    page.button("Record").click();

    page.wait_for("location.pathname.startsWith('/jobs/')");
    page.chart().wait_until("it.dataset.samples > 1");
    page.wait_for_state("finished");
    let figures = page.find("[data-figures]").text();
    assert!(figures.contains("Peak reserved"), "{figures}");
    page.screenshot("job-finished");
    let id = page.value("location.pathname.split('/').pop()");
    let link = page.link("Open in viewer").attribute("href");
    assert_eq!(link, page.server.url(&format!("/?job={}", id.as_str().expect("an id"))));

    page.visit("/jobs");
    page.jobs().wait_text("Finished");
    assert!(page.jobs().text().contains("ResNet-50"), "{}", page.jobs().text());
}

#[test]
fn the_gallery_opens_recordings_at_once() {
    let page = Recording::start("/jobs", SettingsArgs::default());
    page.find("[data-config]").wait_until_all("all.length > 20");
    // Cards stand below their topics, each with one sentence; the rest is folded.
    page.heading("Memory that grows from step to step").wait();
    let card = page.find("[data-config=novel_lstm_bad]");
    let line = "loss.backward(retain_graph=True)";
    assert!(!card.text().contains(line), "{}", card.text());
    card.find("summary").click();
    card.find("del").wait_text(line);
    page.screenshot("gallery");

    // The recording of a script is stored: the viewer opens without a job.
    card.link("See it*").click();
    page.wait_for("location.search === '?gallery=novel_lstm_bad'");
    page.wait_for("document.title.includes('novel_lstm_bad')");
    page.find("main:not([data-loading]) [data-figures] dt").wait();

    // Nobody has recorded a config yet: the page shows the progress, then the viewer opens.
    page.visit("/jobs");
    page.find("[data-config=resnet50-t4]").link("See it*").click();
    page.wait_for("location.search.startsWith('?job=')");
    page.wait_for("document.title.includes('ResNet-50')");
    let first = page.value("location.search");
    // Back leads to the gallery, and the same recording opens again.
    page.run("history.back()", Vec::new());
    page.find("[data-config=resnet50-t4]").link("See it*").click();
    page.wait_for("location.search.startsWith('?job=')");
    assert_eq!(page.value("location.search"), first);

    page.visit("/jobs");
    page.find("[data-config=novel_lstm_bad]").link("Compare both*").click();
    page.wait_for("location.search.split('gallery=').length === 3");
    page.find("main:not([data-loading]) [data-figures] dt").wait();
    page.tab("Compare").wait_until("it.getAttribute('aria-selected') === 'true'");
    page.screenshot("gallery-compare");
}

/// Model whose recordings take a moment.
const TINY: &str = "name = \"tiny\"\nsteps = 2\ncard = \"custom:1GiB\"\n[model]\nfamily = \"mlp\"\ninput = 4096\n\
    hidden = [8192]\nclasses = 10\n";

/// Model of which a few batches fit the GPU.
const SMALL: &str = "sequence = 1024\nsteps = 2\ncard = \"custom:3GiB\"\n[model]\nfamily = \"transformer\"\n\
    architecture = \"gpt2\"\nlayers = 1\nhidden = 128\nheads = 2\nvocabulary = 50000\n";

#[test]
fn the_largest_batch_is_found() {
    let page = Recording::start("/jobs?new&task=fit", SettingsArgs::default());
    page.editor().write(SMALL);
    page.status("Problems").wait_text("Valid");
    page.button("Find the largest batch").click();
    page.wait_for("location.pathname.startsWith('/jobs/')");
    page.wait_for_state("finished");
    page.find("[data-answer]").wait_text("is the largest that fits");
    page.find("[data-plot] svg").wait();
    let rows = page.region("Recordings").find("tbody tr");
    rows.wait_until_all("all.length > 3");
    page.screenshot("job-fit");

    // A row records its batch by itself.
    page.link("Record batch *").nth(0).click();
    page.wait_for_config("batch = ");
    assert_eq!(page.button("One recording").attribute("aria-pressed"), "true");
    page.visit("/jobs");
    page.jobs().wait_text("fits");
}

#[test]
fn what_makes_a_config_fit_is_told_with_its_lines() {
    let page = Recording::start("/jobs?new&task=fix", SettingsArgs::default());
    page.editor().write(&format!("batch = 16\n{SMALL}"));
    page.status("Problems").wait_text("Valid");
    page.button("Try remedies").click();
    page.wait_for("location.pathname.startsWith('/jobs/')");
    // Some thirty recordings take long on a busy machine; each ends within the time of other waits.
    let mut known = 0;
    let is_finished = "document.querySelector('main')?.dataset.state === 'finished'";
    while page.value(is_finished) != true {
        let count = "+(document.querySelector('[data-recorded]')?.dataset.recorded ?? 0)";
        page.wait_for(&format!("{is_finished} || {count} > {known}"));
        known = page.value(count).as_u64().expect("a count");
    }
    page.find("[data-answer]").wait_text("it fits");
    page.find("[data-lines]").wait_text(" = ");
    page.find("[data-plot] svg").wait();
    page.region("Recordings").find("tbody tr").wait_until_all("all.length > 3");
    page.screenshot("job-fix");
    page.visit("/jobs");
    page.jobs().wait_text("Fits with");
    page.check_console();
}

#[test]
fn a_sweep_is_a_table_and_a_plot() {
    let page = Recording::start("/jobs?new", SettingsArgs::default());
    page.editor().write(TINY);
    page.button("Sweep").click();
    page.wait_for_config("sweep = { batch = \"1..16x2\" }");
    page.field("sweep.batch").write("1,2");
    page.field("sweep.precision").write("fp32,bf16");
    // The card of the config is one of the sweep's, and the table's cards are ticked.
    page.find("[data-card='t4-16gb']").click();
    page.wait_for_config("card = \"custom:1GiB,t4-16gb\"");
    page.button("Record 8 combinations").click();
    page.wait_for_state("finished");
    page.find("[data-answer]").wait_text("Largest batch that fits on custom:1GiB: ");
    let recordings = page.region("Recordings");
    recordings.find("tbody tr").wait_until_all("all.length === 8");
    recordings.find("[data-verdict=fits]").nth(0).wait_text("fits");
    page.find("[data-plot] svg").wait();
    page.find("[data-export='tiny.csv']").wait();
    page.find("[data-export='tiny.md']").wait();
    page.screenshot("job-sweep");

    // A row records its combination by itself.
    page.link("Record card t4-16gb, *").nth(0).click();
    page.wait_for_config("card = \"t4-16gb\"");
    page.wait_for_config("batch = 1");
}

#[test]
fn a_running_job_is_watched_and_cancelled() {
    let page = Recording::start("/jobs?new", SettingsArgs::default());
    page.submit(LONG);
    page.wait_for_state("running");
    // It can be cancelled as soon as it is shown as running.
    page.ask("Cancel").button("Let it run").click();
    page.dialog("*").wait_gone();
    // The curve grows during the recording.
    page.chart().wait_until("+it.dataset.samples > 5");
    let before = page.chart().value("+it.dataset.samples").as_f64().expect("a number");
    page.chart().wait_until(&format!("+it.dataset.samples > {before}"));
    page.find("[data-progress]").wait_text("of 4,000");
    page.screenshot("job-running");

    page.ask("Cancel").button("Cancel the job").click();
    page.wait_for_state("cancelled");
    assert!(!page.link("Open in viewer").is_there());

    // The new form has the config of the job.
    page.link("Run again with…").click();
    page.wait_for_config("name = \"long\"");
}

/// Batch that does not fit on a small card.
const TOO_LARGE: &str = "name = \"too large\"\nbatch = 4096\nsequence = 64\nsteps = 2\ncard = \"t4-16gb\"\n\
    [model]\npreset = \"gpt2\"\nlayers = 8\n";

#[test]
fn a_finished_job_tells_one_story() {
    let page = Recording::start("/jobs?new", SettingsArgs::default());
    page.submit(TOO_LARGE);
    page.wait_for_state("finished");
    page.find("main").wait_until("it.dataset.outcome === 'out-of-memory'");
    let title = page.find("h1");
    assert!(title.text().contains("Out of memory"), "{}", title.text());
    // The chart is that of the snapshot: its peaks are the figures of the job, to the byte.
    page.role("figure", "*").wait_text("From the snapshot");
    let id = page.value("location.pathname.split('/').pop()").as_str().expect("an id").to_owned();
    let job = page.server.get(&format!("/api/v1/jobs/{id}"), &[]).json();
    let drawn = |name: &str| page.chart().value(&format!("+it.dataset.{name}"));
    assert_eq!(drawn("peakLive"), job["result"]["peak_live_bytes"]);
    assert_eq!(drawn("peakReserved"), job["result"]["peak_reserved_bytes"]);
    page.screenshot("job-out-of-memory");

    // The field has the focus once the dialog is open.
    page.ask("Rename").textbox("Name").wait_until("it === document.activeElement");
    page.press(SELECT_ALL);
    page.press("far too large\u{e007}");
    title.wait_text("far too large");
    page.wait_for("document.title.startsWith('far too large')");

    // The list has the same words and figures.
    let (peak, took) = (page.figure("Peak live"), page.figure("Duration"));
    page.visit("/jobs");
    page.jobs().wait_text("far too large");
    let line = page.jobs().find("[data-job]").text();
    for part in ["Out of memory", &took, &format!("Peak live {peak}")] {
        assert!(line.contains(part), "{part:?} in {line:?}");
    }

    // The viewer shows the name, the figures and the card.
    page.visit(&format!("/?job={id}"));
    page.wait_for("document.title.includes('far too large')");
    page.find("main:not([data-loading]) [data-figures] dt").wait();
    assert_eq!(page.figure("Peak live"), peak);
    page.combobox("GPU memory").wait_until("it.selectedOptions[0].text.startsWith('t4-16gb')");

    page.visit(&format!("/jobs/{id}"));
    page.wait_for_state("finished");
    let asked = page.ask("Delete");
    page.screenshot("job-delete");
    asked.button("Keep it").click();
    page.dialog("*").wait_gone();
    page.ask("Delete").button("Delete the job").click();
    page.wait_for("location.pathname === '/jobs'");
    page.jobs().wait_text("No jobs yet");
    assert_eq!(page.server.get(&format!("/api/v1/jobs/{id}"), &[]).status, 404);
}

#[test]
fn form_and_text_change_each_other() {
    let page = Recording::start("/jobs?new", SettingsArgs::default());
    page.editor().write("# mine\nmodel = \"gpt2\"\nbatch = 2 # small\n");
    page.field("batch").wait_until("it.value === '2'");
    page.field("batch").write("8");
    page.field("optimizer.kind").choose_value("sgd");
    page.combobox("GPU").choose_value("t4-16gb");
    page.wait_for_config("t4-16gb");
    let config = "# mine\nmodel = \"gpt2\"\nbatch = 8 # small\noptimizer = \"sgd\"\ncard = \"t4-16gb\"\n";
    assert_eq!(page.editor().value("it.value"), config);

    page.editor().write("model = \"gpt2\"\n\nbatch = 0\n");
    page.status("Problems").wait_text("Line 3:1 · batch");
    assert_eq!(page.find("[data-wrong]").text(), "3");
    assert_eq!(page.button("Record").value("it.disabled"), true);
}

#[test]
fn a_config_of_hugging_face_is_dropped() {
    let page = Recording::start("/jobs?new", SettingsArgs::default());
    let config = br#"{"model_type": "gpt2", "n_layer": 6, "task_specific_params": {}}"#;
    page.drop_file("config.json", config);
    page.wait_for_config("layers = 6");
    // What the file leaves out is named beside the fields.
    page.find("[data-assumed=batch]").wait_text("1 assumed");
    page.find("[data-assumed=precision]").wait_text("fp32 assumed");
    page.find("[data-assumed=card]").wait_text("a100-80gb assumed");
    page.button("* ignored").click();
    page.find("details[open]").wait_text("task_specific_params");
    page.drop_file("training_args.json", br#"{"per_device_train_batch_size": 16}"#);
    page.wait_for_config("batch = 16");
}

#[test]
fn a_script_is_recorded_where_the_operator_allows_that() {
    let page = Recording::start("/jobs?new", SettingsArgs::default());
    page.button("Script").click();
    page.find("main").wait_text("This server runs no scripts: a script is foreign code");
    page.screenshot("job-script-refused");

    let environment = Environment::new();
    let settings = SettingsArgs { scripts: Some(environment.python()), ..SettingsArgs::default() };
    let page = Recording::start("/jobs?new", settings);
    page.drop_file("train.py", b"import torch\nkept = [torch.Block(1 << 26)]\ntorch.optim.SGD().step()\n");
    let script = page.textbox("Script");
    script.wait_until("it.value.includes('torch.Block')");
    page.combobox("GPU").choose_value("t4-16gb");
    page.screenshot("job-script");
    page.button("Record").click();
    page.wait_for_state("finished");
    assert_eq!(page.figure("Peak reserved"), "64.0 MiB");
    page.heading("Script").wait();
    page.screenshot("job-script-finished");
}

#[test]
fn the_token_is_asked_for_once() {
    let settings = SettingsArgs { token: Some("a token that is long enough".to_owned()), ..SettingsArgs::default() };
    let page = Recording::start("/jobs?new", settings);
    page.submit("steps = 2\n[model]\nfamily = \"mlp\"\ninput = 64\nhidden = [128]\nclasses = 10\n");
    page.dialog("Server token").wait();
    page.press("a token that is long enough\u{e007}");
    page.wait_for_state("finished");
}

#[test]
fn the_pages_fit_on_a_phone() {
    let page = Recording::start_sized("/jobs", SettingsArgs::default(), (375, 812));
    page.find("[data-config]").wait_until_all("all.length > 20");
    for path in ["/jobs", "/jobs?new"] {
        page.visit(path);
        page.wait_for_page();
        let overhang = page.value("document.documentElement.scrollWidth - document.documentElement.clientWidth");
        assert_eq!(overhang, 0, "{path}");
    }
}
