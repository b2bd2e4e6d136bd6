//! Serves the web pages together with a few files of this machine, for `snapscope open`.
//!
//! A page of another site can make a browser send requests here, but cannot guess the token that every path begins with,
//! and cannot read an answer.
//!
//! Invariant: only the files that were named can be read, and only below the token's path.

mod attendance;
mod files;

use std::net::Ipv4Addr;
use std::path::PathBuf;

use actix_web::body::MessageBody;
use actix_web::dev::{Server, ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::header::LOCATION;
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Data};
use actix_web::{App, Error, HttpRequest, HttpResponse, HttpServer};
use shared::api::ErrorCode;

use crate::built_pages::BuiltPages;
use crate::failure::Failure;
use crate::serve::asset::respond;
use crate::serve::error::refuse_page;
use crate::serve::guard::is_name_of_this_machine;
use crate::serve::headers;
use crate::serve::site::{Mark, Site};
use crate::serve::unread::close_unread;
use crate::shares::Token;
use attendance::Attendance;
use files::Shelf;

/// A server of files that listens but does not answer yet.
pub struct Opened {
    /// Address of the page, with its token.
    pub address: String,
    /// Port on 127.0.0.1.
    pub port: u16,
    server: Server,
    attendance: Data<Attendance>,
}

/// Loads the pages and listens on a free port.
pub fn open(pages: &BuiltPages, files: Vec<PathBuf>) -> Result<Opened, Failure> {
    let refused = |error: std::io::Error| {
        Failure::new(format!("no server can be started on this machine: {error}"), "check the limits of this machine")
    };
    let site = Data::new(Site::load(pages, Mark::Files)?);
    let shelf = Data::new(Shelf::new(files));
    let attendance = Data::new(Attendance::default());
    let token = Token::random().map_err(refused)?.text;
    let path = format!("/{token}");
    let shared = (site, shelf, attendance.clone());
    let server = HttpServer::new({
        let path = path.clone();
        move || create_app(path.clone(), shared.clone())
    });
    // Pages that are still open lose their files at once.
    let server = server.workers(2).shutdown_timeout(0).tcp_nodelay(true);
    let server = server.bind((Ipv4Addr::LOCALHOST, 0)).map_err(refused)?;
    let port = server.addrs()[0].port();
    Ok(Opened { address: format!("http://127.0.0.1:{port}{path}/"), port, server: server.run(), attendance })
}

impl Opened {
    /// Answers requests until the last page has been closed, or until a signal.
    pub async fn run(self) -> Result<(), Failure> {
        let handle = self.server.handle();
        let attendance = self.attendance;
        let watch = tokio::spawn(async move {
            attendance.until_all_have_left().await;
            handle.stop(false).await;
        });
        let served = self.server.await;
        watch.abort();
        served.map_err(|error| Failure::new(format!("the server stopped: {error}"), "open the files again"))
    }
}

fn create_app(
    path: String,
    (site, shelf, attendance): (Data<Site>, Data<Shelf>, Data<Attendance>),
) -> App<
    impl ServiceFactory<
        ServiceRequest,
        Config = (),
        Response = ServiceResponse<impl MessageBody>,
        Error = Error,
        InitError = (),
    >,
> {
    let own = web::scope(&path)
        .route("/api/v1/files", web::get().to(files::list))
        .route("/api/v1/files/{number}", web::get().to(files::read))
        .route("/api/v1/attendance", web::get().to(attendance::attend))
        .default_service(web::to(page));
    App::new()
        .app_data(site)
        .app_data(shelf)
        .app_data(attendance)
        .service(own)
        .default_service(web::to(nothing))
        .wrap(from_fn(guard))
        .wrap(headers::security())
        .wrap(from_fn(close_unread))
}

/// Refuses foreign host names, which an attacker can let lead to this machine.
async fn guard(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    if !is_name_of_this_machine(request.headers()) {
        let message = "This server accepts only requests for names of this machine, such as localhost.";
        let refusal = refuse_page(ErrorCode::Forbidden, message);
        return Ok(request.into_response(refusal).map_into_right_body());
    }
    Ok(next.call(request).await?.map_into_left_body())
}

/// Handles the pages and their files.
async fn page(request: HttpRequest, site: Data<Site>, attendance: Data<Attendance>) -> HttpResponse {
    attendance.note();
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        return refuse_page(ErrorCode::MethodNotAllowed, "This page accepts only GET and HEAD.");
    }
    // The first part of the path is the token.
    let path = request.path().get(1..).and_then(|path| Some(&path[path.find('/')?..]));
    let Some(path) = path else {
        let below = format!("{}/", request.path());
        return HttpResponse::build(StatusCode::PERMANENT_REDIRECT).insert_header((LOCATION, below)).finish();
    };
    match site.find(path) {
        Some(asset) => respond(asset, request.headers()),
        None => nothing().await,
    }
}

async fn nothing() -> HttpResponse {
    refuse_page(ErrorCode::NotFound, "There is no such page.")
}
