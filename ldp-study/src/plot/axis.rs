//! An axis: from data to places, and the ticks between.

/// Up to here every whole number is one of floating point.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// How an axis is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Equal steps.
    Linear,
    /// Equal ratios; all values are positive.
    Log,
}

/// An axis over the values it has to show.
#[derive(Clone, Debug)]
pub struct Axis {
    label: String,
    scale: Scale,
    low: f64,
    high: f64,
    /// Whether it counts: no ticks between whole numbers.
    whole: bool,
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
        let inner = Self { label: label.to_owned(), scale, low, high, whole: false };
        let (from, to) = (inner.measure(low), inner.measure(high));
        // One value alone gets an axis of its own size; zero has none, nor has a ratio.
        let alone = if scale == Scale::Linear && from != 0.0 { 0.5 * from.abs() } else { 0.5 };
        // Half of the span first: the whole of it may be beyond double precision.
        let air = if to > from { 0.08 * (to / 2.0 - from / 2.0) } else { alone };
        // At the ends of double precision there is no air to be had.
        let least = if scale == Scale::Log { f64::from_bits(1) } else { f64::MIN };
        let within = |value: f64| value.clamp(least, f64::MAX);
        Self { low: within(inner.unmeasure(from - air)), high: within(inner.unmeasure(to + air)), ..inner }
    }

    /// The axis of a count, marked at whole numbers only.
    pub fn whole(self) -> Self {
        Self { whole: true, ..self }
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
        let (value, low, high) = (self.measure(value), self.measure(self.low), self.measure(self.high));
        // Where the span itself is beyond double precision its half is not.
        let unit = if (high - low).is_finite() { 1.0 } else { 0.5 };
        let place = (unit * value - unit * low) / (unit * high - unit * low);
        place.is_finite().then_some(place)
    }

    /// Round values to mark, with their texts.
    pub fn ticks(&self, most: usize) -> Vec<(f64, String)> {
        let Ticks { major, even, .. } = self.divide(most);
        let texts = texts(&major, even);
        major.into_iter().zip(texts).collect()
    }

    /// Values between the ticks, to mark without a text: what tells a logarithmic axis at a glance.
    pub fn between(&self, most: usize) -> Vec<f64> {
        self.divide(most).minor
    }

    fn divide(&self, most: usize) -> Ticks {
        match self.scale {
            Scale::Linear => {
                let mut major = linear_ticks(self.low, self.high, most);
                // To a hair: ticks are rounded.
                major.retain(|tick| !self.whole || (tick - tick.round()).abs() < 1e-9);
                Ticks { major, minor: Vec::new(), even: true }
            }
            Scale::Log => log_ticks(self.low, self.high, most),
        }
    }
}

/// The values to mark on an axis.
struct Ticks {
    /// With a text.
    major: Vec<f64>,
    /// Without.
    minor: Vec<f64>,
    /// Whether the first are in equal steps rather than ratios.
    even: bool,
}

/// Multiples of 1, 2 or 5 times a power of ten; none where double precision cannot tell them apart.
fn linear_ticks(low: f64, high: f64, most: usize) -> Vec<f64> {
    let parts = most.max(1) as f64;
    let span = high - low;
    let rough = if span.is_finite() { span / parts } else { high / parts - low / parts };
    let power = 10f64.powf(rough.log10().floor());
    let step =
        [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|&step| step >= 0.8 * rough).unwrap_or(10.0 * power);
    let (first, last) = ((low / step).ceil(), (high / step).floor());
    if !(step.is_normal() && power.is_normal() && first.abs().max(last.abs()) < EXACT && last - first <= 2.0 * parts) {
        return Vec::new();
    }
    // Rounded to the step, so that 0.1 + 0.2 does not show.
    (first as i64..=last as i64)
        .map(|k| {
            let value = k as f64 * step;
            (value / power).round() * power
        })
        .map(|v| if v.abs() < 1e-12 * step { 0.0 } else { v })
        .filter(|v| v.is_finite())
        .collect()
}

