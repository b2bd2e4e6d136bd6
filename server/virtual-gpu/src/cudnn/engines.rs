//! Answers which engines a graph gets, with the real cuDNN's answers where it can be asked.
//!
//! The heuristics, an engine and a plan are asked about when the program finalizes them. An answer is the library's
//! status and a list of numbers; it depends only on the question, so it is kept in memory and in a file of the user's
//! cache folder, and the real library is loaded only for questions that are new.
//!
//! It is asked in the script's process, because the libraries that it loads there are already the virtual GPU's.

use std::ffi::c_int;
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::sync::{Arc, Mutex, Once, OnceLock, PoisonError};
use std::time::UNIX_EPOCH;

use super::backend_content::{Content, Value, attribute, kind};
use super::card;
use super::kept::{self, Answers, Reply};
use super::real::{self, Description, Library, Made};
use super::status::SUCCESS;
use super::work_space;
use crate::log::line;
use crate::state::machine;
use crate::versions;

/// Most knobs, numerical notes or behaviors of an engine that are read.
const MOST_PARTS: usize = 32;

/// Returns the attributes that a descriptor of the program gets when it is finalized.
///
/// They are none if the real library cannot be asked.
///
/// # Errors
/// Returns the status with which the real library refuses the descriptor.
pub(super) fn finalize(content: &Content) -> Result<Vec<(c_int, Value)>, c_int> {
    let is_question = matches!(content.kind(), kind::HEURISTICS | kind::ENGINE | kind::PLAN);
    if !is_question || work_space::chosen().is_some() {
        return Ok(Vec::new());
    }
    if content.kind() == kind::PLAN && !content.is_of_real_engine() {
        return Ok(Vec::new());
    }
    let Some(reply) = answer(content) else { return Ok(Vec::new()) };
    match (content.kind(), reply.status) {
        // Without engines of the real library, the graph gets the virtual one.
        (kind::HEURISTICS, status) if status != SUCCESS || reply.numbers.is_empty() => {
            static ONCE: Once = Once::new();
            ONCE.call_once(|| line(format_args!("{} it found no engine (status {status})", work_space::UNKNOWN)));
            Ok(Vec::new())
        }
        (kind::HEURISTICS, _) => {
            let Some(graph) = content.only(attribute::HEURISTICS_GRAPH) else { return Ok(Vec::new()) };
            let mut found = configurations(&reply.numbers, graph);
            // The last resort of a program, should no engine of the real library make a plan without a device.
            found.push(Arc::new(Content::configuration_of(graph)));
            Ok(vec![(attribute::HEURISTICS_RESULTS, Value::Descriptors(found))])
        }
        (kind::ENGINE, SUCCESS) => Ok(notes(&mut reply.numbers.into_iter())),
        (_, SUCCESS) => Ok(vec![(attribute::PLAN_WORK_SPACE, Value::int64s(&reply.numbers))]),
        (_, status) => Err(status),
    }
}

/// Reads the configurations of a reply: for each the engine, its notes, and pairs of a knob and its choice.
fn configurations(numbers: &[i64], graph: &Arc<Content>) -> Vec<Arc<Content>> {
    let mut numbers = numbers.iter().copied();
    let mut found = Vec::new();
    while let Some(index) = numbers.next() {
        let mut engine = Content::new(kind::ENGINE);
        engine.set(attribute::ENGINE_GRAPH, Value::Descriptors(vec![Arc::clone(graph)]));
        engine.set(attribute::ENGINE_INDEX, Value::int64s(&[index]));
        notes(&mut numbers).into_iter().for_each(|(name, value)| engine.set(name, value));
        let pairs = list(&mut numbers);
        let choices = pairs.chunks_exact(2).map(|pair| {
            let mut choice = Content::new(kind::KNOB_CHOICE);
            choice.set(attribute::KNOB, Value::enumeration(Value::KNOB, &pair[..1]));
            choice.set(attribute::KNOB_VALUE, Value::int64s(&pair[1..]));
            Arc::new(choice)
        });
        let mut configuration = Content::new(kind::ENGINE_CONFIGURATION);
        configuration.set(attribute::CONFIGURATION_KNOBS, Value::Descriptors(choices.collect()));
        configuration.set(attribute::CONFIGURATION_ENGINE, Value::Descriptors(vec![Arc::new(engine)]));
        found.push(Arc::new(configuration));
    }
    found
}

