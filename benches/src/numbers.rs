//! Numbers as people read them: three digits, a unit, groups of thousands.

/// A duration with three digits: `0.861 ns`, `4.10 ms`, `12.3 s`.
pub fn duration(seconds: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")];
    // Half a unit of the last digit early, so that 999.9 ns is 1.00 µs and not 1000 ns.
    let &(size, unit) = UNITS.iter().find(|(size, _)| seconds >= 0.9995 * size).unwrap_or(&UNITS[3]);
    format!("{} {unit}", three_digits(seconds / size))
}

/// A ratio with three digits below a thousand, in thousands grouped above: `5.31`, `218`, `24,100`.
pub fn ratio(value: f64) -> String {
    if value < 999.5 {
        return three_digits(value);
    }
    let scale = 10f64.powf(value.log10().floor() - 2.0);
    grouped(((value / scale).round() * scale).round() as u64)
}

/// A whole number in groups of three.
pub fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A relative error: in percent where that is readable, else as a power of ten.
pub fn relative(value: f64) -> String {
    if value >= 1e-4 { format!("{:.2} %", 100.0 * value) } else { format!("{value:.0e}") }
}

fn three_digits(value: f64) -> String {
    let places = if value >= 99.95 {
        0
    } else if value >= 9.995 {
        1
    } else if value >= 0.9995 {
        2
    } else {
        3
    };
    format!("{value:.places$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (seconds, text) in [
            (8.612e-10, "0.861 ns"),
            (1e-9, "1.00 ns"),
            (5.94e-9, "5.94 ns"),
            (9.999e-7, "1.00 µs"),
            (0.0371, "37.1 ms"),
            (0.1, "100 ms"),
            (2.5, "2.50 s"),
            (1234.0, "1234 s"),
        ] {
            assert_eq!(duration(seconds), text);
        }
        for (value, text) in [
            (0.5312, "0.531"),
            (5.314, "5.31"),
            (99.96, "100"),
            (218.4, "218"),
            (999.7, "1,000"),
            (24_149.0, "24,100"),
            (1_234_567.0, "1,230,000"),
        ] {
            assert_eq!(ratio(value), text);
        }
        assert_eq!(grouped(0), "0");
        assert_eq!(grouped(10_000_000), "10,000,000");
        assert_eq!(relative(0.00632), "0.63 %");
        assert_eq!(relative(1.3e-12), "1e-12");
    }
}
