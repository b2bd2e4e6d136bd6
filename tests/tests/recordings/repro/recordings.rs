//! Makes real recordings of each kind on virtual GPUs and checks them against the laws of snapshots.

use std::fs::DirEntry;
use std::process::Command;
use std::time::{Duration, Instant};

use server::recording::repro::{Limits, Recording, run};
use shared::analysis::Timeline;
use shared::job::{Cards, Device, Job};
use shared::trace::{Action, Trace};
use testkit::corpus::Sample;
use testkit::cpython;
use testkit::gpu_check::sequences::steps;
use testkit::gpu_check::{compare, record};
use testkit::laws;
use testkit::patience::wait_until;
use testkit::repro::{Audience, built_recorder, config};
use testkit::server::{root, snapscope};

/// Records a job, checks its snapshot against the laws, and its figures against the snapshot.
#[track_caller]
fn check(text: &str) -> (Recording, Trace) {
    let job = config(text);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.pickle");
    let mut audience = Audience::default();
    let recording = run(built_recorder(), &job, &Limits::default(), &path, &mut audience)
        .unwrap_or_else(|failure| panic!("{}: {failure}: {:?}", job.name, failure.log_tail));
    let bytes = std::fs::read(&path).expect("the snapshot");
    let longest_batch = cpython::lines("longest_batch.py", [&path])[0].parse::<usize>().expect("a number");
    assert!(longest_batch <= 1000, "PyTorch's page takes some 120,000");
    let trace = laws::hold(&Sample { name: job.name.clone(), path, bytes });
    check_figures(&job, &recording, &trace);
    check_curve(&recording, &trace);
    (recording, trace)
}

#[track_caller]
fn check_figures(job: &Job, recording: &Recording, trace: &Trace) {
    let timeline = Timeline::new(trace, &trace.devices[0]);
    assert_eq!(recording.peak_live_bytes, timeline.live_peak().1);
    assert_eq!(recording.peak_reserved_bytes, timeline.reserved_peak().1, "PyTorch's count is the trace's");
    assert!(recording.peak_live_bytes <= recording.peak_allocated_bytes);
    assert!(recording.peak_allocated_bytes <= recording.peak_reserved_bytes);
    assert_eq!(recording.events, trace.devices[0].events.len() as u64);
    assert_eq!(timeline.live_at(0), 0, "it is recorded from the start");
    assert_eq!(recording.warnings, [""; 0], "every function that was called is modelled");
    let started = recording.started.as_ref().expect("the recorder says what it runs on");
    assert_eq!(started.parameters, job.parameters());
    if recording.oom.is_none() {
        assert_eq!(recording.steps, job.steps);
        let names: Vec<_> = trace.annotations.iter().map(|annotation| trace.strings.get(annotation.name)).collect();
        assert!((0..job.steps).all(|step| names.contains(&format!("ProfilerStep#{step}").as_str())), "{names:?}");
    }
}

/// Checks that the curves and the figures agree to the byte.
#[track_caller]
fn check_curve(recording: &Recording, trace: &Trace) {
    let curve = &recording.curve;
    assert_eq!(curve.live_curve.iter().max(), Some(&recording.peak_live_bytes));
    assert_eq!(curve.reserved_curve.iter().max(), Some(&recording.peak_reserved_bytes));
    assert_eq!((curve.device, curve.events), (trace.devices[0].index, recording.events));
    assert_eq!(curve.oom_events.len(), count(trace, Action::Oom));
    assert!(recording.oom.is_none() || !curve.oom_events.is_empty(), "{:?}", recording.oom);
    let begun = recording.steps + u64::from(recording.oom.as_ref().is_some_and(|oom| oom.step.is_some()));
    let steps: Vec<_> = curve.steps.iter().map(|start| start.step).collect();
    assert_eq!(steps, (0..begun).collect::<Vec<_>>());
    assert!(curve.steps.is_sorted_by_key(|start| start.event));
    assert_eq!(curve.capacity_bytes, recording.started.as_ref().map(|started| started.memory_bytes));
}

fn count(trace: &Trace, action: Action) -> usize {
    trace.devices[0].events.iter().filter(|event| event.action == action).count()
}

fn has_frame(trace: &Trace, part: &str) -> bool {
    trace.frames.iter().any(|frame| trace.strings.get(frame.name).contains(part))
}

#[test]
fn an_mlp_with_a_gradient_scaler_and_a_long_recording() {
    check(
        "model = \"mlp\"\nbatch = 64\nsteps = 3\nprecision = \"autocast-fp16\"\nallocator = \"max_split_size_mb:64\"",
    );
    let (recording, _) = check("model = \"mlp\"\nbatch = 8\nsteps = 400");
    assert!(recording.events > 2 << 14, "most of its {} events were in the recorder's file", recording.events);
}

#[test]
fn a_resnet_gpt2_and_a_llama_with_grouped_queries() {
    let (_, trace) = check("model = \"resnet18\"\nbatch = 8\nsteps = 2\ncard = \"t4-16gb\"\noptimizer = \"sgd\"");
    assert!(has_frame(&trace, "layer1.0.conv1"));
    let (_, trace) = check("model = \"gpt2\"\nbatch = 2\nsequence = 512\nsteps = 3\nclip_grad_norm = 1.0");
    assert!(has_frame(&trace, "forward") && has_frame(&trace, "backward") && has_frame(&trace, "optimizer"));
    let llama = "batch = 1\nsequence = 256\nsteps = 2\nprecision = \"bf16\"\ncheckpointing = true\naccumulation = 2\n\
                 [model]\npreset = \"tinyllama-1.1b\"\nlayers = 3\n[optimizer]\nkind = \"adamw\"\nimplementation = \"fused\"\n\
                 [evaluation]\nevery = 1\nbatches = 1";
    check(llama);
}

