//! Compiles the shim against libtorch and links the libtorch libraries that tch does not link.

use std::env;
use std::path::{Path, PathBuf};

const HINT: &str = "run `./dev build`, which downloads libtorch and links target/libtorch and target/cuda-headers";

fn main() {
    let libtorch = folder("LIBTORCH", "lib/libtorch_cuda.so");
    let cuda = folder("SNAPSCOPE_CUDA_HEADERS", "cuda_runtime_api.h");
    println!("cargo:rerun-if-changed=shim");
    cc::Build::new()
        .cpp(true)
        .std("c++17")
        .flag("-isystem")
        .flag(libtorch.join("include").display().to_string())
        .flag("-isystem")
        .flag(libtorch.join("include/torch/csrc/api/include").display().to_string())
        .flag("-isystem")
        .flag(cuda.display().to_string())
        // libtorch is built with NDEBUG too: without it, its headers add checks and some of its classes are larger.
        .define("NDEBUG", None)
        .file("shim/shim.cpp")
        // Cargo would link it into the tests too, because the package has no library.
        .cargo_metadata(false)
        .compile("snapscope_shim");
    let out = env::var("OUT_DIR").expect("Cargo sets the folder of the output");
    println!("cargo:rustc-link-arg-bins={out}/libsnapscope_shim.a");
    println!("cargo:rustc-link-search=native={}", libtorch.join("lib").display());
    // The linker would drop libtorch_cuda, because nothing here names one of its symbols, and torch would have no GPU.
    // Only the binary is linked against these libraries: tests start it as a process and must run without libraries in
    // reach.
    println!("cargo:rustc-link-arg-bins=-Wl,--no-as-needed");
    for library in ["torch_cuda", "torch_cpu", "torch", "c10_cuda", "c10", "stdc++"] {
        println!("cargo:rustc-link-arg-bins=-l{library}");
    }
    println!("cargo:rustc-link-arg-bins=-Wl,--as-needed");
    // The CUDA libraries come from the machine or from the virtual GPU.
    println!("cargo:rustc-link-arg-bins=-Wl,--allow-shlib-undefined");
}

/// Returns the folder that an environment variable names, after checking that it contains a file.
fn folder(variable: &str, file: &str) -> PathBuf {
    println!("cargo:rerun-if-env-changed={variable}");
    let Some(folder) = env::var_os(variable) else { panic!("{variable} is not set: {HINT}") };
    let folder = Path::new(&folder).to_owned();
    assert!(folder.join(file).exists(), "{variable} has no {file}: {HINT}");
    folder
}
