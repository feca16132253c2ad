use super::{Cdf, ManyParameters, Model, Score, Support};
use crate::error::{Error, Result, require};
use rand::{Rng, RngExt};

/// Categories $0, \dots, k-1$, of which category 0 has unknown probability $\theta \in (0, 1)$.
///
/// $$p_\theta(0) = \theta, \qquad p_\theta(j) = \frac{1-\theta}{k-1} \quad (0 < j < k)$$
///
/// Information $\frac{1}{\theta(1-\theta)}$. As a family with [many parameters](ManyParameters) it is the whole
/// simplex: the probabilities of all categories but the last.
///
/// ```
/// use ldp_core::model::{Categorical, Cdf, ManyParameters};
/// let model = Categorical::new(5)?;
/// assert_eq!(model.cdf(0.5, 1.0), 0.5);
/// assert_eq!(model.mass(0.5, 1.0, 3.0), 0.25);
/// assert_eq!(model.cdf_all(&[0.5, 0.25, 0.125, 0.0625], 2.0), 0.75);
/// # Ok::<(), ldp_core::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Categorical {
    size: u32,
}

impl Categorical {
    /// The family over `size` categories, at least 2.
    pub fn new(size: u32) -> Result<Self> {
        if size < 2 {
            return Err(Error::TooFew { name: "categories", least: 2, value: size.into() });
        }
        Ok(Self { size })
    }

    /// How many categories.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// How many categories other than category 0.
    fn others(&self) -> f64 {
        f64::from(self.size - 1)
    }

    /// How many categories are below `x`.
    fn below(&self, x: f64) -> u32 {
        // The conversion saturates, at both infinities too.
        (x.ceil() as u32).min(self.size)
    }

    /// Whether category 0 lies in `low..high`, and how many of the others do.
    fn counts(&self, low: f64, high: f64) -> (bool, u32) {
        let (first, end) = (self.below(low), self.below(high));
        if first < end { (first == 0, end - first.max(1)) } else { (false, 0) }
    }
}

impl Model for Categorical {
    type Observation = f64;

    fn sample<R: Rng + ?Sized>(&self, theta: f64, rng: &mut R) -> f64 {
        if rng.random::<f64>() < theta { 0.0 } else { f64::from(rng.random_range(1..self.size)) }
    }

    fn check(&self, theta: f64) -> Result<()> {
        require(theta > 0.0 && theta < 1.0, "theta", "strictly between 0 and 1", theta)
    }
}

impl Cdf for Categorical {
    fn admits(&self, theta: f64) -> Result<()> {
        self.check(theta)
    }

    fn cdf(&self, theta: f64, x: f64) -> f64 {
        self.mass(theta, f64::NEG_INFINITY, x)
    }

    fn cdf_dtheta(&self, theta: f64, x: f64) -> f64 {
        self.mass_dtheta(theta, f64::NEG_INFINITY, x)
    }

    fn mass(&self, theta: f64, low: f64, high: f64) -> f64 {
        match self.counts(low, high) {
            (true, others) if others == self.size - 1 => 1.0,
            (zero, others) => f64::from(u8::from(zero)) * theta + f64::from(others) / self.others() * (1.0 - theta),
        }
    }

    fn mass_dtheta(&self, _theta: f64, low: f64, high: f64) -> f64 {
        let (zero, others) = self.counts(low, high);
        f64::from(u8::from(zero)) - f64::from(others) / self.others()
    }
}

impl Score for Categorical {
    fn ln_density(&self, theta: f64, x: f64) -> f64 {
        if x == 0.0 {
            theta.ln()
        } else if x > 0.0 && x <= self.others() && x == x.trunc() {
            (-theta).ln_1p() - self.others().ln()
        } else {
            f64::NEG_INFINITY
        }
    }

    fn score(&self, theta: f64, x: f64) -> f64 {
        if x == 0.0 { theta.recip() } else { -(1.0 - theta).recip() }
    }

    fn information(&self, theta: f64) -> f64 {
        theta.recip() + (1.0 - theta).recip()
    }

    fn support(&self, _theta: f64) -> Support {
        Support::Whole { first: 0.0, last: f64::from(self.size - 1) }
    }
}

impl ManyParameters for Categorical {
    fn parameters(&self) -> usize {
        self.size as usize - 1
    }

    fn check_all(&self, theta: &[f64]) -> Result<()> {
        let (expected, found) = (self.parameters() as u64, theta.len() as u64);
        if found < expected {
            return Err(Error::TooFew { name: "parameters", least: expected, value: found });
        }
        if found > expected {
            return Err(Error::TooMany { name: "parameters", most: expected, value: found });
        }
        for &p in theta {
            require(p > 0.0 && p < 1.0, "theta", "strictly between 0 and 1", p)?;
        }
        let sum = theta.iter().sum();
        require(sum < 1.0, "sum of theta", "below 1", sum)
    }

    fn cdf_all(&self, theta: &[f64], x: f64) -> f64 {
        match self.below(x) {
            end if end == self.size => 1.0,
            end => theta[..end as usize].iter().sum(),
        }
    }

    fn cdf_gradient(&self, _theta: &[f64], x: f64, gradient: &mut [f64]) {
        // All categories together have probability one whatever the parameters are.
        let end = self.below(x) % self.size;
        for (i, derivative) in gradient.iter_mut().enumerate() {
            *derivative = f64::from(u8::from(i < end as usize));
        }
    }
}
