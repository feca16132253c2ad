//! Numbers as people read them.

/// A number to so many significant digits, plainly.
pub fn significant(value: f64, digits: usize) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    if !(-5..=9).contains(&magnitude) {
        return format!("{value:.*e}", digits.saturating_sub(1));
    }
    let decimals = usize::try_from(digits as i32 - 1 - magnitude).unwrap_or(0);
    format!("{value:.decimals$}")
}

/// A number as it is, without hundreds of digits.
pub fn plain(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-6..1e16).contains(&size) { value.to_string() } else { format!("{value:e}") }
}

/// A share in percent, to three digits; next to one, to as many as tell it from one.
pub fn percent(share: f64) -> String {
    let lacking = 1.0 - share;
    if lacking > 0.0 && lacking < 1e-3 {
        return format!("{} %", all_but(100.0 * lacking));
    }
    let digits = significant(100.0 * share, 3);
    // Zeros at the end of a number without an exponent say nothing.
    let short = match digits.contains('.') && !digits.contains('e') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => &digits,
    };
    format!("{short} %")
}

/// 100 less a small number, to two digits of that number. Subtracted in whole numbers: next to 100 double precision has
/// fewer digits than what is lacking.
fn all_but(lacking: f64) -> String {
    let decimals = (1.0 - lacking.log10().floor()).clamp(0.0, 30.0) as u32;
    let unit = 10u128.pow(decimals);
    let rest = 100 * unit - (lacking * 10f64.powi(decimals as i32)).round() as u128;
    let digits = format!("{}.{:0width$}", rest / unit, rest % unit, width = decimals as usize);
    digits.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// A measured share in percent, to so many decimals. What is not all of it is not shown as 100 %, what is not nothing not as
/// 0 %.
pub fn measured(share: f64, decimals: usize) -> String {
    let (shown, step) = (100.0 * share, 10f64.powi(-(decimals as i32)));
    let text = |value: f64| format!("{value:.decimals$}");
    if share < 1.0 && text(shown) == text(100.0) {
        format!(">{} %", text(100.0 - step))
    } else if share > 0.0 && text(shown) == text(0.0) {
        format!("<{} %", text(step))
    } else {
        format!("{} %", text(shown))
    }
}

/// A count with its digits in groups of three: 50,000.
pub fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: «1 row», «2 rows».
pub fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_for_people() {
        assert_eq!(significant(7.813103, 5), "7.8131");
        assert_eq!(significant(-0.00123456, 3), "-0.00123");
        assert_eq!(significant(1660.674, 3), "1661");
        assert_eq!(significant(1.5e-9, 3), "1.50e-9");
        assert_eq!(significant(0.0, 3), "0");
        assert_eq!(significant(f64::INFINITY, 3), "inf");
        assert_eq!([7, 999, 1000, 50_000, 1_234_567].map(grouped), ["7", "999", "1,000", "50,000", "1,234,567"]);
    }

    #[test]
    fn shares_for_people() {
        assert_eq!([0.95, 0.999, 1.0, 0.2604, 0.0].map(percent), ["95 %", "99.9 %", "100 %", "26 %", "0 %"]);
        assert_eq!(
            [0.999_999, 0.99996, 0.999_964, 0.9995, 1.0 - 1e-12, 1.0 - f64::EPSILON / 2.0].map(percent),
            ["99.9999 %", "99.996 %", "99.9964 %", "99.95 %", "99.9999999999 %", "99.999999999999989 %"]
        );
        // An exponent keeps its zeros, and shares above one stay what they are.
        assert_eq!(
            [1e-12, 1e-300, 5e-8, 1.5, 1.000_01].map(percent),
            ["1.00e-10 %", "1.00e-298 %", "5.00e-6 %", "150 %", "100 %"]
        );
    }

    /// No share but one is all, and none but zero is nothing, in whichever way it is shown.
    #[test]
    fn nearly_all_is_not_all() {
        for power in 1..=53 {
            let lacking = 0.5f64.powi(power);
            let text = percent(1.0 - lacking);
            assert!(text.starts_with("9") || power < 4, "{power}: {text}");
            let shown: f64 = text.trim_end_matches(" %").parse().unwrap();
            assert!(
                shown < 100.0
                    && (shown / 100.0 - (1.0 - lacking)).abs() < 0.06 * lacking + 3e-16 + 6e-4 * f64::from(power < 10)
            );
            assert!(!percent(lacking).starts_with("0 %"));
            for decimals in 0..4 {
                let [all, nothing] = [1.0 - lacking, lacking].map(|share| measured(share, decimals));
                assert!(!all.starts_with("100") && nothing.trim_start_matches(['0', '.']) != " %", "{all} {nothing}");
            }
        }
        assert_eq!(
            [0.95135, 0.99996, 0.99994, 1.0, 0.0, 1e-5].map(|share| measured(share, 2)),
            ["95.14 %", ">99.99 %", "99.99 %", "100.00 %", "0.00 %", "<0.01 %"]
        );
    }
}
