//! The rules of `ARCHITECTURE.md` that the compiler cannot check: who may know whom, and how long a file may be.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::server::root;

/// Each module of `shared` and of the crates below it, and the modules that it may use beside itself.
const LAYERS: &[(&str, &[&str])] = &[
    ("base", &[]),
    ("pickle", &["base"]),
    ("trace", &["base"]),
    ("source", &["base"]),
    ("draw", &["base"]),
    ("export", &["allocator", "analysis", "base", "draw", "pickle", "report", "trace"]),
    ("allocator", &["base"]),
    ("analysis", &["allocator", "base", "trace"]),
    ("report", &["allocator", "analysis", "base", "job", "trace"]),
    ("import", &["base", "pickle", "trace"]),
    ("api", &["base", "report"]),
    ("recordings", &["api", "base", "draw", "export", "job"]),
    ("job", &[]),
];

/// The folders of the modules.
const CRATES: [&str; 2] = ["shared/foundation/src/", "shared/src/"];

/// The floors of the analyses; each imports from those before it.
const FLOORS: [&str; 3] = ["track", "study", "ask"];

/// Words that the files below a folder may not have, and why not.
struct Ban {
    folder: &'static str,
    except: &'static [&'static str],
    words: &'static [&'static str],
    because: &'static str,
}

const fn ban(
    folder: &'static str,
    except: &'static [&'static str],
    words: &'static [&'static str],
    because: &'static str,
) -> Ban {
    Ban { folder, except, words, because }
}

/// Words of what only the browser has.
const BROWSER: &[&str] = &["web_sys", "js_sys", "wasm_bindgen", "gloo"];

/// Words of what only a page in the browser has.
const PAGE: &[&str] = &["yew", "web_sys", "js_sys", "wasm_bindgen", "gloo"];

/// What uses `shared` from outside, within its folder.
const OUTSIDE_OF_SHARED: &[&str] =
    &["shared/benches/", "shared/examples/", "shared/fuzz/", "shared/logs/tests/", "shared/tests/"];

const BANS: &[Ban] = &[
    ban(
        "shared",
        OUTSIDE_OF_SHARED,
        &["std::fs", "std::net", "std::process", "std::thread", "std::time", "std::env", "println!"],
        "`shared` takes bytes and values and returns values",
    ),
    ban(
        "shared",
        OUTSIDE_OF_SHARED,
        &["target_arch", "web_sys", "js_sys", "wasm_bindgen"],
        "`shared` is the same natively and in the browser",
    ),
    ban("frontend/src/state", &[], PAGE, "state is tested natively"),
    ban("frontend/src/draw", &[], PAGE, "drawing is a list of operations, tested natively"),
    ban("frontend/src", &["frontend/src/platform"], &["target_arch"], "only `platform` knows where it runs"),
    ban("frontend/src/ask", &[], PAGE, "questions and answers are tested natively"),
    ban(
        "frontend/engine/src",
        &[],
        &["yew", "frontend::views", "frontend::state", "frontend::hooks", "frontend::components"],
        "the engine answers questions and has no page",
    ),
    ban("frontend/engine/src/engine", &[], BROWSER, "the engine is tested natively"),
    ban(
        "server/src",
        &["server/src/config/"],
        &["env::var", "env::args", "env::current"],
        "only `config/` reads the environment",
    ),
    ban(
        "server/src",
        &[
            "server/src/snapshot_file.rs",
            "server/src/commands/",
            "server/src/recording/repro/figures.rs",
            "server/src/shares/digest.rs",
        ],
        &["snapshot_file::import", "import::import", "Importer"],
        "servers and keepers have snapshots read in a process with limits",
    ),
];

/// The folders of `frontend/src`, each of which imports from those before it; `hooks` and `components` not from each
/// other.
const ROOMS: &[&[&str]] =
    &[&["ask"], &["draw"], &["state"], &["platform"], &["hooks", "components"], &["views"], &["pages"]];

/// Files of a view or a page of jobs that depend on neither yew nor the browser: its words and its drawing.
fn is_model_or_drawing(file: &str) -> bool {
    let features = ["frontend/src/views/", "frontend/jobs/src/"];
    let inside = features.iter().find_map(|folder| file.strip_prefix(folder)).unwrap_or_default();
    let of_model = |part: &str| part.trim_end_matches(".rs") == "model" || part.ends_with("_model.rs");
    inside.split('/').skip(1).any(|part| of_model(part) || part.trim_end_matches(".rs") == "draw")
}

pub(crate) const SOURCES: &[&str] = &["shared", "frontend", "server", "tests"];

/// A file over 400 lines asks a question; over this many it has to answer.
const MOST_LINES: usize = 600;

