//! How wide texts are, and how they are broken into lines.

/// The size of most texts: a forty-fifth of the width of a chart, 5.4 points in a column of 8.5 cm.
pub const SIZE: f64 = 12.0;
/// From one line of text to the next.
pub const LINE: f64 = 14.0;
/// Room for fonts a little wider than Helvetica, where the reader's machine has none of its widths.
const SLACK: f64 = 1.04;
/// How much wider bold letters are.
const BOLD: f64 = 1.09;
/// The widths of Helvetica from the space to the tilde, in thousandths of the size.
const WIDTHS: [u16; 95] = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556, 556, 556, 556,
    556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778, 722, 278, 500, 667, 556, 833,
    722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278, 278, 278, 469, 556, 333, 556, 556, 500, 556,
    556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556, 556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334,
    260, 334, 584,
];

/// The width of a text of the usual size.
pub fn width(text: &str) -> f64 {
    let thousandths: f64 = text.chars().map(|letter| f64::from(thousandths(letter))).sum();
    SLACK * SIZE * thousandths / 1000.0
}

/// The width of a bold text of another size.
pub fn bold_width(text: &str, size: f64) -> f64 {
    BOLD * size / SIZE * width(text)
}

fn thousandths(letter: char) -> u16 {
    let known = u32::from(letter).checked_sub(32).and_then(|place| WIDTHS.get(place as usize));
    match letter {
        _ if known.is_some() => known.copied().unwrap_or(1000),
        '·' | '°' | 'ι' | '⁰'..='₎' | '¹' | '²' | '³' => 400,
        'α'..='ο' | 'ρ'..='υ' | '−' | '±' | '×' | '≤' | '≥' | '–' | '√' => 620,
        // Capitals, and everything else: rather too much room than too little.
        'À'..='Þ' | 'ß'..='å' | 'ç'..='ÿ' | 'Α'..='Ω' | 'π' | 'φ'..='ω' => 840,
        _ => 1000,
    }
}

/// As much of a text as there is room for.
pub fn cut(text: &str, room: f64) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut short: String = text.to_owned();
    while short.pop().is_some() {
        let with = format!("{}…", short.trim_end());
        if width(&with) <= room {
            return with;
        }
    }
    "…".into()
}

/// A text in at most so many lines, about equally long: broken between words, within a word only if it is too long for a
/// line, and there after the marks that part a spec. What is left over is cut off.
pub fn wrap(text: &str, room: f64, most: usize) -> Vec<String> {
    let widest = broken(text, room, most);
    // The narrowest lines that are not more of them, nor shorter by a letter.
    let narrower = (1..10).rev().map(|tenths| broken(text, room * f64::from(tenths) / 10.0, most));
    let as_good = |lines: &Vec<String>| lines.len() == widest.len() && !lines.iter().any(|line| line.ends_with('…'));
    if widest.len() == 1 || !as_good(&widest) {
        return widest;
    }
    narrower.take_while(as_good).last().unwrap_or(widest)
}

fn broken(text: &str, room: f64, most: usize) -> Vec<String> {
    let parts = text.split_inclusive(' ').flat_map(|word| {
        let whole = width(word.trim_end()) <= room;
        word.split_inclusive(move |letter| !whole && [':', ',', '/'].contains(&letter))
    });
    let mut lines = vec![String::new()];
    for part in parts {
        let full = lines.len() == most.max(1);
        if let Some(line) = lines.last_mut() {
            if line.is_empty() || full || width(&format!("{line}{}", part.trim_end())) <= room {
                line.push_str(part);
            } else {
                lines.push(part.to_owned());
            }
        }
    }
    lines.iter().map(|line| cut(line.trim_end(), room)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::png::drawn_width;
    use super::*;

    #[test]
    fn widths_are_those_of_the_font_and_never_less() {
        for letter in (32..127_u8).map(char::from) {
            let (own, drawn) = (width(&letter.to_string()), drawn_width(&letter.to_string(), SIZE, false));
            assert!((own / (SLACK * drawn) - 1.0).abs() < 4e-3, "{letter}: {own} for {drawn}");
        }
        for letter in "αβγδεζηθικλμνξοπρστυφχψωΔΘΛΣΦΨΩÀÉÖØßéöü·×²³√−–—…≤≥±∞°₀₁₂₃⁰¹⁴⁵⁶⁷⁸⁹⁻→".chars()
        {
            let (own, drawn) = (width(&letter.to_string()), drawn_width(&letter.to_string(), SIZE, false));
            assert!(own >= drawn && own < 2.6 * drawn, "{letter}: {own} for {drawn}");
        }
        for title in
            ["Fisher information of one report, gaussian:sigma=1, θ = 0.5", "n·MSE of two-stage:start=0, ε = 1"]
        {
            let (own, drawn) = (bold_width(title, 13.0), drawn_width(title, 13.0, true));
            assert!(own > drawn && own < 1.12 * drawn, "{title}: {own} for {drawn}");
        }
    }

    #[test]
    fn texts_are_broken_between_words() {
        assert_eq!(wrap("one two three", 1000.0, 3), ["one two three"]);
        assert_eq!(wrap("one two three", width("one two"), 3), ["one two", "three"]);
        assert_eq!(wrap("one two three four", width("one two three"), 3), ["one two", "three four"]);
        assert_eq!(wrap("one two three", width("one two "), 1), ["one t…"]);
        let spec = "piecewise:low=-1,high=1";
        assert_eq!(wrap(spec, width("piecewise:low"), 3), ["piecewise:", "low=-1,", "high=1"]);
        assert_eq!(wrap(spec, width("piecewise:low"), 2), ["piecewise:", "low=-1,high…"]);
        assert_eq!(wrap("", 10.0, 3), [""]);
        for room in [0.0, 1.0, 30.0, 60.0] {
            let lines = wrap(&"interminable ".repeat(9), room, 4);
            assert!(lines.len() == 4 && lines.iter().all(|line| line == "…" || width(line) <= room), "{lines:?}");
        }
    }
}
