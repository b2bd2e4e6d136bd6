//! Reports on traces of torch.profiler: memory over time, what was live at the peak, and what each step does again.

mod operators;

use crate::source::{LogPart, Source};
use crate::torch_profiler::{
    Course, Habit, HabitKind, Lane, LaneKind, LaneSpan, LiveGroup, Profile, habits, live_groups,
};
use hashbrown::HashMap;
pub use operators::{OperatorsAtPeak, operators_at_peak};
use shared::analysis::{Confidence, FindingCode};
use shared::base::format;
use shared::report::{
    Finding, HOST, LogCell, LogCurves, LogLane, LogNotice, LogSeries, LogSpan, LogTable, MOST_TIMES, extremes,
};

/// How to record a trace that says more.
const RECORD: &str = "Create the profiler with `profile_memory=True` and `with_stack=True`.";

impl Source for Profile {
    fn part(&self) -> LogPart {
        LogPart {
            title: title(self),
            curves: { large(self).filter(|course| course.events.len() > 1) }
                .map(|course| curves(self, course))
                .collect(),
            findings: findings(self),
            tables: tables(self),
            notices: notices(self),
            ..LogPart::default()
        }
    }
}

fn title(profile: &Profile) -> String {
    let memory: u64 = profile.courses.iter().map(|course| course.events.len() as u64).sum();
    let [events, memory] = [profile.events, memory].map(|count| format::counted(count, "event"));
    format!("Trace of torch.profiler: {events}, {memory} of memory")
}

fn name_of(course: &Course) -> String {
    course.gpu.map_or_else(|| "Host".to_owned(), |index| format!("GPU {index}"))
}

/// Returns the devices that matter: a training on a GPU also allocates some numbers on the host.
fn large(profile: &Profile) -> impl Iterator<Item = &Course> {
    let peak = |course: &Course| course.heights().into_iter().max().unwrap_or(0);
    let peaks: Vec<u64> = profile.courses.iter().map(peak).collect();
    let most = peaks.iter().copied().max().unwrap_or(0);
    profile.courses.iter().zip(peaks).filter(move |(_, peak)| *peak >= most / 1000).map(|(course, _)| course)
}

/// Returns the allocated and the reserved bytes of a device over time.
fn curves(profile: &Profile, course: &Course) -> LogCurves {
    let heights = course.heights();
    let shown = extremes(course.events.len(), MOST_TIMES, |at| heights[at]);
    let first_us = course.events.first().map_or(0.0, |event| event.time_us);
    let start_us = if profile.has_dates { 0.0 } else { first_us };
    let series = |name: &str, bytes: &dyn Fn(usize) -> u64| LogSeries {
        name: name.to_owned(),
        bytes: shown.iter().map(|&at| bytes(at)).collect(),
    };
    let allocated = series("Allocated", &|at| heights[at]);
    let reserved = series("Reserved", &|at| course.events[at].reserved_bytes);
    let has_reserved = course.gpu.is_some();
    LogCurves {
        quantity: format!("Memory of {}", if has_reserved { name_of(course) } else { "the host".to_owned() }),
        has_steps: true,
        has_dates: profile.has_dates,
        has_times: true,
        times_us: shown.iter().map(|&at| (course.events[at].time_us - start_us) as i64).collect(),
        series: if has_reserved { vec![allocated, reserved] } else { vec![allocated] },
        lanes: profile.lanes.iter().map(|lane| row_of(profile, lane, start_us)).collect(),
        ..LogCurves::default()
    }
}

/// Returns a row of what ran; times count from `start_us`.
fn row_of(profile: &Profile, lane: &Lane, start_us: f64) -> LogLane {
    let name = match lane.kind {
        LaneKind::Steps => "Steps",
        LaneKind::Annotations => "Annotations",
        LaneKind::Kernels => "Kernels",
    };
    let span = |span: &LaneSpan| LogSpan {
        name: match span.count {
            1 => profile.name(span.name).to_owned(),
            count => format!("{} {}", format::count(count), lane.kind.name()),
        },
        from_us: (span.start_us - start_us) as i64,
        to_us: (span.end_us - start_us) as i64,
    };
    LogLane { name: name.to_owned(), spans: lane.spans.iter().map(span).collect() }
}

