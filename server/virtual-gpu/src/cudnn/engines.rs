//! Answers which engines a graph gets, with the real cuDNN's answers where it can be asked.
//!
//! The heuristics, an engine and a plan are asked about when the program finalizes them. An answer is the library's
//! status and a list of numbers; it depends only on the question, so it is kept in memory and in a file of the user's
//! cache folder, and the real library is loaded only for questions that are new.
//!
//! It is asked in the script's process, because the libraries that it loads there are already the virtual GPU's.

use std::collections::BTreeMap;
use std::ffi::c_int;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::backend_content::{Content, Value, attribute, kind};
use super::card;
use super::kept::{Answers, Key, Reply};
use super::real::{self, Description, Library, Made};
use super::status::SUCCESS;
use super::work_space;
use crate::config::config;
use crate::state::{Device, machine};
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
            work_space::unknown(format_args!("it found no engine (status {status})"));
            Ok(Vec::new())
        }
        (kind::HEURISTICS, _) => {
            let Some(graph) = content.only(attribute::HEURISTICS_GRAPH) else { return Ok(Vec::new()) };
            let mut found = configurations(&reply.numbers, graph);
            if !found.iter().any(makes_plan) {
                work_space::unknown(format_args!("none of the engines that it named makes a plan for this GPU"));
            }
            // The last resort of a program, should no engine of the real library make a plan without a device.
            found.push(Arc::new(Content::configuration_of(graph)));
            Ok(vec![(attribute::HEURISTICS_RESULTS, Value::Descriptors(found))])
        }
        (kind::ENGINE, SUCCESS) => Ok(notes(&mut reply.numbers.into_iter())),
        (_, SUCCESS) => Ok(vec![(attribute::PLAN_WORK_SPACE, Value::int64s(&reply.numbers))]),
        (_, status) => Err(status),
    }
}

/// Returns true if the real library makes a plan of a configuration, which is the program's next question.
fn makes_plan(configuration: &Arc<Content>) -> bool {
    let mut plan = Content::new(kind::PLAN);
    plan.set(attribute::PLAN_CONFIGURATION, Value::Descriptors(vec![Arc::clone(configuration)]));
    answer(&plan).is_some_and(|reply| reply.status == SUCCESS)
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

/// What the questions of this process have in common.
struct Asked {
    path: PathBuf,
    /// Each card's description, and the beginning of the keys of all questions about it.
    cards: BTreeMap<usize, (Description, Key)>,
    answers: Answers,
}

impl Asked {
    /// Prepares questions to the library beside PyTorch; `None` if there is none, which the log says.
    fn new() -> Option<Self> {
        let path = real::beside(&versions::torch_folder()?)?;
        if !path.exists() {
            work_space::unknown(format_args!("there is no {}", path.display()));
            return None;
        }
        Some(Self { path, cards: BTreeMap::new(), answers: Answers::read(config().ok()?.cudnn_answers.as_deref()) })
    }

    /// Answers a question about a card from memory, from the file, or by the real library.
    fn answer(&mut self, device: &Device, content: &Content) -> Option<Reply> {
        let Self { path, cards, answers } = self;
        let (description, beginning) = cards.entry(device.ordinal).or_insert_with(|| {
            let description = card::describe(device);
            let beginning = key(path, &description);
            (description, beginning)
        });
        let mut key = *beginning;
        content.identify(&mut key);
        if let Some(reply) = answers.known.get(&key) {
            return Some(reply.clone());
        }
        let library = library(path)?;
        // A description is made anew for each question, because threads must not share it.
        let reply = match library.device(description) {
            Ok(device) => ask(library, &device, content),
            Err(status) => Reply { status, numbers: Vec::new() },
        };
        answers.add(key, reply.clone());
        Some(reply)
    }
}

/// Answers a question about the current card; `None` if the real library cannot be asked.
fn answer(content: &Content) -> Option<Reply> {
    static ASKED: Mutex<Option<Asked>> = Mutex::new(None);
    let device = machine().ok()?.current().ok()?;
    let (capability, [cuda, _]) = (device.card.capability, versions::versions().cuda);
    if !card::has_kernels(capability, cuda) {
        // Asked about such a card, it names engines all the same.
        work_space::unknown(format_args!("cuDNN for CUDA {cuda} has no kernels for compute capability {capability}"));
        return None;
    }
    let mut asked = ASKED.lock().unwrap_or_else(PoisonError::into_inner);
    if asked.is_none() {
        *asked = Asked::new();
    }
    asked.as_mut()?.answer(device, content)
}

/// Returns the real library, which is loaded at the first call; the log says why it cannot be.
fn library(path: &Path) -> Option<&'static Library> {
    static LIBRARY: OnceLock<Option<Library>> = OnceLock::new();
    let load = || Library::load(path).map_err(|reason| work_space::unknown(format_args!("{reason}"))).ok();
    LIBRARY.get_or_init(load).as_ref()
}

/// Returns the beginning of the keys of questions: which library would answer about which card.
fn key(path: &Path, description: &Description) -> Key {
    let mut key = Key::default();
    // The real library asks the virtual cuBLASLt, which may answer otherwise in another version.
    key.add(env!("CARGO_PKG_VERSION").as_bytes());
    key.add(path.as_os_str().as_bytes());
    if let Ok(data) = fs::metadata(path) {
        key.add(&data.len().to_le_bytes());
        key.add(&[data.mtime().to_le_bytes(), data.mtime_nsec().to_le_bytes()].concat());
    }
    key.add(description.json.as_bytes());
    key.add(&description.groups.iter().flat_map(|count| count.to_le_bytes()).collect::<Vec<_>>());
    key
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
        let of = |content: &Content, description: &Description| {
            let mut key = key(Path::new("/no/such/library"), description);
            content.identify(&mut key);
            key
        };
        let (same, mut other_handle) = (heuristics(10), heuristics(10));
        other_handle.set(204, Value::Plain { value_type: Value::HANDLE, count: 1, bytes: vec![9; 8] });
        assert_eq!(of(&same, &description()), of(&other_handle, &description()));
        assert_ne!(of(&same, &description()), of(&heuristics(11), &description()));
        let other_card = Description { groups: vec![20], ..description() };
        assert_ne!(of(&same, &description()), of(&same, &other_card));
    }
}
