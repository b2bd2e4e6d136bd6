//! Lists all texts of a copy, for people to read before it leaves their machine.

use super::packages::is_project;
use super::report::{Remaining, TextKind};
use super::tables::Tables;
use crate::base::StringId;
use hashbrown::HashMap;

/// Returns every distinct line of the texts in clean tables, sorted by [`TextKind`], then alphabetically.
pub(super) fn remaining(tables: &Tables) -> Vec<Remaining> {
    let mut kinds: HashMap<&str, TextKind> = HashMap::new();
    for (kind, id) in texts(tables) {
        for line in tables.strings.whole(id).split('\n').filter(|line| !line.trim().is_empty()) {
            kinds.entry(line).and_modify(|known| *known = kind.min(*known)).or_insert(kind);
        }
    }
    let mut all: Vec<Remaining> =
        kinds.into_iter().map(|(text, kind)| Remaining { kind, text: text.to_owned() }).collect();
    let settings = tables.settings.entries.iter();
    all.extend(settings.map(|(name, value)| Remaining { kind: TextKind::Setting, text: format!("{name}: {value}") }));
    all.sort_unstable();
    all
}

/// Returns each text of the tables with its kind, some texts several times.
fn texts(tables: &Tables) -> Vec<(TextKind, StringId)> {
    let mut texts: Vec<_> =
        tables.annotations.iter().map(|annotation| (TextKind::Annotation, annotation.name)).collect();
    for context in tables.contexts.iter() {
        let written = [context.compile_context, context.user_metadata, context.internal_metadata, context.category];
        texts.extend(written.map(|id| (TextKind::Event, id)));
        let lines = tables.contexts.lines(context.forward_frames);
        texts.extend(lines.iter().map(|&line| (TextKind::Source, line)));
    }
    for frame in tables.frames.iter() {
        let (file, function) = match is_project(tables.strings.whole(frame.filename)) {
            true => (TextKind::ProjectFile, TextKind::ProjectFunction),
            false => (TextKind::PackageFile, TextKind::PackageFunction),
        };
        texts.extend([(file, frame.filename), (function, frame.name)]);
        let nodes = frame.fx.map(|fx| [fx.op, fx.name, fx.target, fx.original_trace]);
        texts.extend(nodes.into_iter().flatten().map(|id| (TextKind::Source, id)));
    }
    texts
}
