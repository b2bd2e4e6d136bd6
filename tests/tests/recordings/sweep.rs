//! Tests sweeps and the search for the largest batch, with a scripted recorder and with the real one.

use std::process::{Output, Stdio};

use serde_json::Value;
use shared::draw::color::Color;
use shared::draw::theme::Theme;
use testkit::patience::ask_until;
use testkit::process::signal;
use testkit::repro::{Played, check_output};

/// Recorder script that needs 1 GiB per sample and runs out of memory above a batch of 6.
const RECORDER: &str = r#"
batch=$(echo "$job" | tr -d ' \n' | sed 's/.*"batch":\([0-9]*\).*/\1/')
echo '{"type":"started","device":"Fake","memory_bytes":8589934592,"parameters":1234567,"steps":2}'
cp "$sample" "$output"
peak=$((batch * 1073741824))
oom=null
if [ "$batch" -gt 6 ]; then
  oom='{"message":"CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has","step":0,"phase":"backward","module":"h.0","operation":"aten::mm"}'
  peak=7000000000
fi
echo '{"type":"finished","steps":2,"peak_allocated_bytes":'$peak',"peak_reserved_bytes":'$peak',"oom":'$oom'}'
"#;

fn scripted(script: &str) -> Played {
    let played = Played::new(script);
    std::fs::write(played.path("small.toml"), "model = \"gpt2\"\nsteps = 2\ncard = \"custom:8GiB\"\n").expect("room");
    played
}

fn snapscope(played: &Played, arguments: &[&str]) -> Output {
    played.command().args(arguments).output().expect("the binary to start")
}

#[track_caller]
fn document(output: &Output) -> Value {
    check_output(output, 0, &[], &[]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "", "nothing while it runs");
    serde_json::from_slice(&output.stdout).expect("one document")
}

#[test]
fn a_sweep_is_a_table() {
    let played = scripted(RECORDER);
    let output = snapscope(&played, &["sweep", "small.toml", "--batch", "2..8x2", "--checkpointing", "on,off"]);
    let rows = [
        "Largest batch that fits on custom:8GiB: 4 with checkpointing, 4 without\ncustom:8GiB · small · \
         124,439,808 parameters · 6 recordings · 2 steps each",
        "checkpointing  batch  peak live  peak allocated  peak reserved  of the GPU  result",
        "on                 2",
        "2.00 GiB       2.00 GiB        25 %  fits",
        "out of memory in step 1 of 2, backward, h.0",
    ];
    check_output(&output, 0, &rows, &["6 of 6 · checkpointing ", " · 2.00 GiB reserved", "batch 8 · out of memory"]);
    let left = played.files().into_iter().filter(|name| name.to_string_lossy().contains(".pickle"));
    assert_eq!(left.count(), 0, "snapshots are dropped");
}

#[test]
fn every_kind_of_output_is_written() {
    let played = scripted(RECORDER);
    let outputs = ["-o", "t.md", "-o", "t.csv", "-o", "t.json", "-o", "t.svg", "--keep", "kept"];
    let output = snapscope(&played, &[&["sweep", "small.toml", "--batch", "2,8"], &outputs[..]].concat());
    check_output(&output, 0, &["wrote t.md\nwrote t.csv\nwrote t.json\nwrote t.svg\nthe snapshots are in kept"], &[]);
    let read = |name: &str| std::fs::read_to_string(played.path(name)).expect(name);
    assert!(read("t.md").starts_with("| batch | peak live | peak allocated |"), "{}", read("t.md"));
    assert_eq!(read("t.csv").lines().count(), 3);
    let kept = ["kept/batch-2.pickle", "kept/batch-8.pickle"];
    assert!(kept.iter().all(|name| played.path(name).exists()));
    let report: Value = serde_json::from_str(&read("t.json")).expect("JSON");
    assert_eq!(report["axes"], serde_json::json!(["batch"]));
    assert_eq!(report["rows"][0]["recording"]["peak_reserved_bytes"], 2_u64 << 30);
    assert_eq!(report["rows"][1]["recording"]["oom"]["module"], "h.0");
    let svg = read("t.svg");
    assert_eq!(tags(&svg).filter(|tag| *tag == "circle").count(), 1, "what fits: {svg}");
    // A cross has two strokes.
    assert_eq!(strokes(&svg, Theme::light().oom).count(), 2 * 2, "what does not, and its meaning: {svg}");
    assert!(svg.contains("custom:8GiB · 8.00 GiB"), "{svg}");
}

