//! Laws of everything in the tables, at settings that nobody chose.

use super::*;
use ldp_core::{Epsilon, Inference, IntervalKind};
use ldp_simulate::{Fidelity, Setting};

/// Settings of every protocol; more of them under `LDP_FULL=1`.
const SETTINGS: u64 = 50;
/// Replications of each.
const REPLICATIONS: u64 = 4;
/// Usual and extreme.
const LEVELS: [f64; 5] = [1e-300, 0.5, 0.95, 0.999_999, 1.0 - f64::EPSILON / 2.0];

/// SplitMix64: the same settings everywhere.
struct Dice(u64);

impl Dice {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }

    fn one<T: Copy>(&mut self, all: &[T]) -> T {
        all[(self.unit() * all.len() as f64) as usize]
    }

    /// Over decades.
    fn between(&mut self, low: f64, high: f64) -> f64 {
        low * (high / low).powf(self.unit())
    }
}

/// A protocol with its places at random, and where the mean is: also far outside.
fn setting(dice: &mut Dice, name: &str) -> (String, String, f64) {
    let sigma = dice.between(1e-3, 1e6);
    let place = sigma * dice.between(1e-3, 1e3) * dice.one(&[-1.0, 0.0, 1.0]);
    let width = sigma * dice.between(0.3, 1e3);
    let theta = place + dice.one(&[0.0, 0.0, 0.5 * width, width, -40.0 * sigma, width + 40.0 * sigma, sigma, -sigma]);
    let ends = format!("low={place},high={}", place + width);
    let spec = match name {
        "one-stage" | "two-stage" | "vector-gaussian" => format!("{name}:start={place}"),
        "liu" => dice.one(&["liu", "liu:quantile=0.9", "liu:batch=2", "liu:batch=3,quantile=0.2"]).to_owned(),
        "duchi-rogers" => format!("{name}:start={place},range={}", dice.between(1e-3, 10.0) * sigma),
        "clipped-mean" => {
            let mechanism = dice.one(&["duchi", "ding", "laplace", "piecewise", "hybrid", "staircase"]);
            format!("{name}:mechanism={mechanism},{ends}")
        }
        "three-stage" => format!("{name}:{ends},pilot=0.5,first-stage=auto"),
        "joseph-unknown-variance" | "joseph-one-round-unknown-variance" => {
            format!("{name}:{ends},sigma-low={},sigma-high={}", sigma / 2.0, 2.0 * sigma)
        }
        "clipped-moments-unknown-variance" => format!("{name}:{ends},sigma-high={}", 2.0 * sigma),
        "joseph" | "joseph-one-round" | "clipped-moments" => format!("{name}:{ends}"),
        other => other.to_owned(),
    };
    (spec, format!("gaussian:sigma={sigma}"), theta)
}

fn family(dice: &mut Dice) -> (String, String, f64) {
    let model = dice.one(&["exponential", "gaussian-scale", "bernoulli", "poisson", "categorical:size=3", "laplace"]);
    let theta = dice.one(&[1e-3, 0.02, 0.5, 0.98, 0.999]);
    (format!("efficient:first-stage={}", dice.one(&[1, 5])), model.to_owned(), theta)
}

/// Every estimate is a number in its own interval, whose ends differ; probabilities stay within 0 and 1, scales and counts above
/// 0, and the mean of clipped values where they are clipped to.
fn check(data: &OnData, estimate: &dyn Inference, place: &str) -> u64 {
    let value = data.value(estimate);
    assert!(value.is_finite(), "{place}");
    let clipped = data.protocol.target == Target::Mean;
    if let Some([low, high]) = data.protocol.range.filter(|_| clipped) {
        assert!(low <= value && value <= high, "{value} in {place}");
    }
    let mut intervals = 0;
    for kind in IntervalKind::ALL {
        for level in LEVELS {
            let Ok(interval) = data.interval(estimate, kind, level) else { continue };
            let shown = || format!("{value} in {interval:?} of {place}");
            assert!(interval.low < interval.high && interval.contains(value), "{}", shown());
            if data.protocol.target == Target::Parameter && !data.protocol.gaussian {
                let [low, high] = data.built.space();
                assert!(low <= interval.low && interval.high <= high, "{}", shown());
            }
            if let Some([low, high]) = data.protocol.range.filter(|_| clipped) {
                assert!(low <= interval.low && interval.high <= high, "{}", shown());
            }
            intervals += 1;
        }
    }
    intervals
}

