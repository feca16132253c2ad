//! `ldp optimal --verify`: a certificate from a file, every number of it recomputed.

use super::optimal::{Found, Record, human};
use crate::args::Common;
use crate::progress::Clock;
use crate::report;
use anyhow::{Context, ensure};
use ldp_catalog::{Catalog, Spec};
use ldp_fisher::optimal::{Certificate, Verified};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The largest file that is read: ten times what the longest certificates take.
const MOST_BYTES: u64 = 1 << 20;

/// A certificate in a file, with the name of its model.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certified {
    /// As a spec.
    pub model: String,
    /// The certificate itself.
    pub certificate: Certificate,
}

/// Checks a certificate, and prints what was recomputed.
pub fn run(catalog: &Catalog, common: &Common, path: &Path) -> anyhow::Result<()> {
    let place = || format!("--verify {}", path.display());
    let Certified { model, certificate } = read(path).with_context(place)?;
    let spec: Spec = model.parse().with_context(|| format!("{}: model", place()))?;
    let built = catalog.model(&spec).with_context(|| format!("{}: model", place()))?;
    let clock = Clock::start(common);
    let Verified { information, upper_bound, .. } = certificate.verify(&*built.model).with_context(place)?;
    let recomputed = Certificate { information, upper_bound, ..certificate };
    let found = Found::new(&recomputed, &built)?;
    let record = Record::new(&built, found, &recomputed.mechanism, Some(true));
    report::record(common.format, &record, || human(&record))?;
    clock.tell();
    Ok(())
}

/// Reads a certificate; what is none is refused with the place where it ceases to be one.
fn read(path: &Path) -> anyhow::Result<Certified> {
    let mut text = String::new();
    File::open(path)?.take(MOST_BYTES + 1).read_to_string(&mut text)?;
    ensure!(text.len() as u64 <= MOST_BYTES, "the file is larger than {MOST_BYTES} bytes: no certificate is");
    serde_json::from_str(&text).map_err(|error| {
        let offence =
            serde_json::from_str(&text).ok().and_then(|value: Value| CERTIFIED.offence(&value, String::new()));
        let error = anyhow::Error::from(error);
        match offence {
            Some(offence) => error.context(offence),
            None => error,
        }
    })
}

/// What a part of a certificate looks like, so that an error can name the part.
enum Shape {
    Number,
    Whole,
    Text,
    List(&'static Shape),
    /// These fields and no others.
    Fields(&'static [(&'static str, Shape)]),
    /// One of these fields.
    One(&'static [(&'static str, Shape)]),
    /// Or null.
    Maybe(&'static Shape),
}

const CERTIFIED: Shape = Shape::Fields(&[
    ("model", Shape::Text),
    (
        "certificate",
        Shape::Fields(&[
            ("version", Shape::Whole),
            ("epsilon", Shape::Number),
            ("theta", Shape::Number),
            ("information", Shape::Number),
            ("upper_bound", Shape::Number),
            ("mechanism", Shape::Fields(&[("wire", Shape::Whole), ("partition", PARTITION), ("kernel", KERNEL)])),
            ("beta", Shape::Maybe(&BETA)),
        ]),
    ),
]);

const PARTITION: Shape = Shape::One(&[
    ("threshold", Shape::Number),
    ("cuts", Shape::Fields(&[("cuts", Shape::List(&Shape::Number)), ("labels", Shape::List(&Shape::Whole))])),
    ("periodic", Shape::Fields(&[("origin", Shape::Number), ("width", Shape::Number), ("cells", Shape::Whole)])),
]);

/// Weights are whole numbers as text: they have 64 bits.
const KERNEL: Shape = Shape::One(&[
    ("response", Shape::Fields(&[("reports", Shape::Whole), ("lie", Shape::Text)])),
    ("dense", Shape::Fields(&[("columns", Shape::List(&Shape::List(&Shape::Text)))])),
]);

const BETA: Shape = Shape::Fields(&[
    ("knots", Shape::List(&Shape::Number)),
    ("values", Shape::List(&Shape::Number)),
    ("below", Shape::Number),
    ("above", Shape::Number),
]);

impl Shape {
    /// The first part of a value, which is at `path`, that does not look as it should.
    fn offence(&self, value: &Value, path: String) -> Option<String> {
        let wanted = match (self, value) {
            (Self::Number, Value::Number(_)) | (Self::Text, Value::String(_)) | (Self::Maybe(_), Value::Null) => {
                return None;
            }
            (Self::Whole, Value::Number(number)) if number.as_u64().is_some_and(|n| u32::try_from(n).is_ok()) => {
                return None;
            }
            (Self::Maybe(shape), _) => return shape.offence(value, path),
            (Self::List(shape), Value::Array(items)) => {
                return items.iter().enumerate().find_map(|(i, item)| shape.offence(item, format!("{path}[{i}]")));
            }
            (Self::Fields(fields) | Self::One(fields), Value::Object(found)) => {
                let name = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
                let missing = fields.iter().find(|(key, _)| !found.contains_key(*key));
                if let (Self::Fields(_), Some((key, _))) = (self, missing) {
                    return Some(format!("{} is missing", name(key)));
                }
                return found.iter().find_map(|(key, value)| match fields.iter().find(|(known, _)| known == key) {
                    Some((_, shape)) => shape.offence(value, name(key)),
                    None => Some(format!("{} is not known", name(key))),
                });
            }
            (Self::Number, _) => "a number",
            (Self::Whole, _) => "a whole number of 32 bits",
            (Self::Text, _) => "text",
            (Self::List(_), _) => "a list",
            (Self::Fields(_) | Self::One(_), _) => "an object",
        };
        Some(format!("{} is not {wanted}", if path.is_empty() { "the file" } else { &path }))
    }
}
