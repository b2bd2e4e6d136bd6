//! Simulates the training loop whose memory is recorded: a GPT-2 small with AdamW.

use super::allocator::{Allocator, Traceback};
use super::random::Random;
use super::stacks::{INIT_SITES, LAYER_SITES, LAYERS, Site, Stacks};
use shared::pickle::Style;
use shared::trace::{Action, Stage};

/// Parameters of a generated snapshot.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Seed of the stacks, times and number of temporaries.
    pub seed: u64,
    /// Exact number of events, about 105 to 120 bytes each in the Python styles.
    pub events: usize,
    /// Pickler whose output the snapshot resembles.
    pub style: Style,
}

/// Start of a run in microseconds since the Unix epoch.
const START_US: i64 = 1_795_148_703_633_704;
/// Sizes in bytes of the parameters outside the layers: token and position embeddings, final norm.
const EMBEDDINGS: [u64; 4] = [154_389_504, 3_145_728, 3072, 3072];
/// Sizes in bytes of the parameters of a layer.
const PARAMETERS: [u64; 12] =
    [3072, 3072, 7_077_888, 9216, 2_359_296, 3072, 3072, 3072, 9_437_184, 12_288, 9_437_184, 3072];
/// Sizes in bytes of the activations that a layer keeps for the backward pass.
const ACTIVATIONS: [u64; 16] = [
    12_582_912, 16_384, 16_384, 37_748_736, 12_582_912, 196_608, 12_582_912, 12_582_912, 12_582_912, 16_384, 16_384,
    50_331_648, 50_331_648, 12_582_912, 3_145_728, 12_582_912,
];

#[derive(Clone, Copy, Debug)]
pub(super) struct TraceEvent {
    pub(super) action: Action,
    pub(super) addr: u64,
    pub(super) size: u64,
    pub(super) time_us: i64,
    pub(super) traceback: Traceback,
}

/// Start or end of an annotated span.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) stage: Stage,
    pub(super) name: String,
    pub(super) time_us: i64,
}

/// Final state of a run.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) allocator: Allocator,
    pub(super) marks: Vec<Mark>,
}

/// Runs the loop until it has made exactly `config.events` events.
pub(super) fn run(config: &Config, stacks: &Stacks, on_event: &mut dyn FnMut(&TraceEvent)) -> Run {
    let run = Run { allocator: Allocator::default(), marks: Vec::new() };
    let mut training = Training {
        run,
        stacks,
        on_event,
        random: Random::new(config.seed),
        events_left: config.events,
        time_us: START_US,
        tracebacks: 0,
    };
    let Err(Full) = training.train();
    training.run
}

/// Error that ends the loop once the recording has all its events.
struct Full;

#[derive(Clone, Copy)]
struct Tensor {
    addr: u64,
    size: u64,
}

struct Training<'a> {
    run: Run,
    stacks: &'a Stacks,
    on_event: &'a mut dyn FnMut(&TraceEvent),
    random: Random,
    events_left: usize,
    time_us: i64,
    tracebacks: u64,
}

