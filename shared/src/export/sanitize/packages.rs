//! Decides to which package or project the code of a frame belongs.

use super::words::is_public_package;
use crate::base::frame_rules;

// Kinds of code outside packages.
const PYTHON: &str = "Python";
const NATIVE: &str = "compiled code";
const RECORDED: &str = "recorder";
const PROJECT: &str = "project";

/// Returns the package that a file belongs to, such as `torch`, or the kind of its code.
pub(super) fn package_of(filename: &str) -> String {
    if frame_rules::is_recorded(filename) {
        return RECORDED.to_owned();
    }
    let path = filename.replace('\\', "/");
    if let Some((_, rest)) = path.rsplit_once("-packages/") {
        let name = rest.split('/').next().unwrap_or_default();
        return name.strip_suffix(".py").unwrap_or(name).to_owned();
    }
    if path.ends_with(".py") || path.starts_with('<') {
        return if frame_rules::is_runtime(filename) { PYTHON } else { PROJECT }.to_owned();
    }
    if frame_rules::is_runtime(filename) { NATIVE } else { PROJECT }.to_owned()
}

/// Returns true for a file of the user's own code.
pub(super) fn is_project(filename: &str) -> bool {
    package_of(filename) == PROJECT
}

/// Returns true for a file of a public package, in which nothing names anybody.
pub(super) fn is_public(filename: &str) -> bool {
    let path = filename.replace('\\', "/");
    match path.rsplit_once("-packages/") {
        Some((_, package)) => is_public_package(package.split(['/', '.']).next().unwrap_or_default()),
        None => filename == frame_rules::RECORDED_OPERATOR,
    }
}

/// Returns true if a symbol of compiled code belongs to PyTorch, CUDA or the compiler, by its namespace or prefix.
///
/// ```text
/// at::Tensor& at::native::add<float>(at::Tensor const&)    yes
/// std::vector<at::Tensor> acme::add(at::Tensor)            no
/// std::vector<acme::Tensor>::push_back(acme::Tensor)       no, because a parameter is somebody's
/// ```
pub(super) fn is_public_symbol(name: &str, filename: &str) -> bool {
    let mut depth = 0_u32;
    let is_outside = |c: &char| {
        match c {
            '<' => depth += 1,
            '>' => depth = depth.saturating_sub(1),
            _ => return depth == 0,
        }
        false
    };
    let outside: String = name.chars().filter(is_outside).collect();
    let called = outside.split('(').next().unwrap_or_default().trim_end();
    let called = called.rsplit([' ', '&', '*']).next().unwrap_or_default();
    let space = called.split_once("::").map(|(space, _)| space);
    let is_c = || ["Py", "_Py", "cuda", "cu", "THP", "pthread_"].iter().any(|start| called.starts_with(start));
    let is_known = |space: &str| NAMESPACES.contains(&space.trim_start_matches('_'));
    frame_rules::is_native(filename) && space.map_or_else(is_c, is_known) && outermost(name).all(is_known)
}

/// Returns the outermost namespaces in a symbol, those of its parameters too.
fn outermost(symbol: &str) -> impl Iterator<Item = &str> {
    symbol.match_indices("::").filter_map(|(end, _)| {
        let before = symbol[..end].trim_end_matches(|c: char| c.is_alphanumeric() || c == '_');
        let space = &symbol[before.len()..end];
        (!space.is_empty() && !before.ends_with("::")).then_some(space)
    })
}

/// Outermost namespaces of PyTorch and of the libraries that it is built from.
const NAMESPACES: [&str; 14] = [
    "at",
    "c10",
    "torch",
    "std",
    "aten",
    "caffe2",
    "c10d",
    "cub",
    "cutlass",
    "gnu_cxx",
    "nccl",
    "pybind11",
    "thrust",
    "functorch",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_of_pytorch_are_told_from_others() {
        for name in ["at::_ops::add::call(at::Tensor const&)", "std::vector<at::Tensor> at::f(int)", "PyEval_Frame"] {
            assert!(is_public_symbol(name, "??"), "{name}");
        }
        for name in [
            "std::vector<ada::Tensor>::push_back(ada::Tensor&&)",
            "std::vector<at::Tensor> ada::add(at::Tensor)",
            "ada_kernel",
            "void (anonymous namespace)::k()",
        ] {
            assert!(!is_public_symbol(name, "??"), "{name}");
        }
        assert!(!is_public_symbol("at::f()", "train.py"));
    }

    #[test]
    fn packages_that_everybody_reads_are_public() {
        for file in ["/v/site-packages/torch/f.py", "operator", "dist-packages/timm.py"] {
            assert!(is_public(file), "{file}");
        }
        for file in ["site-packages/acme/f.py", "lib/python3.12/ada.py", "torch/f.py", "train.py", "module", "??"] {
            assert!(!is_public(file), "{file}");
        }
    }

    #[track_caller]
    fn check(filename: &str, package: &str) {
        assert_eq!(package_of(filename), package);
    }

    #[test]
    fn a_file_belongs_to_a_package_or_the_project() {
        check("/v/lib/python3.12/site-packages/torch/nn/f.py", "torch");
        check(r"C:\v\lib\site-packages\typing_extensions.py", "typing_extensions");
        check("dist-packages/vllm/utils.py", "vllm");
        check("lib/python3.12/threading.py", "Python");
        check("<frozen runpy>", "Python");
        check("train.py", "project");
        check("src/main.rs", "project");
        check("CUDACachingAllocator.cpp", "compiled code");
        check("??", "compiled code");
        check("module", "recorder");
    }
}
