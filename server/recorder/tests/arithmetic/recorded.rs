//! Recordings under test: runs the binary with a config on a virtual GPU, and decodes its snapshot.

use std::collections::{BTreeSet, HashMap};
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use shared::api::{Finished, RecorderLine};
use shared::base::frame_rules::RECORDED_OPERATOR;
use shared::import::Importer;
use shared::job::{Job, RawJob};
use shared::trace::{Action, BlockState, StackId, Trace};

/// PyTorch's allocator rounds sizes up to a multiple of this.
const ROUNDING_BYTES: u64 = 512;
/// Smaller requests get blocks of exactly their rounded size; larger ones may get the rest of a segment.
const SMALL_BYTES: u64 = 1 << 20;

/// cuBLAS keeps a workspace for the thread of backward.
pub(crate) const WORKSPACE_BYTES: u64 = 32 << 20;

/// Number of elements of each parameter of [`mlp`], which has three linear layers.
pub(crate) const MLP_PARAMETERS: [u64; 6] = [700 * 300, 700, 500 * 700, 500, 10 * 500, 10];

/// Returns the keys of a small model of linear layers.
pub(crate) fn mlp() -> Value {
    json!({ "family": "mlp", "input": 300, "hidden": [700, 500], "classes": 10 })
}

/// Returns a config with changes of some keys, also of keys in tables.
pub(crate) fn changed(mut config: Value, changes: &Value) -> Value {
    for (key, value) in changes.as_object().expect("keys") {
        let has_tables = value.is_object() && config[key].is_object();
        config[key] = if has_tables { changed(config[key].take(), value) } else { value.clone() };
    }
    config
}

/// Resolves a config.
#[track_caller]
pub(crate) fn job(config: &Value) -> Job {
    RawJob::from_json(&config.to_string()).and_then(RawJob::resolve).expect("a valid config")
}

/// The trace of a run that finished.
pub(crate) struct Recorded {
    trace: Trace,
}

/// A live allocation.
#[derive(Debug, Clone)]
pub(crate) struct Tensor {
    /// Innermost module and phase that allocated it, such as `fc.weight · setup`; without a module only the phase.
    pub(crate) place: String,
    pub(crate) requested_bytes: u64,
}

/// Returns the memory of tensors with these numbers of 4-byte elements, each rounded up.
pub(crate) fn rounded_bytes(elements: &[u64]) -> u64 {
    elements.iter().map(|count| round(4 * count)).sum()
}

pub(crate) fn sorted(numbers: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut numbers: Vec<_> = numbers.into_iter().collect();
    numbers.sort_unstable();
    numbers
}

fn round(bytes: u64) -> u64 {
    bytes.next_multiple_of(ROUNDING_BYTES)
}

/// Runs a config and imports its snapshot.
#[track_caller]
pub(crate) fn record(config: &Value) -> Recorded {
    let mut importer = Importer::new();
    importer.push(&run(config).1).expect("a snapshot");
    Recorded { trace: importer.finish().expect("a snapshot") }
}

/// Runs a config, and returns the peaks of allocated and reserved bytes as PyTorch counts them.
#[track_caller]
pub(crate) fn peaks(config: &Value) -> (u64, u64) {
    let finished = run(config).0;
    (finished.peak_allocated_bytes, finished.peak_reserved_bytes)
}

/// Runs a config, and returns the recorder's last line and the snapshot.
#[track_caller]
fn run(config: &Value) -> (Finished, Vec<u8>) {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target");
    let libraries = [target.join("virtual-gpu"), target.join("libtorch/lib")];
    let folder = tempfile::tempdir().expect("a temporary folder");
    let snapshot = folder.path().join("out.pickle");
    let mut recorder = Command::new(env!("CARGO_BIN_EXE_snapscope-recorder"))
        .arg("--output")
        .arg(&snapshot)
        .env("LD_LIBRARY_PATH", std::env::join_paths(libraries).expect("no colons"))
        .env("SNAPSCOPE_VIRTUAL_GPU", config["card"].as_str().expect("a card"))
        .env("SNAPSCOPE_VIRTUAL_GPU_VALUES", if config["parallel"]["ranks"].is_u64() { "shadow" } else { "zero" })
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the recorder to start");
    recorder.stdin.take().expect("a pipe").write_all(config.to_string().as_bytes()).expect("it reads the job");
    let output = recorder.wait_with_output().expect("the recorder to end");
    let said = String::from_utf8(output.stdout).expect("text");
    let last = said.lines().last().and_then(|line| serde_json::from_str(line).ok());
    let Some(RecorderLine::Finished(finished)) = last else { panic!("{config}: {said}") };
    (finished, std::fs::read(&snapshot).expect("the snapshot"))
}