/// Returns the elements that are drawn with a stroke of a colour.
fn strokes(svg: &str, color: Color) -> impl Iterator<Item = &str> {
    svg.lines().filter(move |line| line.contains(&format!("stroke=\"#{:06x}\"", color.rgb)))
}

/// Returns the names of all elements, and checks that they are closed in order.
#[track_caller]
fn tags(xml: &str) -> impl Iterator<Item = &str> {
    let (mut open, mut names) = (Vec::new(), Vec::new());
    for part in xml.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag that ends");
        let is_entity = |rest: &str| ["amp;", "lt;", "gt;", "quot;"].iter().any(|entity| rest.starts_with(entity));
        assert!(!text.contains('>') && text.split('&').skip(1).all(is_entity), "{text}");
        assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        if let Some(name) = tag.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "closed in order");
            continue;
        }
        let name = tag.split([' ', '/']).next().expect("a name");
        names.push(name);
        if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?} never end");
    names.into_iter()
}

#[test]
fn names_cannot_break_the_picture_and_far_points_are_shown() {
    let played = scripted(RECORDER);
    let config = "name = '<script>&\"| x'\nmodel = 'gpt2'\nsteps = 1\n[sweep]\nbatch = '1..2'\n";
    std::fs::write(played.path("odd.toml"), config).expect("room");
    check_output(&snapscope(&played, &["sweep", "odd.toml", "-o", "odd.svg"]), 0, &["<script>"], &[]);
    let svg = std::fs::read_to_string(played.path("odd.svg")).expect("the picture");
    assert!(tags(&svg).all(|tag| tag != "script"), "{svg}");
    let played = scripted(RECORDER);
    let cards = ["--card", "custom:6GiB,custom:900GiB", "--checkpointing", "on,off"];
    let arguments = [&["sweep", "small.toml", "--batch", "1..4", "-o", "two.svg"], &cards[..]].concat();
    let answer =
        "Largest batch that fits on custom:6GiB: 4 or more with checkpointing, 4 or more without; on custom:900";
    check_output(&snapscope(&played, &arguments), 0, &[answer, "wrote two.svg"], &[]);
    let svg = std::fs::read_to_string(played.path("two.svg")).expect("the picture");
    assert_eq!(tags(&svg).filter(|tag| *tag == "circle").count(), 8 + 2, "points of both cards, and legend: {svg}");
    let [first, second] = [0, 1].map(|line| strokes(&svg, Theme::light().categories[line]).count());
    assert_eq!(first, 3 + 1, "segments and legend: {svg}");
    assert!(second > 2 * first, "the second line is dashed over the first: {svg}");
    assert_eq!(strokes(&svg, Theme::light().reserved).count(), 1, "{svg}");
    assert!(svg.contains("custom:900GiB · 900 GiB ↑"), "{svg}");
}

