//! The tables of everything that can be named.

use super::error::{Error, Kind, Result};
use super::{AnyMechanism, BuildContext, BuiltEstimator, BuiltModel, Key, KeyType, Spec, Values, nearest};
use super::{estimators, mechanisms, models};
use ldp_core::Epsilon;
use std::sync::Arc;

/// Makes a mechanism at a privacy level.
pub type BuildMechanism = dyn Fn(&Values, Epsilon) -> Result<Box<dyn AnyMechanism>> + Send + Sync;
/// Makes a model.
pub type BuildModel = dyn Fn(&Values) -> Result<BuiltModel> + Send + Sync;
/// Makes a protocol, with what it is told besides its own keys.
pub type BuildEstimator = dyn Fn(&Values, BuildContext<'_>) -> Result<BuiltEstimator> + Send + Sync;

/// Something that can be named; `B` is what builds it.
pub struct Entry<B: ?Sized> {
    name: &'static str,
    summary: &'static str,
    keys: Vec<Key>,
    build: Arc<B>,
}

impl<B: ?Sized> Clone for Entry<B> {
    fn clone(&self) -> Self {
        Self { keys: self.keys.clone(), build: Arc::clone(&self.build), ..*self }
    }
}

impl<B: ?Sized> Entry<B> {
    /// Its name.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it is, in one line.
    pub fn summary(&self) -> &'static str {
        self.summary
    }

    /// Its keys.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The values of a spec, with the defaults of the keys that it leaves out.
    fn values(&self, spec: &Spec) -> Result<Values> {
        let has = |key: &str| {
            let of_mechanism =
                |known: &Key| known.takes == KeyType::Mechanism && key.starts_with(&format!("{}.", known.name));
            self.keys.iter().any(|known| known.name == key || of_mechanism(known))
        };
        if let Some((key, _)) = spec.pairs.iter().find(|(key, _)| !has(key)) {
            let known: Vec<_> = self.keys.iter().map(|key| key.name).collect();
            let nearest = nearest(key, known.iter().copied());
            return Err(Error::UnknownKey { name: self.name, key: key.clone(), nearest, known });
        }
        Ok(Values::new(self.name, &self.keys, spec))
    }
}

/// The entry of a mechanism.
pub type MechanismEntry = Entry<BuildMechanism>;
/// The entry of a model.
pub type ModelEntry = Entry<BuildModel>;
/// The entry of a protocol.
pub type EstimatorEntry = Entry<BuildEstimator>;

impl MechanismEntry {
    /// A mechanism of this name, with its report size and whether it samples exactly in the summary.
    pub fn new(
        name: &'static str,
        summary: &'static str,
        keys: &[Key],
        build: impl Fn(&Values, Epsilon) -> Result<Box<dyn AnyMechanism>> + Send + Sync + 'static,
    ) -> Self {
        Self { name, summary, keys: keys.to_vec(), build: Arc::new(build) }
    }
}

impl ModelEntry {
    /// A family of this name.
    pub fn new(
        name: &'static str,
        summary: &'static str,
        keys: &[Key],
        build: impl Fn(&Values) -> Result<BuiltModel> + Send + Sync + 'static,
    ) -> Self {
        Self { name, summary, keys: keys.to_vec(), build: Arc::new(build) }
    }
}

