//! Versions as they are reported.

use std::ffi::c_int;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Versions {
    /// Version of CUDA, of which the third part is not reported.
    pub(crate) cuda: [u32; 2],
    pub(crate) cublas: [u32; 3],
    pub(crate) cudnn: [u32; 3],
    pub(crate) nccl: [u32; 3],
}

/// Versions for PyTorch 2.11, which also apply to programs without PyTorch.
pub(super) const OF_CUDA_13: Versions =
    Versions { cuda: [13, 0], cublas: [13, 0, 2], cudnn: [9, 19, 0], nccl: [2, 28, 9] };

/// Versions for PyTorch 2.8, for builds for CUDA 12 without metadata.
pub(super) const OF_CUDA_12: Versions =
    Versions { cuda: [12, 8], cublas: [12, 8, 4], cudnn: [9, 10, 2], nccl: [2, 27, 3] };

impl Versions {
    /// Returns CUDA's version as the runtime and the driver report it: 12.4 is 12040.
    pub(crate) fn cuda_number(&self) -> c_int {
        (self.cuda[0] * 1000 + self.cuda[1] * 10).cast_signed()
    }

    /// Returns cuBLAS's version as it is reported: 12.4.5 is 120405.
    pub(crate) fn cublas_number(&self) -> u32 {
        self.cublas[0] * 10_000 + self.cublas[1] * 100 + self.cublas[2]
    }

    /// Returns cuDNN's version as it is reported: 9.1.0 is 90100.
    pub(crate) fn cudnn_number(&self) -> u32 {
        self.cudnn[0] * 10_000 + self.cudnn[1] * 100 + self.cudnn[2]
    }

    /// Returns NCCL's version as it is reported: 2.21.5 is 22105.
    pub(crate) fn nccl_number(&self) -> c_int {
        (self.nccl[0] * 10_000 + self.nccl[1] * 100 + self.nccl[2]).cast_signed()
    }

    /// Returns the version of CUPTI's interface, which counted from 18 in CUDA 12.
    pub(crate) fn cupti_number(&self) -> u32 {
        let [major, minor] = self.cuda;
        if major < 13 { 18 + minor } else { major * 10_000 + minor * 100 + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_libraries() {
        assert_eq!((OF_CUDA_13.cuda_number(), OF_CUDA_12.cuda_number()), (13_000, 12_080));
        assert_eq!((OF_CUDA_13.cudnn_number(), OF_CUDA_12.cudnn_number()), (91_900, 91_002));
        assert_eq!((OF_CUDA_13.nccl_number(), OF_CUDA_12.nccl_number()), (22_809, 22_703));
        assert_eq!((OF_CUDA_13.cublas_number(), OF_CUDA_12.cublas_number()), (130_002, 120_804));
        assert_eq!((OF_CUDA_13.cupti_number(), OF_CUDA_12.cupti_number()), (130_001, 26));
    }
}
