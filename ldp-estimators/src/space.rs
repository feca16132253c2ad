//! Where the parameters of a family end.

use ldp_core::model::Cdf;

/// An end of a parameter space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct End {
    /// The outermost parameter that the family admits.
    pub(crate) inside: f64,
    /// The end itself, which may be infinite.
    pub(crate) value: f64,
}

/// Both ends of a parameter space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Space {
    pub(crate) low: End,
    pub(crate) high: End,
}

impl Space {
    /// Of the parameters around one that the family admits.
    pub(crate) fn around<M: Cdf + ?Sized>(model: &M, inside: f64) -> Self {
        Self { low: end(model, inside, f64::MIN, f64::NEG_INFINITY), high: end(model, inside, f64::MAX, f64::INFINITY) }
    }
}

/// By halving: the numbers that a family admits are an interval.
fn end<M: Cdf + ?Sized>(model: &M, mut inside: f64, mut outside: f64, infinite: f64) -> End {
    if model.admits(outside).is_ok() {
        return End { inside: outside, value: infinite };
    }
    loop {
        let middle = 0.5 * inside + 0.5 * outside;
        if middle == inside || middle == outside {
            return End { inside, value: outside };
        }
        if model.admits(middle).is_ok() {
            inside = middle;
        } else {
            outside = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ldp_core::model::{Bernoulli, Gaussian, Poisson};

    #[test]
    fn ends_are_found_to_the_last_digit() {
        let gaussian = Space::around(&Gaussian::new(2.0).unwrap(), 3.0);
        assert_eq!((gaussian.low.value, gaussian.high.value), (f64::NEG_INFINITY, f64::INFINITY));
        for inside in [1e-300, 0.7, 1e300] {
            let Space { low, high } = Space::around(&Poisson, inside);
            assert_eq!((low.value, low.inside, high.value), (0.0, f64::from_bits(1), f64::INFINITY));
        }
        let Space { low, high } = Space::around(&Bernoulli, 0.5);
        assert_eq!((low.value, high.value, high.inside), (0.0, 1.0, 1f64.next_down()));
    }
}
