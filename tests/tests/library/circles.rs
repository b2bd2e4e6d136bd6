//! Tests that no source file imports itself in a circle, by the `use` lines and the paths in the code of all files.
//!
//! A name counts for the file that defines it: lists of names (`pub use`) are followed.
//! A path in the code, such as `child::f()`, counts if it begins at a module of the crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use testkit::server::root;

/// Path of a module from the top of its crate; that of `lib.rs` is empty.
type Module = Vec<String>;

/// Sources of a crate by module.
#[derive(Default)]
struct Sources {
    /// Paths in the `use` lines and in the code of each file, without tests.
    imports: BTreeMap<Module, Vec<Vec<String>>>,
    /// Paths in the `pub use` lines of each file, by the name that they give.
    lists: BTreeMap<Module, BTreeMap<String, Vec<String>>>,
}

impl Sources {
    fn of(folder: &Path) -> Self {
        let mut sources = Self::default();
        sources.collect(folder, &[]);
        sources
    }

    fn collect(&mut self, folder: &Path, module: &[String]) {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            let name = path.file_stem().and_then(|name| name.to_str()).expect("UTF-8").to_owned();
            let own = match name.as_str() {
                "lib" | "mod" => module.to_vec(),
                _ => [module, std::slice::from_ref(&name)].concat(),
            };
            if path.is_dir() {
                self.collect(&path, &own);
            } else if path.extension().is_some_and(|ending| ending == "rs") && name != "main" && name != "tests" {
                self.add(own, &fs::read_to_string(&path).expect("a source"));
            }
        }
    }

    fn add(&mut self, module: Module, text: &str) {
        let text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
        let (mut imports, mut lists) = (inline_paths(text), BTreeMap::new());
        for statement in text.split(';') {
            let Some(line) = statement.rfind("use ").filter(|&at| is_use(&statement[..at])) else { continue };
            let is_list = statement[..line].trim_end().lines().next_back().is_some_and(|line| line.starts_with("pub"));
            for path in paths(&statement[line + "use ".len()..]) {
                if is_list {
                    lists.insert(path.last().cloned().unwrap_or_default(), path);
                } else {
                    imports.push(path);
                }
            }
        }
        self.imports.insert(module.clone(), imports);
        self.lists.insert(module, lists);
    }

    /// Returns a path from the top of the crate; `None` if it leads to another crate.
    fn absolute(&self, module: &[String], path: &[String]) -> Option<Vec<String>> {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let child = || self.imports.contains_key(&[module, &path[..1]].concat());
        match path[0].as_str() {
            "crate" => Some(path[1..].to_vec()),
            "self" => Some([module, &path[1..]].concat()),
            "super" => Some([&module[..module.len() - ups], &path[ups..]].concat()),
            _ => child().then(|| [module, path].concat()),
        }
    }

    /// Returns the module that defines what a path from the top leads to.
    fn definer(&self, path: &[String]) -> Module {
        let known = (0..=path.len()).rev().find(|&end| self.imports.contains_key(&path[..end]));
        let (module, rest) = path.split_at(known.unwrap_or(0));
        let listed = rest.first().and_then(|name| self.lists.get(module)?.get(name));
        match listed.and_then(|listed| self.absolute(module, listed)) {
            Some(next) if next != path => self.definer(&[&next, &rest[1..]].concat()),
            _ => module.to_vec(),
        }
    }

    fn graph(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let of_file = |(module, imports): (&Module, &Vec<Vec<String>>)| {
            let found = imports.iter().filter_map(|path| self.absolute(module, path)).map(|path| self.definer(&path));
            (module.clone(), found.filter(|other| other != module && !other.is_empty()).collect())
        };
        self.imports.iter().map(of_file).collect()
    }
}

/// Returns true if `use` begins a line of the file after this text, with or without `pub`.
fn is_use(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    line.is_empty() || line.starts_with("pub") && !line.contains("fn")
}

