//! The page of Snapscope.
