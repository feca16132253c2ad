//! Where the bytes come from: a file, a pipe or standard input, and what their first line says.

use std::fs::File;
use std::io::{self, Cursor, Read, Seek, Write};
use std::path::Path;

use super::Layout;
use super::error::InputError;
use super::{hints, spool};

/// How far to look for the end of the first line.
const HEAD: usize = 64 * 1024;
/// What every Parquet file begins with.
const PARQUET: &[u8] = b"PAR1";
/// The mark that some editors and spreadsheets put before UTF-8 text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// An open input whose beginning has been looked at.
pub(super) struct Source {
    name: String,
    head: Vec<u8>,
    rest: Rest,
}

/// The bytes after the head.
enum Rest {
    /// A regular file: it can be read again from any place.
    File(File),
    /// A pipe or standard input: it cannot.
    Stream(Box<dyn Read>),
}

impl Read for Rest {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(file) => file.read(buffer),
            Self::Stream(stream) => stream.read(buffer),
        }
    }
}

impl Source {
    /// Opens the file at `path`, or standard input if `path` is `-`.
    pub fn open(path: &Path) -> Result<Self, InputError> {
        if path == Path::new("-") {
            return Self::stream("standard input", io::stdin());
        }
        let name = path.display().to_string();
        let failed = |source| InputError::Open { file: name.clone(), source };
        let file = File::open(path).map_err(failed)?;
        let kind = file.metadata().map_err(failed)?;
        if kind.is_dir() {
            // Unix opens a folder without complaint and only refuses to read it.
            return Err(failed(io::ErrorKind::IsADirectory.into()));
        }
        // A named pipe has a path, yet cannot be read twice.
        let rest = if kind.is_file() { Rest::File(file) } else { Rest::Stream(Box::new(file)) };
        Self::new(name, rest)
    }

    /// A source that can be read once, called `name` in messages.
    pub fn stream(name: &str, bytes: impl Read + 'static) -> Result<Self, InputError> {
        Self::new(name.to_owned(), Rest::Stream(Box::new(bytes)))
    }

    fn new(name: String, mut rest: Rest) -> Result<Self, InputError> {
        let mut head = vec![0; HEAD];
        let mut filled = 0;
        // One call is not enough: a pipe may hand over a single byte.
        while filled < HEAD && !head[..filled].contains(&b'\n') {
            match rest.read(&mut head[filled..]) {
                Ok(0) => break,
                Ok(count) => filled += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                Err(source) => return Err(InputError::Read { file: name, source }),
            }
        }
        head.truncate(filled);
        Ok(Self { name, head, rest })
    }

    /// What messages call this source.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Whether the bytes begin as Parquet does.
    pub fn is_parquet(&self) -> bool {
        self.head.starts_with(PARQUET)
    }

    /// What the bytes are, if they are no text that can be read, and what to do.
    pub fn foreign(&self) -> Option<(&'static str, &'static str)> {
        hints::foreign(&self.head)
    }

    /// The layout by extension, else by the first line; `column` says whether a column was asked for, and `header` whether
    /// the first line may be names.
    pub fn layout(&self, column: bool, header: bool) -> Layout {
        let extension = Path::new(&self.name).extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("csv") => Layout::Csv,
            Some("tsv") => Layout::Tsv,
            Some("parquet" | "pq") => Layout::Parquet,
            _ if self.is_parquet() => Layout::Parquet,
            _ if column || self.first_line().contains(&b',') => Layout::Csv,
            // Names of one column and of several that something else separates, for which there are hints.
            _ if header && hints::is_name(self.first_line()) => Layout::Csv,
            _ => Layout::Lines,
        }
    }

    /// The first line, as far as it has been looked at.
    pub fn first_line(&self) -> &[u8] {
        self.head.split(|byte| *byte == b'\n').next().unwrap_or_default()
    }

    /// All bytes from the beginning, without a byte order mark.
    pub fn into_text(self) -> impl Read {
        let marked = if self.head.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
        let mut head = Cursor::new(self.head);
        head.set_position(marked as u64);
        head.chain(self.rest)
    }

    /// A file that can be read in any order: this one, or a temporary copy of a stream.
    pub fn into_file(self) -> Result<File, InputError> {
        let Self { name, head, rest } = self;
        match rest {
            Rest::File(file) => Ok(file),
            Rest::Stream(mut stream) => {
                let mut copy = spool::temporary()?;
                copy.write_all(&head).map_err(spool::failed)?;
                let mut buffer = vec![0; 256 * 1024];
                loop {
                    // `io::copy` would not tell a broken pipe from a full disk.
                    match stream.read(&mut buffer) {
                        Ok(0) => break,
                        Ok(count) => copy.write_all(&buffer[..count]).map_err(spool::failed)?,
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => (),
                        Err(source) => return Err(InputError::Read { file: name, source }),
                    }
                }
                copy.rewind().map_err(spool::failed)?;
                Ok(copy)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands over one byte at a time, as a slow pipe may.
    struct Trickle(Cursor<Vec<u8>>);

    impl Read for Trickle {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let one = buffer.len().min(1);
            self.0.read(&mut buffer[..one])
        }
    }

    /// A pipe that breaks.
    struct Broken;

    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::ErrorKind::ConnectionReset.into())
        }
    }

    #[test]
    fn a_slow_pipe_is_recognised_and_read_whole() {
        let trickle = |bytes: &[u8]| Source::stream("p", Trickle(Cursor::new(bytes.to_vec()))).unwrap();
        assert_eq!(trickle(b"PAR1....").layout(false, true), Layout::Parquet);
        assert_eq!(trickle(b"a,b\n1,2\n").layout(false, true), Layout::Csv);
        let mut text = String::new();
        trickle(b"\xef\xbb\xbfa,b\n1,2\n").into_text().read_to_string(&mut text).unwrap();
        assert_eq!(text, "a,b\n1,2\n");
        let mut bytes = Vec::new();
        trickle(b"PAR1\n12345").into_file().unwrap().read_to_end(&mut bytes).unwrap();
        assert_eq!(bytes, b"PAR1\n12345");
    }

    #[test]
    fn a_broken_pipe_is_an_error() {
        assert!(matches!(Source::stream("p", Broken), Err(InputError::Read { .. })));
        let later = Source::stream("p", Cursor::new(b"PAR1\n".to_vec()).chain(Broken)).unwrap();
        assert!(matches!(later.into_file(), Err(InputError::Read { .. })));
    }
}
