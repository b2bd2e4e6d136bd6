//! Answers questions about comparisons: profiles, differences, curves and ranks.

use super::ready::Ready;
use frontend::ask::stack::titled;
use frontend::ask::{CompareSide, CurveData, DiffData, RankData, StepData};
use shared::analysis::{Profile, RankFigures, diff, diff_labels};

const NO_SIDE: &str = "there is no such moment or step";

/// Returns the live bytes of a step, or of the whole trace without one.
pub(super) fn curve_of(ready: Ready<'_>, step: Option<u32>, columns: u32) -> Result<CurveData, String> {
    let Some(step) = step else { return Ok(whole(ready, columns)) };
    let steps = ready.studied().steps.as_ref();
    let step = steps.and_then(|steps| steps.steps.get(step as usize)).ok_or(NO_SIDE)?;
    Ok(curve(ready, (step.start, step.end), columns))
}

pub(super) fn rank(ready: Ready<'_>, columns: u32) -> RankData {
    let figures = ready.kept.figures.get_or_init(|| RankFigures::of(&ready.study(), ready.categories()));
    RankData { figures: figures.clone(), curve: whole(ready, columns) }
}

pub(super) fn steps(ready: Ready<'_>) -> Vec<StepData> {
    let steps = ready.studied().steps.iter().flat_map(|steps| &steps.steps);
    let peak = |start: u32, end: u32| ready.timeline.live_max_in(start.saturating_add(1)..end.saturating_add(1)).1;
    steps.map(|step| StepData { start: step.start, end: step.end, peak_bytes: peak(step.start, step.end) }).collect()
}

/// Returns the profile of a side, an error if its moment or step does not exist.
pub(super) fn profile(ready: Ready<'_>, side: CompareSide) -> Result<Profile, String> {
    let Ready { trace, device, timeline, .. } = ready;
    let moment = side.moment(timeline, ready.studied().steps.as_ref()).ok_or(NO_SIDE)?;
    Ok(Profile::at(trace, device, &timeline.allocations, ready.categories(), moment))
}

pub(super) fn difference(ready: Ready<'_>, side: CompareSide, other: &Profile) -> Result<DiffData, String> {
    let this = profile(ready, side)?;
    let found = diff(other, &this);
    let labels = diff_labels((other, &this), &found.rows, ready.trace.own_code());
    let headings = labels.into_iter().map(titled).collect();
    Ok(DiffData { moment: this.moment, other_moment: other.moment, found, headings })
}

fn whole(ready: Ready<'_>, columns: u32) -> CurveData {
    curve(ready, (0, ready.timeline.events()), columns)
}