impl Training<'_> {
    fn train(&mut self) -> Result<std::convert::Infallible, Full> {
        let parameters = self.build()?;
        let mut states = Vec::new();
        for step in 0.. {
            self.mark(Stage::Start, format!("ProfilerStep#{step}"));
            let activations = self.forward()?;
            let gradients = self.backward(&parameters, activations)?;
            self.optimize(&parameters, &mut states)?;
            for gradient in gradients {
                self.free(gradient, Site::Optimizer(15))?;
            }
            self.mark(Stage::End, format!("ProfilerStep#{step}"));
        }
        unreachable!("a recording is never longer than its number of events")
    }

    fn build(&mut self) -> Result<Vec<Tensor>, Full> {
        let layers = (0..LAYERS).flat_map(|_| PARAMETERS);
        let sizes: Vec<u64> = EMBEDDINGS.into_iter().chain(layers).collect();
        sizes.into_iter().enumerate().map(|(n, size)| self.alloc(size, Site::Init(n % INIT_SITES))).collect()
    }

    fn forward(&mut self) -> Result<Vec<Vec<Tensor>>, Full> {
        (0..LAYERS).map(|layer| self.forward_layer(layer)).collect()
    }

    fn forward_layer(&mut self, layer: usize) -> Result<Vec<Tensor>, Full> {
        let mut kept = Vec::with_capacity(ACTIVATIONS.len());
        for (n, size) in ACTIVATIONS.into_iter().enumerate() {
            kept.push(self.alloc(size, Site::Forward(layer, n))?);
            if self.random.chance(40) {
                let site = Site::Forward(layer, ACTIVATIONS.len() + n % (LAYER_SITES - ACTIVATIONS.len()));
                self.temporary(size, site)?;
            }
        }
        Ok(kept)
    }

    /// Frees the activations layer by layer, last layer first, and allocates a gradient for each parameter.
    fn backward(&mut self, parameters: &[Tensor], activations: Vec<Vec<Tensor>>) -> Result<Vec<Tensor>, Full> {
        let mut gradients = Vec::with_capacity(parameters.len());
        let (embeddings, layers) = parameters.split_at(EMBEDDINGS.len());
        for (kept, parameters) in activations.into_iter().zip(layers.chunks(PARAMETERS.len())).rev() {
            for (n, activation) in kept.into_iter().rev().enumerate() {
                let gradient = self.alloc(activation.size, Site::Backward)?;
                if let Some(parameter) = parameters.get(n) {
                    gradients.push(self.alloc(parameter.size, Site::Backward)?);
                }
                for _ in 0..self.random.below(3) {
                    self.temporary(activation.size / 2, Site::Backward)?;
                }
                self.free(activation, Site::Backward)?;
                self.free(gradient, Site::Backward)?;
            }
        }
        for embedding in embeddings {
            gradients.push(self.alloc(embedding.size, Site::Backward)?);
        }
        Ok(gradients)
    }

    /// Runs AdamW: two moments per parameter, allocated in the first step, and temporaries in every step.
    fn optimize(&mut self, parameters: &[Tensor], states: &mut Vec<Tensor>) -> Result<(), Full> {
        self.mark(Stage::Start, "Optimizer.step#AdamW.step".to_owned());
        let is_first = states.is_empty();
        for (n, parameter) in parameters.iter().enumerate() {
            if is_first {
                states.push(self.alloc(parameter.size, Site::Optimizer(0))?);
                states.push(self.alloc(parameter.size, Site::Optimizer(1))?);
            }
            self.temporary(parameter.size, Site::Optimizer(2 + n % 13))?;
            self.temporary(4, Site::Optimizer(2 + (n + 5) % 13))?;
        }
        self.mark(Stage::End, "Optimizer.step#AdamW.step".to_owned());
        Ok(())
    }

    fn temporary(&mut self, size: u64, site: Site) -> Result<(), Full> {
        let tensor = self.alloc(size, site)?;
        self.free(tensor, site)
    }

    fn alloc(&mut self, size: u64, site: Site) -> Result<Tensor, Full> {
        let traceback = self.capture(site);
        let addr = match self.run.allocator.find(size) {
            Some(addr) => addr,
            None => {
                let (addr, segment_size) = self.run.allocator.next_segment(size);
                self.record(Action::SegmentAlloc, addr, segment_size, traceback)?;
                self.run.allocator.add_segment(size, traceback);
                addr
            }
        };
        self.record(Action::Alloc, addr, size, traceback)?;
        self.run.allocator.take(addr, size, traceback);
        Ok(Tensor { addr, size })
    }

    fn free(&mut self, tensor: Tensor, site: Site) -> Result<(), Full> {
        let traceback = self.capture(site);
        self.record(Action::FreeRequested, tensor.addr, tensor.size, traceback)?;
        self.run.allocator.request_free(tensor.addr);
        self.record(Action::FreeCompleted, tensor.addr, tensor.size, traceback)?;
        self.run.allocator.complete_free(tensor.addr);
        Ok(())
    }

    fn capture(&mut self, site: Site) -> Traceback {
        self.tracebacks += 1;
        Traceback { id: self.tracebacks, stack: self.stacks.of(site) }
    }

    /// Records an event unless the recording is full; the allocator changes only afterwards.
    fn record(&mut self, action: Action, addr: u64, size: u64, traceback: Traceback) -> Result<(), Full> {
        self.events_left = self.events_left.checked_sub(1).ok_or(Full)?;
        // On a fast host, a third of the events have the same microsecond as the event before.
        if !self.random.chance(37) {
            self.time_us += 1 + self.random.below(9) as i64;
        }
        (self.on_event)(&TraceEvent { action, addr, size, time_us: self.time_us, traceback });
        Ok(())
    }

    fn mark(&mut self, stage: Stage, name: String) {
        self.run.marks.push(Mark { stage, name, time_us: self.time_us });
    }
}
