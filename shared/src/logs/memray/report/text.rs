//! Texts of the reports on files of memray.

/// Returns a command line with `memray` instead of the file that is run for it.
pub(super) fn short_command(command: &str) -> String {
    let (program, arguments) = command.split_once(' ').unwrap_or((command, ""));
    match program.ends_with("/memray") || program.ends_with("memray/__main__.py") {
        true => format!("memray {arguments}"),
        false => command.to_owned(),
    }
}

/// Formats a line of a function; of the path, only what names the file within its project or package is left.
pub(super) fn line(function: &str, file: &str, line: &str) -> String {
    let path = file.rsplit_once("-packages/").map_or(file, |(_, path)| path);
    let start = path.rmatch_indices('/').nth(1).filter(|_| path.starts_with('/')).map_or(0, |(at, _)| at + 1);
    format!("{function} ({}:{line})", &path[start..])
}