/// Returns the maxima of equal parts of the moments from `start` to `end`, at most one part per moment.
fn curve(ready: Ready<'_>, (start, end): (u32, u32), columns: u32) -> CurveData {
    let moments = u64::from(end - start) + 1;
    let columns = u64::from(columns).clamp(1, moments);
    let bound = |column: u64| start + (column * moments / columns) as u32;
    let highest = |column| ready.timeline.live_max_in(bound(column)..bound(column + 1)).1;
    CurveData { start, end, bytes: (0..columns).map(highest).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Engine;
    use frontend::ask::{AllocationKey, Answers as _, GetCurve, GetDiff, GetProfile, GetRank, GetSteps, Matched};

    /// Two steps, of which each keeps a loss, and a block from before the trace.
    const TRACE: &str = "
        alloc a 100 @forward@model.py<main t=10
        alloc l 3 @append@train.py<main t=11
        free_completed a t=12
        alloc b 160 @forward@model.py<main t=20
        alloc m 3 @append@train.py<main t=21
        free_completed b t=22
        start ProfilerStep#1 t=9
        end ProfilerStep#1 t=15
        start ProfilerStep#2 t=15
        end ProfilerStep#2 t=25
        segment s 2KiB
        block old 512 requested=7
    ";

    #[track_caller]
    fn profile_of(engine: &mut Engine, side: CompareSide) -> Profile {
        engine.answer(&GetProfile { device: 0, side }).unwrap()
    }

    #[track_caller]
    fn diff_of(engine: &mut Engine, side: CompareSide, other: Profile) -> DiffData {
        engine.answer(&GetDiff { device: 0, side, other }).unwrap()
    }

    #[test]
    fn steps_of_one_file_differ_in_what_they_keep() {
        let mut engine = Engine::of(TRACE);
        let first = profile_of(&mut engine, CompareSide::Step(0));
        assert_eq!((first.moment, first.rows.iter().map(|row| row.bytes).sum::<u64>()), (2, 110));
        let diff = diff_of(&mut engine, CompareSide::Step(1), first);
        assert_eq!((diff.moment, diff.other_moment, diff.found.total.bytes()), (5, 2, 63));
        let rows: Vec<_> = diff
            .headings
            .iter()
            .zip(&diff.found.rows)
            .map(|(of, row)| (of.title.as_str(), of.place.as_str(), row.change.bytes()))
            .collect();
        assert_eq!(rows, [("forward", "model.py:1", 60), ("append", "train.py:1", 3)]);
        assert_eq!(diff.found.rows[0].after.map(|stack| stack.largest), Some(AllocationKey::Event(3)));
        assert_eq!(diff.found.rows[0].matched, Matched::Same);
        assert_eq!((diff.found.equal_stacks, diff.found.equal_bytes), (1, 7));
    }

    #[test]
    fn a_file_against_its_twin_differs_nowhere() {
        let other = profile_of(&mut Engine::of(TRACE), CompareSide::Peak);
        let diff = diff_of(&mut Engine::of(TRACE), CompareSide::Peak, other);
        assert_eq!(diff.found.rows, []);
        assert_eq!(diff.found.equal_bytes, diff.found.total.after_bytes);
    }

    #[test]
    fn what_only_the_other_side_has_points_there() {
        let mut engine = Engine::of(TRACE);
        let peak = profile_of(&mut engine, CompareSide::Peak);
        let diff = diff_of(&mut engine, CompareSide::Start, peak.clone());
        let gone = &diff.found.rows[0];
        assert_eq!((gone.matched, gone.after, gone.change.bytes()), (Matched::OnlyBefore, None, -160));
        let row = &peak.rows[gone.before.expect("it is there").row];
        assert_eq!((row.bytes, row.largest), (160, AllocationKey::Event(3)));
    }

    #[test]
    fn curves_keep_their_peaks() {
        let mut engine = Engine::of(TRACE);
        let mut curve = |step, columns| engine.answer(&GetCurve { device: 0, step, columns }).unwrap();
        assert_eq!(curve(None, 2).bytes, [110, 173]);
        assert_eq!(curve(None, 99).bytes, [7, 107, 110, 10, 170, 173, 13]);
        assert_eq!(curve(Some(1), 99), CurveData { start: 3, end: 6, bytes: vec![10, 170, 173, 13] });
    }

    #[test]
    fn a_rank_is_its_figures() {
        let mut engine = Engine::of(TRACE);
        let rank = engine.answer(&GetRank { device: 0, columns: 4 }).unwrap();
        assert_eq!(
            (rank.figures.peak_live_bytes, rank.figures.peak_moment.0, rank.figures.steps, rank.curve.bytes.len()),
            (173, 5, 2, 4)
        );
        let steps = engine.answer(&GetSteps { device: 0 }).unwrap();
        assert_eq!(steps.iter().map(|step| step.peak_bytes).collect::<Vec<_>>(), [110, 173]);
    }

    #[test]
    fn steps_that_are_not_there_are_refused() {
        assert!(Engine::of(TRACE).answer(&GetProfile { device: 0, side: CompareSide::Step(9) }).is_err());
    }
}
