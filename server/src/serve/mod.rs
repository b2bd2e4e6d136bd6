//! Serves the page, the jobs and the links over HTTP, for `snapscope serve`.
//!
//! Invariant: the built page is read once at startup; requests use the disk only for the database, the store and
//! uploads.
//!
//! `create_app` builds the app that `main` and the tests share, `routes.rs` is the complete route table, `error.rs` the
//! complete table of errors, and `api/` has one file per resource.
//! `guard.rs` decides who may send requests and how often; `access.rs` asks it for each row of the route table once the
//! router has found the row.
//!
//! Invariant: a route that is not described fails a test, nothing that grants access to a link is logged, and no label
//! of a metric comes from outside.

mod access;
mod api;
mod asset;
mod asset_file;
mod document;
mod error;
mod feeds;
mod gallery;
mod guard;
mod headers;
mod health;
mod kept;
mod link;
mod login;
mod metrics;
mod observe;
mod openapi;
mod opened;
mod pace;
mod presence;
mod preview;
mod request_id;
mod route;
mod routes;
mod seats;
mod session;
mod site;
mod state;
mod unread;

pub use opened::{Opened, open};
pub use site::{Mark, Site};
pub use state::State;

use std::io::{ErrorKind, Write};
use std::net::SocketAddr;
use std::sync::Arc;

use actix_web::body::MessageBody;
use actix_web::dev::{Server, ServerHandle, ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::middleware::from_fn;
use actix_web::web::Data;
use actix_web::{App, Error, HttpServer};
use tokio::sync::watch;
use tracing::info;

use crate::config::{ServeConfig, SettingsArgs};
use crate::failure::Failure;
use crate::housekeeping::Housekeeper;
use crate::installation;
use crate::jobs::worker::{self, Context};
use crate::log::start_log;
use crate::serve::seats::Connections;
use access::guard;
use observe::observe;
use unread::close_unread;

/// Time for open requests to end after a signal to stop, in seconds.
const SHUTDOWN_SECONDS: u64 = 5;

/// Serves until a signal stops it.
///
/// The address is printed on standard output as soon as connections are accepted, so that scripts can wait for that
/// line.
pub fn run(args: SettingsArgs) -> Result<(), Failure> {
    let config = args.resolve()?;
    start_log(config.log, config.log_format);
    let settings = config.to_string();
    let site = Data::new(Site::load(&config.pages, Mark::Server)?);
    worker::runtime()?.block_on(async {
        let started = start(config, site, Signals::Handled).await?;
        // A generated token is included, so that the address opens the page.
        let login = started.state.config.made_token().map(|token| format!("/login?token={token}"));
        let login = login.unwrap_or_default();
        started.addresses.iter().for_each(|address| announce(&format!("http://{address}{login}")));
        settings.lines().for_each(|line| info!("{line}"));
        started.run().await
    })
}

/// Handling of signals to this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signals {
    /// Signals stop the server, as in a process of its own.
    Handled,
    /// Signals are ignored; the caller stops the server through its handle.
    LeftAlone,
}

/// A server that listens but does not handle requests yet.
pub struct Started {
    pub addresses: Vec<SocketAddr>,
    server: Server,
    state: Data<State>,
}

/// Opens all resources of a server and binds its address.
pub async fn start(config: ServeConfig, site: Data<Site>, signals: Signals) -> Result<Started, Failure> {
    let (database, store) = installation::open(&config.database, &config.store).await?;
    let failed = |error: crate::database::DatabaseError| Failure::new(error.to_string(), "check the database");
    database.set_limits(config.shares.quota_bytes, config.queue).await.map_err(failed)?;
    let worker =
        Arc::new(Context::new(database.clone(), store.clone(), config.worker.clone(), config.recorder.clone())?);
    // As soon as the server listens, clients may submit jobs, which requires a known worker.
    worker.show().await.map_err(failed)?;
    let gallery = gallery::load(&config.pages)?;
    let listen = config.listen;
    let kept_bytes = database.used_bytes().await.map_err(failed)?;
    let installation = database.installation().await.map_err(failed)?;
    let state = Data::new(State::new(config, database, store, worker, gallery, &installation));
    state.room.note_kept(kept_bytes);
    let app_state = state.clone();
    let connections = Connections::new(state.config.trusted_proxies.clone());
    let server = HttpServer::new(move || create_app(site.clone(), app_state.clone()))
        .shutdown_timeout(SHUTDOWN_SECONDS)
        .on_connect(move |connection, kept| connections.accept(connection, kept))
        // Otherwise the end of a response could wait for the acknowledgement of its beginning, which takes 40 ms on
        // Linux.
        .tcp_nodelay(true);
    let server = if signals == Signals::Handled { server } else { server.disable_signals() };
    let server = server.bind(listen).map_err(|error| bind_failure(listen, &error))?;
    Ok(Started { addresses: server.addrs(), server: server.run(), state })
}

impl Started {
    pub fn handle(&self) -> ServerHandle {
        self.server.handle()
    }

    /// Handles requests, records jobs and runs the housekeeper until the server is stopped.
    pub async fn run(self) -> Result<(), Failure> {
        let State { config, database, store, worker, .. } = &**self.state;
        let (stop, stopped) = watch::channel(false);
        let housekeeper = Housekeeper::new(database.clone(), store.clone(), config.keep_jobs);
        let jobs = tokio::spawn(worker::run(Arc::clone(worker), stopped.clone()));
        let housekeeping = tokio::spawn(async move { housekeeper.run(stopped).await });
        let served = self.server.await;
        // All requests have ended; running recordings may end too or are given back.
        let _ = stop.send(true);
        worker.wind_down(jobs).await;
        // A housekeeping round can be interrupted at any point.
        housekeeping.abort();
        database.close().await;
        served.map_err(|error| Failure::new(format!("the server stopped: {error}"), "start it again"))?;
        info!("stopped");
        Ok(())
    }
}

/// Prints the address on standard output; a closed pipe is no reason to stop.
pub(crate) fn announce(address: &str) {
    let mut out = std::io::stdout();
    let _ = writeln!(out, "Snapscope: {address}").and_then(|()| out.flush());
}

fn bind_failure(listen: SocketAddr, error: &std::io::Error) -> Failure {
    let (message, hint) = match error.kind() {
        ErrorKind::AddrInUse => (
            format!("port {} on {} is in use", listen.port(), listen.ip()),
            "stop the program that uses it, or choose another port, such as --listen 127.0.0.1:8081",
        ),
        ErrorKind::PermissionDenied => {
            (format!("binding {listen} is forbidden: {error}"), "choose a port above 1023 with --listen")
        }
        _ => (format!("{listen} cannot be bound: {error}"), "choose an address of this machine with --listen"),
    };
    Failure::new(message, hint)
}

/// Builds the app from the loaded page and the state.
///
/// The headers are outside of all that refuses, so that refusals carry them too.
pub fn create_app(
    site: Data<Site>,
    state: Data<State>,
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    App::new()
        .app_data(site)
        .app_data(state)
        .configure(routes::configure)
        .wrap(from_fn(guard))
        .wrap(from_fn(observe))
        .wrap(headers::security())
        .wrap(from_fn(close_unread))
}
