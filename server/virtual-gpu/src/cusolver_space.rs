//! Returns the workspaces of cuSOLVER's common decompositions, as an H200 with version 12.0.4 asked for them.
//!
//! The real library tells a size only on a GPU. The tables have square matrices of 16 to 1,024 rows; between two of them
//! a size is interpolated, and above the last one it grows by the square of the rows. Only that of Cholesky's
//! decomposition is a formula, so all other sizes but the measured ones are estimates.

use std::ffi::c_int;

use crate::ffi::Out;

/// Sizes by the number of rows.
type Table = [(usize, usize)];

/// LU decomposition, in bytes, for every type of elements.
const GETRF: &Table = &[(16, 768), (64, 1280), (200, 4096), (513, 8704), (1024, 12_544)];

/// The others, in elements: QR decomposition, its matrix Q, products with Q, singular values by Jacobi's method,
/// eigenvalues of symmetric matrices and of others.
const GEQRF: &Table = &[(64, 786_448), (300, 831_520), (513, 1_049_616)];
const ORGQR: &Table = &[(16, 33_280), (200, 93_440), (513, 213_632)];
const ORMQR: &Table = &[(16, 78_592), (64, 123_200), (300, 476_512), (513, 986_688)];
const GESVDJ: &Table = &[(64, 13_408), (300, 202_240), (513, 563_904), (1024, 2_168_864)];
const SYEVD: &Table = &[(200, 339_235), (1024, 4_357_331)];
const GEEV: &Table = &[(16, 33_408), (200, 93_824)];

fn size_in(table: &Table, rows: usize) -> usize {
    let after = table.partition_point(|(known, _)| *known < rows);
    match (after.checked_sub(1).map(|before| table[before]), table.get(after)) {
        (None, Some((_, first))) => *first,
        (Some((low, from)), Some((high, to))) => from + (to - from) * (rows - low) / (high - low),
        (Some((last, size)), None) => size * rows / last * rows / last,
        (None, None) => 0,
    }
}

/// Returns the size of Cholesky's decomposition, in bytes: a word for each pair of blocks of 32 rows.
fn potrf(rows: usize) -> usize {
    128 + (4 * rows.div_ceil(32).pow(2)).next_multiple_of(32)
}

/// Returns the size of an element of a `cudaDataType`: real and complex numbers of 4 and of 8 bytes, by their codes.
fn element_bytes(data_type: c_int) -> usize {
    match data_type {
        1 | 4 => 8,
        5 => 16,
        _ => 4,
    }
}

/// Returns the size of eigenvalues of a symmetric matrix by Jacobi's method, in elements: known of 300 rows only.
fn syevj(rows: usize) -> usize {
    rows * rows + rows * 11_974 / 300
}

fn rows<T: TryInto<usize>>(given: T) -> usize {
    given.try_into().unwrap_or(0)
}

/// Defines functions that return a number of elements; the skipped words stand before and after the number of rows.
macro_rules! in_elements {
    { $($size:expr, $before:tt $after:tt => $($name:ident $bytes:literal),+ ;)* } => {
        $($(in_elements!(@define $name $before $after $size, $bytes);)+)*
    };
    (@define $name:ident [$($before:tt)*] [$($after:tt)*] $size:expr, $bytes:literal) => {
        #[unsafe(no_mangle)]
        extern "C" fn $name(
            $(_: in_elements!(@word $before),)*
            given: c_int,
            $(_: in_elements!(@word $after),)*
            size: Out<c_int>,
        ) -> c_int {
            let size_of: fn(usize, usize) -> usize = $size;
            size.put_if_wanted(c_int::try_from(size_of(rows(given), $bytes)).unwrap_or(c_int::MAX));
            0
        }
    };
    (@word _) => { usize };
}

