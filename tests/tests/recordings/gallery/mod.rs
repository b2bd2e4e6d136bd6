//! Records each config of `static/gallery` and checks it against the laws and its stored figures.
//!
//! Each mistake shows in the figures, and its repair does not. `UPDATE=1` rewrites `figures.json` and `README.md`.

mod explain;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::thread;

use serde_json::{Value, json};
use server::recording::repro::{Limits, run};
use shared::analysis::{Timeline, spans};
use shared::base::format;
use shared::job::{Device, Job, Model, RawJob};
use shared::trace::Trace;
use testkit::corpus::Sample;
use testkit::documents::check_file;
use testkit::laws;
use testkit::repro::{Audience, built_recorder};
use testkit::server::root;

use explain::{Confusion, Left};

/// Suffix of the name of a mistake's repair.
const REPAIRED: &str = "-repaired";

/// Points of a curve; twice as many would not fit the picture on a card.
const POINTS: u32 = 48;

/// Heading that a healthy config is listed below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    Decoders,
    Encoders,
    Recurrent,
    Images,
    Diffusion,
    Devices,
}

impl Heading {
    /// All headings in the order of the page.
    const ALL: [(Self, &str); 6] = [
        (Self::Decoders, "Decoder language models"),
        (Self::Encoders, "Encoder language models"),
        (Self::Recurrent, "Recurrent language models"),
        (Self::Images, "Image models"),
        (Self::Diffusion, "Diffusion models"),
        (Self::Devices, "Several devices"),
    ];
}

/// Config of the gallery.
struct Entry {
    name: String,
    text: String,
    job: Job,
}

impl Entry {
    /// Returns the sentences of the comment at its head, one per line.
    fn sentences(&self) -> Vec<&str> {
        self.text.lines().map_while(|line| line.strip_prefix("# ")).collect()
    }

    /// Returns true if batch sizes vary, so that steps may end with more or fewer live bytes.
    fn has_varying_batches(&self) -> bool {
        let sizes = self.job.training_batches();
        sizes.iter().any(|size| *size != sizes[0])
    }

    fn mistakes(&self) -> Vec<String> {
        self.job.to_raw().mistakes.unwrap_or_default()
    }

    /// Returns the heading of a healthy config.
    fn heading(&self) -> Heading {
        match &self.job.model {
            _ if self.job.parallel.is_some() => Heading::Devices,
            Model::Transformer(_) => Heading::Decoders,
            Model::Bert(_) => Heading::Encoders,
            Model::Rnn(_) => Heading::Recurrent,
            Model::Vit(_) | Model::ResNet(_) | Model::Cnn(_) | Model::Mlp(_) => Heading::Images,
            Model::Unet(_) => Heading::Diffusion,
        }
    }

    fn card(&self) -> String {
        match &self.job.device {
            Device::Virtual(cards) => cards.to_string(),
            Device::Cuda(_) => panic!("{}: the gallery runs on any machine", self.name),
        }
    }
}

fn folder() -> PathBuf {
    root().join("static/gallery")
}

/// Returns all configs, sorted by name.
fn entries() -> Vec<Entry> {
    let paths = fs::read_dir(folder()).expect("the gallery").map(|entry| entry.expect("an entry").path());
    let configs = paths.filter(|path| path.extension().is_some_and(|extension| extension == "toml"));
    let entry = |path: PathBuf| {
        let name = path.file_stem().and_then(|name| name.to_str()).expect("a name").to_owned();
        let text = fs::read_to_string(&path).expect("a config");
        let raw = RawJob::from_toml(&text).unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        let job = raw.resolve().unwrap_or_else(|problems| panic!("{name}: {problems:?}"));
        Entry { name, text, job }
    };
    let mut entries: Vec<_> = configs.map(entry).collect();
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    entries
}

/// Returns the mistakes with their repairs.
fn pairs(entries: &[Entry]) -> Vec<(&Entry, &Entry)> {
    let repair = |entry: &Entry| entries.iter().find(|other| other.name == format!("{}{REPAIRED}", entry.name));
    entries.iter().filter_map(|entry| Some((entry, repair(entry)?))).collect()
}

fn healthy(entries: &[Entry]) -> Vec<&Entry> {
    let pairs = pairs(entries);
    let is_of_a_pair = |name: &str| pairs.iter().any(|(mistake, repair)| mistake.name == name || repair.name == name);
    entries.iter().filter(|entry| !is_of_a_pair(&entry.name)).collect()
}

