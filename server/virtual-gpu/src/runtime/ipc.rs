//! Refuses memory and events of other processes, because each process has a virtual GPU of its own.

use crate::stub::{harmless, unmodelled};

unmodelled! {
    "cudart", 801 =>
    cudaIpcGetEventHandle,
    cudaIpcGetMemHandle,
    cudaIpcOpenEventHandle,
    cudaIpcOpenMemHandle,
}

// There is nothing to close, because no handle can be opened.
harmless! { cudaIpcCloseMemHandle }
