//! Draws the faults and the clients' requests of a history from its seed.

use std::fmt;
use std::time::Duration;

use crate::generator::Random;
use crate::s3::Mood;
use crate::storage::Backend;

/// Number of snapshots: fewer than jobs and links, so that several share one.
pub(super) const CONTENTS: usize = 12;

/// Plan of a history, which depends only on its seed.
///
/// When exactly a fault meets a request depends on the machine, so a violation may take several tries to reproduce.
#[derive(Debug, Clone)]
pub struct Plan {
    pub seed: u64,
    pub backend: Backend,
    /// Number of processes to kill, including recorders that have already ended.
    pub kills: usize,
    /// True if the clock of all processes can jump.
    pub has_clock: bool,
}

impl Plan {
    /// Plans the history of a seed: an even one uses SQLite and a folder, an odd one PostgreSQL.
    ///
    /// PostgreSQL comes with a bucket, or with a folder if the clock can jump.
    pub fn new(seed: u64, kills: usize) -> Self {
        let backend = if seed.is_multiple_of(2) { Backend::Sqlite } else { Backend::Postgres };
        Self { seed, backend, kills, has_clock: Random::new(!seed).chance(50) }
    }

    /// Returns the faults; the last one is the last kill.
    pub(super) fn faults(&self) -> Vec<Step> {
        let mut random = Random::new(self.seed);
        let (mut steps, mut kills) = (Vec::new(), 0);
        while kills < self.kills {
            let step = Step { pause: up_to_ms(&mut random, 1500), fault: self.fault(&mut random) };
            kills += step.fault.kills();
            steps.push(step);
        }
        steps
    }

    fn fault(&self, random: &mut Random) -> Fault {
        let is_large = self.backend == Backend::Postgres;
        let down = up_to_ms(random, 1000);
        match random.below(100) {
            0..24 => Fault::KillServer(down),
            24..30 => Fault::KillServerAtStart(up_to_ms(random, 400)),
            30..50 => Fault::KillRecorder,
            50..66 if is_large => Fault::KillWorker(random.below(WORKERS), down),
            66..76 if is_large => Fault::KillDatabase(down),
            76..79 if is_large => Fault::KillAll(down),
            50..79 => Fault::KillServer(down),
            79..82 if is_large => Fault::KillDatabase(down),
            79..82 => Fault::LockDatabase(up_to_ms(random, 4000)),
            82..86 => Fault::StoreAway(random.one_of(&[Mood::Fails, Mood::Hangs, Mood::Drops]), down * 3),
            86..91 if is_large => Fault::Pause(random.one_of(&WHO), up_to_ms(random, 7000)),
            86..91 => Fault::Pause(random.one_of(&[Who::Server, Who::Recorder]), up_to_ms(random, 7000)),
            91..94 => Fault::StopServer,
            94..96 if is_large => Fault::StopWorker(random.below(WORKERS)),
            _ if self.has_clock => Fault::Jump(random.one_of(&[-30, -5, 0, 0, 2, 5, 25, 30])),
            _ => Fault::KillRecorder,
        }
    }

    /// Returns the endless requests of one client.
    pub(super) fn asks(&self, lane: usize) -> impl Iterator<Item = Ask> + use<> {
        let mut random = Random::new(self.seed ^ (lane as u64 + 1).wrapping_mul(0x517c_c1b7_2722_0a95));
        (0..).map(move |number| Ask::draw(&mut random, lane, number))
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = if self.has_clock { ", with a clock that jumps" } else { "" };
        write!(f, "seed {} on {:?}{clock}", self.seed, self.backend)
    }
}

/// Number of workers beside the server, if the database can be shared.
pub(super) const WORKERS: usize = 2;

const WHO: [Who; 4] = [Who::Server, Who::Worker(0), Who::Worker(1), Who::Recorder];

fn up_to_ms(random: &mut Random, most: usize) -> Duration {
    Duration::from_millis(random.below(most) as u64)
}

/// Fault, and the pause before it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) pause: Duration,
    pub(super) fault: Fault,
}

/// Kind of fault; a duration is the time until it is repaired.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    KillServer(Duration),
    /// Kills the server, and the next one during its start.
    KillServerAtStart(Duration),
    KillWorker(usize, Duration),
    KillRecorder,
    KillDatabase(Duration),
    /// Power failure of a machine: kills server, workers and database.
    KillAll(Duration),
    LockDatabase(Duration),
    StoreAway(Mood, Duration),
    Pause(Who, Duration),
    StopServer,
    StopWorker(usize),
    /// Hours from the real time.
    Jump(i64),
}

