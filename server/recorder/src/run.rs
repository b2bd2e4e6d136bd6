//! The training loop, which turns a job into a snapshot.
//!
//! It is the loop of a plain PyTorch script with Python's lifetimes: a batch and a loss live until the next ones are
//! assigned to their names.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use shared::api::{Finished, Message, OutOfMemory, RecorderLine, Started};
use shared::job::{Device as JobDevice, Evaluation, Job, Precision};
use tch::{Device, Kind, TchError, Tensor};

use crate::Result;
use crate::builder::Builder;
use crate::data::Loader;
use crate::history;
use crate::model::{self, Batch, Network, Output};
use crate::numbers::Numbers as _;
use crate::optimizer::{GradScaler, Optimizer};
use crate::parallel;
use crate::pass::Pass;
use crate::place::{Module, Phase};
use crate::report::{Now, Reporter};
use crate::shim;

/// Time after which the end of a step writes a partial snapshot, in case the process is killed later.
const BETWEEN_SNAPSHOTS: Duration = Duration::from_secs(10);

/// Minimum time between two partial snapshots, as a multiple of the time that writing one takes.
const TIMES_WRITING: u32 = 20;

/// Reason why a run has no result.
#[derive(Debug)]
pub enum Stop {
    /// Message of an error of PyTorch or of the recorder itself.
    Failed(String),
    /// Error of writing the snapshot.
    Output(io::Error),
}

impl From<TchError> for Stop {
    fn from(error: TchError) -> Self {
        Self::Failed(message(error))
    }
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// Returns the message of an error without the stack of libtorch's C++ functions, which Python leaves out too.
fn message(error: TchError) -> String {
    match error {
        TchError::Torch(text) => match text.split_once("\nException raised from ") {
            Some((message, _)) => message.to_owned(),
            None => text,
        },
        other => other.to_string(),
    }
}

/// Returns the reason why CUDA does not start, with what the sandbox refused: CUDA itself only gives a number.
fn not_started(error: TchError) -> Stop {
    let (message, refused) = (message(error), shim::refused());
    if refused.is_empty() {
        return Stop::Failed(message);
    }
    Stop::Failed(format!("{message}; the sandbox of the recorder refused: {refused}"))
}

/// A run of a job.
pub struct Run<'a> {
    job: &'a Job,
    device: u32,
    reporter: Reporter,
    last_snapshot: Instant,
    /// Time after the last snapshot at which the next one is due.
    next_snapshot: Duration,
}

/// State of the training that outlives a step.
struct Training {
    network: Box<dyn Network>,
    optimizer: Optimizer,
    scaler: Option<GradScaler>,
    loader: Loader,
    batch: Batch,
    output: Option<Output>,
    loss: Option<Tensor>,
}

impl<'a> Run<'a> {
    /// Creates a run that writes its snapshot through `reporter`.
    pub fn new(job: &'a Job, device: u32, reporter: Reporter) -> Self {
        Self { job, device, reporter, last_snapshot: Instant::now(), next_snapshot: BETWEEN_SNAPSHOTS }
    }

    /// Trains, writes the snapshot and reports the end of the run, which may be running out of memory.
    ///
    /// # Errors
    ///
    /// Returns an error if an operation fails for another reason, or if the snapshot cannot be written.
    pub fn record(&mut self) -> std::result::Result<(), Stop> {
        match self.train() {
            Ok(training) => {
                self.reporter.write(false)?;
                history::discard_exhaustion();
                drop(training);
                self.finish(None)
            }
            Err(Stop::Failed(message)) => match exhaustion(&message) {
                Some((oom, snapshot)) => {
                    match snapshot {
                        Some(snapshot) => self.reporter.take(&snapshot, false)?,
                        None => self.reporter.write(false)?,
                    }
                    self.finish(Some(oom))
                }
                None => Err(Stop::Failed(message)),
            },
            Err(stop) => Err(stop),
        }
    }

