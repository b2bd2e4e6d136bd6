//! The binary `snapscope-recorder`.

fn main() {}
