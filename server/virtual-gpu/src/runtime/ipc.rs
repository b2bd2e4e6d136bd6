//! Memory and events of other processes: each process has a virtual GPU of its own, so there is nothing to share.

use crate::stub::{harmless, unmodelled};

unmodelled! {
    "cudart", 801 =>
    cudaIpcGetEventHandle,
    cudaIpcGetMemHandle,
    cudaIpcOpenEventHandle,
    cudaIpcOpenMemHandle,
}

// Closing what could never be opened.
harmless! { cudaIpcCloseMemHandle }
