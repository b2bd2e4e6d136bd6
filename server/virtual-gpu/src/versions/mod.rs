//! Chooses the versions that the libraries report: those beside this process's PyTorch, or else those it was built for.
//!
//! PyTorch selects its attention path by the version of cuDNN, refuses a cuDNN that is older than its own, and passes
//! structures whose layout the version of CUDA determines.
//! The metadata of a wheel names the version of each of NVIDIA's packages that it needs.

mod metadata;
mod numbers;
mod torch;

pub(crate) use numbers::Versions;
pub(crate) use torch::folder as torch_folder;

use std::sync::OnceLock;

use numbers::OF_CUDA_13;

/// Returns the versions that fit the PyTorch of this process.
///
/// A program may ask before it loads PyTorch, so only versions that were found are kept.
pub(crate) fn versions() -> Versions {
    static FOUND: OnceLock<Versions> = OnceLock::new();
    match FOUND.get() {
        Some(found) => *found,
        None => torch::folder()
            .and_then(|folder| metadata::read(&folder))
            .map_or(OF_CUDA_13, |found| *FOUND.get_or_init(|| found)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_pytorch_the_versions_are_those_of_cuda_13() {
        assert_eq!(versions(), OF_CUDA_13);
    }
}
