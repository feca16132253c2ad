//! Files that flags ask for: never lost to a second run, and written as a whole or not at all.

use anyhow::Context;
use ldp_study::bounded;
use ldp_study::error::OutputError;
use ldp_study::plot::{self, PngError};
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

/// What a file of a kind begins with.
pub type Begins = &'static [&'static [u8]];
/// A figure: SVG as `plot` draws it, or PNG.
pub const FIGURE: Begins = &[b"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 540 ", b"\x89PNG\r\n\x1a\n"];
/// A JSON object.
pub const OBJECT: Begins = &[b"{"];

/// A file that is looked at before the work begins, so that hours are not lost to a wrong path, and written after it.
///
/// A file that is there already stays, unless `--overwrite` is given: one that does not begin as this kind does is refused
/// at once, and one that does may be what the same command made before. Then there is nothing to be written, or else it is
/// another result, and refused as well.
pub struct Output {
    path: PathBuf,
    flag: &'static str,
    overwrite: bool,
    /// What cannot be replaced by another file, such as a pipe, is open from the beginning.
    stream: Option<File>,
}

impl Output {
    /// Looks at the file that `flag` names.
    pub fn open(flag: &'static str, path: &Path, overwrite: bool, begins: Begins) -> anyhow::Result<Self> {
        let mut output = Self { path: path.to_owned(), flag, overwrite, stream: None };
        if special(path) {
            let stream = OpenOptions::new().write(true).open(path);
            output.stream = Some(stream.map_err(OutputError).with_context(|| output.place())?);
            return Ok(output);
        }
        let place = || output.place();
        anyhow::ensure!(!path.is_dir(), "{}: this is a folder", place());
        // Where the file will be made under another name.
        tempfile::tempfile_in(parent(&target(path))).map_err(OutputError).with_context(place)?;
        if !overwrite && fs::symlink_metadata(path).is_ok() {
            let longest = begins.iter().map(|begin| begin.len()).max().unwrap_or(0);
            let mut head = Vec::new();
            let read = File::open(path).and_then(|file| file.take(longest as u64).read_to_end(&mut head));
            let alike = read.is_ok() && (head.is_empty() || begins.iter().any(|begin| head.starts_with(begin)));
            anyhow::ensure!(
                alike,
                "{}: the file is there already, and not from this command; take another name, or --overwrite",
                place()
            );
        }
        Ok(output)
    }

    /// Fills the file.
    pub fn write(self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> anyhow::Result<()> {
        let mut content = Vec::new();
        fill(&mut content).map_err(OutputError).with_context(|| self.place())?;
        self.bytes(&content)
    }

    /// Fills the file with a figure: as PNG if its name ends so, otherwise as the SVG text it is.
    pub fn figure(self, svg: &str) -> anyhow::Result<()> {
        if self.path.extension().is_some_and(|end| end.eq_ignore_ascii_case("png")) {
            let drawn = |error: PngError| anyhow::Error::new(error).context(self.place());
            let bytes = plot::png(svg, plot::SCALE).map_err(drawn)?;
            return self.bytes(&bytes);
        }
        self.bytes(svg.as_bytes())
    }

    fn bytes(self, content: &[u8]) -> anyhow::Result<()> {
        let place = || self.place();
        if let Some(mut stream) = self.stream.as_ref() {
            return stream.write_all(content).map_err(OutputError).with_context(place);
        }
        self.check(content)?;
        write_whole(&self.path, |out| out.write_all(content)).map_err(OutputError).with_context(place)
    }

    /// Refuses to replace what holds something else.
    fn check(&self, content: &[u8]) -> anyhow::Result<()> {
        if self.overwrite || self.stream.is_some() {
            return Ok(());
        }
        check_same(&self.path, content).with_context(|| self.place())
    }

    fn place(&self) -> String {
        format!("{} {}", self.flag, self.path.display())
    }
}

/// Fills the files of several flags, all of them or, where one would be lost that holds something else, none.
pub fn write_all(files: Vec<(Output, String)>) -> anyhow::Result<()> {
    files.iter().try_for_each(|(output, text)| output.check(text.as_bytes()))?;
    files.into_iter().try_for_each(|(output, text)| output.bytes(text.as_bytes()))
}

/// Two flags of one command must name two files: of one of them the other would be all that remains.
pub fn check_apart(files: &[(&str, Option<&Path>)]) -> anyhow::Result<()> {
    let named = || files.iter().filter_map(|&(flag, path)| path.filter(|path| !special(path)).map(|path| (flag, path)));
    for (number, (flag, path)) in named().enumerate() {
        if let Some((other, same)) = named().take(number).find(|(_, other)| settled(other) == settled(path)) {
            anyhow::bail!("{other} {} and {flag} {} are one file; give each its own", same.display(), path.display());
        }
    }
    Ok(())
}

/// Where a file is or will be, under one name.
fn settled(path: &Path) -> PathBuf {
    let path = target(path);
    match (fs::canonicalize(parent(&path)), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => path,
    }
}

/// A file that is there already must hold the same, or nothing: then nothing is lost.
pub fn check_same(path: &Path, content: &[u8]) -> anyhow::Result<()> {
    let same = match fs::symlink_metadata(path) {
        Err(_) => true,
        Ok(_) => bounded::holds(path, b"") || bounded::holds(path, content),
    };
    anyhow::ensure!(same, "the file is there already and holds something else; take another name, or --overwrite");
    Ok(())
}

/// Whether a path is something that cannot be replaced by a file: a pipe, a terminal, `/dev/stdout` wherever that leads.
fn special(path: &Path) -> bool {
    if (path.starts_with("/dev") || path.starts_with("/proc")) && path.exists() && !path.is_dir() {
        return true;
    }
    fs::metadata(path).is_ok_and(|kind| !kind.is_file() && !kind.is_dir())
}

/// The file that a path means: where it is a link, the file at its end.
fn target(path: &Path) -> PathBuf {
    fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
}

fn parent(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or_else(|| ".".as_ref())
}

/// Writes a file so that it is there as a whole or not at all: under another name in the same folder, and renamed when it
/// is on disk. One that is there keeps its permissions.
fn write_whole(path: &Path, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let path = target(path);
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // As any new file: the mask of the process applies.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let file = builder.prefix(&name).suffix(".partial").tempfile_in(parent(&path))?;
    if let Ok(known) = fs::metadata(&path) {
        file.as_file().set_permissions(known.permissions())?;
    }
    let mut out = BufWriter::new(file.as_file());
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    file.as_file().sync_all()?;
    file.persist(&path).map(drop).map_err(|error| error.error)
}

/// A folder for results, made before the work begins. If it comes to nothing, a folder that was not there before is taken
/// away again.
pub struct Folder {
    path: PathBuf,
    flag: &'static str,
    fresh: bool,
}

impl Folder {
    /// Makes the folder that `flag` names, unless it is there, and sees whether it can be written.
    pub fn open(flag: &'static str, path: &Path) -> anyhow::Result<Self> {
        let fresh = !path.exists();
        anyhow::ensure!(fresh || path.is_dir(), "{flag} {}: this is not a folder", path.display());
        let folder = Self { path: path.to_owned(), flag, fresh };
        let made = fs::create_dir_all(path).and_then(|()| tempfile::tempfile_in(path));
        made.map_err(OutputError).with_context(|| format!("{flag} {}", path.display()))?;
        Ok(folder)
    }

