//! Implements `snapscope host`, which samples the host memory of a process and of all that it starts.

mod arenas;
mod opened;
mod proc;
mod sampler;
mod shm;

use std::path::PathBuf;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use clap::Args;
use shared::base::format::{counted, duration};

use super::output::Output;
use crate::{Failure, units};
use sampler::Sampler;

pub(super) use proc::{below, kib_of, of_machine};
pub(super) use sampler::sampled_beside;

/// Shortest time between two samples.
const LEAST_TIME: Duration = Duration::from_millis(10);

/// The options of `snapscope host`.
#[derive(Debug, Clone, Args)]
pub struct HostArgs {
    /// Sample the process with this id and its descendants until it ends
    #[arg(required_unless_present = "command", conflicts_with = "command")]
    pid: Option<u32>,

    /// Run this command, and sample it and its descendants until it ends
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,

    /// Time between two samples
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = units::time)]
    every: Duration,

    /// The file to write, a table with commas, which `snapscope diagnose` reads
    #[arg(short, long, value_name = "OUT", default_value = "host-memory.csv")]
    output: PathBuf,
}

impl HostArgs {
    /// Samples until the process ends.
    ///
    /// Each sample is in the file before the next one is taken, so that nothing is lost if the machine runs out of memory.
    pub fn run(&self) -> Result<Output, Failure> {
        let mut sampler = Sampler::open(&self.output)?;
        let mut child = if self.command.is_empty() { None } else { Some(self.start()?) };
        let root = child.as_ref().map_or(self.pid.unwrap_or_default(), Child::id);
        if child.is_none() && proc::tree(root).is_empty() {
            return Err(Failure::new(format!("there is no process {root}"), "pass the id of a process of your own"));
        }
        sampler.begin(root)?;
        let (start, mut status) = (Instant::now(), 0);
        let mut next = start;
        loop {
            if !sampler.sample()? && child.is_none() {
                break;
            }
            // A sample that came too late is not made up for.
            next = (next + self.every.max(LEAST_TIME)).max(Instant::now());
            if let Some(ended) = child.as_mut().and_then(|child| wait_until(child, next)) {
                status = ended;
                break;
            }
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
        let samples = sampler.finish()?;
        let time = duration(u64::try_from(start.elapsed().as_micros()).unwrap_or(u64::MAX));
        let output = self.output.display();
        let stderr = format!(
            "{} in {time}, written to {output}\nsnapscope diagnose {output} says what climbs\n",
            counted(samples, "sample")
        );
        // Standard output belongs to the command.
        Ok(Output { stderr, status, ..Output::default() })
    }

    fn start(&self) -> Result<Child, Failure> {
        let (program, arguments) = self.command.split_first().expect("clap asks for a command or a process");
        Command::new(program).args(arguments).spawn().map_err(|error| Failure::starting(program, &error))
    }
}

/// Waits for the end of a child until a time; returns its exit status, 128 plus the signal if one ended it.
pub(super) fn wait_until(child: &mut Child, until: Instant) -> Option<u8> {
    use std::os::unix::process::ExitStatusExt as _;
    const PAUSE: Duration = Duration::from_millis(20);
    loop {
        // An error means that somebody else has waited for it, so that its status is lost.
        match child.try_wait() {
            Ok(None) if Instant::now() < until => std::thread::sleep(PAUSE.min(until - Instant::now())),
            Ok(None) => return None,
            Ok(Some(ended)) => {
                let code = ended.code().or_else(|| ended.signal().map(|signal| 128 + signal));
                return Some(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(1));
            }
            Err(_) => return Some(1),
        }
    }
}
