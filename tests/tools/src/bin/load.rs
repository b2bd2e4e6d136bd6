//! Runs `./dev load`, which puts the server under the load of many clients and concurrent uploads.

fn main() {
    tools::load::run();
}