#[test]
fn ranges_are_overridden_by_the_command_line_and_bad_ones_refused() {
    let played = scripted(RECORDER);
    let config = "model = 'gpt2'\nsteps = 1\n[sweep]\nbatch = [1, 2]\nsequence = '128..256x2'\n";
    std::fs::write(played.path("ranges.toml"), config).expect("room");
    let report = document(&snapscope(&played, &["sweep", "ranges.toml", "--batch", "3", "--json"]));
    let rows = report["rows"].as_array().expect("rows");
    let pairs: Vec<_> = rows.iter().map(|row| (row["batch"].as_u64(), row["sequence"].as_u64())).collect();
    assert_eq!(pairs, [(Some(3), Some(128)), (Some(3), Some(256))]);
    let repro = snapscope(&played, &["repro", "ranges.toml"]);
    check_output(&repro, 2, &[], &["sweep: a config with ranges", "`snapscope sweep`"]);
    let played = scripted("touch \"$HOME/ran\"; exit 1");
    let refuse = |arguments: &[&str], parts: &[&str]| {
        let output = snapscope(&played, &[&["sweep", "small.toml"], arguments].concat());
        check_output(&output, 2, &[], parts);
        assert!(output.stdout.is_empty() && !played.path("ran").exists());
    };
    refuse(&[], &["sweep: the sweep varies nothing", "--batch 1..8x2"]);
    refuse(&["--batch", "8..1"], &["invalid value `8..1`", "512..4096x2"]);
    refuse(&["--batch", "1..150", "--checkpointing", "on,off"], &["300 combinations are too many", "at most 200"]);
    refuse(&["--checkpointing", "maybe"], &["`maybe`", "on, off"]);
    refuse(&["--seq-len", "512,4096"], &["sequence with sequence 4096: 4096 tokens, but the model has only"]);
    refuse(&["--card", "a100"], &["card with card a100", "a100-80gb"]);
    refuse(&["--batch", "1,2", "-o", "table.pdf"], &["the name `table.pdf` has no known file type", ".svg"]);
    std::fs::write(played.path("own.json"), r#"{"model": "gpt2"}"#).expect("room");
    let output = snapscope(&played, &["sweep", "own.json", "--batch", "1,2", "-o", "./own.json"]);
    check_output(&output, 2, &[], &["is the config itself"]);
}

#[test]
fn one_failure_is_a_row_and_all_are_an_error() {
    let fails = r#"case "$job" in *'"batch": 2,'*) echo 'broken' >&2; exit 1;; esac"#;
    let output = snapscope(&scripted(&format!("{fails}\n{RECORDER}")), &["sweep", "small.toml", "--batch", "1,2"]);
    check_output(&output, 0, &["fits", "failed: the recorder ended without a result, with exit status 1"], &[]);
    let output = snapscope(&scripted("exit 1"), &["sweep", "small.toml", "--batch", "1,2"]);
    check_output(&output, 2, &[], &["error: the recorder ended without a result", "hint: "]);
}

#[test]
fn an_interrupt_ends_all_recorders() {
    let played = scripted("echo $$ >>\"$HOME/pids\"; sleep 60");
    let mut command = played.command();
    command.args(["sweep", "small.toml", "--batch", "1..9"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary to start");
    let pids = || std::fs::read_to_string(played.path("pids")).unwrap_or_default();
    let recorders = ask_until(pids, |pids| pids.matches('\n').count() == 2);
    assert!(signal("INT", child.id()));
    let output = child.wait_with_output().expect("the command to end");
    check_output(&output, 2, &[], &["error: the recordings were cancelled"]);
    for recorder in recorders.lines() {
        assert!(!std::path::Path::new("/proc").join(recorder).exists(), "recorder {recorder} has ended");
    }
}

#[test]
fn the_largest_batch_comes_with_its_proof_unless_none_fits_or_the_host_bounds_it() {
    let played = scripted(RECORDER);
    let output = snapscope(&played, &["fit", "small.toml"]);
    let proof = [
        "Batch 6 is the largest that fits\ncustom:8GiB · small · 124,439,808 parameters · 8 recordings of 2 steps\n",
        "batch  6  fits: peak reserved 6.00 GiB of 8.00 GiB, 2.00 GiB free\n",
        "batch  7  runs out of memory in step 1 of 2, backward, h.0, allocating 2.00 GiB\n",
    ];
    check_output(&output, 0, &proof, &["batch 4 · 4.00 GiB reserved", "batch 8 · out of memory"]);
    let report = document(&snapscope(&played, &["fit", "small.toml", "--json"]));
    assert_eq!((&report["batch"], &report["gaps"]), (&Value::from(6), &Value::Array(Vec::new())));
    let batches: Vec<_> = report["probes"].as_array().expect("probes").iter().map(|probe| &probe["batch"]).collect();
    assert_eq!(batches, [1, 2, 4, 5, 6, 7, 8, 9]);
    let everything = RECORDER.replace("-gt 6", "-gt 0");
    let output = snapscope(&scripted(&everything), &["fit", "small.toml"]);
    check_output(&output, 0, &["No batch fits", "batch  1  runs out"], &[]);
    let output = snapscope(&scripted("exit 3"), &["fit", "small.toml"]);
    check_output(&output, 2, &[], &["error: batch 1: the recorder ended without a result, with exit status 3"]);
    let played = scripted(&RECORDER.replace("-gt 6", "-gt 99999"));
    let config = "model = { family = 'mlp', input = 1048576, hidden = [1], classes = 2 }\n";
    std::fs::write(played.path("wide.toml"), config).expect("room");
    let bound = document(&snapscope(&played, &["fit", "wide.toml", "--json"]))["limit"].as_u64().expect("a bound");
    assert!(bound > 1 && bound < 65_536, "{bound}");
    let note = format!("Batch {bound} is the largest that fits");
    let output = snapscope(&played, &["fit", "wide.toml"]);
    check_output(&output, 0, &[&note, &format!("batch {bound} is the largest that this program accepts")], &[]);
    let output = snapscope(&played, &["repro", "wide.toml", "--batch", &(bound + 1).to_string()]);
    check_output(&output, 2, &[], &["wide.toml: batch: "]);
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod recorded {
    //! Tests with the real recorder on small virtual cards.

    use std::sync::Mutex;

    use server::recording::repro::{Limits, Recording, run};
    use server::recording::sweep::{Audience, Outcome, Settings, fit, record_all, report};
    use shared::job::{RawCheckpointing, RawJob};
    use testkit::repro::{Audience as Listener, built_recorder};

    /// Card that a batch of a few samples fills.
    const GPT2: &str = "card = 'custom:2GiB'\nsteps = 2\nsequence = 64\n\
        model = { preset = 'gpt2', layers = 4, hidden = 256, heads = 4 }\n";

    #[derive(Default)]
    struct Labels(Mutex<Vec<String>>);

    impl Audience for Labels {
        fn finished(&self, label: &str, outcome: &Outcome) {
            assert!(outcome.is_ok(), "{label}: {outcome:?}");
            self.0.lock().expect("no panic").push(label.to_owned());
        }

        fn is_cancelled(&self) -> bool {
            false
        }
    }

    fn config(text: &str) -> RawJob {
        RawJob::from_toml(text).expect("a config")
    }

    fn record(raw: &RawJob, batch: u64) -> Recording {
        let job = RawJob { batch: Some(batch), ..raw.clone() }.resolve().expect("a valid config");
        let folder = tempfile::tempdir().expect("a temporary folder");
        let output = folder.path().join("out.pickle");
        run(built_recorder(), &job, &Limits::default(), &output, &mut Listener::default()).expect("a recording")
    }

    #[test]
    fn the_largest_batch_is_that_of_a_linear_search() {
        let raw = config(GPT2);
        let found = fit(built_recorder(), &raw, &Limits::default(), None, &Labels::default()).expect("an answer");
        let answer = found.tried.largest().expect("a batch that fits");
        assert!(answer > 4, "{answer} is too easy to find");
        // Every ninth batch below the answer, and all around the answer.
        let linear = (1..answer).step_by(9).chain(answer - 2..=answer + 3);
        for batch in linear {
            let fits = record(&raw, batch).oom.is_none();
            let is_gap = found.tried.gaps().contains(&batch);
            assert_eq!(fits, batch <= answer && !is_gap, "batch {batch} of {answer}");
        }
        let report = found.report();
        let proof = report.probes.iter().find(|probe| probe.batch == answer + 1).expect("the next was tried");
        assert!(proof.oom.is_some());
        assert_eq!((report.memory_bytes, report.limit), (Some(2 << 30), None));
    }

    #[test]
    fn a_sweep_has_the_figures_of_single_recordings() {
        let sweep = config(&format!("{GPT2}[sweep]\nbatch = [1, 4]\ncheckpointing = [true, false]")).into_sweep();
        let sweep = sweep.expect("a sweep");
        let settings = Settings { limits: Limits::default(), at_once: 2, keep: None, scratch: None };
        let labels = Labels::default();
        let outcomes = record_all(built_recorder(), &sweep, &settings, &labels).expect("recordings");
        assert_eq!(labels.0.lock().expect("no panic").len(), 4);
        let report = report("small", &sweep, &outcomes);
        for row in &report.rows {
            let raw = RawJob { checkpointing: Some(RawCheckpointing::All(row.checkpointing)), ..config(GPT2) };
            let single = record(&raw, row.batch).report();
            let recording = row.recording.as_ref().expect("figures");
            assert_eq!(recording.peak_reserved_bytes, single.peak_reserved_bytes, "{row:?}");
            assert_eq!((recording.peak_live_bytes, recording.events), (single.peak_live_bytes, single.events));
        }
        let live = |row: usize| report.rows[row].recording.as_ref().expect("figures").peak_live_bytes;
        assert!(live(1) < live(3), "checkpointing saves memory at batch 4");
    }
}