impl EstimatorEntry {
    /// A protocol of this name.
    pub fn new(
        name: &'static str,
        summary: &'static str,
        keys: &[Key],
        build: impl Fn(&Values, BuildContext<'_>) -> Result<BuiltEstimator> + Send + Sync + 'static,
    ) -> Self {
        Self { name, summary, keys: keys.to_vec(), build: Arc::new(build) }
    }
}

/// A study that can be run by its name.
#[derive(Clone, Debug)]
pub struct StudyEntry {
    /// Its name.
    pub name: &'static str,
    /// The text of its file, in TOML.
    pub source: &'static str,
}

/// An entry of the tables that come with the framework, as they are written down.
pub(crate) struct Builtin<B> {
    pub name: &'static str,
    pub summary: &'static str,
    pub keys: &'static [Key],
    pub build: B,
}

macro_rules! bundled {
    ($($name:literal),*) => {
        [$(StudyEntry { name: $name, source: include_str!(concat!("../studies/", $name, ".toml")) }),*]
    };
}

/// Everything that can be named by a spec: what comes with the framework, and what others have registered.
///
/// ```
/// use ldp_catalog::{Catalog, Error, Key, KeyType, MechanismEntry, channel};
/// use ldp_mechanisms::Sign;
///
/// let mut catalog = Catalog::builtin();
/// let above = MechanismEntry::new(
///     "above",
///     "whether the value is above a limit; 1 bit, exact",
///     &[Key::new("limit", KeyType::Number, "0", "the limit")],
///     |values, epsilon| channel(&Sign::new(epsilon, values.number("limit")?)?),
/// );
/// catalog.register_mechanism(above.clone())?;
/// assert!(matches!(catalog.register_mechanism(above), Err(Error::Registered { name: "above", .. })));
///
/// let gaussian = catalog.model(&"gaussian".parse()?)?;
/// let (mechanism, spec) = catalog.mechanism(&"above:limit=0.5".parse()?, ldp_core::Epsilon::new(1.0)?)?;
/// assert_eq!(spec, "above:limit=0.5");
/// assert!(mechanism.information(&gaussian, 0.0)?.value > 0.1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Default)]
pub struct Catalog {
    mechanisms: Vec<MechanismEntry>,
    models: Vec<ModelEntry>,
    estimators: Vec<EstimatorEntry>,
    studies: Vec<StudyEntry>,
}

impl Catalog {
    /// An empty catalog.
    pub fn new() -> Self {
        Self::default()
    }

    /// Everything that comes with the framework.
    pub fn builtin() -> Self {
        let mechanism = |entry: &Builtin<_>| MechanismEntry::new(entry.name, entry.summary, entry.keys, entry.build);
        let model = |entry: &Builtin<_>| ModelEntry::new(entry.name, entry.summary, entry.keys, entry.build);
        let estimator = |entry: &Builtin<_>| EstimatorEntry::new(entry.name, entry.summary, entry.keys, entry.build);
        let studies = bundled!(
            "default",
            "figure-1-left",
            "figure-1-right",
            "figure-2",
            "figure-2-extended",
            "first-stage-growth"
        );
        Self {
            mechanisms: mechanisms::MECHANISMS.iter().map(mechanism).collect(),
            models: models::MODELS.iter().map(model).collect(),
            estimators: estimators::ESTIMATORS.iter().map(estimator).collect(),
            studies: studies.into(),
        }
    }

    /// Adds a mechanism.
    ///
    /// # Errors
    ///
    /// If the name is taken, or a key declared twice or with a default that it does not take.
    pub fn register_mechanism(&mut self, entry: MechanismEntry) -> Result<()> {
        register(Kind::Mechanism, &mut self.mechanisms, entry)
    }

    /// Adds a model.
    ///
    /// # Errors
    ///
    /// If the name is taken, or a key declared twice or with a default that it does not take.
    pub fn register_model(&mut self, entry: ModelEntry) -> Result<()> {
        register(Kind::Model, &mut self.models, entry)
    }

    /// Adds a protocol.
    ///
    /// # Errors
    ///
    /// If the name is taken, or a key declared twice or with a default that it does not take.
    pub fn register_estimator(&mut self, entry: EstimatorEntry) -> Result<()> {
        register(Kind::Estimator, &mut self.estimators, entry)
    }

    /// Adds a study.
    ///
    /// # Errors
    ///
    /// If the name is taken.
    pub fn register_study(&mut self, entry: StudyEntry) -> Result<()> {
        if self.studies.iter().any(|known| known.name == entry.name) {
            return Err(Error::Registered { kind: Kind::Study, name: entry.name });
        }
        self.studies.push(entry);
        Ok(())
    }

