//! Gives the library the symbol version nodes that PyTorch's libraries refer to, and the functions that fail by name.
//!
//! The nodes in `versions.map` are empty: a symbol of the base version satisfies a reference to any version, but the
//! node has to exist, or the loader warns or refuses. Only LLD keeps empty nodes next to the version script that rustc
//! passes itself, so other linkers are refused here, where the message can give the reason.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

/// Status "not supported" of each library.
const NOT_SUPPORTED: &[(&str, i32)] = &[
    ("cublas", 15),
    ("cublasLt", 15),
    ("cuda", 801),
    ("cudart", 801),
    ("cudnn", 3000),
    ("cufft", 16),
    ("cufile", 5007),
    ("cupti", 27),
    ("curand", 203),
    ("cusolver", 9),
    ("cusparse", 10),
    ("cusparseLt", 10),
    ("nccl", 5),
    ("nvrtc", 11),
];

/// Writes the functions that fail by name, which `src/failing.rs` includes, from `names/failing.txt`.
fn write_failing(folder: &str) {
    let list = format!("{folder}/names/failing.txt");
    println!("cargo:rerun-if-changed={list}");
    let text = fs::read_to_string(&list).unwrap_or_else(|error| panic!("{list}: {error}"));
    let mut functions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (library, name) = line.split_once(' ').unwrap_or_else(|| panic!("{list}: {line}"));
        functions.entry(library).or_default().push(name);
    }
    let mut code = String::new();
    for (library, names) in functions {
        let status = NOT_SUPPORTED.iter().find(|(known, _)| *known == library);
        let (_, status) = status.unwrap_or_else(|| panic!("{library} has no row in build.rs"));
        let _ = writeln!(code, "unmodelled! {{ \"{library}\", {status} => {} }}", names.join(", "));
    }
    let out = env::var("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&out).join("failing.rs"), code).expect("OUT_DIR can be written to");
}

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=versions.map");
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
    write_failing(&folder);
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    assert!(
        target == "x86_64-unknown-linux-gnu",
        "the virtual GPU stands in for libraries of x86_64-unknown-linux-gnu, and the target is {target}: \
         leave the package out with `--exclude snapscope-virtual-gpu`"
    );
    let names_other_linker = flags.split('\x1f').any(|flag| flag.contains("-fuse-ld=") && !flag.contains("lld"));
    assert!(
        !flags.contains("linker-features=-lld") && !names_other_linker,
        "the virtual GPU has to be linked by LLD, which rustc takes by default, because only LLD keeps the empty \
         version nodes of versions.map: remove the linker from RUSTFLAGS ({flags})"
    );
    println!("cargo:rustc-cdylib-link-arg=-Wl,--version-script={folder}/versions.map");
}
