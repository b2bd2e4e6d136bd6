//! Records each config of `static/gallery` and checks it against the laws and its stored figures.
//!
//! The recordings of scripts are stored there. `UPDATE=1` rewrites `figures.json` and `README.md`.

mod explain;
mod scripts;

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::thread;

use serde_json::{Value, json};
use server::recording::repro::{Limits, run};
use shared::analysis::{Timeline, spans};
use shared::base::format;
use shared::job::messages::{LINE, NCCL_NOT_COUNTED};
use shared::job::{Device, Job, Model, Parallel, RawJob};
use shared::trace::Trace;
use testkit::corpus::Sample;
use testkit::documents::check_file;
use testkit::laws;
use testkit::repro::{Audience, built_recorder};
use testkit::server::root;

use explain::{Confusion, Left};
use scripts::{Pair, pairs};

/// Points of a curve; twice as many would not fit the picture on a card.
const POINTS: u32 = 48;

/// Heading that a config is listed below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Heading {
    Decoders,
    Encoders,
    Recurrent,
    Images,
    Devices,
}

impl Heading {
    /// All headings in the order of the page.
    const ALL: [(Self, &str); 5] = [
        (Self::Decoders, "Decoder language models"),
        (Self::Encoders, "Encoder language models"),
        (Self::Recurrent, "Recurrent language models"),
        (Self::Images, "Image models"),
        (Self::Devices, "Several devices"),
    ];
}

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

    fn heading(&self) -> Heading {
        match &self.job.model {
            _ if self.job.parallel.is_some() => Heading::Devices,
            Model::Transformer(_) => Heading::Decoders,
            Model::Bert(_) => Heading::Encoders,
            Model::Rnn(_) => Heading::Recurrent,
            Model::ResNet(_) | Model::Cnn(_) | Model::Mlp(_) => Heading::Images,
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

/// Records a config, checks the snapshot against the laws, and returns its figures.
fn record(entry: &Entry) -> Value {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.pickle");
    let recording = run(built_recorder(), &entry.job, &Limits::default(), &path, &mut Audience::default())
        .unwrap_or_else(|failure| panic!("{}: {failure}: {:?}", entry.name, failure.log_tail));
    let uncounted: &[String] = match entry.job.parallel {
        Some(Parallel::DataParallel { .. }) => &[format!("{LINE}{NCCL_NOT_COUNTED}")],
        _ => &[],
    };
    assert_eq!(recording.warnings, uncounted, "{}", entry.name);
    assert_eq!(recording.oom, None, "{}", entry.name);
    let bytes = fs::read(&path).expect("the snapshot");
    let trace = laws::hold(&Sample { name: entry.name.clone(), path, bytes });
    let timeline = Timeline::new(&trace, &trace.devices[0]);
    let mut figures = outline(&trace, &timeline);
    figures["parameters"] = json!(entry.job.parameters());
    figures["events"] = json!(recording.events);
    figures["peak_allocated_bytes"] = json!(recording.peak_allocated_bytes);
    figures["peak_reserved_bytes"] = json!(recording.peak_reserved_bytes);
    figures["step_end_live_bytes"] = json!(live_bytes_at_step_ends(&trace, &timeline));
    figures[explain::OPERATIONS] = json!(explain::confusion(&trace, Left::Operations));
    figures[explain::SHAPES] = json!(explain::confusion(&trace, Left::Nothing));
    figures
}

fn outline(trace: &Trace, timeline: &Timeline) -> Value {
    let outline = timeline.outline(POINTS);
    json!({
        "live_curve": outline.live_bytes,
        "reserved_curve": outline.reserved_bytes,
        "findings": explain::first_findings(trace),
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
    let (entries, pairs) = (entries(), pairs());
    let mut figures = record_all(&entries);
    figures.extend(pairs.iter().flat_map(Pair::figures));
    let text = serde_json::to_string_pretty(&figures).expect("numbers");
    check_file("static/gallery/figures.json", &format!("{text}\n"));
    check_file("static/gallery/README.md", &readme(&entries, &pairs, &figures));
}

#[test]
fn configs_say_what_to_look_for_and_scripts_what_their_repair_changes() {
    let entries = entries();
    for entry in &entries {
        assert_eq!(entry.sentences().len(), 3, "{}", entry.name);
    }
    for (heading, _) in Heading::ALL {
        assert!(entries.iter().any(|entry| entry.heading() == heading), "{heading:?}");
    }
    let pairs = pairs();
    assert_eq!(pairs.len(), 20);
    for pair in &pairs {
        assert!((1..=8).contains(&pair.change().len()), "{:?}: {:?}", pair.names, pair.change());
    }
}

#[test]
fn everything_in_the_gallery_has_a_topic() {
    let text = fs::read_to_string(folder().join("topics.json")).expect("topics.json");
    let topics: Value = serde_json::from_str(&text).expect("a list of topics");
    let names = topics.as_array().expect("a list").iter().flat_map(|topic| topic["names"].as_array().expect("names"));
    let mut listed: Vec<String> = names.map(|name| name.as_str().expect("a name").to_owned()).collect();
    listed.sort();
    let mut there: Vec<String> = entries().into_iter().map(|entry| entry.name).collect();
    there.extend(pairs().into_iter().map(|pair| pair.names[0].clone()));
    there.sort();
    assert_eq!(listed, there);
}

#[test]
fn no_config_leaks_and_most_of_its_categories_are_told() {
    let figures = written_figures();
    for Entry { name, .. } in entries() {
        let codes = explain::codes(&figures[&name]);
        assert!(codes.iter().all(|code| !explain::LEAKS.contains(code)), "{name}: {codes:?}");
        let percent = Confusion::of([&figures[&name]], explain::OPERATIONS).right_percent();
        assert!(percent >= 95.0, "{name}: {percent} %");
    }
    let percent = Confusion::of(written_figures().values(), explain::SHAPES).right_percent();
    assert!(percent >= 90.0, "{percent} %");
}

fn step_ends(figures: &Value) -> Vec<u64> {
    let ends = figures["step_end_live_bytes"].as_array().expect("a list");
    ends.iter().map(|bytes| bytes.as_u64().expect("bytes")).collect()
}

/// Writes `README.md` from the configs, the scripts and their figures.
fn readme(entries: &[Entry], pairs: &[Pair], figures: &BTreeMap<String, Value>) -> String {
    let mut text = "# The gallery\n\n\
        The gallery has Python scripts with typical memory mistakes, each with its repair and the recordings of both, and \
        healthy configs of real size.\n\
        `snapscope run -- python NAME.py OWN.pickle` records a script with PyTorch as pip installs it, and `snapscope \
        repro NAME.toml` a config, both on a virtual GPU and on any machine; `snapscope serve` also shows the gallery on its page.\n\
        [The reference](../../docs/configs.md) describes every key of a config, the presets with their \
        parameters, and the GPUs.\n\n\
        Between steps, memory should hold little more than weights and optimizer state; a mistake usually keeps the \
        rest.\n\
        Peaks are those of the first GPU.\n\
        `UPDATE=1 cargo test --workspace --test recordings gallery` writes this page and `figures.json`. Without `UPDATE`, \
        the same test records all configs again and compares; [`tests/mistakes`](../../tests/mistakes/README.md) \
        describes how the scripts were recorded.\n\n\
        ## Mistakes and their repairs\n"
        .to_owned();
    for pair in pairs {
        text += &pair.section(|name| figures[name].clone());
    }
    text += &explain::section(pairs, figures);
    text += "\n## Healthy configs of real size\n";
    for (heading, title) in Heading::ALL {
        let below: Vec<_> = entries.iter().filter(|entry| entry.heading() == heading).collect();
        text += &healthy_section(title, &below, figures);
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

fn cells(entry: &Entry, figures: &BTreeMap<String, Value>) -> String {
    let figures = &figures[&entry.name];
    let bytes = |key: &str| format::bytes(figures[key].as_u64().expect("bytes"));
    let last = *step_ends(figures).last().expect("a step");
    let (allocated, reserved) = (bytes("peak_allocated_bytes"), bytes("peak_reserved_bytes"));
    let events = format::count(figures["events"].as_u64().expect("a count"));
    format!("{} | {allocated} | {reserved} | {events}", format::bytes(last))
}