/// Returns the highest memory of a device within each step, and within all annotations of a name.
fn spans_table(profile: &Profile, course: &Course) -> Option<LogTable> {
    let heights = course.heights();
    let highest = |span: &LaneSpan| {
        let first = course.events.partition_point(|event| event.time_us < span.start_us);
        let end = course.events.partition_point(|event| event.time_us <= span.end_us);
        heights[first..end.max(first)].iter().copied().max()
    };
    let named = profile.lanes.iter().filter(|lane| lane.kind != LaneKind::Kernels).flat_map(|lane| &lane.spans);
    let mut rows: Vec<(&str, u64, f64, Option<u64>)> = Vec::new();
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    for span in named {
        let name = profile.name(span.name);
        let row = *by_name.entry(name).or_insert_with(|| {
            rows.push((name, 0, 0.0, None));
            rows.len() - 1
        });
        let (_, count, time_us, most) = &mut rows[row];
        (*count, *time_us, *most) =
            (*count + span.count, *time_us + span.end_us - span.start_us, highest(span).max(*most));
    }
    let row = |(name, count, time_us, most): (&str, u64, f64, Option<u64>)| {
        let time = LogCell::Text(format::duration(time_us.max(0.0) as u64));
        vec![LogCell::Text(name.to_owned()), LogCell::Count(count), time, most.map_or(LogCell::Nothing, LogCell::Bytes)]
    };
    let rows: Vec<Vec<LogCell>> = rows.into_iter().map(row).collect();
    let title = format!("{}: highest memory within each step and annotation", name_of(course));
    let columns = ["Step or annotation", "Times", "Duration", "Highest memory"];
    (!rows.is_empty()).then(|| LogTable::new(title, columns, rows))
}

/// Returns, for each device, what was live at its peak.
fn tables(profile: &Profile) -> Vec<LogTable> {
    let table = |course: &Course| {
        let (_, groups) = live_groups(course)?;
        let has_functions = groups.iter().any(|group| group.function.is_some());
        let row = |group: &LiveGroup| {
            let name = |id| LogCell::Text(profile.name(id).to_owned());
            let operator = group.operator.map_or(LogCell::Text("outside of operators".to_owned()), name);
            let function = has_functions.then(|| group.function.map_or(LogCell::Nothing, name));
            let figures = [LogCell::Bytes(group.bytes), LogCell::Count(group.count)];
            [operator].into_iter().chain(function).chain(figures).collect()
        };
        let columns = ["Operator"].into_iter().chain(has_functions.then_some("Line of your code"));
        let columns = columns.chain(["Memory", "Allocations"]);
        Some(LogTable::new(format!("{}: live at the peak", name_of(course)), columns, groups.iter().map(row)))
    };
    let of_spans = large(profile).filter_map(|course| spans_table(profile, course));
    profile.courses.iter().filter_map(table).chain(of_spans).collect()
}

fn findings(profile: &Profile) -> Vec<Finding> {
    // No habit is a problem by itself.
    let habits = habits(profile).into_iter().map(|habit| finding(profile, &habit));
    if profile.is_empty() {
        let nothing = Finding::stated(
            FindingCode::TooLittleRecorded,
            HOST,
            0,
            "The trace has no memory events".to_owned(),
            "Traces have them only if the profiler was asked for them.".to_owned(),
            RECORD.to_owned(),
        );
        return [nothing].into_iter().chain(habits).collect();
    }
    large(profile).filter_map(|course| peak(profile, course)).chain(habits).collect()
}

fn peak(profile: &Profile, course: &Course) -> Option<Finding> {
    let (event, groups) = live_groups(course)?;
    let bytes = *course.heights().get(event)?;
    let known: u64 = groups.iter().map(|group| group.bytes).sum();
    let name = |group: &LiveGroup| {
        let operator = group.operator.map_or("outside of operators", |id| profile.name(id));
        let function = group.function.map_or_else(String::new, |id| format!(" in {}", profile.name(id)));
        format!("{} by {operator}{function}", format::bytes(group.bytes))
    };
    let named: Vec<String> = groups.iter().take(3).map(name).collect();
    let before = match bytes.saturating_sub(known) {
        0 => String::new(),
        before => format!(" {} of it is from before the trace.", format::bytes(before)),
    };
    let reserved = match course.events.iter().map(|event| event.reserved_bytes).max() {
        None | Some(0) => String::new(),
        Some(reserved) => format!(" PyTorch reserved {} at most.", format::bytes(reserved)),
    };
    let device = course.gpu.map_or(HOST, i64::from);
    Some(Finding::stated(
        FindingCode::Peak,
        device,
        bytes,
        format!("The peak is {} allocated", format::bytes(bytes)),
        format!("Of what was allocated within the trace, {} were live.{before}{reserved}", named.join(", ")),
        "[record] Record a snapshot, which shows what each of these tensors is for, when it was freed, and what other \
         settings would have saved: ``torch.cuda.memory._record_memory_history(max_entries=1_000_000)``, then `torch.cuda.memory._dump_snapshot(\"snapshot.pickle\")`."
            .to_owned(),
    ))
}