/// Records a config, checks the snapshot against the laws, and returns its figures.
fn record(entry: &Entry) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.pickle");
    let recording = run(built_recorder(), &entry.job, &Limits::default(), &path, &mut Audience::default())
        .unwrap_or_else(|failure| panic!("{}: {failure}: {:?}", entry.name, failure.log_tail));
    assert_eq!(recording.warnings, [""; 0], "{}", entry.name);
    assert_eq!(recording.oom, None, "{}", entry.name);
    let bytes = fs::read(&path).expect("the snapshot");
    let trace = laws::hold(&Sample { name: entry.name.clone(), path, bytes });
    let timeline = Timeline::new(&trace, &trace.devices[0]);
    let outline = timeline.outline(POINTS);
    json!({
        "parameters": entry.job.parameters(),
        "events": recording.events,
        "peak_allocated_bytes": recording.peak_allocated_bytes,
        "peak_reserved_bytes": recording.peak_reserved_bytes,
        "step_end_live_bytes": live_bytes_at_step_ends(&trace, &timeline),
        "live_curve": outline.live_bytes,
        "reserved_curve": outline.reserved_bytes,
        "findings": explain::first_findings(&trace),
        (explain::OPERATIONS): explain::confusion(&trace, Left::Operations),
        (explain::SHAPES): explain::confusion(&trace, Left::Nothing),
    })
}

fn live_bytes_at_step_ends(trace: &Trace, timeline: &Timeline) -> Vec<u64> {
    let device = &trace.devices[0];
    let spans = spans(trace, device).into_iter();
    let steps = spans.filter(|span| trace.strings.get(span.name).starts_with("ProfilerStep#"));
    steps.map(|span| timeline.live_at(span.end_moment)).collect()
}

/// Returns the figures of all configs, recorded two at a time because the smallest machines have two cores.
fn record_all(entries: &[Entry]) -> BTreeMap<String, Value> {
    built_recorder();
    let halves: [Vec<&Entry>; 2] = [0, 1].map(|half| entries.iter().skip(half).step_by(2).collect());
    let record_half =
        |half: &[&Entry]| half.iter().map(|entry| (entry.name.clone(), record(entry))).collect::<Vec<_>>();
    thread::scope(|scope| {
        let workers = halves.each_ref().map(|half| scope.spawn(|| record_half(half)));
        workers.into_iter().flat_map(|worker| worker.join().expect("a recording")).collect()
    })
}

fn written_figures() -> BTreeMap<String, Value> {
    let text = fs::read_to_string(folder().join("figures.json")).expect("figures.json");
    serde_json::from_str(&text).expect("a table of figures")
}

#[test]
fn every_config_has_the_figures_that_are_written_beside_it() {
    let entries = entries();
    let figures = record_all(&entries);
    check_file(
        "static/gallery/figures.json",
        &format!("{}\n", serde_json::to_string_pretty(&figures).expect("numbers")),
    );
    check_file("static/gallery/README.md", &readme(&entries, &figures));
}

#[test]
fn a_config_says_what_to_look_for() {
    let entries = entries();
    for entry in &entries {
        assert_eq!(entry.sentences().len(), 3, "{}", entry.name);
    }
    assert!(pairs(&entries).len() >= 20, "{} pairs", pairs(&entries).len());
    for (heading, _) in Heading::ALL {
        assert!(healthy(&entries).iter().any(|entry| entry.heading() == heading), "{heading:?}");
    }
}

#[test]
fn a_mistake_shows_and_its_repair_does_not() {
    let (entries, figures) = (entries(), written_figures());
    for (mistake, repair) in pairs(&entries) {
        let (bad, good) = (&figures[&mistake.name], &figures[&repair.name]);
        let (bad_ends, good_ends) = (step_ends(bad), step_ends(good));
        let last = good_ends.len() - 1;
        if !repair.has_varying_batches() {
            assert_eq!(good_ends[last], good_ends[1], "{}: the repair keeps nothing", repair.name);
        }
        let is_worse = |key: &str| bad[key].as_u64() > good[key].as_u64();
        // A loss outside of autocast needs less memory; its cost is precision.
        let shows = match mistake.mistakes().iter().any(|name| name == "loss_outside_autocast") {
            true => bad["peak_reserved_bytes"].as_u64() < good["peak_reserved_bytes"].as_u64(),
            false => {
                let figures = ["peak_allocated_bytes", "peak_reserved_bytes", "events"];
                bad_ends[last] > good_ends[last] || figures.into_iter().any(is_worse)
            }
        };
        assert!(shows, "{}: it shows", mistake.name);
        if mistake.has_varying_batches() {
            continue;
        }
        let growths: Vec<_> = bad_ends[1..].windows(2).map(|ends| ends[1] - ends[0]).collect();
        assert!(growths.iter().all(|growth| *growth == growths[0]), "{}: {growths:?}", mistake.name);
    }
}

#[test]
fn each_mistake_is_found_and_no_other_config_leaks() {
    let (entries, figures) = (entries(), written_figures());
    let pairs = pairs(&entries);
    let mistakes: Vec<&str> = pairs.iter().map(|(mistake, _)| mistake.name.as_str()).collect();
    assert_eq!(mistakes, explain::CAUSES.map(|(name, _)| name));
    for (name, cause) in explain::CAUSES {
        assert!(explain::codes(&figures[name]).contains(&cause), "{name}: {:?}", explain::codes(&figures[name]));
    }
    for entry in entries.iter().filter(|entry| !mistakes.contains(&entry.name.as_str())) {
        let codes = explain::codes(&figures[&entry.name]);
        assert!(codes.iter().all(|code| !explain::LEAKS.contains(code)), "{}: {codes:?}", entry.name);
    }
}

