//! Serves the web pages together with a few files of this machine, for `snapscope open`.
//!
//! A page of another site can make a browser send requests here, but cannot guess the token that every path begins with,
//! and cannot read an answer.
//!
//! Invariant: only the files that were named can be read, and only below the token's path.

mod attendance;

use std::fs::File;
use std::io::{self, Read as _};
use std::net::Ipv4Addr;
use std::path::PathBuf;

use actix_web::body::{MessageBody, SizedStream};
use actix_web::dev::{Server, ServiceFactory, ServiceRequest, ServiceResponse};
use actix_web::http::header::{CACHE_CONTROL, ContentType, LOCATION};
use actix_web::http::{Method, StatusCode};
use actix_web::middleware::{Next, from_fn};
use actix_web::web::{self, Bytes, Data, Json, Path};
use actix_web::{App, Error, HttpRequest, HttpResponse, HttpServer};
use futures_util::stream::{self, Stream};
use shared::api::{ErrorCode, OpenedFile, OpenedFiles};

use crate::built_pages::BuiltPages;
use crate::failure::Failure;
use crate::serve::asset::respond;
use crate::serve::error::{ApiError, refuse_page};
use crate::serve::guard::is_name_of_this_machine;
use crate::serve::headers;
use crate::serve::site::{Mark, Site};
use crate::serve::unread::close_unread;
use crate::shares::Token;
use attendance::{Attendance, Visit};

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
    let shelf = Data::new(Shelf(files));
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
        .route("/api/v1/files", web::get().to(list))
        .route("/api/v1/files/{number}", web::get().to(read))
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

const CHUNK_BYTES: u64 = 1 << 20;

/// The files, whose positions are their names in requests.
struct Shelf(Vec<PathBuf>);

/// Returns the names and sizes of the files, in the order of the command line.
async fn list(shelf: Data<Shelf>, attendance: Data<Attendance>) -> Json<OpenedFiles> {
    attendance.note();
    let file = |path: &PathBuf| OpenedFile {
        name: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        size_bytes: path.metadata().map_or(0, |about| about.len()),
    };
    Json(OpenedFiles { files: shelf.0.iter().map(file).collect() })
}

/// Streams a file as it is on the disk now.
async fn read(number: Path<usize>, shelf: Data<Shelf>, attendance: Data<Attendance>) -> Result<HttpResponse, ApiError> {
    let path = shelf.0.get(*number).ok_or_else(|| ApiError::not_found("There is no such file."))?;
    let gone = |error| ApiError::not_found(format!("{} can no longer be read: {error}.", path.display()));
    let file = File::open(path).map_err(gone)?;
    let size_bytes = file.metadata().map_err(gone)?.len();
    let content = Content { file, left_bytes: size_bytes, _visit: attendance.visit() };
    let mut response = HttpResponse::Ok();
    // A copy in the browser's cache would be a second one on the disk.
    response.insert_header((CACHE_CONTROL, "no-store")).insert_header(ContentType::octet_stream());
    Ok(response.body(SizedStream::new(size_bytes, content.stream())))
}

/// The rest of a file; the server keeps running until it is sent.
struct Content {
    file: File,
    left_bytes: u64,
    _visit: Visit,
}

impl Content {
    fn stream(self) -> impl Stream<Item = io::Result<Bytes>> {
        stream::try_unfold(self, |content| async move {
            if content.left_bytes == 0 {
                return Ok(None);
            }
            let read = tokio::task::spawn_blocking(move || content.next());
            read.await.map_err(io::Error::other)?.map(Some)
        })
    }

    /// Reads the next bytes; what a growing file gets meanwhile is left out.
    fn next(mut self) -> io::Result<(Bytes, Self)> {
        let mut chunk = Vec::new();
        let len = self.file.by_ref().take(self.left_bytes.min(CHUNK_BYTES)).read_to_end(&mut chunk)?;
        if len == 0 {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the file has become shorter"));
        }
        self.left_bytes -= len as u64;
        Ok((chunk.into(), self))
    }
}
