//! Implements `snapscope diff`, which compares the live memory of two moments.

mod page;

pub(super) use page::Table;

use std::convert::Infallible;
use std::path::{Path, PathBuf};

use clap::Args;
use logs::Content;
use logs::Document;
use logs::tracemalloc::TracemallocSnapshot;
use shared::analysis::{DiffBy, Profile, Side, Study, categories, diff};
use shared::base::OwnCode;
use shared::report::{ComparedSide, Comparison, comparison};

use super::names::{OwnOption, names};
use super::output::document;
use super::{abreast, peak};
use crate::Failure;
use crate::snapshot_file::{self, Opened, snapshot_of};

/// The options of `snapscope diff`.
#[derive(Debug, Clone, Args)]
pub struct DiffArgs {
    /// The first snapshot: a pickle of `_dump_snapshot`, gzipped or not, its JSON form, or an HTML page of `trace_plot`;
    /// or a snapshot of Python's tracemalloc
    a: PathBuf,

    /// The second snapshot, of the same kind; pass the first file again to compare two of its moments
    b: PathBuf,

    /// The GPU index in both snapshots [default: in each the one with the highest peak]
    #[arg(long, value_name = "N")]
    device: Option<i64>,

    /// Use the state of A after this event instead of its peak; -1 is the state before the first event
    #[arg(long, value_name = "EVENT", allow_negative_numbers = true, conflicts_with = "step_a")]
    at_a: Option<i64>,

    /// Use the state of B after this event instead of its peak
    #[arg(long, value_name = "EVENT", allow_negative_numbers = true, conflicts_with = "step_b")]
    at_b: Option<i64>,

    /// Use the peak of this step of A; steps count from 1
    #[arg(long, value_name = "N")]
    step_a: Option<usize>,

    /// Use the peak of this step of B
    #[arg(long, value_name = "N")]
    step_b: Option<usize>,

    #[command(flatten)]
    pub(super) own: OwnOption,

    /// Group the table by this property; the JSON document has all three
    #[arg(long, value_parser = names(DiffBy::ALL, DiffBy::name, by_meaning), default_value = DiffBy::Stack.name())]
    pub(super) by: DiffBy,

    /// Number of rows to print
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(super) top: usize,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    /// Print Markdown, for tickets and reviews
    #[arg(long, conflicts_with = "json")]
    markdown: bool,
}

/// Moment of a snapshot that is compared.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct At {
    /// GPU index; `None` for the one with the highest peak.
    pub(super) device: Option<i64>,
    /// Event after which the memory is compared.
    pub(super) event: Option<i64>,
    /// Step whose peak is compared, counted from 1; without an event and a step, it is the peak.
    pub(super) step: Option<usize>,
}

/// One side of the comparison with its profile.
struct Chosen {
    side: ComparedSide,
    profile: Profile,
}

/// Part of a file that is compared.
enum Part {
    Chosen(Box<Chosen>),
    /// Snapshot of tracemalloc, which has one moment.
    Traced(Box<TracemallocSnapshot>),
}

/// Compares moments of two snapshots, with at most `top` stacks.
pub(super) fn compare(
    (a, at_a): (&Opened, At),
    (b, at_b): (&Opened, At),
    top: usize,
    own: &OwnCode,
) -> Result<Comparison, Failure> {
    Ok(compared(choose(a, at_a)?, choose(b, at_b)?, top, own))
}

fn compared(a: Chosen, b: Chosen, top: usize, own: &OwnCode) -> Comparison {
    let found = diff(&a.profile, &b.profile);
    comparison((a.side, &a.profile), (b.side, &b.profile), &found, (top, own))
}

impl DiffArgs {
    /// Reads the files and returns the text to print.
    pub fn run(&self) -> Result<String, Failure> {
        let report = match self.sides()? {
            (Part::Chosen(a), Part::Chosen(b)) => compared(*a, *b, self.top, &self.own.rule()),
            (a, b) => return self.traced(a, b),
        };
        if self.json {
            return Ok(document(&report));
        }
        Ok(self.written(&Table::of(&report, self.by, self.top)))
    }

