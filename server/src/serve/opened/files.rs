//! Lists the opened files and streams their bytes from the disk.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::PathBuf;

use actix_web::HttpResponse;
use actix_web::body::SizedStream;
use actix_web::http::header::{CACHE_CONTROL, ContentType};
use actix_web::web::{Bytes, Data, Json, Path};
use futures_util::stream::{self, Stream};
use shared::api::{OpenedFile, OpenedFiles};

use super::attendance::{Attendance, Visit};
use crate::serve::error::ApiError;

/// Bytes that are read at a time.
const CHUNK_BYTES: u64 = 1 << 20;

/// The files, whose positions are their names in requests.
pub(super) struct Shelf(Vec<PathBuf>);

impl Shelf {
    pub(super) fn new(files: Vec<PathBuf>) -> Self {
        Self(files)
    }
}

/// Returns the names and sizes of the files, in the order of the command line.
pub(super) async fn list(shelf: Data<Shelf>, attendance: Data<Attendance>) -> Json<OpenedFiles> {
    attendance.note();
    let file = |path: &PathBuf| OpenedFile {
        name: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
        size_bytes: path.metadata().map_or(0, |about| about.len()),
    };
    Json(OpenedFiles { files: shelf.0.iter().map(file).collect() })
}

/// Streams a file as it is on the disk now.
pub(super) async fn read(
    number: Path<usize>,
    shelf: Data<Shelf>,
    attendance: Data<Attendance>,
) -> Result<HttpResponse, ApiError> {
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
