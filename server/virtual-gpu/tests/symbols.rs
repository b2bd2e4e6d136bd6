//! Tests that the library exports every CUDA function and version node that PyTorch's libraries import.

mod library;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use object::read::ReadCache;
use object::read::elf::ElfFile64;
use object::{Endianness, Object as _, ObjectSymbol as _};

/// Prefixes of the names of CUDA's functions.
const PREFIXES: &[&str] = &["cu", "__cuda", "nccl", "nvml", "nvrtc", "nvshmem"];

/// What versions of PyTorch want: rows of kind, name and versions.
const WANTED: &str = include_str!("../names/torch.txt");

/// Functions that fail by name: rows of library and name.
const FAILING: &str = include_str!("../names/failing.txt");

/// Returns the names of a kind that some version of PyTorch wants.
fn wanted(kind: &str) -> BTreeSet<&'static str> {
    let rows = WANTED.lines().filter_map(|row| row.strip_prefix(kind)?.strip_prefix(' '));
    let names: BTreeSet<_> = rows.filter_map(|row| row.split(' ').next()).collect();
    assert!(!names.is_empty(), "{kind}");
    names
}

/// Returns the bytes of the library under test.
fn own_library() -> &'static [u8] {
    static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
    LIBRARY.get_or_init(|| fs::read(library::path()).expect("the library has been built"))
}

/// Returns the paths of PyTorch's libraries if `./dev` has fetched them, or else none.
fn pytorch_libraries() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/libtorch/lib");
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let is_library = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "so");
    entries.map(|entry| entry.expect("the folder can be read").path()).filter(is_library).collect()
}

fn is_cudas(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn parse(library: &[u8]) -> ElfFile64<'_, Endianness> {
    ElfFile64::parse(library).expect("the library is an ELF file")
}

/// Returns the names of the version nodes that a library defines.
fn versions(library: &[u8]) -> BTreeSet<String> {
    let file = parse(library);
    let endian = file.endian();
    let sections = file.elf_section_table();
    let (mut nodes, strings) = sections.gnu_verdef(endian, library).expect("they can be read").expect("there are some");
    let strings = sections.strings(endian, library, strings).expect("they have names");
    let mut names = BTreeSet::new();
    while let Some((_, mut node)) = nodes.next().expect("a node can be read") {
        let name = node.next().expect("a name can be read").expect("a node has a name");
        let name = name.name(endian, strings).expect("the name is there");
        names.insert(String::from_utf8_lossy(name).into_owned());
    }
    names
}

/// Returns the CUDA functions that one of PyTorch's libraries imports.
///
/// The file can have a gigabyte, most of which is not symbols, so only the parts that are needed are read.
fn imported(path: &Path) -> Vec<String> {
    let cache = ReadCache::new(fs::File::open(path).expect("the library can be opened"));
    let file = ElfFile64::<Endianness, _>::parse(&cache).expect("the library is an ELF file");
    let symbols = file.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    symbols.filter_map(|symbol| symbol.name().ok().map(str::to_owned)).filter(|name| is_cudas(name)).collect()
}

/// Returns the names that the library exports.
fn exported() -> BTreeSet<&'static str> {
    static FILE: OnceLock<ElfFile64<'static, Endianness>> = OnceLock::new();
    let file = FILE.get_or_init(|| parse(own_library()));
    let defined = file.dynamic_symbols().filter(|symbol| symbol.is_definition());
    defined.filter_map(|symbol| symbol.name().ok()).collect()
}

/// Tests that the library exports all names.
#[track_caller]
fn check_exported<'a>(names: impl IntoIterator<Item = &'a str>) {
    let exported = exported();
    let missing: Vec<_> = names.into_iter().filter(|name| !exported.contains(name)).collect();
    assert!(missing.is_empty(), "not exported: {missing:?}");
}

#[test]
fn what_versions_of_pytorch_import_is_there() {
    check_exported(wanted("import"));
}

#[test]
fn what_this_pytorch_imports_is_there() {
    let imported: BTreeSet<String> = pytorch_libraries().iter().flat_map(|path| imported(path)).collect();
    check_exported(imported.iter().map(String::as_str));
}

#[test]
fn what_versions_of_pytorch_look_up_is_there() {
    let exported = exported();
    let is_missing = |name: &&str| !exported.contains(*name) && !exported.contains(format!("{name}_v2").as_str());
    let missing: Vec<_> = wanted("look-up").into_iter().filter(is_missing).collect();
    assert!(missing.is_empty(), "not exported: {missing:?}");
}

#[test]
fn other_functions_of_nvidias_libraries_fail_by_name() {
    check_exported(FAILING.lines().filter(|row| !row.starts_with('#')).filter_map(|row| row.split(' ').nth(1)));
}

#[test]
fn every_library_has_a_link() {
    let links: BTreeSet<_> = include_str!("../sonames.txt").lines().collect();
    let wanted = wanted("library");
    assert!(wanted.is_subset(&links), "{wanted:?}");
}

#[test]
fn every_version_node_is_there() {
    let versions = versions(own_library());
    let map = include_str!("../versions.map");
    let nodes: BTreeSet<_> = map.lines().filter_map(|line| line.split_whitespace().next()).collect();
    let wanted = wanted("node");
    assert!(wanted.is_subset(&nodes), "{wanted:?}");
    for node in nodes {
        assert!(versions.contains(node), "{node} is not among {versions:?}");
    }
}
