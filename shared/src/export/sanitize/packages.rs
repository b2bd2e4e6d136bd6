//! Whose code a frame is.

use crate::base::frame_rules;

/// What is asked about the frames of a copy.
const PYTHON: &str = "Python";
const NATIVE: &str = "compiled code";
const RECORDED: &str = "recorder";
const PROJECT: &str = "project";

/// The package that a file belongs to, such as `torch`, or what kind of code it is.
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

#[cfg(test)]
mod tests {
    use super::*;

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