impl Recorded {
    /// Returns the allocations that are live at the end, according to the allocator's blocks.
    #[track_caller]
    pub(crate) fn alive(&self) -> Vec<Tensor> {
        let mut tensors = Vec::new();
        let mut allocated_bytes = 0;
        for block in self.trace.devices[0].segments.blocks.iter().filter(|block| block.state == BlockState::Allocated) {
            let tensor = Tensor { place: self.place(block.stack), requested_bytes: block.live_bytes() };
            let rounded = round(tensor.requested_bytes);
            let exact = rounded > SMALL_BYTES || block.size_bytes == rounded;
            assert!(exact && block.size_bytes >= rounded, "{tensor:?} has a block of {} bytes", block.size_bytes);
            allocated_bytes += block.size_bytes;
            tensors.push(tensor);
        }
        assert_eq!(self.trace.devices[0].segments.allocated_bytes(), allocated_bytes, "the allocator's own count");
        tensors
    }

    /// Returns the rounded live bytes at the end of places that end in `end`.
    #[track_caller]
    pub(crate) fn alive_bytes(&self, end: &str) -> u64 {
        let tensors = self.alive();
        tensors.iter().filter(|tensor| tensor.place.ends_with(end)).map(|tensor| round(tensor.requested_bytes)).sum()
    }

    /// Returns the numbers of elements of tensors that are live at the end, of places that end in `end`, in order.
    #[track_caller]
    pub(crate) fn elements(&self, end: &str) -> Vec<u64> {
        let tensors = self.alive().into_iter().filter(|tensor| tensor.place.ends_with(end));
        let bytes = tensors.map(|tensor| tensor.requested_bytes).filter(|bytes| *bytes != WORKSPACE_BYTES);
        sorted(bytes.map(|bytes| bytes / 4))
    }

    /// Returns the rounded bytes of weights and biases that are live at the end.
    #[track_caller]
    pub(crate) fn weight_bytes(&self) -> u64 {
        self.alive_bytes("weight · setup") + self.alive_bytes("bias · setup")
    }

    /// Returns the peak of the live bytes that a place has allocated.
    pub(crate) fn peak_bytes(&self, place: &str) -> u64 {
        let mut alive = HashMap::new();
        let (mut bytes, mut peak) = (0, 0);
        for event in self.trace.devices[0].events.iter() {
            match event.action {
                Action::Alloc if self.place(event.stack) == place => {
                    alive.insert(event.addr, event.size_bytes);
                    bytes += event.size_bytes;
                    peak = peak.max(bytes);
                }
                Action::FreeCompleted => bytes -= alive.remove(&event.addr).unwrap_or(0),
                _ => {}
            }
        }
        peak
    }

    /// Returns the live bytes at the first allocation of backward, of the places for which `counts` is true.
    pub(crate) fn bytes_before_backward(&self, counts: impl Fn(&str) -> bool) -> u64 {
        let mut alive = HashMap::new();
        let before = |place: &str| !place.ends_with("backward");
        let events = self.trace.devices[0].events.iter().map(|event| (event, self.place(event.stack)));
        for (event, place) in events.take_while(|(event, place)| event.action != Action::Alloc || before(place)) {
            match event.action {
                Action::Alloc if counts(&place) => drop(alive.insert(event.addr, event.size_bytes)),
                Action::FreeCompleted => drop(alive.remove(&event.addr)),
                _ => {}
            }
        }
        alive.values().sum()
    }

    /// Returns the live bytes at the end of each step.
    pub(crate) fn live_bytes_at_step_ends(&self) -> Vec<u64> {
        let device = &self.trace.devices[0];
        let timeline = shared::analysis::Timeline::new(&self.trace, device);
        let spans = shared::analysis::spans(&self.trace, device);
        let steps = spans.iter().filter(|span| self.trace.strings.get(span.name).starts_with("ProfilerStep#"));
        steps.map(|span| timeline.live_at(span.end_moment)).collect()
    }

    /// Returns the size of each allocation of a place on a device, in order.
    pub(crate) fn requested_bytes(&self, device: usize, place: &str) -> Vec<u64> {
        let events = self.trace.devices[device].events.iter().filter(|event| event.action == Action::Alloc);
        events.filter(|event| self.place(event.stack) == place).map(|event| event.size_bytes).collect()
    }

    /// Returns all operations in the stacks of a place's events.
    pub(crate) fn operations(&self, place: &str) -> BTreeSet<&str> {
        let events = self.trace.devices[0].events.iter();
        let stacks = events.map(|event| event.stack).filter(|&stack| self.place(stack) == place);
        let frames = stacks.flat_map(|stack| self.trace.stacks.frames(stack)).map(|&id| self.trace.frames.get(id));
        let operators = frames.filter(|frame| self.trace.strings.get(frame.filename) == RECORDED_OPERATOR);
        operators.map(|frame| self.trace.strings.get(frame.name)).collect()
    }

    pub(crate) fn peak_live_bytes(&self) -> u64 {
        shared::analysis::Timeline::new(&self.trace, &self.trace.devices[0]).live_peak().1
    }

    fn place(&self, stack: StackId) -> String {
        let text = |id| self.trace.strings.get(id);
        let mut frames = self.trace.stacks.frames(stack).iter().map(|&frame| self.trace.frames.get(frame));
        frames
            .find(|frame| text(frame.filename) != RECORDED_OPERATOR)
            .map_or_else(String::new, |frame| text(frame.name).to_owned())
    }
}