/// Powers of ten if there are three; otherwise also some of their multiples; over less than a decade, where those leave
/// gaps (between 7.5 and 20 there are only 10 and 20), equal steps.
fn log_ticks(low: f64, high: f64, most: usize) -> Ticks {
    let (from, to) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let with = |digits: &[f64]| -> Vec<f64> {
        let all = (from..=to).flat_map(|power| digits.iter().map(move |digit| digit * 10f64.powi(power)));
        all.filter(|value| (low..=high).contains(value)).collect()
    };
    let split = |major: Vec<f64>, all: Vec<f64>| {
        let minor = all.into_iter().filter(|value| !major.contains(value)).collect();
        Ticks { major, minor, even: false }
    };
    let decades = with(&[1.0]);
    if decades.len() > most {
        let every = decades.len().div_ceil(most.max(1));
        return split(decades.iter().copied().step_by(every).collect(), decades);
    }
    let digits = || with(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0]);
    if decades.len() >= 3 {
        return split(decades, digits());
    }
    for some in [with(&[1.0, 2.0, 5.0]), with(&[1.0, 2.0, 3.0, 5.0, 7.0])] {
        if some.len() >= 4 {
            return split(some, digits());
        }
    }
    Ticks { major: linear_ticks(low, high, most), minor: Vec::new(), even: true }
}

/// The texts of an axis, all in one notation: plain numbers, or powers of ten where one of them would be long. Equal steps
/// stay plain for longer, because 9500, 10000, 10500 is easier than 9.5·10³, 10⁴, 1.05·10⁴.
fn texts(values: &[f64], even: bool) -> Vec<String> {
    let sizes = || values.iter().map(|value| value.abs()).filter(|&size| size > 0.0);
    let (least, most) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));
    // A hair below the limits, because 10⁻³ may be computed as slightly less.
    let short =
        if even { (0.999_999e-3..0.999_999e6).contains(&most) } else { least > 0.999_999e-3 && most < 0.999_999e4 };
    values.iter().map(|&value| if short { plain(value) } else { power(value) }).collect()
}

/// To twelve digits, so that 0.1 + 0.2 does not show.
fn plain(value: f64) -> String {
    let round: f64 = format!("{value:.11e}").parse().unwrap_or(value);
    format!("{round}").replace('-', "−")
}

