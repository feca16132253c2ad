//! The column on disk: 8 bytes a value, in a temporary file without a name.
//!
//! # Design
//!
//! A protocol visits rows in random order, once per round, and the input may be a pipe or a text file without an
//! index. So the numbers are parsed once and written down; memory stays the same for a thousand rows and for a
//! billion. The file is unlinked from the moment it exists: it disappears with the process, however that ends, and
//! the users' values are left nowhere.

use std::fmt;
use std::fs::File;
use std::io::{self, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use ldp_core::Error;
use ldp_simulate::RowStore;

use super::error::InputError;

/// Bytes of one value.
const WIDTH: usize = size_of::<f64>();
/// Rows fetched at once by `value`: a page of the disk, so that neighbours are free.
const BLOCK: u64 = 512;
/// Bytes fetched at once by `scan`, and written at once.
const BUFFER: usize = 1 << 20;

/// An empty temporary file that has no name, can be given none, is nobody else's to read, and vanishes when closed.
pub(super) fn temporary() -> Result<File, InputError> {
    nameless(&folder()).map_err(failed)
}

/// Without `O_EXCL` a file that was opened by `O_TMPFILE` can be linked into a folder while it is open, through `/proc`.
#[cfg(target_os = "linux")]
fn nameless(folder: &Path) -> io::Result<File> {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt;
    let flags = OFlags::TMPFILE | OFlags::EXCL;
    let opened = File::options().read(true).write(true).mode(0o600).custom_flags(flags.bits() as i32).open(folder);
    // Not every file system has such files; then it is made with a name, for its owner alone, and loses it at once.
    opened.or_else(|_| {
        let (file, name) = tempfile::NamedTempFile::new_in(folder)?.into_parts();
        name.close()?;
        Ok(file)
    })
}

#[cfg(not(target_os = "linux"))]
fn nameless(folder: &Path) -> io::Result<File> {
    tempfile::tempfile_in(folder)
}

/// The error of an operation on such a file.
pub(super) fn failed(source: io::Error) -> InputError {
    InputError::Spool { folder: folder(), source }
}

fn folder() -> PathBuf {
    std::env::temp_dir()
}

/// A column that is being written.
pub(super) struct SpoolWriter {
    file: BufWriter<File>,
    rows: u64,
}

impl SpoolWriter {
    /// An empty column.
    pub fn new() -> Result<Self, InputError> {
        temporary().map(Self::on)
    }

    fn on(file: File) -> Self {
        Self { file: BufWriter::with_capacity(BUFFER, file), rows: 0 }
    }

    /// Appends one value.
    pub fn push(&mut self, value: f64) -> Result<(), InputError> {
        self.file.write_all(&value.to_le_bytes()).map_err(failed)?;
        self.rows += 1;
        Ok(())
    }

    /// The column, complete.
    pub fn finish(self) -> Result<Spool, InputError> {
        let file = self.file.into_inner().map_err(|error| failed(error.into_error()))?;
        Ok(Spool { file, rows: self.rows, block: Vec::with_capacity(BLOCK as usize * WIDTH), first: 0 })
    }
}

/// A column of finite numbers in a temporary file, to be read in any order in constant memory.
pub struct Spool {
    file: File,
    rows: u64,
    /// The block fetched last, from row `first` on.
    block: Vec<u8>,
    first: u64,
}

impl fmt::Debug for Spool {
    // The values are private, and too many.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spool").field("rows", &self.rows).finish_non_exhaustive()
    }
}

impl Spool {
    /// Fetches the block that holds `row`.
    fn fetch(&mut self, row: u64) -> io::Result<()> {
        self.first = row - row % BLOCK;
        let count = BLOCK.min(self.rows - self.first) as usize;
        // After a failure the block must not pass for rows it does not hold.
        self.block.clear();
        self.file.seek(SeekFrom::Start(self.first * WIDTH as u64))?;
        self.block.resize(count * WIDTH, 0);
        self.file.read_exact(&mut self.block).inspect_err(|_| self.block.clear())
    }
}

impl RowStore for Spool {
    fn rows(&self) -> u64 {
        self.rows
    }

    fn value(&mut self, row: u64) -> ldp_core::Result<f64> {
        if row >= self.rows {
            return Err(source(InputError::NoSuchRow { row, rows: self.rows }));
        }
        let held = (self.block.len() / WIDTH) as u64;
        if !(self.first..self.first + held).contains(&row) {
            self.fetch(row).map_err(|error| source(failed(error)))?;
        }
        Ok(decode(&self.block[(row - self.first) as usize * WIDTH..][..WIDTH]))
    }

    fn scan(&mut self, visit: &mut dyn FnMut(u64, f64) -> ldp_core::Result<()>) -> ldp_core::Result<()> {
        self.file.rewind().map_err(|error| source(failed(error)))?;
        let mut buffer = vec![0; BUFFER];
        let mut row = 0;
        while row < self.rows {
            let count = ((self.rows - row) as usize).min(BUFFER / WIDTH);
            let chunk = &mut buffer[..count * WIDTH];
            self.file.read_exact(chunk).map_err(|error| source(failed(error)))?;
            for bytes in chunk.chunks_exact(WIDTH) {
                visit(row, decode(bytes))?;
                row += 1;
            }
        }
        Ok(())
    }
}

