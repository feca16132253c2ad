//! Whether the reports tell any two parameters apart.

use super::law::apart;
use super::places::Places;
use ldp_core::{Error, Result};

/// Parts of the whole way that a law is followed in.
const PARTS: f64 = 200.0;
/// Parts that may lie between two places without the law having to differ.
const NEAR: usize = 4;
/// Two stretches that come as near to each other as this share of a part meet.
const MEET: f64 = 0.02;

/// Refuses a law of reports that comes back to where it was at another parameter.
///
/// The law is followed as a curve of straight pieces in square roots of probabilities. Two pieces far from each other along the
/// curve must not meet; where both ends lie at infinity, they may.
pub(super) fn check(places: &Places) -> Result<()> {
    let part = places.length() / PARTS;
    let mut kept = vec![0];
    for i in 1..places.laws.len() {
        let far = apart(&places.laws[i], &places.laws[kept[kept.len() - 1]]) >= 0.5 * part;
        if far || i + 1 == places.laws.len() {
            kept.push(i);
        }
    }
    let curve: Vec<Vec<f64>> = kept.iter().map(|&i| places.laws[i].iter().map(|m| 2.0 * m.sqrt()).collect()).collect();
    let open = !places.space.low.value.is_finite() && !places.space.high.value.is_finite();
    let pieces = curve.len() - 1;
    for i in 0..pieces {
        for j in i + NEAR..pieces {
            if open && i < NEAR && j + NEAR >= pieces {
                continue;
            }
            let reach = norm(&curve[i], &curve[i + 1]) + norm(&curve[j], &curve[j + 1]);
            if norm(&curve[i], &curve[j]) > reach + part {
                continue;
            }
            if distance([&curve[i], &curve[i + 1]], [&curve[j], &curve[j + 1]]) < MEET * part {
                return Err(Error::NotIdentified { low: places.thetas[kept[i]], high: places.thetas[kept[j]] });
            }
        }
    }
    Ok(())
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn minus(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a - b).collect()
}

fn norm(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b) * (a - b)).sum::<f64>().sqrt()
}

/// The distance of two straight pieces.
fn distance([a, b]: [&Vec<f64>; 2], [c, d]: [&Vec<f64>; 2]) -> f64 {
    let (u, v, w) = (minus(b, a), minus(d, c), minus(a, c));
    let (uu, uv, vv, uw, vw) = (dot(&u, &u), dot(&u, &v), dot(&v, &v), dot(&u, &w), dot(&v, &w));
    let determinant = uu * vv - uv * uv;
    let ratio = |a: f64, b: f64| if b > 0.0 { (a / b).clamp(0.0, 1.0) } else { 0.0 };
    // Of a minimum inside and those on the four sides one is the least.
    let inside = ratio(uv * vw - vv * uw, determinant);
    let shares = [
        (inside, ratio(inside * uv + vw, vv)),
        (0.0, ratio(vw, vv)),
        (1.0, ratio(uv + vw, vv)),
        (ratio(-uw, uu), 0.0),
        (ratio(uv - uw, uu), 1.0),
    ];
    let far = |(s, t): (f64, f64)| {
        w.iter().zip(u.iter().zip(&v)).map(|(w, (u, v))| (w + s * u - t * v).powi(2)).sum::<f64>().sqrt()
    };
    shares.into_iter().map(far).fold(f64::INFINITY, f64::min)
}
