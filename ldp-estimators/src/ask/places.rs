//! Places of the parameter space at equal distances in what the reports can tell.

use super::law::{Law, apart};
use crate::space::{End, Space};
use ldp_core::error::require;
use ldp_core::model::{Cdf, Score};
use ldp_core::{Error, Finite, Result};

/// Steps outwards on either side: the first a 64th of a unit of score, each a tenth longer, 60,000 units in all.
const STEPS: i32 = 160;
/// Halvings of the way to an end.
const HALVINGS: u32 = 60;
/// Places are at most this share of the whole way apart.
const SHARE: f64 = 1.0 / 200.0;
/// The most places.
const MOST: usize = 3000;
/// A part of the way that is not worth a place.
const SETTLED: f64 = 1e-9;
/// Reports up to which every law is worked out anew.
const FEW: u32 = 16;
/// A way so short that rounding makes it.
const NOWHERE: f64 = 1e-10;

/// Parameters in order, with the laws of reports there.
#[derive(Clone, Debug)]
pub(super) struct Places {
    /// The parameters: neighbours are as far apart as the reports can tell, a two-hundredth of the whole way at most.
    pub(super) thetas: Vec<f64>,
    /// The law of reports at each of them.
    pub(super) laws: Vec<Vec<f64>>,
    /// The derivative of the law at each of them, where there are many reports: between places their laws are cubics then.
    slopes: Option<Vec<Vec<f64>>>,
    /// The ends of the parameter space.
    pub(super) space: Space,
    /// Where nothing is known.
    pub(super) start: f64,
}

impl Places {
    /// Over a parameter space, around a place in it; refused where the law of reports does not change, or comes back to where
    /// it was.
    pub(super) fn new<Q, M>(question: &Q, model: &M, space: Space, start: f64) -> Result<Self>
    where
        Q: Finite,
        M: Cdf + Score + ?Sized,
    {
        let law = Law { question, model, space };
        let mut thetas = vec![start];
        thetas.extend(outwards(&law, start, space.low, -1.0));
        thetas.extend(outwards(&law, start, space.high, 1.0));
        thetas.sort_by(f64::total_cmp);
        thetas.dedup();
        let laws = thetas.iter().map(|&theta| checked(theta, law.at(theta))).collect::<Result<Vec<_>>>()?;
        let mut places = Self { thetas, laws, slopes: None, space, start };
        let length = places.length();
        if !(length > NOWHERE) {
            let [low, high] = [places.thetas[0], places.thetas[places.thetas.len() - 1]];
            return Err(Error::NotIdentified { low, high });
        }
        places.trim(SETTLED * length);
        places.refine(&law, SHARE * length)?;
        super::identified::check(&places)?;
        if question.reports() > FEW {
            places.slopes = Some(places.thetas.iter().map(|&theta| law.slope(theta)).collect());
        }
        Ok(places)
    }

    /// The law between two places and its derivative, where there are many reports: a cubic with the values and slopes at both,
    /// which is off by a part in 10¹⁰ where the law is smooth.
    pub(super) fn cubic(&self, theta: f64) -> Option<(Vec<f64>, Vec<f64>)> {
        let slopes = self.slopes.as_ref()?;
        let j = self.thetas.partition_point(|place| *place <= theta).clamp(1, self.thetas.len() - 1);
        let i = j - 1;
        let width = self.thetas[j] - self.thetas[i];
        let t = ((theta - self.thetas[i]) / width).clamp(0.0, 1.0);
        let rest = 1.0 - t;
        let ends = self.laws[i].iter().zip(&slopes[i]).zip(self.laws[j].iter().zip(&slopes[j]));
        let at = |((&from, &slope), (&to, &steep)): ((&f64, &f64), (&f64, &f64))| {
            let (change, slope, steep) = (to - from, slope * width, steep * width);
            let (first, last) = (slope - change, steep - change);
            let value = from + t * change + t * rest * (rest * first - t * last);
            let moves = change + rest * (rest - 2.0 * t) * first - t * (2.0 * rest - t) * last;
            (value.max(0.0), moves / width)
        };
        Some(ends.map(at).unzip())
    }

    /// The whole way.
    pub(super) fn length(&self) -> f64 {
        self.laws.windows(2).map(|pair| apart(&pair[0], &pair[1])).sum()
    }

    /// Leaves out what lies beyond the first place from which the law is that at the end.
    fn trim(&mut self, settled: f64) {
        let last = self.laws.len() - 1;
        let low = (0..last).take_while(|&i| apart(&self.laws[i + 1], &self.laws[0]) < settled).count();
        let high = (low + 1..=last).rev().take_while(|&i| apart(&self.laws[i - 1], &self.laws[last]) < settled).count();
        let kept = low..(last + 1 - high).max(low + 2);
        self.thetas = self.thetas[kept.clone()].to_vec();
        self.laws = self.laws[kept].to_vec();
    }

    /// Puts places between those that are farther apart.
    fn refine<Q: Finite, M: Cdf + Score + ?Sized>(&mut self, law: &Law<'_, Q, M>, most: f64) -> Result<()> {
        let mut done = Vec::with_capacity(self.thetas.len());
        let mut left: Vec<(f64, Vec<f64>)> = self.thetas.drain(..).zip(self.laws.drain(..)).rev().collect();
        while let Some(next) = left.pop() {
            let Some((theta, here)): Option<&(f64, Vec<f64>)> = done.last() else {
                done.push(next);
                continue;
            };
            let middle = between(*theta, next.0);
            let room = *theta < middle && middle < next.0 && done.len() + left.len() < MOST;
            if room && apart(here, &next.1) > most {
                left.push(next);
                left.push((middle, checked(middle, law.at(middle))?));
            } else {
                done.push(next);
            }
        }
        (self.thetas, self.laws) = done.into_iter().unzip();
        Ok(())
    }
}

/// A law that is one.
fn checked(theta: f64, law: Vec<f64>) -> Result<Vec<f64>> {
    let sum: f64 = law.iter().sum();
    require(sum.is_finite(), "theta", "one at which the law of the reports is finite", theta)?;
    if (sum - 1.0).abs() <= 1e-6 {
        Ok(law)
    } else {
        Err(Error::Sum { what: "the law of the reports", expected: 1.0, found: sum })
    }
}

/// The middle: in ratio between positive numbers of different size.
fn between(low: f64, high: f64) -> f64 {
    if low > 0.0 && high > 2.0 * low { low.sqrt() * high.sqrt() } else { 0.5 * low + 0.5 * high }
}

/// Parameters from `start` outwards.
fn outwards<Q: Finite, M: Cdf + Score + ?Sized>(law: &Law<'_, Q, M>, start: f64, end: End, side: f64) -> Vec<f64> {
    let (mut theta, mut halvings, mut found) = (start, 0, Vec::new());
    for step in 0..STEPS {
        let mut next = theta + side * law.unit(theta) * 1.1f64.powi(step) / 64.0;
        if !((end.inside - next) * side > 0.0) {
            if !end.value.is_finite() || halvings >= HALVINGS {
                break;
            }
            next = 0.5 * theta + 0.5 * end.value;
            halvings += 1;
        }
        if !(next.is_finite() && (next - theta) * side > 0.0 && law.model.admits(next).is_ok()) {
            break;
        }
        found.push(next);
        theta = next;
    }
    if end.value.is_finite() && law.model.admits(end.inside).is_ok() {
        found.push(end.inside);
    }
    found
}