#[test]
fn expandable_segments_are_mapped() {
    let (_, trace) = check("model = \"gpt2\"\nbatch = 1\nsequence = 128\nallocator = \"expandable_segments:True\"");
    assert!(count(&trace, Action::SegmentMap) > 0);
    assert_eq!(count(&trace, Action::SegmentAlloc), 0);
}

#[test]
fn memory_runs_out_at_the_limit_of_the_card_or_while_the_model_is_built() {
    let (recording, trace) = check("model = \"gpt2\"\nbatch = 16\nsequence = 1024\nsteps = 3\ncard = \"t4-16gb\"");
    let oom = recording.oom.expect("it does not fit");
    assert!(oom.message.contains("CUDA out of memory. Tried to allocate"), "{}", oom.message);
    assert_eq!(oom.step, Some(0));
    assert!(!oom.phase.is_empty() && !oom.operation.is_empty(), "{oom:?}");
    assert_eq!(count(&trace, Action::Oom), 1);
    let total_bytes = recording.started.expect("a start").memory_bytes;
    assert!(recording.peak_reserved_bytes > total_bytes / 10 * 9 && recording.peak_reserved_bytes < total_bytes);
    let (recording, _) = check("model = \"gpt2-xl\"\nbatch = 1\nsequence = 64\ncard = \"custom:2GiB\"");
    let oom = recording.oom.expect("it does not fit");
    assert_eq!((oom.step, recording.steps), (None, 0));
    assert!(!oom.module.is_empty(), "{oom:?}");
}

#[test]
fn the_same_config_gives_the_same_events_and_almost_on_other_cards() {
    let events = || steps(&check("model = \"gpt2\"\nbatch = 1\nsequence = 128\nsteps = 2").1, 0);
    assert_eq!(events(), events());
    let job = config("model = \"gpt2\"\nbatch = 1\nsequence = 128\nsteps = 2");
    let on = |card: &str| {
        let side = record(built_recorder(), &job, Device::Virtual(Cards::parse(card).expect("a card")));
        side.expect("a recording")
    };
    let (a100, h100) = (on("a100-80gb"), on("h100-80gb"));
    assert_eq!(compare(&a100, &on("l4-24gb")).agreement.first_difference, None, "workspaces and kernels are the same");
    let other = compare(&a100, &h100);
    let (_, left, right) = other.agreement.first_difference.expect("cuBLAS takes another workspace");
    assert_eq!((left, right), (Some((Action::Alloc, 8_519_680)), Some((Action::SegmentAlloc, 33_554_432))));
    let share = other.agreement.share().expect("they are near");
    assert!(share > 0.9 && share < 1.0, "{share}");
}

#[test]
fn keepers_and_recorders_do_not_outlive_each_other() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("long.toml"), "model = \"mlp\"\nsteps = 5000\n").expect("room");
    built_recorder();
    let mut keeper = Command::new(snapscope())
        .args(["repro", "--json", "--time-limit", "2min", "long.toml"])
        .current_dir(folder.path())
        .spawn()
        .expect("the binary to start");
    let children = || {
        let path = format!("/proc/{0}/task/{0}/children", keeper.id());
        std::fs::read_to_string(path).unwrap_or_default().trim().to_owned()
    };
    wait_until("the recorder starts", || !children().is_empty());
    let recorder = children();
    // The recorder asks the kernel for the signal in the first lines of its `main`, so before the first snapshot.
    let has_written = || std::fs::read_dir(folder.path()).is_ok_and(|entries| entries.flatten().any(has_snapshot));
    wait_until("the recorder writes", has_written);
    keeper.kill().expect("a process to kill");
    keeper.wait().expect("it to end");
    let state = || std::fs::read_to_string(format!("/proc/{recorder}/stat")).unwrap_or_default();
    // By itself, it would run for much longer.
    let killed = Instant::now();
    while !(state().is_empty() || state().contains(") Z ")) {
        assert!(killed.elapsed() < Duration::from_secs(3), "the recorder goes on: {}", state());
        std::thread::sleep(Duration::from_millis(10));
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let config = built_recorder();
    let libraries = format!("{}:{}", config.virtual_gpu.display(), config.built_libtorch.join("lib").display());
    let said = |keeper: u32| {
        let mut recorder = Command::new(&config.program);
        recorder.arg("--output").arg(folder.path().join("snapshot.pickle")).env("LD_LIBRARY_PATH", &libraries);
        let output = recorder.env("SNAPSCOPE_KEEPER", keeper.to_string()).output().expect("the recorder to start");
        String::from_utf8(output.stdout).expect("UTF-8")
    };
    // Without a job the recorder fails, which it reports only to its keeper.
    assert!(said(std::process::id()).contains("failed"));
    assert_eq!(said(1), "");
}

fn has_snapshot(entry: DirEntry) -> bool {
    entry.path().join("snapshot.pickle").exists()
}

#[test]
fn llama_3_8b_fills_an_h100_and_says_so() {
    let text = std::fs::read_to_string(root().join("tests/data/jobs/llama-3-8b.toml")).expect("a config");
    let (recording, _) = check(&text);
    assert_eq!(recording.oom, None);
    assert!(recording.messages.iter().any(|text| text.starts_with("GPU memory was full")), "{:?}", recording.messages);
}
