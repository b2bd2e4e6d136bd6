//! Decides which files' bytes are stored for a reload, and which files would be lost by leaving the page.

use super::{FileStatus, Files, Keeping, OpenFile, ReadyFile};
use crate::state::origin::Origin;

impl Files {
    /// Returns the next file to store: one at a time, and none while another is being read, because nobody waits for
    /// it.
    pub fn next_to_keep(&self) -> Option<&OpenFile> {
        let is_busy = |file: &OpenFile| match file.status {
            FileStatus::Loading(_) => true,
            FileStatus::Ready(_) | FileStatus::Log(_) => file.keeping == Keeping::Begun,
            FileStatus::Choosing(_) | FileStatus::Failed(_) => false,
        };
        if self.all.iter().any(is_busy) {
            return None;
        }
        self.all.iter().find(|file| file.can_be_kept())
    }
}

impl OpenFile {
    /// Returns true if the file is from this machine; files of the site are available again after a reload.
    pub fn is_local(&self) -> bool {
        self.origin == Origin::Local
    }

    /// Returns true if leaving the page would lose the file.
    pub fn is_at_risk(&self) -> bool {
        self.is_local() && self.keeping != Keeping::Kept && !self.is_failed()
    }

    /// Returns true if the file could not be read, so that there is nothing to lose.
    pub fn is_failed(&self) -> bool {
        matches!(self.status, FileStatus::Failed(_))
    }

    /// Returns true if the worker has sent all reports about the file, and a reload could open it as it is.
    fn can_be_kept(&self) -> bool {
        let is_told = |file: &ReadyFile| file.findings.is_some() && !file.summary.is_part();
        self.is_local()
            && self.keeping == Keeping::NotYet
            && match &self.status {
                FileStatus::Ready(file) => is_told(file),
                FileStatus::Log(_) => true,
                FileStatus::Loading(_) | FileStatus::Choosing(_) | FileStatus::Failed(_) => false,
            }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ask::{DeviceOutline, PartPlace, Report};
    use crate::state::files::tests::{add_file, failed, hear, opened_as};
    use crate::state::files::{FileAction, FileId};
    use shared::report::Diagnosis;

    fn add(id: FileId, origin: Origin) -> FileAction {
        add_file(OpenFile { id, origin, ..OpenFile::default() })
    }

    fn told(id: FileId) -> [FileAction; 2] {
        [opened_as(id, Vec::new()), hear(id, Report::Findings(Diagnosis::default()))]
    }

    fn after(files: &Files, actions: impl IntoIterator<Item = FileAction>) -> Files {
        actions.into_iter().fold(files.clone(), |files, action| files.after(action))
    }

    #[track_caller]
    fn check(files: &Files, next: Option<FileId>, at_risk: &[FileId]) {
        assert_eq!(files.next_to_keep().map(|file| file.id), next);
        let found: Vec<_> = files.all.iter().filter(|file| file.is_at_risk()).map(|file| file.id).collect();
        assert_eq!(found, at_risk);
    }

    #[test]
    fn files_are_kept_one_after_the_other_once_all_is_read() {
        let begun = after(&Files::default(), [add(1, Origin::Local), add(2, Origin::Site), add(3, Origin::Local)]);
        check(&begun, None, &[1, 3]);
        let some = after(&begun, told(1).into_iter().chain(told(2)));
        check(&some, None, &[1, 3]);
        let all = after(&some, told(3));
        check(&all, Some(1), &[1, 3]);
        let first = after(&all, [FileAction::Keep { id: 1, keeping: Keeping::Begun }]);
        check(&first, None, &[1, 3]);
        let kept = after(&first, [hear(1, Report::Kept(true))]);
        check(&kept, Some(3), &[3]);
        let refused = after(&kept, [FileAction::Keep { id: 3, keeping: Keeping::Begun }, hear(3, Report::Kept(false))]);
        check(&refused, None, &[3]);
    }

    #[test]
    fn what_a_reload_could_not_show_is_not_kept() {
        let part = Some(PartPlace { first_event: 5, total_events: 9 });
        let part = DeviceOutline { part, ..DeviceOutline::default() };
        let opened = [opened_as(1, vec![part]), hear(1, Report::Findings(Diagnosis::default()))];
        let of_part = after(&Files::default(), [add(1, Origin::Local)].into_iter().chain(opened));
        check(&of_part, None, &[1]);
        check(&after(&Files::default(), [add(1, Origin::Local), hear(1, failed(""))]), None, &[]);
    }

    #[test]
    fn a_copy_that_nobody_wants_any_more_does_not_count() {
        let read = after(&Files::default(), [add(1, Origin::Local)].into_iter().chain(told(1)));
        let keep = |keeping| FileAction::Keep { id: 1, keeping };
        let files = after(&read, [keep(Keeping::Begun), keep(Keeping::Never), hear(1, Report::Kept(true))]);
        check(&files, None, &[1]);
    }
}
