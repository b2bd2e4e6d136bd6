//! `./dev load`: the server under the load of many clients, and of many uploads at once.

fn main() {
    testkit::load::run();
}