#[test]
fn an_estimate_lies_in_its_interval_wherever_it_is_made() {
    let settings = if std::env::var_os("LDP_FULL").is_some() { 20 * SETTINGS } else { SETTINGS };
    let mut intervals = 0;
    let catalog = Catalog::builtin();
    for (number, entry) in (0u64..).zip(catalog.estimators()) {
        let mut built_once = 0;
        for run in 0..settings {
            let mut dice = Dice(run << 8 | number);
            let efficient = entry.name() == "efficient";
            let (spec, model, theta) = if efficient { family(&mut dice) } else { setting(&mut dice, entry.name()) };
            let users = dice.one(&[1, 2, 3, 4, 30, 800, 9_000]);
            let users =
                if entry.name().contains("joseph") || entry.name() == "three-stage" { 20 * users } else { users };
            let epsilon = Epsilon::new(dice.between(0.05, 12.0)).unwrap();
            let built = catalog.model(&model.parse().unwrap()).unwrap();
            let context = BuildContext::new(epsilon, &built);
            let Ok(protocol) = catalog.estimator_of_study(&spec.parse().unwrap(), context) else { continue };
            let fidelity = if users <= 30 { Fidelity::Users } else { protocol.fidelity };
            let data = OnData { built, protocol, uses_model: true };
            let place = format!("{spec} on {model}, theta {theta}, {users} users, {epsilon:?}");
            let setting = Setting { model: &*data.built.model, theta, users, seed: run, fidelity };
            let mut visit = |estimate: &dyn Inference| intervals += check(&data, estimate, &place);
            built_once += u64::from(data.protocol.estimator.replicate(&setting, 0..REPLICATIONS, &mut visit).is_ok());
        }
        // Protocols with a pilot refuse small numbers of users.
        assert!(built_once >= settings / 20, "{} ran in {built_once} of {settings} settings", entry.name());
    }
    assert!(intervals > 50 * settings, "{intervals}");
}

/// Every key that plays a part stands in the canonical spec, every other is refused, and the canonical spec is read as itself.
#[test]
fn a_canonical_spec_is_read_as_itself() {
    let catalog = Catalog::builtin();
    let built = catalog.model(&"gaussian".parse().unwrap()).unwrap();
    let known = BuildContext::new(Epsilon::new(1.0).unwrap(), &built);
    let variants =
        ["efficient:pilot=2000", "liu:pilot=0.5", "vector-mean:mechanism=projunit", "vector-mean:mechanism=privunit"];
    for text in catalog.estimators().iter().map(|entry| entry.name()).chain(variants) {
        let spec = text.parse().unwrap();
        let canonical = catalog.estimator(&spec, known).unwrap().spec;
        assert_eq!(catalog.estimator(&canonical.parse().unwrap(), known).unwrap().spec, canonical);
        let canonical: Spec = canonical.parse().unwrap();
        for key in
            catalog.estimator_keys(&spec.name).iter().filter(|key| spec.pairs.iter().all(|(name, _)| name != key.name))
        {
            let mut more = spec.clone();
            more.pairs.push((key.name.into(), key.default.into()));
            let plays = canonical.pairs.iter().any(|(name, _)| name == key.name);
            assert_eq!(catalog.estimator(&more, known).is_ok(), plays, "{more}");
        }
    }
}

/// Every default is one of the values that its key takes, and names are told apart.
#[test]
fn what_comes_with_the_framework_could_be_registered() {
    let (builtin, mut catalog) = (Catalog::builtin(), Catalog::new());
    for entry in builtin.mechanisms() {
        catalog.register_mechanism(entry.clone()).unwrap();
    }
    for entry in builtin.models() {
        catalog.register_model(entry.clone()).unwrap();
    }
    for entry in builtin.estimators() {
        catalog.register_estimator(entry.clone()).unwrap();
    }
    for entry in builtin.studies() {
        catalog.register_study(entry.clone()).unwrap();
    }
}
