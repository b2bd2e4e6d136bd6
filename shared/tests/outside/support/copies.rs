//! Creates traces with texts in every place, and checks their clean copies.

use shared::base::StringId;
use shared::export::{SanitizeOptions, SanitizeReport, Sanitized, TextKind};
use shared::import::Importer;
use shared::pickle::Style;
use shared::trace::{Annotation, Event, EventContext, Frame, FxNode, Setting, Stage, Trace, text};
use std::collections::HashSet;

/// Place of a text in a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// File of a frame.
    File,
    /// Function of a frame of the project.
    Function,
    /// Line of a forward stack, which contains source code.
    Forward,
    /// Name of an annotation.
    Annotation,
    /// Value of an allocator setting.
    Setting,
    /// User metadata of an event.
    Metadata,
    /// Internal metadata of an event, which PyTorch writes.
    Internal,
    /// Target of an FX node.
    Node,
}

/// Creates a trace without personal texts.
pub(crate) fn empty() -> Trace {
    text::parse("alloc a 512 @f t=1\nsegment S 2MiB\nblock a 512").expect("a trace")
}

/// Adds a text in a place.
pub(crate) fn put(trace: &mut Trace, place: Place, text: &str) {
    let id = trace.strings.intern(text);
    match place {
        Place::File => with_frame(trace, |frame| frame.filename = id),
        Place::Function => with_frame(trace, |frame| frame.name = id),
        Place::Node => with_frame(trace, |frame| frame.fx = Some(node(id))),
        Place::Forward => {
            let forward_frames = trace.contexts.intern_lines(&[id]);
            with_context(trace, EventContext { forward_frames, ..EventContext::default() });
        }
        Place::Metadata => with_context(trace, EventContext { user_metadata: id, ..EventContext::default() }),
        Place::Internal => with_context(trace, EventContext { internal_metadata: id, ..EventContext::default() }),
        Place::Annotation => {
            trace.annotations.push(Annotation { stage: Stage::Start, name: id, device: 0, time_us: 1 });
        }
        Place::Setting => {
            let name = format!("conf{:06}", trace.settings.entries.len());
            trace.settings.entries.push((name, Setting::Text(text.to_owned())));
        }
    }
}

fn node(target: StringId) -> FxNode {
    let nothing = StringId::EMPTY;
    FxNode { op: nothing, name: nothing, target, original_trace: nothing }
}

/// Adds an event with a stack of one frame of the project, modified by `change`.
fn with_frame(trace: &mut Trace, change: impl FnOnce(&mut Frame)) {
    let (name, filename) = (trace.strings.intern("f"), trace.strings.intern("main.py"));
    let mut frame = Frame { name, filename, line: 7, fx: None };
    change(&mut frame);
    let frame = trace.frames.intern(frame);
    let stack = trace.stacks.intern(&[frame]);
    let event = trace.devices[0].events.at(0);
    trace.devices[0].events.push(Event { stack, ..event });
}

fn with_context(trace: &mut Trace, context: EventContext) {
    let context = trace.contexts.intern(context);
    let event = trace.devices[0].events.at(0);
    trace.devices[0].events.push(Event { context, ..event });
}

/// Returns the bytes of the copy and the report.
pub(crate) fn clean(trace: &Trace) -> (Vec<u8>, SanitizeReport) {
    clean_with(trace, &SanitizeOptions::default())
}

pub(crate) fn clean_with(trace: &Trace, options: &SanitizeOptions) -> (Vec<u8>, SanitizeReport) {
    let sanitized = Sanitized::new(trace, options);
    let mut bytes = Vec::new();
    sanitized.pickle(Style::Python, |piece| bytes.extend_from_slice(piece), |_| ());
    (bytes, sanitized.report().clone())
}

/// Reads a copy as its recipient does.
pub(crate) fn read(bytes: &[u8]) -> Trace {
    let mut importer = Importer::new();
    importer.push(bytes).expect("a snapshot");
    let trace = importer.finish().expect("a snapshot");
    trace.check();
    trace
}

