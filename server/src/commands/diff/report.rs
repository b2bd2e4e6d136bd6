//! Builds the document of `snapscope diff --json`.

use shared::analysis::{Change, Diff, DiffRow, Profile, ProfileFrame};
use shared::api::{DiffChange, DiffGroup, DiffReport, DiffStackRow};
use shared::report::Frame;

use super::{Chosen, title, told};

/// Builds the document with at most `top` stacks.
pub(super) fn report((a, b): (&Chosen, &Chosen), found: &Diff, top: usize) -> DiffReport {
    let (shown, others) = found.rows.split_at(top.min(found.rows.len()));
    DiffReport {
        a: a.side.clone(),
        b: b.side.clone(),
        delta_bytes: found.total.bytes(),
        delta_count: found.total.count(),
        rows: shown.iter().map(|row| stack_row(&a.profile, &b.profile, row)).collect(),
        other_rows: others.len() as u64,
        other_delta_bytes: others.iter().map(|row| row.change.bytes()).sum(),
        equal_stacks: found.equal_stacks as u64,
        equal_bytes: found.equal_bytes,
        by_category: found.by_category.iter().map(|(of, change)| group(of.name(), change)).collect(),
        by_module: found.by_module.iter().map(|(of, change)| group(of, change)).collect(),
    }
}

fn stack_row(a: &Profile, b: &Profile, row: &DiffRow) -> DiffStackRow {
    let frame = |frame: &ProfileFrame| Frame {
        name: frame.name.clone(),
        filename: frame.filename.clone(),
        line: frame.line,
        fx: None,
    };
    let frames = |profile: &Profile, position: usize| profile.frames_of(position).map(frame).collect();
    DiffStackRow {
        matched: row.matched.name(),
        title: title(a, b, row),
        category: row.category.name(),
        module: told(a, b, row).map(|(profile, position)| profile.module(position).to_owned()).unwrap_or_default(),
        change: change(&row.change),
        a_frames: row.before.map_or_else(Vec::new, |stack| frames(a, stack.row)),
        b_frames: row.after.map_or_else(Vec::new, |stack| frames(b, stack.row)),
    }
}

fn group(name: &str, of: &Change) -> DiffGroup {
    DiffGroup { name: name.to_owned(), change: change(of) }
}

fn change(change: &Change) -> DiffChange {
    DiffChange {
        a_bytes: change.before_bytes,
        b_bytes: change.after_bytes,
        delta_bytes: change.bytes(),
        a_count: change.before_count,
        b_count: change.after_count,
        delta_count: change.count(),
    }
}