fn notices(profile: &Profile) -> Vec<LogNotice> {
    let cut = "The file ends within its list of events, as when the profiler was killed: later events are missing.";
    let cut = profile.is_cut.then(|| cut.to_owned());
    let left_out = (profile.left_out > 0).then(|| {
        let left_out = format::counted(profile.left_out, "event");
        format!("The trace is longer than can be kept, without {left_out} at its end.")
    });
    cut.into_iter().chain(left_out).map(LogNotice::warning).collect()
}

fn finding(profile: &Profile, habit: &Habit) -> Finding {
    let (code, title, shows, advice) = words(habit);
    let shows = shows + &places(profile, habit);
    let device = habit.device.map_or(HOST, i64::from);
    let stated = Finding::stated(code, device, habit.bytes, title, shows, advice.to_owned());
    Finding { confidence: Confidence::Medium, ..stated }
}

/// Names the places with their numbers in all steps.
fn places(profile: &Profile, habit: &Habit) -> String {
    if habit.places.is_empty() {
        return String::new();
    }
    let place =
        |(name, times): &(_, usize)| format!("{} times in {}", format::count(*times as u64), profile.name(*name));
    let places: Vec<String> = habit.places.iter().map(place).collect();
    format!(" In all steps together, that is {}.", places.join(", "))
}

/// Returns the code of a finding, its title, what shows it, and advice.
fn words(habit: &Habit) -> (FindingCode, String, String, &'static str) {
    let tensors = format::counted(habit.times as u64, "tensor");
    let steps = format::counted(habit.steps as u64, "step");
    let bytes = format::bytes(habit.bytes);
    match habit.kind {
        HabitKind::CopiesInModel => (
            FindingCode::HostCopiesEachStep,
            format!("Layers of the model copy {tensors} from the host in each step"),
            format!(
                "In each of {steps}, layers copied at least {tensors} of the same sizes ({bytes}) from memory that is not \
                 pinned. The program waits for such copies."
            ),
            "Keep what does not change on the GPU, such as masks and positions: pass it to `register_buffer`, or \
             create it there by `device=x.device`.",
        ),
        HabitKind::CopiesToGpu => (
            FindingCode::HostCopiesEachStep,
            format!("At least {tensors} are copied from the host in each step"),
            format!(
                "In each of {steps}, the program copied at least {tensors} ({bytes}) from memory that is not pinned. It \
                 waits for such copies."
            ),
            "Create tensors on the GPU by `device=\"cuda\"` instead of copying them, and join small ones before the \
             copy.\nFor batches, use `DataLoader(…, pin_memory=True)` and `.to(device, non_blocking=True)`.",
        ),
        HabitKind::Reads => (
            FindingCode::GpuReadEachStep,
            format!("The program waits for values of the GPU {} times in each step", habit.times),
            format!(
                "In each of {steps}, it copied values to the host at least {} times. It spent {} of the steps' time in \
                 waiting for them, which includes work that the GPU has to do anyway.",
                habit.times,
                format::percent(habit.wait_us as u64, habit.steps_us as u64)
            ),
            "Sum up losses and metrics on the GPU, and read them every 100 steps or so.\n\nValues are read by \
             `item()`, `tolist()`, `cpu()`, `nonzero()`, `if tensor:` and an index that is a mask.",
        ),
        HabitKind::Contiguous => (
            FindingCode::ContiguousCopies,
            format!("`contiguous()` copies at least {bytes} in each step"),
            format!("In each of {steps}, `contiguous()` allocated at least {tensors} ({bytes}) for its copies."),
            "See whether what follows needs the copy: most operations, among them matrix products and \
             `scaled_dot_product_attention`, take transposed tensors, and `reshape` copies only if it has to.",
        ),
        HabitKind::Creations => (
            FindingCode::TensorsRecreated,
            format!("The same functions create {tensors} ({bytes}) again in each step"),
            format!(
                "In each of {steps}, {tensors} of the same sizes ({bytes}) were created by operators such as `zeros`, \
                 `ones`, `full` and `empty`."
            ),
            "If the values never change, as those of masks and positions, create them once before the loop, or pass \
             them to `register_buffer`.\nIf they are overwritten, keep the tensor and clear it by `zero_()`.",
        ),
    }
}