    /// Fills files in it, all of them or, where one would be lost that holds something else, none. Those of `runs` hold
    /// what differs between runs.
    pub fn write(self, files: &[(String, Vec<u8>)], overwrite: bool, runs: &[&str]) -> anyhow::Result<()> {
        let place = |name: &str| format!("{} {}", self.flag, self.path.join(name).display());
        for (name, content) in files.iter().filter(|(name, _)| !overwrite && !runs.contains(&name.as_str())) {
            check_same(&self.path.join(name), content).with_context(|| place(name))?;
        }
        for (name, content) in files {
            let written = write_whole(&self.path.join(name), |out| out.write_all(content));
            written.map_err(OutputError).with_context(|| place(name))?;
        }
        Ok(())
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

    const TEXT: Begins = &[b"new"];

    fn open(path: &Path, overwrite: bool) -> anyhow::Result<Output> {
        Output::open("--svg", path, overwrite, TEXT)
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn two_flags_are_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let within = |name: &str| folder.path().join(name);
        let check =
            |a: &str, b: &str| check_apart(&[("--a", Some(&within(a))), ("--none", None), ("--b", Some(&within(b)))]);
        check("x", "y").unwrap();
        fs::create_dir(within("sub")).unwrap();
        check("x", "sub/x").unwrap();
        for (a, b) in [("x", "x"), ("x", "./x"), ("sub/../x", "x"), ("sub/./x", "sub/x")] {
            let said = check(a, b).unwrap_err().to_string();
            assert!(said.starts_with("--a ") && said.contains(" and --b ") && said.contains("one file"), "{said}");
        }
        #[cfg(unix)]
        {
            fs::write(within("x"), "").unwrap();
            std::os::unix::fs::symlink(within("x"), within("link")).unwrap();
            std::os::unix::fs::symlink(within("sub"), within("other")).unwrap();
            assert!(check("link", "x").is_err() && check("other/new", "sub/new").is_err());
            let null = Path::new("/dev/null");
            check_apart(&[("--a", Some(null)), ("--b", Some(null))]).unwrap();
        }
        assert_eq!(settled(Path::new("x")), settled(Path::new("./x")));
    }

    #[test]
    fn a_folder_stays_only_with_something_in_it() {
        let within = tempfile::tempdir().unwrap();
        let path = within.path().join("deep/results");
        drop(Folder::open("--out", &path).unwrap());
        assert!(!path.exists());
        let write = |content: &str, overwrite| {
            let files = [("data.csv".to_owned(), content.into()), ("run.json".to_owned(), content.into())];
            Folder::open("--out", &path).unwrap().write(&files, overwrite, &["run.json"])
        };
        write("1", false).unwrap();
        write("1", false).unwrap();
        // All or nothing, unless told.
        assert!(format!("{:#}", write("2", false).unwrap_err()).contains("data.csv: the file is there already"));
        assert_eq!(fs::read_to_string(path.join("run.json")).unwrap(), "1");
        write("2", true).unwrap();
        assert_eq!(fs::read_to_string(path.join("data.csv")).unwrap(), "2");
        assert_eq!(names(&path), ["data.csv", "run.json"]);
        let error = Folder::open("--out", &path.join("data.csv")).err().unwrap();
        assert!(error.to_string().ends_with("data.csv: this is not a folder"), "{error}");
    }

    #[test]
    fn a_file_that_is_there_is_never_lost_unasked() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("figure.svg");
        let put = |content: &str, overwrite| open(&path, overwrite)?.write(|out| out.write_all(content.as_bytes()));
        drop(open(&path, false).unwrap());
        assert!(names(folder.path()).is_empty());
        put("new 1", false).unwrap();
        // The same again is no loss; something else is.
        put("new 1", false).unwrap();
        assert!(
            format!("{:#}", put("new 2", false).unwrap_err())
                .contains("figure.svg: the file is there already and holds")
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "new 1");
        put("new 2", true).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new 2");
        // What is of another kind is refused before the work.
        fs::write(&path, "what was there before").unwrap();
        assert!(open(&path, false).err().unwrap().to_string().contains("not from this command"));
        assert_eq!(fs::read_to_string(&path).unwrap(), "what was there before");
        drop(open(&path, true).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "what was there before");
        assert_eq!(names(folder.path()), ["figure.svg"]);
    }

