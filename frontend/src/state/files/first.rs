//! Decides which of the files that were opened together is shown until the user chooses one.
//!
//! Users open the files of all ranks to find the one that ran out of memory, so that one is shown as soon as it is
//! known; otherwise it is the rank that differs most from the others. A file that can't be read is replaced by one that
//! can.

use super::{FileAction, FileId, FileStatus, Files, OpenFile, ReadyFile};
use shared::analysis::{FindingCode, Outlier, RankFigures, Unlike, outliers, rank_of_name};
use shared::base::Severity;
use shared::trace::Action;

impl FileAction {
    /// Returns true for actions with which the user looks at something; the others come from workers and from opening
    /// files.
    pub(super) fn is_of_person(&self) -> bool {
        !matches!(
            self,
            Self::Add(_)
                | Self::Hear { .. }
                | Self::Wait(_)
                | Self::Begin { .. }
                | Self::PinStart { .. }
                | Self::Keep { .. }
                | Self::Await(_)
                // Views also send these two for their initial choices.
                | Self::Choose(_)
                | Self::ChooseCard(_)
        )
    }
}

impl Files {
    /// Shows a better one of the files that were opened together, unless the user has looked at one already.
    pub(super) fn show_first(&mut self) {
        if let Some(better) = self.better().filter(|_| self.is_unattended) {
            self.shown = Some(better);
        }
    }

    fn better(&self) -> Option<FileId> {
        let shown = self.shown_file()?;
        let together = || self.all.iter().filter(|file| file.batch == shown.batch);
        if shown.is_out_of_memory() {
            return None;
        }
        if let Some(failed) = together().find(|file| file.is_out_of_memory()) {
            return Some(failed.id);
        }
        if !matches!(shown.status, FileStatus::Failed(_)) {
            return self.outlier(shown.batch);
        }
        let is_ready = |file: &&OpenFile| matches!(file.status, FileStatus::Ready(_) | FileStatus::Log(_));
        let can_be_read = |file: &&OpenFile| !matches!(file.status, FileStatus::Failed(_));
        let good = together().rfind(is_ready).or_else(|| together().rfind(can_be_read));
        good.map(|file| file.id)
    }

    /// Returns the rank of a batch that grows most beyond the others, or else whose peak is farthest from theirs, once
    /// all ranks are known; `None` if they are alike.
    fn outlier(&self, batch: u32) -> Option<FileId> {
        let ranks: Vec<&OpenFile> =
            self.all.iter().filter(|file| file.batch == batch && rank_of_name(&file.name).is_some()).collect();
        let figures: Vec<RankFigures> = ranks.iter().map(|file| file.rank_figures()).collect::<Option<_>>()?;
        let apart = |outlier: &Outlier| match outlier.unlike {
            Unlike::OutOfMemory { .. } => (2, 0),
            Unlike::Growth { bytes } => (1, bytes.unsigned_abs()),
            Unlike::Peak { bytes, .. } => (0, bytes.unsigned_abs()),
        };
        let most = outliers(&figures).into_iter().max_by_key(apart)?;
        Some(ranks[most.rank].id)
    }
}

impl OpenFile {
    /// Returns true if an error is among its findings, as far as they have arrived.
    pub fn has_errors(&self) -> bool {
        let diagnosis = match &self.status {
            FileStatus::Ready(file) => file.findings.as_deref(),
            FileStatus::Log(log) => Some(&log.report.diagnosis),
            _ => None,
        };
        diagnosis.is_some_and(|diagnosis| diagnosis.findings.iter().any(|found| found.severity == Severity::Error))
    }

    /// Returns the highest peak and the fastest growth of its devices, once its findings have arrived.
    fn rank_figures(&self) -> Option<RankFigures> {
        let FileStatus::Ready(file) = &self.status else { return None };
        let findings = file.findings.as_ref()?;
        let peaks = file.figures.iter().flatten().map(|figures| figures.summary.peak_live_bytes);
        let growth = findings.growth.iter().map(|growth| growth.bytes_per_step);
        Some(RankFigures {
            peak_live_bytes: peaks.max().unwrap_or(0),
            growth_bytes_per_step: growth.max(),
            ..RankFigures::default()
        })
    }

    /// Returns true if the file is known to contain an out-of-memory error.
    pub fn is_out_of_memory(&self) -> bool {
        match &self.status {
            FileStatus::Ready(file) => (0..file.summary.devices.len()).any(|device| file.is_out_of_memory(device)),
            FileStatus::Log(log) => {
                log.report.diagnosis.findings.iter().any(|finding| finding.code == FindingCode::OutOfMemory)
            }
            _ => false,
        }
    }
}

