//! Certificates in which something was changed: every number of every kind of certificate, in every way that comes to mind.

use ldp_core::Epsilon;
use ldp_core::model::{
    Bernoulli, Categorical, Exponential, Gaussian, GaussianScale, Laplace, Logistic, Poisson, StudentT,
};
use ldp_fisher::optimal::{Certificate, Verified, certify};
use ldp_simulate::AnyModel;
use ldp_simulate::seed::{Purpose, SimulationRng, stream};
use rand::RngExt;
use serde_json::{Map, Value, json};

fn families() -> Vec<(Box<dyn AnyModel>, f64)> {
    vec![
        (Box::new(Gaussian::new(1.0).unwrap()), 0.4),
        (Box::new(Gaussian::new(1e-3).unwrap()), 1e6),
        (Box::new(Logistic::new(0.7).unwrap()), -3.0),
        (Box::new(StudentT::new(3.0, 1.0).unwrap()), 2.0),
        (Box::new(Laplace::new(2.0).unwrap()), 1.5),
        (Box::new(Exponential), 37.0),
        (Box::new(GaussianScale), 0.2),
        (Box::new(Poisson), 2.5),
        (Box::new(Poisson), 3e6),
        (Box::new(Bernoulli), 0.3),
        (Box::new(Categorical::new(5).unwrap()), 0.1),
    ]
}

/// Every place in a value, as the keys and indices that lead to it.
fn places(value: &Value, path: &mut Vec<String>, all: &mut Vec<Vec<String>>) {
    if !path.is_empty() {
        all.push(path.clone());
    }
    let children: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields.iter().map(|(key, child)| (key.clone(), child)).collect(),
        Value::Array(items) => items.iter().enumerate().map(|(i, child)| (i.to_string(), child)).collect(),
        _ => Vec::new(),
    };
    for (key, child) in children {
        path.push(key);
        places(child, path, all);
        path.pop();
    }
}

fn at<'v>(value: &'v mut Value, path: &[String]) -> &'v mut Value {
    let pointer: String = path.iter().map(|key| format!("/{key}")).collect();
    value.pointer_mut(&pointer).unwrap()
}

/// What a knot may be off by without being elsewhere.
const ZERO: f64 = 1e-14;

/// Other values for one that is there.
fn others(value: &Value) -> Vec<Value> {
    let mut all = vec![Value::Null, json!(true), json!("x"), json!([]), json!({}), json!([[1]])];
    if let Some(x) = value.as_f64() {
        all.extend([x * 1.001, x * 0.999, -x, x + 1.0, 1e308, -1e308, 1e-308].map(Value::from));
    }
    if let Some(n) = value.as_u64() {
        all.extend([n + 1, n.wrapping_sub(1), 4_000_000_000, u64::MAX].map(Value::from));
    }
    if let Some(n) = value.as_str().and_then(|text| text.parse::<u64>().ok()) {
        let scaled = [n as f64 * 1.001, n as f64 * 0.999].map(|x| (x as u64).to_string());
        all.extend(scaled.map(Value::from));
        all.extend([json!("0"), json!("-1"), json!("18446744073709551615"), json!(n)]);
    }
    if let Value::Array(items) = value {
        for i in 1..items.len() {
            let mut swapped = items.clone();
            swapped.swap(i - 1, i);
            all.push(swapped.into());
        }
        let mut longer = items.clone();
        longer.extend(items.last().cloned());
        all.extend([Value::from(items[..items.len().saturating_sub(1)].to_vec()), longer.into()]);
        all.push(vec![0.5; 100_000].into());
    }
    // Zero is zero up to rounding.
    let far = |x: f64| value.as_f64().is_none_or(|y| (x - y).abs() > ZERO);
    all.retain(|other| other != value && other.as_f64().is_none_or(far));
    all
}

/// Every certificate that differs from one in one place.
fn tampered(good: &Value) -> Vec<(String, Value)> {
    let mut paths = Vec::new();
    places(good, &mut Vec::new(), &mut paths);
    let mut all = Vec::new();
    for path in paths {
        let old = at(&mut good.clone(), &path).clone();
        let name = path.join(".");
        for other in others(&old) {
            let mut bad = good.clone();
            *at(&mut bad, &path) = other;
            all.push((name.clone(), bad));
        }
        let (last, parents) = path.split_last().unwrap();
        let mut without = good.clone();
        let parent = if parents.is_empty() { &mut without } else { at(&mut without, parents) };
        if let Some(fields) = parent.as_object_mut() {
            fields.remove(last);
            all.push((name.clone(), without));
        }
        if old.is_object() {
            let mut with = good.clone();
            at(&mut with, &path).as_object_mut().unwrap().insert("more".into(), json!(1));
            all.push((name, with));
        }
    }
    let numbers = ["version", "epsilon", "theta", "information", "upper_bound"];
    for (i, one) in numbers.iter().enumerate() {
        for other in &numbers[..i] {
            let mut bad = good.clone();
            let fields: &mut Map<String, Value> = bad.as_object_mut().unwrap();
            (fields[*one], fields[*other]) = (good[*other].clone(), good[*one].clone());
            if good[*one].as_f64() != good[*other].as_f64() {
                all.push((format!("{one}/{other}"), bad));
            }
        }
    }
    all
}