/// Creates a trace from lines that begin with the letter of a place; other lines are skipped.
///
/// ```text
/// f/home/zuzana/train.py      n function     g node of a graph     p line of the forward pass
/// astep of zuzana             s setting      m metadata            i internal metadata
/// ```
pub(crate) fn traced(lines: &str) -> Trace {
    let mut trace = empty();
    for line in lines.lines() {
        let place = match line.chars().next() {
            Some('f') => Place::File,
            Some('n') => Place::Function,
            Some('g') => Place::Node,
            Some('p') => Place::Forward,
            Some('a') => Place::Annotation,
            Some('s') => Place::Setting,
            Some('m') => Place::Metadata,
            Some('i') => Place::Internal,
            _ => continue,
        };
        put(&mut trace, place, &line[1..]);
    }
    trace
}

/// Names that [`hold`] removes on request; the fuzzer's seeds have them in many places.
const ASKED: [&str; 2] = ["zuzana", "Qu"];

/// Cleans a trace in several ways and checks each copy; see [`hold_with`].
pub(crate) fn hold(trace: &Trace) {
    let names = ASKED.map(str::to_owned).to_vec();
    for options in [
        SanitizeOptions::default(),
        SanitizeOptions { names: names.clone(), drop_annotations: true, ..SanitizeOptions::default() },
        SanitizeOptions { names, packages: Some(vec!["torch".to_owned()]), ..SanitizeOptions::default() },
    ] {
        hold_with(trace, &options);
    }
}

/// Cleans a trace and checks the copy.
///
/// # Panics
/// Panics if a copy of the copy differs, if the copy has a text that was to be removed, or one that the report does not
/// show.
pub(crate) fn hold_with(trace: &Trace, options: &SanitizeOptions) {
    let (bytes, report) = clean_with(trace, options);
    let copy = read(&bytes);
    is_without(&copy, options);
    is_shown(&copy, &report);
    let (again, second) = clean_with(&copy, options);
    assert_eq!(second.remaining, report.remaining, "a copy is changed again");
    assert!(again == bytes, "a copy is changed again");
}

/// Checks that everything that the options remove is absent.
fn is_without(copy: &Trace, options: &SanitizeOptions) {
    assert!(!options.drop_annotations || copy.annotations.is_empty());
    assert!(copy.contexts.iter().all(|context| context.user_metadata == StringId::EMPTY));
    let is_asked = |word: &str| options.names.iter().any(|name| name.to_lowercase() == word.to_lowercase());
    for text in copy.strings.ids().map(|id| copy.strings.whole(id)) {
        let mut words = text.split(|c: char| !c.is_alphanumeric());
        assert!(!words.any(is_asked), "a name is kept in {text:?}");
    }
    if let Some(packages) = &options.packages {
        let files = copy.frames.iter().map(|frame| copy.strings.whole(frame.filename));
        let is_kept = |file: &str| packages.iter().any(|package| file.contains(&format!("-packages/{package}")));
        files.for_each(|file| assert!(is_kept(&file.replace('\\', "/")), "{file} is of no package that is kept"));
    }
}

/// Fixed words of the format, which are no keys.
const FORMAT: &str = "small large active_allocated active_pending_free active_awaiting_free inactive stage START END";

/// Checks that the report shows every text of the copy.
fn is_shown(copy: &Trace, report: &SanitizeReport) {
    let nothing = read(&clean(&Trace::default()).0);
    let keys = nothing.strings.ids().map(|id| nothing.strings.whole(id));
    let keys: HashSet<&str> = keys.chain(FORMAT.split(' ')).collect();
    let shown: HashSet<&str> = report.remaining.iter().map(|text| text.text.as_str()).collect();
    // A setting is shown with its value.
    let settings = report.remaining.iter().filter(|text| text.kind == TextKind::Setting);
    let settings: Vec<&str> = settings.map(|text| text.text.as_str()).collect();
    let is_shown = |line: &str| shown.contains(line) || settings.iter().any(|setting| setting.contains(line));
    let texts = copy.strings.ids().map(|id| copy.strings.whole(id)).filter(|text| !keys.contains(text));
    let lines = texts.flat_map(|text| text.split('\n')).filter(|line| !line.trim().is_empty());
    let hidden: Vec<&str> = lines.filter(|line| !is_shown(line)).collect();
    assert_eq!(hidden, [""; 0], "texts that the report does not show");
}
