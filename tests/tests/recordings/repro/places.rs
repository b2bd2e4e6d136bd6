//! Tests the stacks and metadata of recorded allocations, and that the allocations match those of Python.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use server::recording::repro::{Limits, Recording, run};
use shared::analysis::Timeline;
use shared::base::frame_rules::{RECORDED_MODULE, RECORDED_OPERATOR, RECORDED_PHASE};
use shared::import::import;
use shared::job::{Import, Job, Overrides, Source};
use shared::trace::{Action, Device, Event, StackId, Trace};
use testkit::repro::{Audience, built_recorder, config};
use testkit::server::root;

#[track_caller]
fn record(job: &Job) -> (Recording, Trace) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("out.pickle");
    let recording = run(built_recorder(), job, &Limits::default(), &path, &mut Audience::default())
        .unwrap_or_else(|failure| panic!("{}: {failure}: {:?}", job.name, failure.log_tail));
    (recording, import(&std::fs::read(path).expect("the snapshot")).expect("a snapshot"))
}

static GPT2: LazyLock<Trace> =
    LazyLock::new(|| record(&config("batch = 1\nsequence = 128\nsteps = 2\n[model]\npreset = \"gpt2\"\nlayers = 2")).1);

/// Returns name and file of the frames of a stack, innermost first.
fn frames(trace: &Trace, stack: StackId) -> Vec<(&str, &str)> {
    let text = |id| trace.strings.get(id);
    let frames = trace.stacks.frames(stack).iter().map(|&id| trace.frames.get(id));
    frames.map(|frame| (text(frame.name), text(frame.filename))).collect()
}

fn metadata(trace: &Trace, event: Event) -> &str {
    trace.strings.get(trace.contexts.get(event.context).user_metadata)
}

fn allocations(trace: &Trace) -> impl Iterator<Item = Event> + '_ {
    trace.devices[0].events.iter().filter(|event| event.action == Action::Alloc)
}

#[test]
fn every_allocation_has_a_step_a_phase_and_an_operation() {
    let mut phases = BTreeSet::new();
    for event in allocations(&GPT2) {
        let frames = frames(&GPT2, event.stack);
        let (phase, file) = *frames.last().expect("a stack");
        assert_eq!(file, RECORDED_PHASE, "{frames:?}");
        assert_eq!(frames[0].1, RECORDED_OPERATOR, "{frames:?}");
        let expected = if phase == "setup" { vec![phase.to_owned()] } else { steps_of(phase) };
        assert!(expected.iter().any(|text| text == metadata(&GPT2, event)), "{phase}: {}", metadata(&GPT2, event));
        phases.insert(phase);
    }
    let expected = ["backward", "data", "forward", "loss", "optimizer", "setup"];
    assert_eq!(phases.into_iter().collect::<Vec<_>>(), expected);
}

fn steps_of(phase: &str) -> Vec<String> {
    (0..2).map(|step| format!("step {step} · {phase}")).collect()
}

#[test]
fn every_allocation_of_a_pass_has_a_module() {
    for event in allocations(&GPT2) {
        let frames = frames(&GPT2, event.stack);
        let phase = frames.last().map_or("", |frame| frame.0);
        let modules: Vec<&str> =
            frames.iter().filter(|frame| frame.1 == RECORDED_MODULE).map(|frame| frame.0).collect();
        assert!(modules.iter().all(|name| name.ends_with(&format!(" · {phase}"))), "{frames:?}");
        // The gradient of the loss itself is allocated before any autograd node runs.
        assert!(!modules.is_empty() || frames[0].0 == "aten::ones_like", "{frames:?}");
    }
}

#[test]
fn backward_names_the_module_whose_gradient_it_computes() {
    // The gradient of a weight is as large as the weight, and live when backward ends.
    let expected = [
        ("layers.0.attention.qkv · backward", 768 * 2304 * 4),
        ("layers.1.mlp.up · backward", 768 * 3072 * 4),
        ("layers.1.mlp.down · backward", 3072 * 768 * 4),
        ("embedding.position · backward", 1024 * 768 * 4),
        ("head · backward", 50_257 * 768 * 4),
    ];
    let mut found: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for event in allocations(&GPT2) {
        if let Some((name, RECORDED_MODULE)) =
            frames(&GPT2, event.stack).into_iter().find(|frame| frame.1 != RECORDED_OPERATOR)
        {
            found.entry(name).or_default().insert(event.size_bytes);
        }
    }
    for (module, size_bytes) in expected {
        let sizes = found.get(module);
        assert!(sizes.is_some_and(|sizes| sizes.contains(&size_bytes)), "{module}: {sizes:?}");
    }
}