    /// All mechanisms, in the order in which they are listed.
    pub fn mechanisms(&self) -> &[MechanismEntry] {
        &self.mechanisms
    }

    /// All models.
    pub fn models(&self) -> &[ModelEntry] {
        &self.models
    }

    /// All protocols.
    pub fn estimators(&self) -> &[EstimatorEntry] {
        &self.estimators
    }

    /// All studies.
    pub fn studies(&self) -> &[StudyEntry] {
        &self.studies
    }

    /// The keys of the model of this name; none if there is no such model.
    pub fn model_keys(&self, name: &str) -> &[Key] {
        self.models.iter().find(|entry| entry.name == name).map_or(&[], |entry| &entry.keys)
    }

    /// The keys of the protocol of this name; none if there is no such protocol.
    pub fn estimator_keys(&self, name: &str) -> &[Key] {
        self.estimators.iter().find(|entry| entry.name == name).map_or(&[], |entry| &entry.keys)
    }

    /// The entry of the model that a spec names, if the model has all of its keys.
    ///
    /// # Errors
    ///
    /// If no model has the name, or the model not one of the keys.
    pub fn find_model(&self, spec: &Spec) -> Result<&ModelEntry> {
        Ok(find(Kind::Model, &self.models, spec)?.0)
    }

    /// The entry of the protocol that a spec names, if the protocol has all of its keys.
    ///
    /// # Errors
    ///
    /// If no protocol has the name, or the protocol not one of the keys.
    pub fn find_estimator(&self, spec: &Spec) -> Result<&EstimatorEntry> {
        Ok(find(Kind::Estimator, &self.estimators, spec)?.0)
    }

    /// The study of this name.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn study(&self, name: &str) -> Result<&StudyEntry> {
        self.studies.iter().find(|study| study.name == name).ok_or_else(|| {
            let known: Vec<_> = self.studies.iter().map(|study| study.name).collect();
            let nearest = nearest(name, known.iter().copied());
            Error::UnknownStudy { name: name.to_owned(), nearest, known }
        })
    }

    /// The mechanism that a spec names, and the canonical spec.
    ///
    /// # Errors
    ///
    /// If there is none, a key plays no part, or the values make no mechanism.
    pub fn mechanism(&self, spec: &Spec, epsilon: Epsilon) -> Result<(Box<dyn AnyMechanism>, String)> {
        let (entry, values) = find(Kind::Mechanism, &self.mechanisms, spec)?;
        let built = (entry.build)(&values, epsilon)?;
        values.check_used()?;
        Ok((built, values.to_string()))
    }

    /// The model that a spec names.
    ///
    /// # Errors
    ///
    /// If there is none, a key plays no part, or the values make no model.
    pub fn model(&self, spec: &Spec) -> Result<BuiltModel> {
        let (entry, values) = find(Kind::Model, &self.models, spec)?;
        let built = (entry.build)(&values)?;
        values.check_used()?;
        Ok(BuiltModel { spec: values.to_string(), untold: values.untold(), ..built })
    }

    /// The protocol that a spec names. Every key given must play a part.
    ///
    /// # Errors
    ///
    /// If there is none, a key plays no part, or the values make no protocol.
    pub fn estimator(&self, spec: &Spec, context: BuildContext<'_>) -> Result<BuiltEstimator> {
        let (built, values) = self.build(spec, context)?;
        values.check_used()?;
        Ok(built)
    }

    /// The protocol that a spec names, where keys may be without a part: a study varies them for all protocols that have them.
    ///
    /// # Errors
    ///
    /// If there is none, or the values make no protocol.
    pub fn estimator_of_study(&self, spec: &Spec, context: BuildContext<'_>) -> Result<BuiltEstimator> {
        Ok(self.build(spec, context)?.0)
    }