/// A number as a multiple of a power of ten, where that is shorter.
fn power(value: f64) -> String {
    let text = format!("{value:.11e}");
    let Some((mantissa, exponent)) = text.split_once('e') else { return text };
    if value == 0.0 || ["-1", "0", "1"].contains(&exponent) {
        return plain(value);
    }
    let mantissa = mantissa.trim_end_matches('0').trim_end_matches('.');
    let raised: String = exponent.chars().map(superscript).collect();
    match mantissa {
        "1" => format!("10{raised}"),
        "-1" => format!("−10{raised}"),
        _ => format!("{}·10{raised}", mantissa.replace('-', "−")),
    }
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
        assert_eq!(texts(Scale::Log, 1.0, 8.0), ["1", "2", "3", "5", "7"]);
        assert_eq!(texts(Scale::Linear, 0.0, 1e6), ["0", "2·10⁵", "4·10⁵", "6·10⁵", "8·10⁵", "10⁶"]);
        assert_eq!(texts(Scale::Linear, -2e6, 0.0), ["−2·10⁶", "−1.5·10⁶", "−10⁶", "−5·10⁵", "0"]);
    }

    #[test]
    fn a_count_has_no_halves() {
        let axis = Axis::new("", Scale::Linear, [2.0, 4.0].into_iter());
        let texts = |axis: &Axis| axis.ticks(6).into_iter().map(|tick| tick.1).collect::<Vec<_>>();
        assert_eq!(texts(&axis), ["2", "2.5", "3", "3.5", "4"]);
        assert_eq!(texts(&axis.whole()), ["2", "3", "4"]);
    }

    #[test]
    fn many_decades_are_told_by_their_powers_and_less_than_one_in_steps() {
        let powers = |range: std::ops::RangeInclusive<i32>| -> Vec<String> {
            range.map(|k| format!("10{}", k.to_string().chars().map(superscript).collect::<String>())).collect()
        };
        assert_eq!(texts(Scale::Log, 1e2, 1e5), powers(2..=5));
        assert_eq!(texts(Scale::Log, 0.01, 1e3), ["0.01", "0.1", "1", "10", "100", "1000"]);
        let axis = Axis::new("", Scale::Log, [1e3, 1e9].into_iter());
        assert_eq!(axis.ticks(8).into_iter().map(|tick| tick.1).collect::<Vec<_>>(), powers(3..=9));
        // Eight digits in every decade, and 600, …, 900 in the air.
        assert_eq!(axis.between(8).len(), 6 * 8 + 4);
        // With room for six, seven decades lose every second text and keep its mark.
        assert_eq!((axis.ticks(6).len(), axis.between(6).len()), (4, 3));
        // Only 10 and 20 are multiples of powers of ten by 1, 2 or 5.
        assert_eq!(texts(Scale::Log, 7.5, 20.0), ["8", "10", "12", "14", "16", "18", "20"]);
        assert_eq!(texts(Scale::Log, 9.5e3, 1.1e4).first().unwrap(), "9500");
        for (low, high) in [(1.0, 1.01), (0.9, 1.1), (2.0, 9.0), (5.3, 47.0), (7.2, 48.0), (1.1, 90.0), (0.11, 99.0)] {
            let count = texts(Scale::Log, low, high).len();
            assert!((3..=10).contains(&count), "{count} ticks from {low} to {high}");
        }
    }

    #[test]
    fn the_ends_of_double_precision_are_no_end_of_the_world() {
        const LEAST: f64 = f64::from_bits(1);
        let ends = [f64::MAX, 1.7e308, 1e308, 1e300, 1.0, 1e-300, f64::MIN_POSITIVE, LEAST, 0.0];
        let every = || ends.iter().flat_map(|&end| [end, -end]);
        for (from, to) in every().flat_map(|from| every().map(move |to| (from, to))) {
            for scale in [Scale::Linear, Scale::Log] {
                let axis = Axis::new("", scale, [from, to].into_iter());
                assert!(
                    axis.low <= axis.high && axis.low.is_finite() && axis.high.is_finite(),
                    "{from} {to}: {axis:?}"
                );
                for most in [1, 6, 8] {
                    let (ticks, between) = (axis.ticks(most), axis.between(most));
                    assert!(ticks.len() <= 30 && between.len() <= 400, "{from} to {to}: {} ticks", ticks.len());
                    assert!(ticks.iter().all(|(tick, _)| tick.is_finite()), "{ticks:?}");
                }
                for place in [from, to].map(|end| axis.place(end)).into_iter().flatten() {
                    assert!(scale == Scale::Log || (0.0..=1.0).contains(&place), "{from} to {to}: {place}");
                }
            }
        }
        // What can be told apart is.
        let (low, high) = (-1.7e308, 1.7e308);
        let axis = Axis::new("", Scale::Linear, [low, high].into_iter());
        assert!(axis.place(low).unwrap() < 0.05 && axis.place(high).unwrap() > 0.95 && axis.ticks(6).len() >= 3);
        assert!((axis.place(0.0).unwrap() - 0.5).abs() < 1e-12);
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
        assert_eq!(texts(Scale::Linear, 0.0, 0.0), ["−0.4", "−0.2", "0", "0.2", "0.4"]);
        assert_eq!(texts(Scale::Log, 1.0, 1.0), ["0.5", "0.7", "1", "2", "3"]);
    }
}
