//! `snapscope serve`: the page over HTTP.
//!
//! Invariant: no request touches the file system. The built page is read once, at the start.

mod app;
mod asset;
mod error;
mod headers;
mod health;
mod log;
mod routes;
mod site;

pub use app::create_app;
pub use site::Site;

use std::io::{ErrorKind, Write};
use std::net::SocketAddr;

use actix_web::HttpServer;
use actix_web::web::Data;
use tracing::{info, warn};

use crate::config::{ServeArgs, ServeConfig};
use crate::failure::Failure;

/// How long open requests may take after a signal to stop, in seconds.
const SHUTDOWN_SECONDS: u64 = 5;

/// Serves until a signal stops it.
///
/// The address goes to standard output as soon as connections are accepted: scripts may wait for that line.
///
/// # Errors
///
/// The options are wrong, the page cannot be read, or the address cannot be bound.
pub fn run(args: ServeArgs) -> Result<(), Failure> {
    let config = args.resolve()?;
    log::start(config.log);
    let site = Data::new(Site::load(&config.dist)?);
    actix_web::rt::System::new().block_on(serve(&config, site))
}

async fn serve(config: &ServeConfig, site: Data<Site>) -> Result<(), Failure> {
    let server = HttpServer::new(move || create_app(site.clone()))
        .shutdown_timeout(SHUTDOWN_SECONDS)
        .bind(config.listen)
        .map_err(|error| bind_failure(config.listen, &error))?;
    for address in server.addrs() {
        announce(address);
    }
    server.run().await.map_err(|error| Failure::new(format!("the server stopped: {error}"), "start it again"))?;
    info!("stopped");
    Ok(())
}

/// Says where the page is, on standard output.
fn announce(address: SocketAddr) {
    if !address.ip().is_loopback() {
        warn!(%address, "every machine that reaches this address can read the page");
    }
    // Nobody may be reading: a closed pipe is no reason to stop serving.
    let mut out = std::io::stdout();
    let _ = writeln!(out, "Snapscope: http://{address}").and_then(|()| out.flush());
}

fn bind_failure(listen: SocketAddr, error: &std::io::Error) -> Failure {
    match error.kind() {
        ErrorKind::AddrInUse => Failure::new(
            format!("port {} on {} is in use", listen.port(), listen.ip()),
            "stop the program that holds it, or choose another with --listen, such as --listen 127.0.0.1:8081",
        ),
        ErrorKind::PermissionDenied => {
            Failure::new(format!("{listen} may not be bound: {error}"), "choose a port above 1023 with --listen")
        }
        _ => Failure::new(
            format!("{listen} cannot be bound: {error}"),
            "choose an address of this machine with --listen",
        ),
    }
}