#[test]
fn checkpointed_layers_are_computed_again_and_no_frame_is_of_the_recorder() {
    let text = "batch = 1\nsequence = 128\nsteps = 1\ncheckpointing = true\n[model]\npreset = \"gpt2\"\nlayers = 2";
    let (_, trace) = record(&config(text));
    let names: BTreeSet<&str> = trace.frames.iter().map(|frame| trace.strings.get(frame.name)).collect();
    assert!(names.contains("layers.1.mlp.up · recompute"), "{names:?}");
    assert!(names.contains("layers.1.mlp.up · backward"), "{names:?}");
    let engine: Vec<_> = names.iter().filter(|name| name.contains("evaluate_function")).collect();
    assert!(engine.is_empty(), "the layer's own operations, and not the node in whose midst they run: {engine:?}");
    for frame in GPT2.frames.iter() {
        let file = GPT2.strings.get(frame.filename);
        assert!([RECORDED_OPERATOR, RECORDED_MODULE, RECORDED_PHASE].contains(&file), "{file}");
        assert_eq!(frame.line, 0);
    }
}

/// Returns the live and reserved peaks of a stored snapshot of a Python run.
fn stored(name: &str) -> (u64, u64) {
    peaks(&read_stored(name))[0]
}

fn read_stored(name: &str) -> Trace {
    let path = root().join("tests/data/snapshots").join(name);
    import(&std::fs::read(path).expect("a stored snapshot")).expect("a snapshot")
}

#[test]
fn one_gpu_takes_what_hugging_faces_and_torchvisions_models_took() {
    let text = std::fs::read_to_string(root().join("tests/data/jobs/hf-gpt2.config.json")).expect("a config");
    let arguments =
        r#"{"per_device_train_batch_size": 4, "max_steps": 3, "max_grad_norm": 1.0, "optim": "adamw_torch"}"#;
    let arguments = Source { name: "arguments.json", text: arguments };
    let import = Import::read(Source { name: "config.json", text: &text }, Some(arguments)).expect("an import");
    let overrides = Overrides { card: Some("h100-80gb".into()), sequence: Some(1024), ..Overrides::default() };
    let job = overrides.apply(import.job).resolve().expect("a job");
    let (recording, _) = record(&job);
    let (live, reserved) = stored("virtual-py-hf-gpt2-h100.pickle.gz");
    // The Python run had one tensor for both tokens and labels: 4 × 1024 numbers of 8 bytes.
    assert_eq!(recording.peak_live_bytes, live + 4 * 1024 * 8);
    assert_eq!(recording.peak_reserved_bytes, reserved);
    let text = "model = \"resnet50\"\nbatch = 64\nsteps = 3\ncard = \"h100-80gb\"\nkeep_outputs = false\n\
                [optimizer]\nkind = \"sgd\"\nmomentum = 0.9";
    let (recording, _) = record(&config(text));
    let (live, reserved) = stored("virtual-py-resnet50-h100.pickle.gz");
    let off = recording.peak_live_bytes.abs_diff(live) as f64 / live as f64;
    assert!(off < 0.001, "live: {} here, {live} in Python", recording.peak_live_bytes);
    assert_eq!(recording.peak_reserved_bytes, reserved);
}

fn peaks(trace: &Trace) -> Vec<(u64, u64)> {
    let timelines = trace.devices.iter().map(|device| Timeline::new(trace, device));
    timelines.map(|timeline| (timeline.live_peak().1, timeline.reserved_peak().1)).collect()
}

#[track_caller]
fn check_near(ours: u64, python: u64, most: f64) {
    let off = ours.abs_diff(python) as f64 / python as f64;
    assert!(off < most, "{ours} here, {python} in Python");
}

#[test]
fn replicas_and_ranks_take_what_data_parallel_and_fsdp_took() {
    let text = "batch = 64\nsteps = 3\noptimizer = \"adam\"\ncard = \"4x h100-80gb\"\n\
                parallel = { kind = \"data_parallel\", devices = 4 }\n\
                [model]\nfamily = \"mlp\"\ninput = 1024\nhidden = [4096]\nclasses = 1024";
    let ours = peaks(&record(&config(text)).1);
    let python = read_stored("virtual-py-dataparallel4.pickle.gz");
    // Before training, the Python run puts a tensor of its own on each device.
    let first =
        |device: &Device| device.events.iter().find(|event| event.action == Action::Alloc).expect("one").size_bytes;
    let own = python.devices.iter().map(first);
    for ((ours, python), own) in ours.into_iter().zip(peaks(&python)).zip(own) {
        check_near(ours.0, python.0 - own, 0.03);
        check_near(ours.1, python.1 - own, 0.05);
    }
    let text = "batch = 4\nsequence = 512\nsteps = 3\nkeep_outputs = false\noptimizer = \"adamw\"\n\
                card = \"h100-80gb\"\nparallel = { kind = \"fsdp\", mixed_precision = true }\n[model]\npreset = \"gpt2\"\nlayers = 6";
    let (_, trace) = record(&config(text));
    let (live, reserved) = stored("virtual-py-fsdp2-gpt2-rank0of8.pickle.gz");
    let [(ours_live, ours_reserved)] = peaks(&trace)[..] else { panic!("one device") };
    check_near(ours_live, live, 0.03);
    check_near(ours_reserved, reserved, 0.05);
}
