//! Makes everything that people read of a comparison from its `results.json`.
//!
//! `show-peers DIRECTORY [README]` reads `DIRECTORY/results.json`, writes `results.md` and `results.svg` beside it, and replaces
//! the section of the README if one is named.

#![forbid(unsafe_code)]

use benches::peers::{BEGIN, END, Results, figure, page, readme_with, section};
use std::error::Error;
use std::path::PathBuf;
use std::{env, fs};

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = env::args_os().skip(1).map(PathBuf::from);
    let directory = args.next().ok_or("usage: show-peers DIRECTORY [README]")?;
    let results = Results::parse(&fs::read_to_string(directory.join("results.json"))?)?;
    // The README is read before anything is written: markers that are missing leave all as it was.
    let readme = match args.next() {
        Some(path) => {
            let made = readme_with(&fs::read_to_string(&path)?, &section(&results));
            Some((made.ok_or_else(|| format!("{} lacks {BEGIN} or {END}", path.display()))?, path))
        }
        None => None,
    };
    fs::write(directory.join("results.md"), page(&results))?;
    fs::write(directory.join("results.svg"), figure(&results))?;
    if let Some((made, path)) = readme {
        fs::write(path, made)?;
    }
    Ok(())
}