    fn finish(&self, oom: Option<OutOfMemory>) -> std::result::Result<(), Stop> {
        let statistics = shim::statistics(self.device)?;
        if oom.is_none() && statistics.retries > 0 {
            Reporter::say(&RecorderLine::Message(Message { text: retried(statistics.retries) }));
        }
        Reporter::say(&RecorderLine::Finished(Finished {
            steps: Now::get().steps_done,
            peak_allocated_bytes: statistics.allocated_peak.cast_unsigned(),
            peak_reserved_bytes: statistics.reserved_peak.cast_unsigned(),
            oom,
        }));
        Ok(())
    }

    fn train(&mut self) -> std::result::Result<Training, Stop> {
        self.start().map_err(not_started)?;
        self.reporter.progress();
        let mut training = Phase::Setup.run(|| Training::new(self.job, Device::Cuda(self.device as usize)))?;
        for step in 0..self.job.steps {
            self.begin_step(step);
            self.train_step(&mut training)?;
            if let Some(evaluation) = self.job.evaluation.filter(|evaluation| (step + 1) % evaluation.every == 0) {
                self.evaluate(&mut training, evaluation)?;
            }
            self.end_step(step)?;
        }
        shim::synchronize()?;
        Ok(training)
    }

    /// Starts CUDA and its memory history, and reports the device.
    fn start(&self) -> Result<()> {
        tch::manual_seed(0);
        history::start(self.reporter.output())?;
        shim::allow_tf32(self.job.precision == Precision::Tf32);
        if let Some(fraction) = self.job.memory_fraction {
            shim::set_memory_fraction(self.device, fraction)?;
        }
        let (device, memory_bytes) = shim::device(self.device)?;
        Reporter::say(&RecorderLine::Started(Started {
            device,
            memory_bytes,
            parameters: self.job.parameters(),
            steps: self.job.steps,
        }));
        Ok(())
    }

    fn begin_step(&mut self, step: u64) {
        Now::update(|now| now.step = Some(step));
        shim::set_step(step + 1);
        history::annotate(&step_name(step), history::START);
    }

    /// Ends a step, and may write a partial snapshot.
    ///
    /// It does so after steps 1, 2, 4, 8 and so on, and once the last one is old enough.
    fn end_step(&mut self, step: u64) -> std::result::Result<(), Stop> {
        history::annotate(&step_name(step), history::END);
        let done = step + 1;
        Now::update(|now| now.steps_done = done);
        if done < self.job.steps && (done.is_power_of_two() || self.last_snapshot.elapsed() > self.next_snapshot) {
            let start = Instant::now();
            self.reporter.write(true)?;
            self.last_snapshot = Instant::now();
            self.next_snapshot = BETWEEN_SNAPSHOTS.max(start.elapsed() * TIMES_WRITING);
        }
        Ok(())
    }

    fn train_step(&mut self, training: &mut Training) -> Result<()> {
        let job = self.job;
        let pass = Pass::of_training(job);
        for _ in 0..job.accumulation {
            self.phase(Phase::Data, || training.loader.load(&*training.network, &mut training.batch))?;
            // Forward and loss share one region of autocast: its casts live until the loss is computed.
            let passes = || {
                let mut output = self.phase(Phase::Forward, || training.network.forward(&training.batch, &pass))?;
                let loss = self.phase(Phase::Loss, || training.loss(&output))?;
                output.locals.clear();
                let loss = training.network.hand_on(&mut output, loss)?;
                Ok((job.keep_outputs.then_some(output), loss))
            };
            let (output, mut loss) = Phase::Loss.run(|| pass.run(passes))?;
            training.output = output;
            let mut undivided = None;
            if job.accumulation > 1 {
                let share = || loss.divide_number(job.accumulation.cast_signed());
                let share = Phase::Loss.run(|| Module::named("cross_entropy").run(share))?;
                undivided = Some(std::mem::replace(&mut loss, share));
            }
            training.loss = Some(loss);
            training.hold_undivided(undivided);
            self.phase(Phase::Backward, || training.backward())?;
        }
        self.phase(Phase::Optimizer, || training.update(job))?;
        training.output = None;
        Ok(())
    }

