//! What the tests of Snapscope share.