/// Reads an engine's notes: the numerical ones and the behaviors.
fn notes(numbers: &mut impl Iterator<Item = i64>) -> Vec<(c_int, Value)> {
    let kinds = [(attribute::ENGINE_NOTES, Value::NOTE), (attribute::ENGINE_BEHAVIORS, Value::BEHAVIOR)];
    kinds.into_iter().map(|(name, value_type)| (name, Value::enumeration(value_type, &list(numbers)))).collect()
}

/// Reads a list, which begins with its length.
fn list(numbers: &mut impl Iterator<Item = i64>) -> Vec<i64> {
    let length = numbers.next().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    numbers.take(length).collect()
}

/// Adds a list with its length.
fn add(numbers: &mut Vec<i64>, list: Vec<i64>) {
    numbers.push(list.len() as i64);
    numbers.extend(list);
}

/// Asks a library.
fn ask(library: &Library, device: &Made<'_>, content: &Content) -> Reply {
    match ask_for(library, device, content) {
        Ok(numbers) => Reply { status: SUCCESS, numbers },
        Err(status) => Reply { status, numbers: Vec::new() },
    }
}

fn ask_for(library: &Library, device: &Made<'_>, content: &Content) -> Result<Vec<i64>, c_int> {
    let made = library.make(content, device)?;
    let mut numbers = Vec::new();
    match content.kind() {
        kind::HEURISTICS => {
            let count = made.count(attribute::HEURISTICS_RESULTS);
            let results = made.descriptors(attribute::HEURISTICS_RESULTS, kind::ENGINE_CONFIGURATION, count)?;
            for result in results {
                let engines = result.descriptors(attribute::CONFIGURATION_ENGINE, kind::ENGINE, 1)?;
                let Some(engine) = engines.first() else { continue };
                numbers.extend(engine.numbers::<i64>(attribute::ENGINE_INDEX, Value::INT64, 1));
                add_notes(&mut numbers, engine);
                let mut choices = Vec::new();
                for choice in result.descriptors(attribute::CONFIGURATION_KNOBS, kind::KNOB_CHOICE, MOST_PARTS)? {
                    choices.extend(choice.numbers::<i32>(attribute::KNOB, Value::KNOB, 1));
                    choices.extend(choice.numbers::<i64>(attribute::KNOB_VALUE, Value::INT64, 1));
                }
                add(&mut numbers, choices);
            }
        }
        kind::ENGINE => add_notes(&mut numbers, &made),
        _ => numbers = made.numbers::<i64>(attribute::PLAN_WORK_SPACE, Value::INT64, 1),
    }
    Ok(numbers)
}

fn add_notes(numbers: &mut Vec<i64>, engine: &Made<'_>) {
    add(numbers, engine.numbers::<i32>(attribute::ENGINE_NOTES, Value::NOTE, MOST_PARTS));
    add(numbers, engine.numbers::<i32>(attribute::ENGINE_BEHAVIORS, Value::BEHAVIOR, MOST_PARTS));
}

/// Answers a question from memory, from the file, or by the real library; `None` if it cannot be asked.
fn answer(content: &Content) -> Option<Reply> {
    static ANSWERS: Mutex<Option<Answers>> = Mutex::new(None);
    let description = card::describe(machine().ok()?.current().ok()?);
    let path = real::beside(&versions::torch_folder()?)?;
    if !path.exists() {
        static ONCE: Once = Once::new();
        let say = || line(format_args!("{} there is no {}", work_space::UNKNOWN, path.display()));
        ONCE.call_once(say);
        return None;
    }
    let mut answers = ANSWERS.lock().unwrap_or_else(PoisonError::into_inner);
    let answers = answers.get_or_insert_with(|| Answers::read(kept::file()));
    let key = key(&path, &description, content);
    if let Some(reply) = answers.known.get(&key) {
        return Some(reply.clone());
    }
    let library = library(&path)?;
    // A description is made anew for each question, because threads must not share it.
    let reply = match library.device(&description) {
        Ok(device) => ask(library, &device, content),
        Err(status) => Reply { status, numbers: Vec::new() },
    };
    answers.add(key, reply.clone());
    Some(reply)
}

