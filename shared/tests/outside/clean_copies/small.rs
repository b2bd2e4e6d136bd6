//! Cleans small traces whose texts are all known.

use crate::support::copies::{Place, clean_with, put, read};
use shared::export::{self, SanitizeOptions, SanitizeReport, Sanitized, TextKind};
use shared::pickle::Style;
use shared::trace::{Event, Frame, Setting, StackId, Trace, text};

/// Creates a trace with a stack per file and an allocation per stack.
fn trace(files: &[&str]) -> Trace {
    let mut trace = text::parse("alloc a 512 @f t=1\nalloc b 1KiB @f t=2\nsegment S 2MiB\nblock a 512").unwrap();
    for file in files {
        let (name, filename) = (trace.strings.intern("f"), trace.strings.intern(file));
        let frame = trace.frames.intern(Frame { name, filename, line: 7, fx: None });
        let stack = trace.stacks.intern(&[frame]);
        trace.devices[0].segments.blocks[0].stack = stack;
        let event = trace.devices[0].events.at(0);
        trace.devices[0].events.push(Event { stack, ..event });
    }
    trace
}

/// Returns the copy as its recipient reads it.
fn copy(trace: &Trace, options: &SanitizeOptions) -> (Trace, SanitizeReport) {
    let (bytes, report) = clean_with(trace, options);
    (read(&bytes), report)
}

/// Returns the files of a trace in alphabetical order.
fn files(trace: &Trace) -> Vec<&str> {
    let mut files: Vec<_> = trace.frames.iter().map(|frame| trace.strings.get(frame.filename)).collect();
    files.sort_unstable();
    files
}

#[test]
fn paths_are_cut_and_counted() {
    let (copy, report) = copy(&trace(&["/home/ada/p/train.py", "/home/ada/p/m/a.py", "x.cpp"]), &Default::default());
    assert_eq!(files(&copy), ["m/a.py", "main.py", "train.py", "x.cpp"]);
    assert_eq!((report.paths.count, report.names.as_slice()), (2, &["ada".to_owned()][..]));
    assert_eq!(report.paths.examples, [("/home/ada/p/train.py".to_owned(), "train.py".to_owned())]);
}

#[test]
fn a_name_goes_wherever_it_stands() {
    let mut trace = trace(&["/home/ada/p/train.py", "ada/own.py"]);
    put(&mut trace, Place::Annotation, "ada's step on /home/ada/p/x");
    trace.settings.entries.push(("conf".to_owned(), Setting::Text("log:/tmp/Ada/x".to_owned())));
    let (copy, report) = copy(&trace, &Default::default());
    assert_eq!(files(&copy), ["*/own.py", "main.py", "train.py"]);
    assert_eq!(copy.strings.get(copy.annotations[0].name), "*'s step on *");
    assert_eq!(copy.settings.get("conf"), Some(&Setting::Text("*".to_owned())));
    assert_eq!(report.texts.count, 3);
}

#[test]
fn metadata_and_annotations_go_by_choice() {
    let mut trace = trace(&[]);
    put(&mut trace, Place::Metadata, "run of ada@gpu-17 in /data/x/y");
    put(&mut trace, Place::Annotation, "step");
    let texts = |trace: &Trace| -> Vec<String> {
        trace.contexts.iter().map(|context| trace.strings.get(context.user_metadata).to_owned()).collect()
    };
    let (without, report) = copy(&trace, &SanitizeOptions { drop_annotations: true, ..Default::default() });
    assert_eq!((texts(&without), without.annotations.len()), (vec![String::new()], 0));
    assert_eq!((report.metadata.count, report.annotations), (1, 1));
    let (with, report) = copy(&trace, &SanitizeOptions { drop_metadata: false, ..Default::default() });
    assert_eq!((texts(&with).last().map(String::as_str), with.annotations.len()), (Some("run of *@* in *"), 1));
    assert_eq!(report.metadata.count, 0);
}

#[test]
fn purposes_stay_without_the_names_of_tensors() {
    let mut trace = trace(&[]);
    for text in ["gradient secret.weight", "optimizer secret.weight.exp_avg", "held by secret.cache[…]"] {
        put(&mut trace, Place::Metadata, text);
    }
    let (copy, report) = copy(&trace, &Default::default());
    let texts: Vec<&str> = copy.contexts.iter().map(|context| copy.strings.get(context.user_metadata)).collect();
    assert_eq!(texts, ["", "gradient without its name", "optimizer without its name"]);
    assert_eq!(report.metadata.count, 3);
}

#[test]
fn a_text_that_is_dropped_in_one_place_stays_in_another() {
    let mut trace = trace(&[]);
    put(&mut trace, Place::Metadata, "step");
    put(&mut trace, Place::Annotation, "step");
    let (copy, _) = copy(&trace, &Default::default());
    assert_eq!(copy.strings.get(copy.annotations[0].name), "step");
}

#[test]
fn frames_of_other_packages_leave_an_empty_stack() {
    let trace = trace(&["/v/site-packages/torch/nn/f.py", "/v/site-packages/secret/g.py"]);
    let packages = Some(vec!["torch".to_owned()]);
    let (copy, report) = copy(&trace, &SanitizeOptions { packages, ..Default::default() });
    assert_eq!(files(&copy), ["site-packages/torch/nn/f.py"]);
    assert_eq!(copy.devices[0].events.at(3).stack, StackId::EMPTY);
    assert_eq!(report.dropped_frames(), 2);
    let kept: Vec<_> = report.packages.iter().map(|package| (package.name.as_str(), package.is_kept)).collect();
    assert_eq!(kept, [("project", false), ("secret", false), ("torch", true)]);
}

