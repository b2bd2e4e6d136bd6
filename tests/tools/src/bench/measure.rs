//! Measures all tasks and viewers in turns, so that other load on the machine affects them alike.

use super::native::{Cost, Programs, Task};
use super::options::{Options, Part};
use super::page::{Start, Visit, start_over_line, visit};
use super::viewer::Viewer;
use super::{median, snapshot_of};

/// Measurements over one file.
#[derive(Clone, Debug, Default)]
pub struct Measured {
    pub size_mb: u32,
    pub file_bytes: u64,
    pub tasks: Vec<(Task, Vec<Cost>)>,
    pub visits: Vec<(String, Vec<Visit>)>,
    /// Starts of each viewer's page over a slow line, by the viewer's name, one for each run; empty but for the first
    /// file.
    pub starts: Vec<(String, Vec<Start>)>,
}

impl Measured {
    /// Returns the median wall-clock time of a task in seconds.
    pub fn seconds(&self, task: Task) -> Option<f64> {
        median(self.costs(task).iter().map(|cost| cost.seconds))
    }

    pub fn task_bytes(&self, task: Task) -> Option<f64> {
        median(self.costs(task).iter().map(|cost| cost.peak_bytes as f64).filter(|&bytes| bytes > 0.0))
    }

    /// Returns the median of a figure over the visits of a viewer that have it.
    pub fn median_of(&self, viewer: &str, figure: impl Fn(&Visit) -> Option<f64>) -> Option<f64> {
        median(self.visits_of(viewer).iter().filter_map(figure))
    }

    pub fn failure(&self, viewer: &str) -> Option<&str> {
        self.visits_of(viewer).iter().find_map(|visit| visit.failure.as_deref())
    }

    /// Returns the median time in milliseconds until a viewer's page accepts a file, over a slow line.
    pub fn start_ms(&self, viewer: &str) -> Option<f64> {
        let (_, starts) = self.starts.iter().find(|(name, _)| name == viewer)?;
        median(starts.iter().map(|start| start.ready_ms))
    }

    fn costs(&self, task: Task) -> &[Cost] {
        self.tasks.iter().find(|(other, _)| *other == task).map_or(&[], |(_, costs)| costs)
    }

    fn visits_of(&self, viewer: &str) -> &[Visit] {
        self.visits.iter().find(|(name, _)| name == viewer).map_or(&[], |(_, visits)| visits)
    }
}

/// Measures each size in turn and reports its progress on standard error.
///
/// # Errors
///
/// Returns an error if a task fails. The failure of a viewer is a result and not an error.
pub fn measure(options: &Options, programs: &Programs, viewers: &[Viewer]) -> Result<Vec<Measured>, String> {
    let mut all = Vec::new();
    for &size_mb in &options.sizes {
        let of_file = |viewer: &&Viewer| viewer.reads_files || all.is_empty();
        all.push(measure_one(options, programs, &viewers.iter().filter(of_file).collect::<Vec<_>>(), size_mb)?);
    }
    if let Some(first) = all.first_mut().filter(|_| options.has(Part::Page)) {
        first.starts = viewers.iter().map(|viewer| (viewer.name.clone(), Vec::new())).collect();
        for _ in 0..options.runs(first.size_mb) {
            for (viewer, (_, starts)) in viewers.iter().zip(&mut first.starts) {
                starts.push(start_over_line(viewer));
            }
        }
    }
    Ok(all)
}

fn measure_one(options: &Options, programs: &Programs, viewers: &[&Viewer], size_mb: u32) -> Result<Measured, String> {
    let file = snapshot_of(size_mb);
    let file_bytes = std::fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?.len();
    let mut measured = Measured { size_mb, file_bytes, ..Measured::default() };
    measured.tasks = Task::all().map(|task| (task, Vec::new())).into();
    measured.visits = viewers.iter().map(|viewer| (viewer.name.clone(), Vec::new())).collect();
    for run in 1..=options.runs(size_mb) {
        eprintln!("bench: {size_mb} MB, run {run} of {}", options.runs(size_mb));
        if options.has(Part::Native) {
            for (task, costs) in &mut measured.tasks {
                costs.push(task.run(programs, &file)?);
            }
        }
        if options.has(Part::Page) {
            for (viewer, (_, visits)) in viewers.iter().zip(&mut measured.visits) {
                // A viewer that failed once would fail again, possibly after minutes.
                if visits.iter().all(|visit| visit.failure.is_none()) {
                    visits.push(visit(viewer, &file));
                }
            }
        }
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_medians_of_the_runs_that_have_them() {
        let visit = |drawn_s| Visit { drawn_s, ..Visit::default() };
        let crash = Visit { failure: Some("crash".to_owned()), ..Visit::default() };
        let cost = |seconds, peak_bytes| Cost { seconds, peak_bytes };
        let measured = Measured {
            tasks: vec![(Task::Scan, vec![cost(3.0, 0), cost(1.0, 8), cost(2.0, 4)])],
            visits: vec![
                ("a".to_owned(), vec![visit(Some(5.0)), visit(Some(1.0)), visit(Some(2.0))]),
                ("b".to_owned(), vec![crash]),
            ],
            ..Measured::default()
        };
        assert_eq!((measured.seconds(Task::Scan), measured.task_bytes(Task::Scan)), (Some(2.0), Some(6.0)));
        assert_eq!(measured.seconds(Task::CPython), None);
        assert_eq!(measured.median_of("a", |visit| visit.drawn_s), Some(2.0));
        assert_eq!((measured.failure("a"), measured.failure("b")), (None, Some("crash")));
    }
}
