//! Tests of a server while something fails: requests, disks, stores, clocks, and processes that are killed.

mod histories;
mod injected;
mod kill;