/// What a message must have one of, if it is about a part of a certificate.
fn words(name: &str) -> Vec<&str> {
    let mut words: Vec<&str> = name.split(['.', '/']).filter(|word| word.parse::<u64>().is_err()).collect();
    for (part, more) in [
        ("kernel", &["weight of a lie", "reports", "kernel"][..]),
        ("partition", &["cut", "label", "partition", "threshold"][..]),
        ("beta", &["beta", "knot"][..]),
        ("version", &["version"][..]),
    ] {
        if name.contains(part) {
            words.extend(more);
        }
    }
    words
}

/// Reads and verifies: what a verifier of a file does.
fn verify(value: &Value, model: &dyn AnyModel) -> Result<Verified, (bool, String)> {
    let read: Certificate = serde_json::from_value(value.clone()).map_err(|error| (false, error.to_string()))?;
    read.verify(model).map_err(|error| (true, error.to_string()))
}

#[test]
fn every_change_is_refused_and_named() {
    let full = std::env::var_os("LDP_FULL").is_some();
    let levels: &[f64] = if full { &[1e-3, 0.5, 1.0, 2.1, 3.0, 4.0, 6.0, 8.0] } else { &[0.5, 3.0] };
    for (model, theta) in families() {
        for &level in levels {
            let certificate = certify(&*model, theta, Epsilon::new(level).unwrap()).unwrap();
            let good = serde_json::to_value(&certificate).unwrap();
            let verified = verify(&good, &*model).unwrap();
            assert_eq!(verified.information, certificate.information);
            assert!((verified.upper_bound / certificate.upper_bound - 1.0).abs() < 1e-15);
            let all = tampered(&good);
            let mut other_proofs = 0;
            for (name, bad) in &all {
                let (semantic, message) = match verify(bad, &*model) {
                    // Far out where hardly anything lies β may be anything, and none is needed where the ends of the scores of
                    // reports prove as much: it is another proof of the same bound.
                    Ok(also)
                        if name.starts_with("beta")
                            && (also.upper_bound / verified.upper_bound - 1.0).abs() < 2e-11 =>
                    {
                        other_proofs += 1;
                        continue;
                    }
                    Ok(_) => panic!(
                        "theta {theta}, epsilon {level}: {name} was changed: {}",
                        at(&mut bad.clone(), &[name.split(['.', '/']).next().unwrap().into()])
                    ),
                    Err(refused) => refused,
                };
                let named = words(name).iter().any(|word| message.contains(word));
                assert!(!semantic || named, "theta {theta}, epsilon {level}, {name}: {message}");
            }
            println!("theta {theta}, epsilon {level}: {} changes, of which {other_proofs} prove the same", all.len());
            assert!(other_proofs * 20 <= all.len());
        }
    }
}

/// Changes of several places at once, by chance. Nothing panics, nothing takes long, and what passes is the certificate.
#[test]
fn random_changes_neither_panic_nor_pass() {
    let cases = if std::env::var_os("LDP_FULL").is_some() { 100_000 } else { 3000 };
    let goods: Vec<(Box<dyn AnyModel>, Value)> = families()
        .into_iter()
        .map(|(model, theta)| {
            let good = serde_json::to_value(certify(&*model, theta, Epsilon::new(2.5).unwrap()).unwrap()).unwrap();
            (model, good)
        })
        .collect();
    let (mut refused, mut same) = (0, 0);
    for case in 0..cases {
        let mut rng = stream(15, Purpose::Data, case, 0);
        let (model, good) = &goods[rng.random_range(0..goods.len())];
        let mut bad = good.clone();
        for _ in 0..rng.random_range(1..4) {
            change(&mut bad, &mut rng);
        }
        match verify(&bad, &**model) {
            Ok(also) => {
                let claimed = |value: &Value, field: &str| value[field].as_f64().unwrap();
                assert!(numbers(&without_beta(&bad), &without_beta(good)), "case {case}: {bad}");
                assert!((also.upper_bound / claimed(good, "upper_bound") - 1.0).abs() < 1e-3, "case {case}: {bad}");
                same += 1;
            }
            Err(_) => refused += 1,
        }
    }
    println!("{refused} refused, {same} that claim and prove about the same");
    assert!(refused > cases * 9 / 10, "{refused}");
}

fn without_beta(value: &Value) -> Value {
    let mut rest = value.clone();
    rest["beta"] = Value::Null;
    rest
}

fn change(value: &mut Value, rng: &mut SimulationRng) {
    let mut paths = Vec::new();
    places(value, &mut Vec::new(), &mut paths);
    let path = &paths[rng.random_range(0..paths.len())];
    let all = others(at(value, path));
    *at(value, path) = match at(value, path).as_f64() {
        Some(x) if rng.random_bool(0.5) => {
            let size = 10f64.powf(rng.random_range(-3.0..12.0));
            json!(x + size * rng.random_range(-1.0..1.0) * x.abs().max(1e-3))
        }
        _ => all[rng.random_range(0..all.len())].clone(),
    };
}

/// Whether two certificates have about the same numbers: next to a function that proves a bound others prove it too.
fn numbers(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| numbers(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| numbers(a, b)))
        }
        (Value::Number(_), Value::Number(_)) => {
            let (a, b) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            (a - b).abs() <= 1e-3 * (b.abs() + 1.0)
        }
        _ => one == other,
    }
}
