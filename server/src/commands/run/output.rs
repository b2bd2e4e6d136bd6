//! What `snapscope run` prints.

/// Text for standard output, and the exit status.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunOutput {
    pub text: String,
    /// 0 if the script fits, 1 if memory runs out, 2 if something is not supported, 3 if the script failed.
    pub status: u8,
}