#[test]
fn files_that_would_be_one_are_counted() {
    let (copy, _) = copy(&trace(&["/fsx/ada/a/model.py", "/fsx/ada/b/model.py"]), &Default::default());
    assert_eq!(files(&copy), ["2/model.py", "main.py", "model.py"]);
}

#[test]
fn packages_keep_words_that_are_names_elsewhere() {
    let torch = "/home/adam/v/site-packages/torch/optim/adam.py";
    let mut trace = trace(&["/home/adam/p/train.py", torch, "/home/adam/v/site-packages/acme/adam.py"]);
    put(&mut trace, Place::Annotation, "Optimizer.step#Adam.step");
    let (copied, _) = copy(&trace, &Default::default());
    let expected = ["main.py", "site-packages/acme/*.py", "site-packages/torch/optim/adam.py", "train.py"];
    assert_eq!(files(&copied), expected);
    assert_eq!(copied.strings.get(copied.annotations[0].name), "Optimizer.step#*.step");
    // A name that is requested explicitly is removed from packages, too.
    let (copied, _) = copy(&trace, &SanitizeOptions { names: vec!["adam".to_owned()], ..Default::default() });
    assert_eq!(files(&copied)[2], "site-packages/torch/optim/*.py");
}

#[test]
fn what_remains_is_listed_with_what_people_write_first() {
    let mut trace = trace(&["/home/ada/p/train.py", "/v/site-packages/torch/f.py"]);
    put(&mut trace, Place::Annotation, "step of a@b.com\nand more");
    trace.settings.entries.push(("conf".to_owned(), Setting::Text("x".to_owned())));
    let (_, report) = copy(&trace, &Default::default());
    let remaining: Vec<_> = report.remaining.iter().map(|text| (text.kind.name(), text.text.as_str())).collect();
    let expected = [
        ("annotation", "and more"),
        ("annotation", "step of *@*"),
        ("setting", "conf: *"),
        ("project file", "main.py"),
        ("project file", "train.py"),
        ("project function", "f"),
        ("package file", "site-packages/torch/f.py"),
    ];
    assert_eq!(remaining, expected);
    assert_eq!(report.remaining_counts()[0], (TextKind::Annotation, 2));
}

#[test]
fn a_copy_without_any_cleaning_is_the_export() {
    let mut trace = trace(&["/home/ada/p/train.py"]);
    put(&mut trace, Place::Metadata, "/home/ada/x");
    let options = SanitizeOptions { cut_paths: false, remove_names: false, drop_metadata: false, ..Default::default() };
    let (mut plain, mut copied) = (Vec::new(), Vec::new());
    export::pickle(&trace, Style::Torch, |piece| plain.extend_from_slice(piece));
    Sanitized::new(&trace, &options).pickle(Style::Torch, |piece| copied.extend_from_slice(piece), |_| ());
    assert_eq!(plain, copied);
}

#[test]
fn progress_counts_events() {
    let mut trace = trace(&[]);
    let event = trace.devices[0].events.at(0);
    (0..40_000).for_each(|_| trace.devices[0].events.push(event));
    let mut told = Vec::new();
    Sanitized::new(&trace, &Default::default()).pickle(Style::Python, |_| (), |events| told.push(events));
    assert_eq!(told, [1 << 14, 2 << 14]);
}

#[test]
fn settings_whose_names_become_one_are_one() {
    let mut trace = trace(&["/home/ada/p/train.py", "/home/zoe/p/train.py"]);
    let names = ["a1", "ada", "zoe"];
    trace.settings.entries = names.into_iter().zip(1..).map(|(name, n)| (name.to_owned(), Setting::Int(n))).collect();
    let (copy, report) = copy(&trace, &Default::default());
    assert_eq!(copy.settings.entries, [("*".to_owned(), Setting::Int(3)), ("a1".to_owned(), Setting::Int(1))]);
    let shown: Vec<_> = report.remaining.iter().filter(|text| text.kind == TextKind::Setting).collect();
    assert_eq!(shown.iter().map(|text| text.text.as_str()).collect::<Vec<_>>(), ["*: 3", "a1: 1"]);
}

#[test]
fn settings_keep_only_known_values() {
    let mut trace = trace(&["/w/src/train.py", "/w/src/alice/x.py"]);
    let conf =
        "expandable_segments:True, large_segment_size_mb:12,max_split_size_mb:13,roundup_power2_divisions:[1:2,>:4]";
    let cases = [
        ("backend", "native", "native"),
        ("comment", "run of Jane, step 3", "*,*"),
        ("conf", conf, conf),
        ("db_password", "hunter2", "*"),
        ("expandable_segments", "ursula", "*"),
        ("last", "expandable_segments:ursula,pinned_x:ursula,ada:1,max_split_size_mb:64", "*,*,*,max_split_size_mb:64"),
        ("owner", "alice.brown", "*"),
        ("team", "acme:8", "*"),
    ];
    let text = |name: &str, text: &str| (name.to_owned(), Setting::Text(text.to_owned()));
    let rows = |key: &str| Setting::table([("64".to_owned(), 2), (key.to_owned(), 3)].into_iter().collect());
    trace.settings.entries = cases.map(|(name, before, _)| text(name, before)).into();
    trace.settings.entries.push(("rows".to_owned(), rows("wendy")));
    let (copy, report) = copy(&trace, &Default::default());
    let mut clean = cases.map(|(name, _, after)| text(name, after)).to_vec();
    clean.insert(7, ("rows".to_owned(), rows("*")));
    assert_eq!(copy.settings.entries, clean);
    assert!(report.names.iter().any(|name| name == "alice"), "{:?}", report.names);
}
