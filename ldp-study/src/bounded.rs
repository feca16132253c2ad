//! A whole file in memory, if it is not too large for that.

use anyhow::{Context, ensure};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// How much of a file tells whether it is text.
const BEGINNING: u64 = 4096;

/// The text of a file, or of a stream that ends, of at most `most` bytes.
pub fn text(path: &Path, most: u64) -> anyhow::Result<String> {
    String::from_utf8(bytes(&File::open(path)?, most)?).context("this is not text in UTF-8")
}

/// The text of what must be a file, of at most `most` bytes. A pipe in its place would keep everybody waiting.
pub fn text_of_file(path: &Path, most: u64) -> anyhow::Result<String> {
    // Opening a pipe waits already.
    ensure!(std::fs::metadata(path)?.is_file(), "this is not a file");
    text(path, most)
}

/// What an open file holds, at most `most` bytes.
pub fn bytes(file: &File, most: u64) -> anyhow::Result<Vec<u8>> {
    let known = file.metadata()?;
    let length = known.len();
    ensure!(!known.is_file() || length <= most, "the file has {length} bytes, and at most {most} are read");
    of_stream(file, most)
}

/// What is no text is refused at its beginning.
fn of_stream(mut stream: impl Read, most: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    stream.by_ref().take(most.min(BEGINNING)).read_to_end(&mut bytes)?;
    ensure!(!bytes.contains(&0), "this is not text: there is a byte 0 in it");
    let rest = (most + 1).saturating_sub(bytes.len() as u64);
    stream.take(rest).read_to_end(&mut bytes)?;
    ensure!(bytes.len() as u64 <= most, "there are more than {most} bytes, the most that are read");
    Ok(bytes)
}

/// Whether a file holds these bytes and no others. What is no file holds nothing that could be compared.
pub fn holds(path: &Path, content: &[u8]) -> bool {
    let known = std::fs::metadata(path).is_ok_and(|known| known.is_file() && known.len() == content.len() as u64);
    let read = || {
        let mut bytes = Vec::new();
        File::open(path)?.take(content.len() as u64 + 1).read_to_end(&mut bytes).map(|_| bytes)
    };
    known && read().is_ok_and(|bytes| bytes == content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_is_read_up_to_its_limit_and_no_further() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(text(&path, 5).unwrap(), "12345");
        assert_eq!(text(&path, 4).unwrap_err().to_string(), "the file has 5 bytes, and at most 4 are read");
        fs::write(&path, [0xff]).unwrap();
        assert!(text_of_file(&path, 4).unwrap_err().to_string().contains("UTF-8"));
        assert_eq!(text_of_file(folder.path(), 4).unwrap_err().to_string(), "this is not a file");
    }

    #[test]
    fn the_same_is_the_same_and_nothing_else_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert!(holds(&path, b"12345"));
        assert!(![&b"1234"[..], b"123456", b"12346", b""].iter().any(|other| holds(&path, other)));
        assert!(!holds(folder.path(), b"") && !holds(&folder.path().join("none"), b""));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_never_ends_is_not_read_to_the_end() {
        let endless = Path::new("/dev/zero");
        assert_eq!(text(endless, 1 << 62).unwrap_err().to_string(), "this is not text: there is a byte 0 in it");
        let said = of_stream(std::io::repeat(b'x'), 10_000).unwrap_err().to_string();
        assert_eq!(said, "there are more than 10000 bytes, the most that are read");
        assert_eq!(of_stream(&[b'x'; 10_000][..], 10_000).unwrap().len(), 10_000);
        assert!(text_of_file(endless, 9).is_err() && !holds(endless, &[0; 9]));
    }
}
