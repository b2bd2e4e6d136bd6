//! Tests of what runs without a server: decoding, analyses, exports, the command line, and the rules of the code.

mod both_ways;
mod circles;
mod cli;
mod colors;
mod cpython_export;
mod cpython_inspect;
mod cpython_pickle;
mod cpython_tracemalloc;
mod damage;
mod documents;
mod job_configs;
mod journeys;
mod kinds;
mod laws;
mod links;
mod mistake_scripts;
mod mistakes;
mod names;
mod parts;
mod pictures;
mod real_pairs;
mod sanitize;
mod tidy;
mod zooms;
