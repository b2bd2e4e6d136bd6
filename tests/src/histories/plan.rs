//! What a history is made of, drawn from its seed: faults one after the other, and clients beside them.

use std::fmt;
use std::time::Duration;

use super::recorder::CONTENTS;
use crate::generator::Random;
use crate::s3::Mood;
use crate::storage::Backend;

/// A history before it happens: the same seed makes the same one.
///
/// When exactly a fault meets a request is up to the machine, so that a violation may take several tries to come back.
#[derive(Debug, Clone)]
pub struct Plan {
    /// What everything is drawn from.
    pub seed: u64,
    /// What the server keeps things in.
    pub backend: Backend,
    /// How many processes are killed, recorders that had ended already among them.
    pub kills: usize,
    /// Whether the clock of all processes can jump.
    pub has_clock: bool,
}

impl Plan {
    /// The history of a seed: an even one is of SQLite and a folder, an odd one of PostgreSQL and a bucket.
    pub fn new(seed: u64, kills: usize) -> Self {
        let backend = if seed.is_multiple_of(2) { Backend::Sqlite } else { Backend::Postgres };
        Self { seed, backend, kills, has_clock: Random::new(!seed).chance(50) }
    }

    /// The faults, the last of which is the last kill.
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

    /// What one of the clients asks for, without end.
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

/// Workers beside the server, where the database can be shared.
pub(super) const WORKERS: usize = 2;

const WHO: [Who; 4] = [Who::Server, Who::Worker(0), Who::Worker(1), Who::Recorder];

fn up_to_ms(random: &mut Random, most: usize) -> Duration {
    Duration::from_millis(random.below(most) as u64)
}

/// A fault, and how long it is waited before.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) pause: Duration,
    pub(super) fault: Fault,
}

/// What goes wrong; a time is how long until it is right again.
#[derive(Debug, Clone, Copy)]
pub(super) enum Fault {
    KillServer(Duration),
    /// As the server, and the next one while it starts.
    KillServerAtStart(Duration),
    KillWorker(usize, Duration),
    KillRecorder,
    KillDatabase(Duration),
    /// A machine without power: server, workers and database.
    KillAll(Duration),
    LockDatabase(Duration),
    StoreAway(Mood, Duration),
    Pause(Who, Duration),
    StopServer,
    StopWorker(usize),
    /// To so many hours from the real time.
    Jump(i64),
}

impl Fault {
    /// How many processes it kills, where they are there.
    pub(super) fn kills(self) -> usize {
        match self {
            Self::KillServer(_) | Self::KillWorker(..) | Self::KillRecorder | Self::KillDatabase(_) => 1,
            Self::KillServerAtStart(_) => 2,
            Self::KillAll(_) => 2 + WORKERS,
            _ => 0,
        }
    }
}

/// A process that can be paused.
#[derive(Debug, Clone, Copy)]
pub(super) enum Who {
    Server,
    Worker(usize),
    Recorder,
}

/// What a client asks for; `pick` chooses among what this client made, or for what is under way among the latest.
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
    /// Draws as much for each, so that what comes later is the same whatever became of this one.
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

/// What a recording is to be; its job's name says so to the recorder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) kind: Kind,
    pub(super) content: usize,
    /// How long it takes, in tenths of a second.
    pub(super) tenths: usize,
    lane: usize,
    number: usize,
}

/// How a recording ends by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// With a snapshot that is known before.
    Good,
    /// With an error of the recorder.
    Bad,
    /// With a snapshot of PyTorch's.
    Real,
}

impl Recipe {
    /// A name for its job that no other has.
    pub(super) fn name(&self) -> String {
        let Self { kind, content, tenths, lane, number } = self;
        let kind = match kind {
            Kind::Good => "good",
            Kind::Bad => "bad",
            Kind::Real => "real",
        };
        format!("h-{kind}-{content}-{tenths}-{lane}x{number}")
    }

    /// The config of its job; a real recorder takes less than a second for it.
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