    fn evaluate(&mut self, training: &mut Training, evaluation: Evaluation) -> Result<()> {
        let pass = Pass::of_evaluation(self.job);
        training.loader.begin_evaluation();
        self.phase(Phase::Evaluation, || {
            for _ in 0..evaluation.batches {
                training.loader.load_evaluation(&*training.network, &mut training.batch)?;
                let loss = || {
                    pass.run(|| {
                        let mut output = training.network.forward(&training.batch, &pass)?;
                        let loss = training.loss(&output)?;
                        output.locals.clear();
                        training.network.hand_on(&mut output, loss)
                    })
                };
                training.loss = Some(if evaluation.no_grad { tch::no_grad(loss)? } else { loss()? });
            }
            Ok(())
        })
    }

    /// Runs one phase of a step, with a span in the annotations and a line of progress before and after.
    fn phase<T>(&mut self, phase: Phase, work: impl FnOnce() -> Result<T>) -> Result<T> {
        Now::update(|now| now.phase = phase);
        // If the phase crashes the process, this line says where.
        self.reporter.progress();
        let result = phase.run_annotated(work);
        self.reporter.progress();
        result
    }
}

impl Training {
    fn new(job: &Job, device: Device) -> Result<Self> {
        let kind = if job.precision == Precision::Bf16 { Kind::BFloat16 } else { Kind::Float };
        let shards = parallel::fsdp::root(job);
        let builder = Builder::new(device, kind, job.lora.clone(), shards);
        let network = parallel::wrap(job, model::build(job, &builder)?, &builder)?;
        let optimizer = Optimizer::new(job.optimizer, builder.into_parameters(), shards.is_some())?;
        let scaler = match job.precision {
            Precision::Autocast(amp) if amp.grad_scaler => Some(GradScaler::new(device)),
            _ => None,
        };
        let loader = Loader::new(job, kind, device)?;
        let (batch, output, loss) = (Vec::new(), None, None);
        Ok(Self { network, optimizer, scaler, loader, batch, output, loss })
    }

    fn loss(&self, output: &Output) -> Result<Tensor> {
        self.network.loss(output, &self.batch)
    }

    /// Keeps the undivided loss as long as Python's output object keeps it.
    fn hold_undivided(&mut self, loss: Option<Tensor>) {
        if let Some(output) = self.output.as_mut().filter(|_| self.network.output_holds_loss()) {
            output.locals.extend(loss);
        }
    }

    fn backward(&mut self) -> Result<()> {
        let Some(loss) = &self.loss else { return Ok(()) };
        match &mut self.scaler {
            Some(scaler) => scaler.scale(loss)?.f_backward(),
            None => loss.f_backward(),
        }
    }

    fn update(&mut self, job: &Job) -> Result<()> {
        if let Some(max_norm) = job.clip_grad_norm {
            if let Some(scaler) = &mut self.scaler {
                scaler.unscale(&self.optimizer)?;
            }
            self.optimizer.clip_grad_norm(max_norm)?;
        }
        match &mut self.scaler {
            Some(scaler) => {
                scaler.step(&mut self.optimizer)?;
                scaler.update()?;
            }
            None => self.optimizer.step()?,
        }
        self.optimizer.zero_grad(job.zero_grad)
    }
}

/// Returns the message about a GPU that was full until PyTorch freed its cache.
fn retried(times: i64) -> String {
    let times = if times == 1 { "once".to_owned() } else { format!("{times} times") };
    format!("GPU memory was full {times}: PyTorch freed its cache and retried, which slows down a real run")
}

/// Returns the name that PyTorch's profiler gives a step.
fn step_name(step: u64) -> String {
    format!("ProfilerStep#{step}")
}

/// Returns where memory ran out and the file with the snapshot of that moment, if `message` is about running out of
/// memory.
fn exhaustion(message: &str) -> Option<(OutOfMemory, Option<PathBuf>)> {
    if !message.contains("out of memory") {
        return None;
    }
    let (place, snapshot) = history::exhaustion()?;
    let oom = OutOfMemory {
        message: message.to_owned(),
        step: Now::get().step,
        phase: Phase::from_number(place.phase).to_string(),
        module: place.module,
        operation: place.operation,
    };
    Some((oom, snapshot))
}

/// Returns the index of the device that a job runs on; the virtual GPU is device 0.
pub fn device_index(device: &JobDevice) -> u32 {
    match device {
        JobDevice::Virtual(_) => 0,
        JobDevice::Cuda(index) => *index,
    }
}