in_elements! {
    |rows, bytes| size_in(GETRF, rows) / bytes, [_ _] [_ _] =>
        cusolverDnSgetrf_bufferSize 4, cusolverDnDgetrf_bufferSize 8, cusolverDnCgetrf_bufferSize 8,
        cusolverDnZgetrf_bufferSize 16;
    |rows, _| size_in(ORGQR, rows), [_ _] [_ _ _ _] =>
        cusolverDnSorgqr_bufferSize 4, cusolverDnDorgqr_bufferSize 8, cusolverDnCungqr_bufferSize 8,
        cusolverDnZungqr_bufferSize 16;
    |rows, _| size_in(ORMQR, rows), [_ _ _] [_ _ _ _ _ _ _] =>
        cusolverDnSormqr_bufferSize 4, cusolverDnDormqr_bufferSize 8, cusolverDnCunmqr_bufferSize 8,
        cusolverDnZunmqr_bufferSize 16;
    |rows, _| syevj(rows), [_ _ _] [_ _ _] =>
        cusolverDnSsyevj_bufferSize 4, cusolverDnDsyevj_bufferSize 8, cusolverDnCheevj_bufferSize 8,
        cusolverDnZheevj_bufferSize 16;
    |rows, _| size_in(GESVDJ, rows), [_ _ _ _] [_ _ _ _ _ _ _] =>
        cusolverDnSgesvdj_bufferSize 4, cusolverDnDgesvdj_bufferSize 8, cusolverDnCgesvdj_bufferSize 8,
        cusolverDnZgesvdj_bufferSize 16;
}

/// Defines functions that return bytes of the device and none of the host, for a type of elements.
macro_rules! in_bytes {
    { $($size:expr, [$($before:tt)*] [$($after:tt)*] => $name:ident ;)* } => {
        $(
            #[unsafe(no_mangle)]
            extern "C" fn $name(
                $(_: in_elements!(@word $before),)*
                given: i64,
                data_type: c_int,
                $(_: in_elements!(@word $after),)*
                device: Out<usize>,
                host: Out<usize>,
            ) -> c_int {
                let size_of: fn(usize, usize) -> usize = $size;
                device.put_if_wanted(size_of(rows(given), element_bytes(data_type)));
                host.put_if_wanted(0);
                0
            }
        )*
    };
}

in_bytes! {
    |rows, _| potrf(rows), [_ _ _] [_ _ _] => cusolverDnXpotrf_bufferSize;
    |rows, bytes| size_in(GEQRF, rows) * bytes, [_ _ _] [_ _ _ _ _] => cusolverDnXgeqrf_bufferSize;
    |rows, bytes| size_in(SYEVD, rows) * bytes, [_ _ _ _] [_ _ _ _ _] => cusolverDnXsyevd_bufferSize;
    |rows, bytes| size_in(GEEV, rows) * bytes, [_ _ _ _] [_ _ _ _ _ _ _ _ _ _ _] => cusolverDnXgeev_bufferSize;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_those_of_an_h200() {
        let real = |data_type| {
            let (mut device, mut host) = (1, 1);
            cusolverDnXsyevd_bufferSize(
                0,
                0,
                0,
                0,
                200,
                data_type,
                0,
                0,
                0,
                0,
                0,
                Out::to(&mut device),
                Out::to(&mut host),
            );
            (device, host)
        };
        assert_eq!((real(1), real(0)), ((2_713_880, 0), (1_356_940, 0)));
        let mut size = 0;
        cusolverDnDgetrf_bufferSize(0, 513, 513, 0, 513, Out::to(&mut size));
        assert_eq!(size, 8704 / 8);
        assert_eq!([64, 200, 513, 1024].map(potrf), [160, 352, 1312, 4224]);
        cusolverDnSsyevj_bufferSize(0, 0, 0, 300, 0, 300, 0, Out::to(&mut size));
        assert_eq!(4 * size, 407_896);
    }

    #[test]
    fn a_size_that_was_not_measured_lies_between_its_neighbors() {
        assert_eq!([0, 16, 40, 64].map(|rows| size_in(GETRF, rows)), [768, 768, 1024, 1280]);
        assert_eq!(size_in(GETRF, 2048), 4 * 12_544);
    }
}
