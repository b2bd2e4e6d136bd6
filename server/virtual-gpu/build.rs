//! Gives the library the symbol version nodes that PyTorch's libraries refer to.
//!
//! The nodes in `versions.map` are empty: a symbol of the base version satisfies a reference to any version, but the
//! node has to exist, or the loader warns or refuses. Only LLD keeps empty nodes next to the version script that rustc
//! passes itself, so other linkers are refused here, where the message can give the reason.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=versions.map");
    let folder = env::var("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR");
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