/// Returns the real library, which is loaded at the first call; the log says once why it cannot be.
fn library(path: &Path) -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let load = || Library::load(path).map_err(|reason| line(format_args!("{} {reason}", work_space::UNKNOWN))).ok();
    LIBRARY.get_or_init(load).as_ref()
}

/// Returns the key of a question: what was asked about which card, and which library would answer.
fn key(path: &Path, description: &Description, content: &Content) -> u128 {
    let built = fs::metadata(path).ok();
    let built = built.map(|data| (data.len(), data.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok())));
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, path, built, &description.json, &description.groups).hash(&mut hasher);
        content.hash(&mut hasher);
        u128::from(hasher.finish())
    };
    half(0) << 64 | half(1)
}

#[cfg(test)]
mod tests {
    use super::super::backend_content::Answer;
    use super::super::fake;
    use super::super::status::NOT_SUPPORTED;
    use super::*;

    fn with(kind: c_int, name: c_int, part: Content) -> Content {
        let mut content = Content::new(kind);
        content.set(name, Value::Descriptors(vec![Arc::new(part)]));
        content
    }

    /// Creates the heuristics of a graph with one operation.
    fn heuristics(operation: c_int) -> Content {
        let mut graph = with(15, 801, Content::new(operation));
        graph.set(800, Value::Plain { value_type: Value::HANDLE, count: 1, bytes: vec![7; 8] });
        with(kind::HEURISTICS, attribute::HEURISTICS_GRAPH, graph)
    }

    fn description() -> Description {
        Description { json: "{}".to_owned(), numbers: [900, 13_000], groups: vec![18, 16] }
    }

    #[test]
    fn a_convolution_gets_the_engines_of_the_real_library_and_their_workspaces() {
        let library = fake::LIBRARY;
        let device = library.device(&description()).expect("it can be described");
        let heuristics = heuristics(10);
        let reply = ask(&library, &device, &heuristics);
        let graph = heuristics.only(attribute::HEURISTICS_GRAPH).expect("it has a graph");
        let found = configurations(&reply.numbers, graph);
        assert_eq!(found.len(), 2);
        let engine = found[0].only(attribute::CONFIGURATION_ENGINE).expect("it has an engine");
        let bytes = |content: &Content, name| match content.get(name) {
            Answer::Plain { bytes, .. } => bytes,
            other => panic!("{other:?}"),
        };
        assert_eq!(bytes(engine, attribute::ENGINE_INDEX), fake::ENGINES[0].to_ne_bytes());
        assert_eq!(bytes(engine, attribute::ENGINE_NOTES), [0; 4]);
        let choice = found[0].only(attribute::CONFIGURATION_KNOBS).expect("it has a knob");
        assert_eq!(bytes(choice, attribute::KNOB_VALUE), fake::CHOICE[1].to_ne_bytes());
        let plan = |configuration: &Arc<Content>| {
            let plan = with(kind::PLAN, attribute::PLAN_CONFIGURATION, Content::clone(configuration));
            ask(&library, &device, &plan)
        };
        assert_eq!(plan(&found[0]), Reply { status: SUCCESS, numbers: vec![fake::WORK_SPACE] });
        assert_eq!(plan(&found[1]), Reply { status: NOT_SUPPORTED, numbers: Vec::new() });
    }

    #[test]
    fn without_pytorch_nothing_is_added() {
        assert_eq!(finalize(&heuristics(10)).map(|answers| answers.len()), Ok(0));
    }

    #[test]
    fn a_question_is_known_by_what_is_asked_about_which_card() {
        let path = Path::new("/no/such/library");
        let of = |content: &Content, description: &Description| key(path, description, content);
        let (same, mut other_handle) = (heuristics(10), heuristics(10));
        other_handle.set(204, Value::Plain { value_type: Value::HANDLE, count: 1, bytes: vec![9; 8] });
        assert_eq!(of(&same, &description()), of(&other_handle, &description()));
        assert_ne!(of(&same, &description()), of(&heuristics(11), &description()));
        let other_card = Description { groups: vec![20], ..description() };
        assert_ne!(of(&same, &description()), of(&same, &other_card));
    }
}
