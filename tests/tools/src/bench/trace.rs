//! Computes the frame times of a gesture from a Chromium trace.
//!
//! `requestAnimationFrame` tells how often a page is asked to draw. Users see the frames that the compositor presents,
//! and a page with heavy drawing presents far fewer than it is asked for. So a frame here is a `DrawFrame` event of the
//! compositor.
//!
//! The page's main thread has frames too, each from one `BeginMainThreadFrame` to the next; their work is the `RunTask`
//! events in between. The compositor presents some of these late, so two of them could look like one.

use serde_json::Value;

use super::percentile;

/// Trace categories that [`frames`] needs.
pub const CATEGORIES: [&str; 3] =
    ["blink.user_timing", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame"];

/// Times between frames that reached the screen, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frames {
    pub count: usize,
    /// Times between two frames.
    pub p50_ms: f64,
    pub p95_ms: f64,
    pub max_ms: f64,
    /// 95th percentile of the main thread's CPU time from one of its frames to the next.
    pub work_p95_ms: f64,
}

/// Returns the frames between the marks `start` and `end`, set by the page with `performance.mark`.
///
/// The time from the first mark to the first frame counts; without any frame, the whole time counts as one.
pub fn frames(events: &[Value], start: &str, end: &str) -> Result<Frames, String> {
    let first = mark(events, start)?;
    let last = mark(events, end)?;
    let (from, until) = (time_us(first), time_us(last));
    let mut moments = vec![from];
    moments.extend(presented(events, &first["pid"]).filter(|time| (from..=until).contains(time)));
    moments.sort_by(f64::total_cmp);
    let count = moments.len() - 1;
    if count == 0 {
        moments.push(until);
    }
    let is_of_page = |event: &&Value| event["pid"] == first["pid"] && event["tid"] == first["tid"];
    let tasks: Vec<&Value> = events.iter().filter(|event| event["name"] == "RunTask").filter(is_of_page).collect();
    let work_ms = |span: &[f64]| {
        let began = |task: &&&Value| (span[0]..span[1]).contains(&time_us(task));
        tasks.iter().filter(began).map(|task| processor_us(task)).sum::<f64>() / 1000.0
    };
    let deltas: Vec<f64> = moments.windows(2).map(|pair| (pair[1] - pair[0]) / 1000.0).collect();
    let is_begin = |event: &&Value| event["name"] == "BeginMainThreadFrame" && is_of_page(event);
    let mut begins: Vec<f64> = events.iter().filter(is_begin).map(time_us).collect();
    begins.retain(|time| (from..=until).contains(time));
    begins.sort_by(f64::total_cmp);
    let spans = if begins.len() > 1 { &begins } else { &moments };
    let work: Vec<f64> = spans.windows(2).map(work_ms).collect();
    Ok(Frames {
        count,
        p50_ms: percentile(&deltas, 0.5),
        p95_ms: percentile(&deltas, 0.95),
        max_ms: percentile(&deltas, 1.0),
        work_p95_ms: percentile(&work, 0.95),
    })
}

/// Returns the seconds from the mark `start` until what was present at the mark `found` had reached the screen.
///
/// That is the first frame after `found`, but not before `settled`, a mark that the page sets two frames later: if
/// nothing was left to draw, no frame follows `found`.
pub fn seconds_to_screen(events: &[Value], start: &str, found: &str, settled: &str) -> Result<f64, String> {
    let start = mark(events, start)?;
    let (found_us, settled_us) = (time_us(mark(events, found)?), time_us(mark(events, settled)?));
    let shown_us = presented(events, &start["pid"]).filter(|&time| time >= found_us).fold(f64::INFINITY, f64::min);
    let shown_us = if shown_us.is_finite() { shown_us.max(settled_us) } else { settled_us };
    Ok((shown_us - time_us(start)) / 1e6)
}

/// Returns the times at which a renderer's frames reached the screen, in microseconds.
fn presented<'a>(events: &'a [Value], pid: &'a Value) -> impl Iterator<Item = f64> + 'a {
    events.iter().filter(move |event| event["name"] == "DrawFrame" && event["pid"] == *pid).map(time_us)
}