#[test]
fn operations_tell_what_most_of_each_peak_is() {
    let figures = written_figures();
    for (name, figures) in &figures {
        let percent = Confusion::of([figures], explain::OPERATIONS).right_percent();
        assert!(percent >= 95.0, "{name}: {percent} %");
    }
}

#[test]
fn shapes_tell_what_most_of_all_peaks_is() {
    let percent = Confusion::of(written_figures().values(), explain::SHAPES).right_percent();
    assert!(percent >= 90.0, "{percent} %");
}

fn step_ends(figures: &Value) -> Vec<u64> {
    let ends = figures["step_end_live_bytes"].as_array().expect("a list");
    ends.iter().map(|bytes| bytes.as_u64().expect("bytes")).collect()
}

/// Writes `README.md` from the configs and their figures.
fn readme(entries: &[Entry], figures: &BTreeMap<String, Value>) -> String {
    let mut text = "# The gallery\n\n\
        The gallery has training configs with typical memory mistakes, each with its repair, and healthy configs of \
        real size.\n\
        `snapscope repro NAME.toml` records a config on a virtual GPU, in seconds and on any machine; `snapscope \
        serve` also shows the gallery on its page.\n\
        [The reference](../../docs/configs.md) describes every key of a config, the presets with their \
        parameters, and the GPUs.\n\n\
        Between steps, memory should hold little more than weights and optimizer state; a mistake usually keeps the \
        rest.\n\
        Peaks are those of the first GPU.\n\
        `UPDATE=1 cargo test --workspace --test recordings gallery` writes this page and `figures.json`. Without `UPDATE`, \
        the same test records all configs again and compares.\n\n\
        ## Mistakes and their repairs\n"
        .to_owned();
    for (mistake, repair) in pairs(entries) {
        text += &pair_section(mistake, repair, figures);
    }
    text += &explain::section(figures);
    text += "\n## Healthy configs of real size\n";
    for (heading, title) in Heading::ALL {
        let below: Vec<_> = healthy(entries).into_iter().filter(|entry| entry.heading() == heading).collect();
        text += &healthy_section(title, &below, figures);
    }
    text
}

fn pair_section(mistake: &Entry, repair: &Entry, figures: &BTreeMap<String, Value>) -> String {
    let mut text = format!("\n### {}\n\n{}\n\n", mistake.job.name, mistake.sentences().join("\n"));
    let made = mistake.mistakes().join("`, `");
    if !made.is_empty() {
        text += &format!("Mistakes: `{made}`.\n\n");
    }
    text += &format!("Repaired:\n{}\n\n", repair.sentences().join("\n"));
    text += "| config | growth per step | end of the last step | peak allocated | peak reserved | events |\n";
    text += "|---|---|---|---|---|---|\n";
    for entry in [mistake, repair] {
        text += &format!("| {} | {} | {} |\n", link(entry), growth(entry, figures), cells(entry, figures));
    }
    text
}

fn healthy_section(title: &str, entries: &[&Entry], figures: &BTreeMap<String, Value>) -> String {
    let mut text = format!("\n### {title}\n\n");
    text += "| config | parameters | card | end of the last step | peak allocated | peak reserved | events |\n";
    text += "|---|---|---|---|---|---|---|\n";
    for entry in entries {
        let parameters = format::count(entry.job.parameters());
        let cells = cells(entry, figures);
        text += &format!("| {} | {parameters} | `{}` | {cells} |\n", link(entry), entry.card());
    }
    for entry in entries {
        text += &format!("\n#### {}\n\n{}\n", entry.job.name, entry.sentences().join("\n"));
    }
    text
}

fn link(entry: &Entry) -> String {
    format!("[{0}]({0}.toml)", entry.name)
}

fn growth(entry: &Entry, figures: &BTreeMap<String, Value>) -> String {
    if entry.has_varying_batches() {
        return "depends on the batch".to_owned();
    }
    let ends = step_ends(&figures[&entry.name]);
    format::bytes(ends[ends.len() - 1] - ends[ends.len() - 2])
}

/// Returns the figures of a recording as cells of a table row.
fn cells(entry: &Entry, figures: &BTreeMap<String, Value>) -> String {
    let figures = &figures[&entry.name];
    let bytes = |key: &str| format::bytes(figures[key].as_u64().expect("bytes"));
    let last = *step_ends(figures).last().expect("a step");
    let (allocated, reserved) = (bytes("peak_allocated_bytes"), bytes("peak_reserved_bytes"));
    let events = format::count(figures["events"].as_u64().expect("a count"));
    format!("{} | {allocated} | {reserved} | {events}", format::bytes(last))
}