/// All Rust files below a folder, by their path from the top.
pub(crate) fn rust_files(folder: &str) -> Vec<(String, String)> {
    let mut files = Vec::new();
    collect(&root().join(folder), &mut files);
    files.sort();
    let name = |file: &Path| file.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
    files.iter().map(|file| (name(file), fs::read_to_string(file).unwrap())).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.unwrap().path();
        // The fuzzing crate keeps its build output inside.
        if path.is_dir() && path.file_name().is_none_or(|name| name != "target") {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// Fails with all violations at once.
#[track_caller]
fn check(violations: &[String]) {
    let list = violations.iter().fold(String::new(), |mut list, line| {
        let _ = writeln!(list, "  {line}");
        list
    });
    assert!(violations.is_empty(), "\n{list}");
}

/// The lines without comments: prose may name anything.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_code = |line: &str| !line.trim_start().starts_with("//");
    text.lines().enumerate().filter(move |(_, line)| is_code(line)).map(|(index, line)| (index + 1, line))
}

fn has_word(line: &str, word: &str) -> bool {
    let is_inside = |neighbour: Option<char>| neighbour.is_some_and(|c| c.is_alphanumeric() || c == '_');
    line.match_indices(word).any(|(start, _)| !is_inside(line[..start].chars().next_back()))
}

/// The modules of this crate that a piece of code names, as `crate::name` or in `crate::{name, …}`.
fn modules_used(text: &str) -> Vec<&str> {
    text.match_indices("crate::").flat_map(|(start, word)| first_names(&text[start + word.len()..])).collect()
}

/// The first name of a path, or of each path in a group.
fn first_names(path: &str) -> Vec<&str> {
    let name_of = |path: &str| path.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(path.len());
    let Some(group) = path.strip_prefix('{') else { return vec![&path[..name_of(path)]] };
    let mut depth = 0_i32;
    let mut start = 0;
    let mut names = Vec::new();
    for (index, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if (c == ',' && depth == 0) || depth < 0 {
            let item = group[start..index].trim_start();
            names.push(&item[..name_of(item)]);
            start = index + 1;
        }
        if depth < 0 {
            break;
        }
    }
    names
}

#[test]
fn names_are_found_in_paths_and_groups() {
    assert_eq!(modules_used("use crate::base::Column;"), ["base"]);
    assert_eq!(modules_used("use crate::{base::{Column, Name}, trace};"), ["base", "trace"]);
    assert_eq!(modules_used("pub(crate) fn f() -> crate::trace::Trace {}"), ["trace"]);
    assert_eq!(modules_used("pub(crate) fn f() {}"), [""; 0]);
}

#[test]
fn modules_of_shared_use_only_the_layers_below() {
    let mut violations = Vec::new();
    for (file, text) in CRATES.into_iter().flat_map(rust_files) {
        let path = CRATES.iter().find_map(|folder| file.strip_prefix(folder)).unwrap();
        let Some((module, _)) = path.split_once('/') else { continue };
        let Some((_, below)) = LAYERS.iter().find(|(name, _)| *name == module) else {
            violations.push(format!("{file}: `{module}` has no row in the table of layers"));
            continue;
        };
        for used in modules_used(&text) {
            let is_module = LAYERS.iter().any(|(name, _)| *name == used);
            if is_module && used != module && !below.contains(&used) {
                violations.push(format!("{file}: `{module}` may not use `{used}`"));
            }
        }
    }
    check(&violations);
}

/// What a file or folder of an analysis floor imports from other ones, by its `use` lines outside of tests.
fn imports_between_analyses() -> BTreeMap<(String, String), BTreeSet<(String, String)>> {
    let mut imports: BTreeMap<_, BTreeSet<_>> = BTreeMap::new();
    for (file, text) in CRATES.into_iter().flat_map(|folder| rust_files(&format!("{folder}analysis"))) {
        let path: Vec<&str> = file.split_once("/analysis/").unwrap().1.split('/').collect();
        let [floor, module, ..] = path[..] else { continue };
        if path.contains(&"tests") || path.contains(&"tests.rs") || module == "mod.rs" {
            continue;
        }
        let unit = (floor.to_owned(), module.trim_end_matches(".rs").to_owned());
        let of_product = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
        let used = imports.entry(unit.clone()).or_default();
        for (start, word) in of_product.match_indices("use crate::analysis::") {
            let tail = &of_product[start + word.len()..];
            for floor in first_names(tail) {
                let below = tail.split_once(&format!("{floor}::")).map(|(_, below)| first_names(below));
                for module in below.unwrap_or_else(|| vec![""]) {
                    used.insert((floor.to_owned(), module.to_owned()));
                }
            }
        }
        used.remove(&unit);
    }
    imports
}

#[test]
fn analyses_import_from_the_floors_below() {
    let imports = imports_between_analyses();
    assert!(imports.len() > 40, "{} files and folders", imports.len());
    let height = |floor: &str| FLOORS.iter().position(|known| *known == floor);
    let mut violations = Vec::new();
    for ((floor, module), used) in &imports {
        for (other, name) in used {
            if !imports.contains_key(&(other.clone(), name.clone())) {
                violations.push(format!("{floor}/{module}: `{other}::{name}` is imported through a list of names"));
            } else if height(other) > height(floor) {
                violations.push(format!("{floor}/{module}: `{other}` is above `{floor}`"));
            }
        }
    }
    check(&violations);
}

#[test]
fn rooms_of_the_page_import_from_the_ones_below() {
    let height = |name: &str| ROOMS.iter().position(|floor| floor.contains(&name));
    let mut violations = Vec::new();
    for (file, text) in rust_files("frontend/src") {
        let Some((room, _)) = file.strip_prefix("frontend/src/").unwrap().split_once('/') else { continue };
        let Some(own) = height(room) else {
            violations.push(format!("{file}: `{room}` is in no list of rooms"));
            continue;
        };
        let above = |used: &&str| *used != room && height(used).is_some_and(|other| other >= own);
        violations.extend(
            modules_used(&text).into_iter().filter(above).map(|used| format!("{file}: `{room}` may not use `{used}`")),
        );
    }
    check(&violations);
}

#[test]
fn models_and_drawings_know_no_browser() {
    let mut violations = Vec::new();
    for (file, text) in rust_files("frontend").into_iter().filter(|(file, _)| is_model_or_drawing(file)) {
        for (line, code) in code(&text) {
            for word in PAGE.iter().filter(|word| has_word(code, word)) {
                violations.push(format!("{file}:{line}: `{word}`, but models and drawings are tested natively"));
            }
        }
    }
    check(&violations);
}

#[test]
fn each_folder_keeps_to_itself() {
    let mut violations = Vec::new();
    for ban in BANS {
        for (file, text) in rust_files(ban.folder) {
            if ban.except.iter().any(|folder| file.starts_with(folder)) {
                continue;
            }
            for (line, code) in code(&text) {
                for word in ban.words.iter().filter(|word| has_word(code, word)) {
                    violations.push(format!("{file}:{line}: `{word}`, but {}", ban.because));
                }
            }
        }
    }
    check(&violations);
}

#[test]
fn files_are_of_ordinary_size_and_say_what_they_are_for() {
    let files = SOURCES.iter().flat_map(|folder| rust_files(folder));
    let long = files.map(|(file, text)| (file, text.lines().count())).filter(|(_, lines)| *lines > MOST_LINES);
    check(&long.map(|(file, lines)| format!("{file}: {lines} lines, more than {MOST_LINES}")).collect::<Vec<_>>());
    let files = SOURCES.iter().flat_map(|folder| rust_files(folder));
    let silent = files.filter(|(_, text)| !text.trim_start().starts_with("//!") && !text.starts_with("#!["));
    check(&silent.map(|(file, _)| format!("{file}: no `//!` at the top")).collect::<Vec<_>>());
}

#[test]
fn examples_are_only_where_they_run() {
    let folders =
        ["shared", "shared/logs", "server", "server/recorder", "server/walls", "frontend", "tests", "tests/tools"];
    let runs_none = |folder: &&&str| {
        fs::read_to_string(root().join(folder).join("Cargo.toml")).unwrap().contains("\ndoctest = false\n")
    };
    let mut violations = Vec::new();
    for folder in folders.iter().filter(runs_none) {
        for (file, text) in rust_files(&format!("{folder}/src")) {
            let fences = text.lines().filter_map(|line| line.trim_start().strip_prefix("//")?.split_once("```"));
            let openings = fences.map(|(_, language)| language).step_by(2);
            violations.extend(openings.filter(|language| *language != "text").map(|language| {
                format!("{file}: an example in ```{language}, but `doctest = false` in {folder}/Cargo.toml")
            }));
        }
    }
    check(&violations);
}

#[test]
fn no_test_is_switched_off_and_nothing_is_left_undone() {
    // Split, so that this file does not find itself.
    let words =
        [["#[", "ignore"], ["to", "do!("], ["TO", "DO"], ["FIX", "ME"], ["dbg", "!("]].map(|parts| parts.concat());
    let mut violations = Vec::new();
    for (file, text) in SOURCES.iter().flat_map(|folder| rust_files(folder)) {
        for word in words.iter().filter(|word| text.contains(*word)) {
            violations.push(format!("{file}: `{word}`"));
        }
    }
    check(&violations);
}

/// With other features, all that uses such a package is compiled twice: for tests, and for the programs that they start.
#[test]
fn tests_add_no_features_to_what_programs_use() {
    let features = |edges: &str| -> BTreeSet<String> {
        let tree =
            ["tree", "--locked", "--workspace", "--prefix=none", "--no-dedupe", "--format={p} with {f}", "--edges"];
        let output = Command::new(env!("CARGO")).args(tree).arg(edges).current_dir(root()).output().expect("cargo");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).lines().map(|line| line.trim_end_matches(" (*)").to_owned()).collect()
    };
    let of_tests = features("normal,build,dev");
    assert!(of_tests.len() > 100, "{of_tests:?}");
    check(&features("normal,build").difference(&of_tests).cloned().collect::<Vec<_>>());
}