    fn written(&self, table: &Table) -> String {
        if self.markdown { table.markdown() } else { table.text() }
    }

    /// Returns the moments of both sides.
    pub(super) fn moments(&self) -> [At; 2] {
        [(self.at_a, self.step_a), (self.at_b, self.step_b)].map(|(event, step)| At {
            device: self.device,
            event,
            step,
        })
    }

    /// Reads both sides: two files in parallel, the same file only once.
    ///
    /// If both sides fail, the failure describes both.
    fn sides(&self) -> Result<(Part, Part), Failure> {
        let [of_a, of_b] = self.moments();
        if self.a == self.b {
            return parts(&self.a, [of_a, of_b]).map(|[a, b]| (a, b));
        }
        let read = |side: usize| match side {
            0 => Ok::<_, Infallible>(parts(&self.a, [of_a])),
            _ => Ok(parts(&self.b, [of_b])),
        };
        let Ok(sides) = abreast::each(&[&self.a, &self.b], read);
        let mut sides = sides.into_iter();
        match std::array::from_fn(|_| sides.next().expect("as many sides as files")) {
            [Ok([a]), Ok([b])] => Ok((a, b)),
            [Err(a), Err(b)] => Err(a.and(&b)),
            [Err(failure), Ok(_)] | [Ok(_), Err(failure)] => Err(failure),
        }
    }
}

/// Reads what a file has at each of these moments.
fn parts<const N: usize>(path: &Path, moments: [At; N]) -> Result<[Part; N], Failure> {
    let content = snapshot_file::open(path)?;
    if let Content::Log(log) = &content
        && let Some(Document::Tracemalloc(snapshot)) = &log.document
    {
        return Ok(moments.map(|_| Part::Traced(snapshot.clone())));
    }
    let opened = snapshot_of(content, path)?;
    let parts = moments.iter().map(|at| choose(&opened, *at).map(|chosen| Part::Chosen(Box::new(chosen))));
    let parts: Vec<Part> = parts.collect::<Result<_, _>>()?;
    Ok(parts.try_into().unwrap_or_else(|_| unreachable!("a part for each moment")))
}

fn choose(opened: &Opened, at: At) -> Result<Chosen, Failure> {
    let (device, timeline) = opened.choose_device(at.device)?;
    let study = Study::new(&opened.trace, device, timeline);
    let moment = match (at.event, at.step) {
        (Some(event), _) => peak::moment_after(device, timeline, event)?,
        (None, Some(step)) => step_moment(&study, &opened.file, step)?,
        (None, None) => timeline.live_peak().0,
    };
    let categories = categories(device, timeline, &study.phases);
    let profile = Profile::at(&opened.trace, device, &timeline.allocations, &categories, moment);
    let step = at.step.map(|step| step as u64);
    Ok(Chosen { side: ComparedSide::new(&opened.file, device.index, timeline, &profile, step), profile })
}

fn by_meaning(by: DiffBy) -> &'static str {
    match by {
        DiffBy::Stack => "Call stack of the allocation",
        DiffBy::Category => "Category, such as parameter, gradient or activation",
        DiffBy::Module => "The `torch.nn` module if the recording names it, else the source file",
    }
}

fn step_moment(study: &Study<'_>, file: &str, step: usize) -> Result<u32, Failure> {
    let side = step.checked_sub(1).and_then(|step| u32::try_from(step).ok()).map(Side::Step);
    side.and_then(|side| side.moment(study.timeline, study.steps.as_ref())).ok_or_else(|| {
        let hint = match &study.steps {
            Some(steps) => format!("its steps are 1 to {}", steps.steps.len()),
            None => "no steps were found in it: pass an event with --at-a or --at-b".to_owned(),
        };
        Failure::new(format!("{file}: there is no step {step} on device {}", study.device.index), hint)
    })
}