impl Fault {
    /// Returns the number of processes that the fault kills if they are running.
    pub(super) fn kills(self) -> usize {
        match self {
            Self::KillServer(_) | Self::KillWorker(..) | Self::KillRecorder | Self::KillDatabase(_) => 1,
            Self::KillServerAtStart(_) => 2,
            Self::KillAll(_) => 2 + WORKERS,
            _ => 0,
        }
    }
}

/// Process that can be paused.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who {
    Server,
    Worker(usize),
    Recorder,
}

/// Request of a client; `pick` chooses among its own jobs or links, or among the latest for those still active.
#[derive(Debug, Clone)]
pub(super) struct Ask {
    pub(super) what: What,
    pub(super) pick: usize,
    pub(super) recipe: Recipe,
    pub(super) pause: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Submit,
    SubmitAgain,
    SubmitOther,
    Cancel,
    Rename,
    DeleteJob,
    LookAtJob,
    Follow,
    List,
    Share,
    ShareJob,
    LookAtLink,
    DeleteLink,
}

impl Ask {
    /// Draws the same amount of random numbers for each request, so that later ones do not depend on this one.
    fn draw(random: &mut Random, lane: usize, number: usize) -> Self {
        let what = match random.below(100) {
            0..28 => What::Submit,
            28..32 => What::SubmitAgain,
            32..34 => What::SubmitOther,
            34..41 => What::Cancel,
            41..45 => What::Rename,
            45..51 => What::DeleteJob,
            51..60 => What::LookAtJob,
            60..68 => What::Follow,
            68..70 => What::List,
            70..82 => What::Share,
            82..85 => What::ShareJob,
            85..95 => What::LookAtLink,
            _ => What::DeleteLink,
        };
        let kind = match random.below(100) {
            0..6 => Kind::Real,
            6..14 => Kind::Bad,
            _ => Kind::Good,
        };
        let tenths = if random.chance(12) { random.below(30) } else { random.below(5) };
        let recipe = Recipe { kind, content: random.below(CONTENTS), tenths, lane, number };
        Self { what, pick: random.below(1 << 16), recipe, pause: up_to_ms(random, 700) }
    }
}

/// Parameters of a recording, which the name of its job passes to the recorder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) kind: Kind,
    pub(super) content: usize,
    /// Duration of the recording in tenths of a second.
    pub(super) tenths: usize,
    lane: usize,
    number: usize,
}

/// Outcome of an undisturbed recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A snapshot with known bytes.
    Good,
    /// An error of the recorder.
    Bad,
    /// A snapshot recorded by PyTorch.
    Real,
}

impl Recipe {
    /// Returns a unique name for the job.
    pub(super) fn name(&self) -> String {
        let Self { kind, content, tenths, lane, number } = self;
        let kind = match kind {
            Kind::Good => "good",
            Kind::Bad => "bad",
            Kind::Real => "real",
        };
        format!("h-{kind}-{content}-{tenths}-{lane}x{number}")
    }

    /// Returns the config of the job; a real recorder takes less than a second for it.
    pub(super) fn config(&self) -> String {
        let name = self.name();
        format!("name = \"{name}\"\nsteps = 1\n[model]\nfamily = \"mlp\"\ninput = 8\nhidden = [8]\nclasses = 2\n")
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |time: Duration| format!("{:.1} s", time.as_secs_f64());
        match self.fault {
            Fault::KillServer(down) => write!(f, "kill the server for {}", seconds(down)),
            Fault::KillServerAtStart(time) => write!(f, "kill the server, and {} after its start again", seconds(time)),
            Fault::KillWorker(worker, down) => write!(f, "kill worker {worker} for {}", seconds(down)),
            Fault::KillRecorder => write!(f, "kill a recorder"),
            Fault::KillDatabase(down) => write!(f, "kill the database for {}", seconds(down)),
            Fault::KillAll(down) => write!(f, "kill server, workers and database for {}", seconds(down)),
            Fault::LockDatabase(time) => write!(f, "lock the file of the database for {}", seconds(time)),
            Fault::StoreAway(mood, time) => write!(f, "take the store away for {} ({mood:?})", seconds(time)),
            Fault::Pause(who, time) => write!(f, "pause {who:?} for {}", seconds(time)),
            Fault::StopServer => write!(f, "stop the server in good order"),
            Fault::StopWorker(worker) => write!(f, "stop worker {worker} in good order"),
            Fault::Jump(hours) => write!(f, "let the clock jump to {hours:+} h"),
        }
    }
}
