//! An axis: from data to places, and the ticks between.

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// In equal steps.
    Linear,
    /// In equal ratios; all values are positive.
    Log,
}

/// An axis over the values it has to show.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    scale: Scale,
    low: f64,
    high: f64,
}

impl Axis {
    /// An axis for finite values; a few percent of air on either side.
    pub fn new(label: &str, scale: Scale, values: impl Iterator<Item = f64>) -> Self {
        let usable = |v: &f64| v.is_finite() && (scale == Scale::Linear || *v > 0.0);
        let (mut low, mut high) =
            values.filter(usable).fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = (1.0, 2.0);
        }
        if scale == Scale::Log {
            // Over more decades nothing can be compared; what is smaller leaves the picture at the bottom.
            low = low.max(1e-12 * high);
        }
        let inner = Self { label: label.to_owned(), scale, low, high };
        let (from, to) = (inner.measure(low), inner.measure(high));
        // One value alone gets an axis of its own size.
        let air = if to > from { 0.04 * (to - from) } else { 0.5 * from.abs().max(1e-3) };
        Self { low: inner.unmeasure(from - air), high: inner.unmeasure(to + air), ..inner }
    }

    /// What it shows.
    pub fn label(&self) -> &str {
        &self.label
    }

    fn measure(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Linear => value,
            Scale::Log => value.log10(),
        }
    }

    fn unmeasure(&self, place: f64) -> f64 {
        match self.scale {
            Scale::Linear => place,
            Scale::Log => 10f64.powf(place),
        }
    }

    /// Where a value lies, 0 at the low end and 1 at the high end; `None` if it cannot be shown.
    pub fn place(&self, value: f64) -> Option<f64> {
        let place = (self.measure(value) - self.measure(self.low)) / (self.measure(self.high) - self.measure(self.low));
        place.is_finite().then_some(place)
    }

    /// Round values to mark, with their texts.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let values = match self.scale {
            Scale::Linear => linear_ticks(self.low, self.high, most),
            Scale::Log => log_ticks(self.low, self.high, most),
        };
        values.into_iter().map(|value| (value, text(value))).collect()
    }
}

/// Multiples of 1, 2 or 5 times a power of ten.
fn linear_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let rough = (high - low) / most.max(1) as f64;
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&step| step >= 0.8 * rough).unwrap_or(10.0 * power);
    let first = (low / step).ceil() as i64;
    let last = (high / step).floor() as i64;
    // Rounded to the step, so that 0.1 + 0.2 does not show.
    (first..=last)
        .map(|k| {
            let value = k as f64 * step;
            (value / power).round() * power
        })
        .map(|v| if v.abs() < 1e-12 * (high - low) { 0.0 } else { v })
        .collect()
}

/// Powers of ten; with fewer than three of them, also their multiples by 2 and 5, then by all digits.
fn log_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let with = |digits: &[f64]| -> Vec<f64> {
        let all = (from..=to).flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
        all.filter(|value| (low..=high).contains(value)).collect()
    };
    let sets: [&[f64]; 3] = [&[1.0], &[1.0, 2.0, 5.0], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]];
    let mut ticks = with(sets[0]);
    for digits in &sets[1..] {
        let more = with(digits);
        if ticks.len() < 3 && more.len() <= most + 2 {
            ticks = more;
        }
    }
    // Too many decades: every second, third, ….
    let every = ticks.len().div_ceil(most.max(1)).max(1);
    ticks.into_iter().step_by(every).collect()
}

/// A number as short as it can be told.
fn text(value: f64) -> String {
    let size = value.abs();
    if value == 0.0 || (1e-3..1e6).contains(&size) {
        let digits = format!("{value:.6}");
        let short = digits.trim_end_matches('0').trim_end_matches('.');
        return short.replace('-', "−");
    }
    let exponent = size.log10().floor() as i32;
    let mantissa = value / 10f64.powi(exponent);
    let power: String = exponent.to_string().chars().map(superscript).collect();
    if (mantissa - 1.0).abs() < 1e-9 { format!("10{power}") } else { format!("{}·10{power}", text(mantissa)) }
}

fn superscript(digit: char) -> char {
    match digit {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        _ => char::from_u32(0x2070 + digit.to_digit(10).unwrap_or(0)).unwrap_or(digit),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(scale: Scale, low: f64, high: f64) -> Vec<String> {
        Axis::new("", scale, [low, high].into_iter()).ticks(6).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn ticks_are_round() {
        assert_eq!(texts(Scale::Linear, 0.0, 1.0), ["0", "0.2", "0.4", "0.6", "0.8", "1"]);
        assert_eq!(texts(Scale::Linear, -3.0, 3.0), ["−3", "−2", "−1", "0", "1", "2", "3"].map(String::from));
        assert_eq!(texts(Scale::Log, 0.1, 10.0), ["0.1", "1", "10"]);
        assert_eq!(texts(Scale::Log, 2e-5, 3e7).first().unwrap(), "10⁻⁵");
        assert_eq!(texts(Scale::Log, 1.0, 8.0), ["1", "2", "5"]);
    }

    #[test]
    fn places_run_from_end_to_end() {
        let axis = Axis::new("", Scale::Log, [1.0, 100.0, f64::NAN, -1.0].into_iter());
        let place = |v| axis.place(v).unwrap();
        assert!((place(10.0) - 0.5).abs() < 1e-12 && place(1.0) > 0.0 && place(100.0) < 1.0);
        assert_eq!(axis.place(-1.0), None);
        // Nothing to show, or one value: an axis all the same.
        assert!(Axis::new("", Scale::Linear, std::iter::empty()).place(1.5).is_some());
        assert!((Axis::new("", Scale::Linear, [4.0].into_iter()).place(4.0).unwrap() - 0.5).abs() < 1e-12);
    }
}