    /// Refuses a key of a protocol that plays no part, whatever the level and the model.
    ///
    /// # Errors
    ///
    /// If there is such a key.
    pub fn check_used(&self, spec: &Spec, context: BuildContext<'_>) -> Result<()> {
        // What cannot be built is told elsewhere, and with what it depends on.
        self.build(spec, context).map_or(Ok(()), |(_, values)| values.check_used())
    }

    fn build(&self, spec: &Spec, context: BuildContext<'_>) -> Result<(BuiltEstimator, Values)> {
        let (entry, values) = find(Kind::Estimator, &self.estimators, spec)?;
        let built = (entry.build)(&values, BuildContext { catalog: Some(self), ..context })?;
        let around = values.both("start", "range").map(|[start, range]| [start - range, start + range]);
        let range = values.both("low", "high").or(around);
        let (spec, full, untold) = (values.to_string(), values.full(), values.untold());
        Ok((BuiltEstimator { spec, full, untold, range, ..built }, values))
    }
}

fn register<B: ?Sized>(kind: Kind, table: &mut Vec<Entry<B>>, entry: Entry<B>) -> Result<()> {
    let name = entry.name;
    if table.iter().any(|known| known.name == name) {
        return Err(Error::Registered { kind, name });
    }
    for (place, key) in entry.keys.iter().enumerate() {
        if !key.takes.accepts(key.default) || entry.keys[..place].iter().any(|known| known.name == key.name) {
            return Err(Error::Declaration { kind, name, key: key.name });
        }
    }
    table.push(entry);
    Ok(())
}

/// The entry that a spec names, with its values.
fn find<'t, B: ?Sized>(kind: Kind, table: &'t [Entry<B>], spec: &Spec) -> Result<(&'t Entry<B>, Values)> {
    let entry = table.iter().find(|entry| entry.name == spec.name).ok_or_else(|| {
        let known: Vec<_> = table.iter().map(|entry| entry.name).collect();
        let nearest = nearest(&spec.name, known.iter().copied());
        Error::UnknownName { kind, name: spec.name.clone(), nearest, known }
    })?;
    Ok((entry, entry.values(spec)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::channel;
    use ldp_mechanisms::Sign;

    fn sign(name: &'static str, keys: &[Key]) -> MechanismEntry {
        MechanismEntry::new(name, "a sign", keys, |_, epsilon| channel(&Sign::new(epsilon, 0.0)?))
    }

    #[test]
    fn a_name_is_registered_once_and_with_sound_keys() {
        let mut catalog = Catalog::builtin();
        let key = Key::new("at", KeyType::Number, "0", "where");
        let bad = Key::new("at", KeyType::Number, "zero", "where");
        assert!(matches!(catalog.register_mechanism(sign("sign", &[])), Err(Error::Registered { name: "sign", .. })));
        for keys in [&[key, key][..], &[bad]] {
            assert!(matches!(catalog.register_mechanism(sign("own", keys)), Err(Error::Declaration { key: "at", .. })));
        }
        catalog.register_mechanism(sign("own", &[key])).unwrap();
        assert_eq!(catalog.mechanisms().last().unwrap().name(), "own");
        let study = StudyEntry { name: "default", source: "" };
        assert!(matches!(catalog.register_study(study), Err(Error::Registered { kind: Kind::Study, .. })));
    }

    #[test]
    fn what_was_registered_is_suggested() {
        let mut catalog = Catalog::builtin();
        catalog.register_mechanism(sign("nearby", &[])).unwrap();
        let error = catalog.mechanism(&"neraby".parse().unwrap(), Epsilon::new(1.0).unwrap()).err().unwrap();
        assert!(error.to_string().starts_with("unknown mechanism 'neraby' (did you mean 'nearby'?)"), "{error}");
        assert!(catalog.study("figur-2").err().unwrap().to_string().contains("did you mean 'figure-2'?"));
    }
}