impl ReadyFile {
    /// Returns true if a device, given by position, is known to have run out of memory.
    pub fn is_out_of_memory(&self, device: usize) -> bool {
        let has_oom = |(action, count): &(Action, u64)| *action == Action::Oom && *count > 0;
        self.summary.devices.get(device).is_some_and(|outline| outline.is_out_of_memory)
            || self.figures[device].as_ref().is_some_and(|figures| figures.summary.actions.iter().any(has_oom))
    }

    /// Returns true if a device, given by position, has nothing to show.
    pub fn is_unused(&self, device: usize) -> bool {
        let outline = &self.summary.devices[device];
        let is_flat = self.figures[device]
            .as_ref()
            .is_some_and(|figures| figures.summary.peak_live_bytes == 0 && figures.summary.peak_reserved_bytes == 0);
        (outline.events == 0 && outline.segments == 0) || is_flat
    }

    /// Returns the positions of the devices to list: those that were used, and the shown one.
    pub fn used_devices(&self) -> Vec<u32> {
        let is_listed = |&device: &u32| device == self.device || !self.is_unused(device as usize);
        (0..self.summary.devices.len() as u32).filter(is_listed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{DeviceFigures, DeviceOutline, Report};
    use crate::state::files::tests::{add_file, after, failed, hear, opened_as, ready};
    use shared::report::Summary;

    fn add(id: FileId, batch: u32) -> FileAction {
        add_file(OpenFile { id, batch, ..OpenFile::default() })
    }

    fn opened(id: FileId) -> FileAction {
        opened_as(id, vec![DeviceOutline { events: 5, segments: 1, ..DeviceOutline::default() }])
    }

    fn out_of_memory(id: FileId) -> FileAction {
        let actions = vec![(Action::Alloc, 4), (Action::Oom, 1)];
        let summary = Summary { actions, ..Summary::default() };
        hear(id, Report::Figures(DeviceFigures { summary, ..DeviceFigures::default() }))
    }

    fn broken(id: FileId) -> FileAction {
        hear(id, failed(""))
    }

    #[track_caller]
    fn check(actions: impl IntoIterator<Item = FileAction>, shown: FileId) -> Files {
        let files = after(actions);
        assert_eq!(files.shown, Some(shown));
        files
    }

    #[test]
    fn of_files_opened_together_the_one_with_an_error_is_shown() {
        let begun = || [add(1, 1), add(2, 1), add(3, 1), opened(3), opened(1)];
        check(begun(), 3);
        check(begun().into_iter().chain([out_of_memory(1)]), 1);
        // The first file that was known to have failed stays.
        check(begun().into_iter().chain([out_of_memory(3), out_of_memory(1)]), 3);
    }

    #[test]
    fn whoever_looks_at_a_file_is_left_alone() {
        let begun = || [add(1, 1), add(2, 1), opened(1), opened(2)];
        for act in [FileAction::Show(2), FileAction::Stay, FileAction::StepDevice(1), FileAction::Pin(None)] {
            check(begun().into_iter().chain([act, out_of_memory(1)]), 2);
        }
    }

    #[test]
    fn files_from_before_are_left_alone() {
        check([add(1, 1), opened(1), out_of_memory(1), add(2, 2), opened(2), out_of_memory(2)], 2);
        check([add(1, 1), opened(1), add(2, 2), broken(2)], 2);
        check([add(1, 1), add(2, 2), opened(2), opened(1), out_of_memory(1)], 2);
    }

    #[test]
    fn an_unreadable_file_hides_no_good_one() {
        check([add(1, 1), add(2, 1), add(3, 1), opened(1), broken(3)], 1);
        check([add(1, 1), add(2, 1), add(3, 1), broken(3)], 2);
        check([add(1, 1), add(2, 1), add(3, 1), broken(3), broken(2), opened(1)], 1);
        let files = check([add(1, 1), add(2, 1), broken(1), broken(2)], 2);
        assert!(files.all.iter().all(|file| matches!(file.status, FileStatus::Failed(_))));
    }

    #[test]
    fn devices_without_anything_are_not_listed() {
        let outline = |(index, events)| DeviceOutline { index, events, segments: events, ..DeviceOutline::default() };
        let files = check([add(1, 1), opened_as(1, (0..).zip([5, 5, 0, 0]).map(outline).collect())], 1);
        assert_eq!(ready(&files).used_devices(), [0, 1]);
        assert_eq!(ready(&files.after(FileAction::ChooseDevice(3))).used_devices(), [0, 1, 3]);
        let flat = DeviceFigures { device: 1, ..DeviceFigures::default() };
        assert_eq!(ready(&files.after(hear(1, Report::Figures(flat)))).used_devices(), [0]);
        // Keys step through the listed devices only.
        let next = files.after(FileAction::StepDevice(1));
        let back = next.after(FileAction::StepDevice(1));
        assert_eq!([&next, &back].map(|files| ready(files).device), [1, 0]);
    }
}