fn mark<'a>(events: &'a [Value], name: &str) -> Result<&'a Value, String> {
    let is_mark = |event: &&Value| event["name"] == name && event["cat"] == "blink.user_timing";
    events.iter().rev().find(is_mark).ok_or_else(|| format!("the trace has no mark {name:?}"))
}

fn time_us(event: &Value) -> f64 {
    event["ts"].as_f64().unwrap_or(0.0)
}

/// Returns the CPU time of a task, which other processes do not add to, or else its wall-clock time.
fn processor_us(task: &Value) -> f64 {
    task["tdur"].as_f64().or_else(|| task["dur"].as_f64()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Loads part of a trace of the official page, written by Chromium 156 and cut to the fields read here.
    fn stored() -> Vec<Value> {
        serde_json::from_str(include_str!("../../../data/bench/zoom.json")).expect("JSON")
    }

    #[test]
    fn frames_of_a_real_trace() {
        let frames = frames(&stored(), "bench-zoom-start", "bench-zoom-end").expect("both marks");
        // 39 frames in 71.6 s: the machine was under load, and each frame took 2 s to draw.
        assert_eq!(frames.count, 39);
        assert!((frames.p50_ms - 2031.1).abs() < 0.1, "{frames:?}");
        assert!((frames.max_ms - 2922.7).abs() < 0.1, "{frames:?}");
        assert!(frames.work_p95_ms > 1.0 && frames.work_p95_ms < frames.p95_ms, "{frames:?}");
    }

    fn event(name: &str, ts: u64) -> Value {
        json!({ "name": name, "pid": 1, "tid": 1, "ts": ts, "cat": "blink.user_timing" })
    }

    #[test]
    fn frames_of_others_and_outside_do_not_count() {
        let mut events = vec![event("start", 1_000_000), event("end", 1_100_000)];
        events.extend([999_000, 1_010_000, 1_030_000, 1_090_000, 1_200_000].map(|time| event("DrawFrame", time)));
        let mut other = event("DrawFrame", 1_050_000);
        other["pid"] = json!(2);
        let mut task = event("RunTask", 1_015_000);
        task["dur"] = json!(9_000);
        task["tdur"] = json!(4_000);
        events.extend([other, task]);
        let frames = frames(&events, "start", "end").expect("both marks");
        assert_eq!((frames.count, frames.p50_ms, frames.max_ms, frames.work_p95_ms), (3, 20.0, 60.0, 4.0));
    }

    #[test]
    fn work_is_told_by_the_frames_of_the_page() {
        let task = |ts: u64| {
            let mut task = event("RunTask", ts);
            task["dur"] = json!(5_000);
            task
        };
        let mut events = vec![event("start", 1_000_000), event("end", 1_100_000), event("DrawFrame", 1_060_000)];
        events.extend([1_011_000, 1_027_000, 1_043_000].map(task));
        events.extend([1_010_000, 1_026_000, 1_042_000].map(|time| event("BeginMainThreadFrame", time)));
        let frames = frames(&events, "start", "end").expect("both marks");
        assert_eq!((frames.count, frames.work_p95_ms), (1, 5.0));
    }

    #[test]
    fn a_page_that_presents_nothing_has_one_long_frame() {
        let events = [event("start", 0), event("end", 90_000)];
        let frames = frames(&events, "start", "end").expect("both marks");
        assert_eq!((frames.count, frames.p50_ms, frames.p95_ms), (0, 90.0, 90.0));
        assert!(super::frames(&events, "start", "stop").unwrap_err().contains("stop"));
    }

    #[test]
    fn on_screen_is_the_first_frame_with_it() {
        let marks = [event("start", 1_000_000), event("found", 2_000_000), event("settled", 2_030_000)];
        let with = |frames: &[u64]| {
            let events: Vec<Value> =
                marks.iter().cloned().chain(frames.iter().map(|&time| event("DrawFrame", time))).collect();
            seconds_to_screen(&events, "start", "found", "settled").expect("all marks")
        };
        assert_eq!(with(&[1_500_000, 2_500_000, 2_600_000]), 1.5);
        assert_eq!(with(&[1_500_000, 2_010_000]), 1.03);
        assert_eq!(with(&[]), 1.03);
    }
}