    #[test]
    fn what_fails_on_the_way_leaves_everything_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("data.csv");
        for before in [None, Some("before")] {
            before.map_or(Ok(()), |text| fs::write(&path, text)).unwrap();
            let torn = write_whole(&path, |out| {
                out.write_all(&[b'x'; 100_000])?;
                Err(io::ErrorKind::StorageFull.into())
            });
            assert_eq!(torn.unwrap_err().kind(), io::ErrorKind::StorageFull);
            assert_eq!(fs::read_to_string(&path).ok().as_deref(), before);
            assert_eq!(names(folder.path()).len(), usize::from(before.is_some()));
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("file"), folder.path().join("link"));
        write_whole(&path, |out| out.write_all(b"1")).unwrap();
        let mode = || fs::metadata(&path).unwrap().permissions().mode() & 0o777;
        let plain = folder.path().join("plain");
        fs::write(&plain, "").unwrap();
        assert_eq!(mode(), fs::metadata(&plain).unwrap().permissions().mode() & 0o777);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink(&path, &link).unwrap();
        write_whole(&link, |out| out.write_all(b"2")).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), mode()), ("2", 0o640));
        // A link to nowhere is something, too.
        let nowhere = folder.path().join("nowhere");
        symlink(folder.path().join("gone"), &nowhere).unwrap();
        assert!(open(&nowhere, false).is_err());
    }

    #[test]
    fn a_figure_is_what_its_name_ends_in() {
        let folder = tempfile::tempdir().unwrap();
        let svg = r#"<svg xmlns="http://www.w3.org/2000/svg" width="9" height="5"/>"#;
        let written = |name: &str| {
            Output::open("--svg", &folder.path().join(name), false, FIGURE).unwrap().figure(svg).unwrap();
            fs::read(folder.path().join(name)).unwrap()
        };
        assert!(written("a.svg") == svg.as_bytes() && written("png") == svg.as_bytes());
        assert!(written("a.png") == plot::png(svg, plot::SCALE).unwrap() && written("b.PNG") == written("a.png"));
        // Nothing is left of a picture that could not be drawn, and nothing lost.
        let fresh = folder.path().join("c.png");
        let drawn = |path: &Path| Output::open("--svg", path, false, FIGURE).unwrap().figure("no figure");
        let error = drawn(&fresh).unwrap_err();
        assert!(error.to_string().starts_with("--svg ") && !fresh.exists(), "{error}");
        assert!(drawn(&folder.path().join("a.png")).is_err());
        assert!(written("b.png") == fs::read(folder.path().join("a.png")).unwrap());
    }

    #[test]
    fn a_wrong_path_is_named_with_its_flag() {
        let error = open(Path::new("/nowhere/at/all.svg"), false).err().unwrap();
        assert_eq!(error.to_string(), "--svg /nowhere/at/all.svg");
        assert!(error.chain().any(|cause| cause.is::<OutputError>()));
        let folder = tempfile::tempdir().unwrap();
        assert!(open(folder.path(), true).err().unwrap().to_string().ends_with("this is a folder"));
    }
}