fn decode(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(bytes.try_into().expect("a value has 8 bytes"))
}

fn source(error: InputError) -> Error {
    Error::Source(Box::new(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool(values: impl IntoIterator<Item = f64>) -> Spool {
        let mut writer = SpoolWriter::new().unwrap();
        values.into_iter().for_each(|value| writer.push(value).unwrap());
        writer.finish().unwrap()
    }

    #[test]
    fn values_come_back_exactly_in_any_order() {
        let values = [0.1, -0.0, f64::MIN_POSITIVE, f64::MAX, 5e-324, -1e300];
        let mut spool = spool(values);
        assert_eq!(spool.rows(), 6);
        for row in [5, 0, 3, 3, 1, 2, 4] {
            assert_eq!(spool.value(row).unwrap().to_bits(), values[row as usize].to_bits());
        }
        let mut seen = Vec::new();
        spool
            .scan(&mut |row, value| {
                seen.push((row, value.to_bits()));
                Ok(())
            })
            .unwrap();
        assert_eq!(seen, values.iter().enumerate().map(|(row, v)| (row as u64, v.to_bits())).collect::<Vec<_>>());
    }

    #[test]
    fn blocks_and_buffers_join_without_a_seam() {
        // More than two buffers of a scan, and a last block that is not full.
        let rows = 2 * (BUFFER / WIDTH) as u64 + 1_001;
        let mut spool = spool((0..rows).map(|row| row as f64));
        let mut next = 0;
        spool
            .scan(&mut |row, value| {
                assert_eq!((row, value), (next, next as f64));
                next += 1;
                Ok(())
            })
            .unwrap();
        assert_eq!(next, rows);
        for row in (0..rows).step_by(509).chain([rows - 1, 0, BLOCK - 1, BLOCK]) {
            assert_eq!(spool.value(row).unwrap(), row as f64);
        }
    }

    #[test]
    fn a_row_that_does_not_exist_is_an_error() {
        let error = spool([1.0]).value(1).unwrap_err();
        assert_eq!(error.to_string(), "row 1 does not exist: there are 1, counted from 0");
    }

    #[test]
    fn an_error_of_the_visitor_ends_the_scan() {
        let mut visited = 0;
        let result = spool([1.0, 2.0]).scan(&mut |row, _| {
            visited += 1;
            Err(source(InputError::NoSuchRow { row, rows: 0 }))
        });
        assert!(result.is_err());
        assert_eq!(visited, 1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn nobody_else_can_reach_the_values() {
        use std::os::fd::AsRawFd;
        use std::os::unix::fs::MetadataExt;
        // Both ways in: the file without a name, and the one that loses it where there is no such thing.
        let folder = tempfile::tempdir().unwrap();
        let unlinked = || {
            let (file, name) = tempfile::NamedTempFile::new_in(&folder).unwrap().into_parts();
            name.close().unwrap();
            file
        };
        let linked = |file: &File, name: &str| {
            let open = format!("/proc/self/fd/{}", file.as_raw_fd());
            let to = folder.path().join(name);
            let (from, into) = (rustix::fs::CWD, rustix::fs::CWD);
            rustix::fs::linkat(from, open.as_str(), into, &to, rustix::fs::AtFlags::SYMLINK_FOLLOW).is_ok()
        };
        for (number, file) in [nameless(folder.path()).unwrap(), unlinked()].into_iter().enumerate() {
            let kind = file.metadata().unwrap();
            assert_eq!((kind.mode() & 0o777, kind.nlink()), (0o600, 0));
            assert!(!linked(&file, &format!("stolen-{number}")));
        }
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0);
        // The test would notice: this is what the file was before.
        let plain = tempfile::tempfile_in(&folder).unwrap();
        assert!(plain.metadata().unwrap().mode() & 0o077 != 0 || linked(&plain, "stolen"));
    }

    #[test]
    fn debug_shows_no_value() {
        assert_eq!(format!("{:?}", spool([1234.5])), "Spool { rows: 1, .. }");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_names_the_temporary_folder() {
        let full = || SpoolWriter::on(File::options().write(true).open("/dev/full").unwrap());
        let is_full = |error: InputError| {
            assert!(error.to_string().contains(&folder().display().to_string()), "{error}");
            matches!(error, InputError::Spool { source, .. } if source.kind() == io::ErrorKind::StorageFull)
        };
        // At the end, and already while writing if there is more than one buffer.
        let mut writer = full();
        writer.push(1.0).unwrap();
        assert!(is_full(writer.finish().unwrap_err()));
        let mut writer = full();
        assert!(is_full((0..=BUFFER).find_map(|_| writer.push(1.0).err()).unwrap()));
    }
}
