//! Reads what NCCL says about its memory with `NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,ALLOC`.
//!
//! PyTorch's allocator knows nothing of this memory: it is a part of what a snapshot does not show.

mod message;
mod pages;
mod reader;
mod report;

pub use reader::{NcclLog, NcclProcess, NcclReader, NcclSize};
