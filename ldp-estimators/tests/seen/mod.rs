//! What simulations average, and how far that is from what it should be.

/// Standard errors that a right simulation is not away: two-sided, α = 6e-7.
pub const FAR: f64 = 5.0;

/// Averages of a simulation: of errors, of squared errors, and how often the interval covers.
#[derive(Default)]
pub struct Seen {
    count: f64,
    error: f64,
    square: f64,
    fourth: f64,
    covered: f64,
}

impl Seen {
    /// One more replication.
    pub fn add(&mut self, error: f64, covered: bool) {
        self.count += 1.0;
        self.error += error;
        self.square += error.powi(2);
        self.fourth += error.powi(4);
        self.covered += f64::from(u8::from(covered));
    }

    /// The mean squared error.
    pub fn mse(&self) -> f64 {
        self.square / self.count
    }

    /// How many standard errors the mean squared error is from `expected`, and the mean error from zero.
    pub fn distances(&self, expected: f64) -> (f64, f64) {
        let spread = (self.fourth / self.count - self.mse().powi(2)).sqrt() / self.count.sqrt();
        let bias = (self.error / self.count) / (self.mse() / self.count).sqrt();
        ((self.mse() - expected) / spread, bias)
    }

    /// Whether both are within [`FAR`].
    pub fn agrees(&self, expected: f64) -> bool {
        let (mse, bias) = self.distances(expected);
        mse.abs() < FAR && bias.abs() < FAR
    }

    /// How often the interval covered.
    pub fn coverage(&self) -> f64 {
        self.covered / self.count
    }
}