/// Expands the tree of a `use` line to its paths.
fn paths(tree: &str) -> Vec<Vec<String>> {
    let tree = tree.trim();
    let Some((head, group)) = tree.split_once('{') else {
        let path = tree.split(" as ").next().unwrap_or_default();
        let parts: Vec<String> = path.split("::").map(|part| part.trim().to_owned()).collect();
        let end = parts.len() - usize::from(parts.len() > 1 && parts.last().is_some_and(|part| part == "self"));
        return vec![parts[..end].to_vec()];
    };
    let group = &group[..group.rfind('}').unwrap_or(group.len())];
    let mut depth = 0;
    let items = group.split(|c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        c == ',' && depth == 0
    });
    items.filter(|item| !item.trim().is_empty()).flat_map(|item| paths(&format!("{head}{}", item.trim()))).collect()
}

/// Returns the paths in the code of a file, outside of comments and `use` lines.
fn inline_paths(text: &str) -> Vec<Vec<String>> {
    let code = text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n");
    let code = without_visibilities(&code);
    let statements = code.split(';').filter(|statement| {
        let line = statement.rfind("use ");
        !line.is_some_and(|at| is_use(&statement[..at]))
    });
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words = statements.flat_map(|statement| statement.split(move |c| !is_part(c)));
    let paths = words.map(|word| word.trim_end_matches(':')).filter(|word| word.contains("::"));
    paths.map(|path| path.split("::").map(str::to_owned).collect()).collect()
}

/// Removes the paths of visibilities such as `pub(in crate::a)`, which import nothing.
fn without_visibilities(code: &str) -> String {
    let mut parts = code.split("pub(in ");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |code, part| code + "pub" + part.split_once(')').map_or("", |(_, rest)| rest))
}

fn crates() -> Vec<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("the workspace");
    let (_, members) = manifest.split_once("\nmembers = [").expect("its members");
    let (members, _) = members.split_once(']').expect("their end");
    members.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

fn circles(mut graph: BTreeMap<Module, BTreeSet<Module>>) -> Vec<String> {
    loop {
        let ends = |used: &BTreeSet<Module>| !used.iter().any(|other| graph.contains_key(other));
        let begins = |module: &Module| !graph.values().any(|used| used.contains(module));
        let free = graph.iter().find(|(module, used)| ends(used) || begins(module)).map(|(module, _)| module.clone());
        let Some(module) = free else { return graph.into_keys().map(|module| module.join("/")).collect() };
        graph.remove(&module);
    }
}

#[test]
fn no_file_imports_itself_in_a_circle() {
    let mut imports = 0;
    for folder in crates() {
        let graph = Sources::of(&root().join(&folder).join("src")).graph();
        imports += graph.values().map(BTreeSet::len).sum::<usize>();
        assert_eq!(circles(graph), [""; 0], "files of {folder} that are in circles or between two");
    }
    assert!(imports > 4000, "only {imports} imports are found");
}

#[test]
fn trees_are_expanded() {
    let joined = |tree: &str| paths(tree).iter().map(|path| path.join("::")).collect::<Vec<_>>();
    assert_eq!(
        joined("crate::a::{self, b::{C, d as e}, F}"),
        ["crate::a", "crate::a::b::C", "crate::a::b::d", "crate::a::F"]
    );
    assert_eq!(joined("super::x"), ["super::x"]);
}

#[track_caller]
fn check_circles(files: &[(&str, &str)], expected: &[&str]) {
    let mut sources = Sources::default();
    for (module, text) in files {
        sources.add(module.split_terminator('/').map(str::to_owned).collect(), text);
    }
    assert_eq!(circles(sources.graph()), expected);
}

#[test]
fn circles_are_found_through_lists_of_names_and_paths_in_the_code() {
    let list = ("", "mod a;\nmod b;\n\npub use b::T;\n");
    let files = [("a", "use crate::T;\n"), ("b", "use crate::a::S;\n"), list, ("c", "use crate::a::S;\n")];
    check_circles(&files, &["a", "b"]);
    let parent = ("a", "mod b;\n\nfn f() {\n    g(b::h);\n}\n");
    check_circles(&[parent, ("a/b", "use super::f;\n")], &["a", "a/b"]);
    check_circles(&[parent, ("a/b", "fn h() {\n    super::f()\n}\n")], &["a", "a/b"]);
    check_circles(&[parent, ("a/b", "// super::f\nfn h() {}\n")], &[]);
    check_circles(&[parent, ("a/b", "pub(in crate::a) fn h() {}\n")], &[]);
    check_circles(&[("a", "mod b;\n\npub use b::h;\n"), ("a/b", "use super::f;\n")], &[]);
}
