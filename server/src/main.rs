//! The command line and the web server of Snapscope.

fn main() {}
