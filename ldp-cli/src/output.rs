//! Files that flags ask for.

use crate::exit::OutputError;
use crate::plot::{self, PngError};
use anyhow::Context;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A file that is opened before the work begins, so that hours are not lost to a wrong path, and emptied only when there is
/// something to write. If it never comes to that, a file that was not there before is taken away again.
pub struct Output {
    file: File,
    path: PathBuf,
    flag: &'static str,
    fresh: bool,
}

impl Output {
    /// Opens the file that `flag` names.
    pub fn open(flag: &'static str, path: &Path) -> anyhow::Result<Self> {
        let new = OpenOptions::new().write(true).create_new(true).open(path);
        let fresh = new.is_ok();
        let opened = match new {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                OpenOptions::new().write(true).create(true).truncate(false).open(path)
            }
            opened => opened,
        };
        let file = opened.map_err(OutputError).with_context(|| format!("{flag} {}", path.display()))?;
        Ok(Self { file, path: path.to_owned(), flag, fresh })
    }

    /// Fills the file.
    pub fn write(mut self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
        self.fresh = false;
        let filled = self.empty().and_then(|()| {
            let mut out = BufWriter::new(&self.file);
            fill(&mut out)?;
            out.flush()
        });
        filled.map_err(OutputError).with_context(|| format!("{} {}", self.flag, self.path.display()))
    }

    /// Fills the file with a figure: as PNG if its name ends so, otherwise as the SVG text it is.
    pub fn figure(self, svg: &str) -> anyhow::Result<()> {
        let drawn =
            |error: PngError| anyhow::Error::new(error).context(format!("{} {}", self.flag, self.path.display()));
        if self.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("png")) {
            // Drawn before the file is emptied.
            let bytes = plot::png(svg, plot::SCALE).map_err(drawn)?;
            return self.write(|out| out.write_all(&bytes));
        }
        self.write(|out| out.write_all(svg.as_bytes()))
    }

    /// What is no file, such as a pipe, has nothing to be emptied of.
    fn empty(&self) -> io::Result<()> {
        if self.file.metadata()?.is_file() { self.file.set_len(0) } else { Ok(()) }
    }
}

impl Drop for Output {
    fn drop(&mut self) {
        if self.fresh {
            // The run has failed already, and says why.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// A folder for results, made before the work begins. If it comes to nothing, a folder that was not there before is taken
/// away again; the files in it are opened after it, so that they are gone by then.
pub struct Folder {
    path: PathBuf,
    flag: &'static str,
    fresh: bool,
}

impl Folder {
    /// Makes the folder that `flag` names, unless it is there.
    pub fn open(flag: &'static str, path: &Path) -> anyhow::Result<Self> {
        let fresh = !path.exists();
        anyhow::ensure!(fresh || path.is_dir(), "{flag} {}: this is not a folder", path.display());
        fs::create_dir_all(path).map_err(OutputError).with_context(|| format!("{flag} {}", path.display()))?;
        Ok(Self { path: path.to_owned(), flag, fresh })
    }

    /// Opens a file in it.
    pub fn file(&self, name: &str) -> anyhow::Result<Output> {
        Output::open(self.flag, &self.path.join(name))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.fresh {
            // Only an empty folder can be removed like this: results stay.
            let _ = fs::remove_dir(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_stays_only_with_something_in_it() {
        let within = tempfile::tempdir().unwrap();
        let path = within.path().join("deep/results");
        let folder = Folder::open("--out", &path).unwrap();
        let file = folder.file("data.csv").unwrap();
        assert!(path.join("data.csv").exists());
        drop(file);
        drop(folder);
        assert!(!path.exists());
        let folder = Folder::open("--out", &path).unwrap();
        folder.file("data.csv").unwrap().write(|out| out.write_all(b"1")).unwrap();
        drop(folder);
        assert_eq!(fs::read_to_string(path.join("data.csv")).unwrap(), "1");
        let error = Folder::open("--out", &path.join("data.csv")).err().unwrap();
        assert!(error.to_string().ends_with("data.csv: this is not a folder"), "{error}");
    }

    #[test]
    fn a_file_is_emptied_only_to_be_filled() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figure.svg");
        drop(Output::open("--svg", &path).unwrap());
        assert!(!path.exists());
        fs::write(&path, "what was there before").unwrap();
        drop(Output::open("--svg", &path).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "what was there before");
        Output::open("--svg", &path).unwrap().write(|out| out.write_all(b"new")).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn a_figure_is_what_its_name_ends_in() {
        let folder = tempfile::tempdir().unwrap();
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="5"/>"#;
        let written = |name: &str| {
            Output::open("--svg", &folder.path().join(name)).unwrap().figure(svg).unwrap();
            fs::read(folder.path().join(name)).unwrap()
        };
        assert!(written("a.svg") == svg.as_bytes() && written("png") == svg.as_bytes());
        assert!(written("a.png") == plot::png(svg, plot::SCALE).unwrap() && written("b.PNG") == written("a.png"));
        // Nothing is left of a picture that could not be drawn, and nothing lost.
        let fresh = folder.path().join("c.png");
        let error = Output::open("--svg", &fresh).unwrap().figure("no figure").unwrap_err();
        assert!(error.to_string().starts_with("--svg ") && !fresh.exists(), "{error}");
        assert!(Output::open("--svg", &folder.path().join("a.png")).unwrap().figure("no figure").is_err());
        assert!(written("b.png") == fs::read(folder.path().join("a.png")).unwrap());
    }

    #[test]
    fn a_wrong_path_is_named_with_its_flag() {
        let error = Output::open("--svg", Path::new("/nowhere/at/all.svg")).err().unwrap();
        assert_eq!(error.to_string(), "--svg /nowhere/at/all.svg");
        assert!(error.chain().any(|cause| cause.is::<OutputError>()));
    }
}
