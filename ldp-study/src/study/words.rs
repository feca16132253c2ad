//! What is wrong with a study file, in the words of its author: keys, texts and lists, not fields, strings and sequences.

use ldp_catalog::nearest;
use std::borrow::Cow;

/// How much of a line is shown.
const SHOWN: usize = 60;

/// The line, and what is wrong there.
pub fn told(error: &toml::de::Error, text: &str) -> String {
    let start = error.span().map_or(0, |span| span.start).min(text.len());
    let before = &text.as_bytes()[..start];
    let number = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
    let message = error.message();
    let Some(words) = of_serde(message) else {
        let line = text.lines().nth(number - 1).unwrap_or_default().trim();
        let more = if line.chars().count() > SHOWN { "…" } else { "" };
        let line: String = line.chars().take(SHOWN).flat_map(char::escape_debug).collect();
        return format!("line {number}: this is not TOML, {}: «{line}{more}»", of_syntax(message));
    };
    let of_value = words.starts_with("expected ") || words.contains(" is none of ");
    let words = match text.get(..start).and_then(key_before).filter(|_| of_value) {
        Some(key) => format!("{key}: {words}"),
        None => words,
    };
    // What the whole file lacks stands on no line.
    if start == 0 && words.ends_with("is missing") { words } else { format!("line {number}: {words}") }
}

/// The key whose value begins after this text.
fn key_before(before: &str) -> Option<&str> {
    let line = before.rsplit('\n').next()?;
    // In braces a key stands after the last comma.
    let place = if line.contains('{') { line.rsplit(['{', ',']).next()? } else { line };
    let key = place.split_once('=')?.0.trim();
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    (!key.is_empty() && key.chars().all(bare)).then_some(key)
}

/// The words between the backticks of a message.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// What a value should have been. `None` where the text cannot even be read.
fn of_serde(message: &str) -> Option<String> {
    let (what, wanted) = message.split_once(", expected ").unwrap_or((message, ""));
    let names = quoted(what);
    let name = names.first().copied().unwrap_or_default();
    let hint = || {
        let near = nearest(name, quoted(wanted));
        near.map(|near| format!(" (did you mean '{near}'?)")).unwrap_or_default()
    };
    let known = || quoted(wanted).join(", ");
    let words = if what.starts_with("unknown field") {
        format!("there is no key '{name}'{}; the keys here are {}", hint(), known())
    } else if what.starts_with("unknown variant") {
        format!("'{name}'{} is none of {}", hint(), known())
    } else if what.starts_with("missing field") {
        format!("the key '{name}' is missing")
    } else if what == "duplicate key" {
        "this key is there twice".into()
    } else if let Some(found) = what.strip_prefix("invalid type: ").or_else(|| what.strip_prefix("invalid value: ")) {
        format!("expected {}, not {}", plainly(wanted), value(found))
    } else if let Some(count) = what.strip_prefix("invalid length ") {
        let wanted = wanted.strip_prefix("an array of length ").unwrap_or(wanted);
        format!("expected a list of {wanted}, not of {count}")
    } else if what.ends_with("untagged enum Written") {
        "expected a number, a word in quotes, a range such as \"1:10:5\", or a list of numbers and words".into()
    } else if what.ends_with("untagged enum Single") {
        "expected numbers and words in quotes in the list".into()
    } else if what == "wanted string or table" {
        "expected a text in quotes".into()
    } else if what.starts_with("expected ") || message.starts_with("expected ") {
        message.to_owned()
    } else {
        return None;
    };
    Some(words)
}

/// A kind of value.
fn plainly(wanted: &str) -> Cow<'_, str> {
    match wanted {
        "a string" | "string" => "a text in quotes".into(),
        "f64" | "a floating point number" => "a number".into(),
        "a sequence" => "a list".into(),
        "a map" => "a table".into(),
        _ if wanted.starts_with("struct ") => "a table".into(),
        _ if wanted.starts_with("an array of length ") => {
            wanted.replacen("an array of length ", "a list of ", 1).into()
        }
        _ => wanted.into(),
    }
}

/// A value as serde names it.
fn value(found: &str) -> Cow<'_, str> {
    let inner = || quoted(found).first().copied().unwrap_or_default();
    match found {
        "map" => "a table".into(),
        "sequence" => "a list".into(),
        _ if found.starts_with("string ") => format!("the text {}", &found[7..]).into(),
        _ if found.starts_with("integer ") || found.starts_with("floating point ") || found.starts_with("boolean ") => {
            inner().into()
        }
        _ => found.into(),
    }
}

/// What keeps a line from being read.
fn of_syntax(message: &str) -> Cow<'_, str> {
    let (what, _) = message.split_once(", expected").unwrap_or((message, ""));
    match what {
        "string values must be quoted" => "a text needs quotes".into(),
        "key with no value" => "a key needs '=' and a value".into(),
        "unclosed table" => "a ']' is missing".into(),
        "unclosed array" => "a ']' is missing at the end of the list".into(),
        "missing comma between array elements" => "a comma or a ']' is missing in the list above".into(),
        "invalid basic string" | "invalid literal string" => {
            "a text does not end in a quote, or has a bad escape".into()
        }
        "unexpected key or value" => "there is something after the value".into(),
        "unquoted keys cannot be empty" | "missing key for inline table element" => {
            "a key is missing before '='".into()
        }
        "unclosed array table" => "']]' is missing".into(),
        "unclosed inline table" => "a '}' is missing".into(),
        "missing escaped value" | "too few unicode value digits" => {
            "a backslash in a text begins an escape: write two of them for one".into()
        }
        "invalid datetime" | "invalid date" | "invalid time" | "invalid time offset" => {
            "this looks like a date: a text needs quotes, a number has one sign and one point".into()
        }
        "invalid comment character" => "there is an invisible character after '#'".into(),
        "invalid unquoted key" | "invalid key" => "a key has letters, digits, '-' and '_' only, or quotes".into(),
        "carriage return must be followed by newline" => {
            "the line ends with a carriage return alone: end it as on Linux or Windows".into()
        }
        "missing value" | "missing value for key" => "a value is missing after '='".into(),
        "missing assignment between key-value pairs" => "a key needs '=' and a value".into(),
        "missing comma between key-value pairs" => "a comma or a '}' is missing".into(),
        "missing opening quote" => "a text needs quotes at both ends".into(),
        "invalid value" | "unexpected content" => "this is no value".into(),
        _ => what.replace('`', "'").into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::study::Study;
    use ldp_catalog::Catalog;

    const SOUND: &str = "kind = \"comparison\"\ntitle = \"t\"\nseed = 1\nreplications = 10\n[[estimators]]\nspec = \
                         \"one-stage\"\n[[grid]]\nusers = 10\ntheta = 0\nepsilon = 1\n[figure]\nx = \"users\"\n";

    #[test]
    fn faults_are_told_in_words() {
        assert!(Study::parse(&Catalog::builtin(), SOUND).is_ok());
        for (from, to, said) in [
            ("seed = 1", "seed = \"x\"", "line 3: seed: expected a number, not the text \"x\""),
            ("seed = 1", "seed = true", "line 3: seed: expected a number, not true"),
            ("seed = 1", "seed = 1.5", "line 3: seed: expected a whole number from 1 to 2^53, not 1.5"),
            ("seed = 1", "seed = = 1", "line 3: this is not TOML, extra '=': «seed = = 1»"),
            ("seed = 1", "seed 1", "line 3: this is not TOML, a key needs '=' and a value: «seed 1»"),
            ("seed = 1", "seed = abc", "line 3: this is not TOML, a text needs quotes: «seed = abc»"),
            ("seed = 1", "seed = 1\nseed = 2", "line 4: this key is there twice"),
            ("seed = 1\n", "", "the key 'seed' is missing"),
            ("spec = \"one-stage\"\n", "", "line 5: the key 'spec' is missing"),
            (
                "users = 10",
                "users = true",
                "line 8: users: expected a number, a word in quotes, a range such as \"1:10:5\"",
            ),
            ("users = 10", "users = [1", "line 9: this is not TOML, a comma or a ']' is missing in the list above"),
            ("[[grid]]", "[grid]", "line 7: expected a list, not a table"),
            ("[figure]", "[figure", "line 11: this is not TOML, a ']' is missing: «[figure»"),
            ("\"t\"", "\"t", "line 2: this is not TOML, a text does not end in a quote"),
            ("\"t\"", "5", "line 2: title: expected a text in quotes, not 5"),
            ("\"users\"", "\"users\"\ny_range = [1]", "line 13: y_range: expected a list of 2, not of 1"),
            ("\"users\"", "\"users\"\ny_range = [1, 2, 3]", "line 13: y_range: expected a list of 2, not of 3"),
            ("\"users\"", "\"users\"\nby = \"users\"", "line 13: by: expected a list, not the text \"users\""),
            (
                "\"users\"",
                "\"users\"\nlines = [\"bond\"]",
                "line 13: lines: 'bond' (did you mean 'bound'?) is none of bound, one-stage",
            ),
            (
                "comparison",
                "comparision",
                "line 1: kind: 'comparision' (did you mean 'comparison'?) is none of first-stage-growth",
            ),
            ("\"comparison\"", "3", "line 1: kind: expected a text in quotes"),
            (
                "seed = 1",
                "sede = 1",
                "line 3: there is no key 'sede' (did you mean 'seed'?); the keys here are kind, title",
            ),
            ("seed = 1", "seed = 1,", "line 3: this is not TOML, there is something after the value: «seed = 1,»"),
            ("[[grid]]", "[[grid", "line 7: this is not TOML, ']]' is missing"),
            ("\"t\"", "\"\\\"", "line 2: this is not TOML, a backslash in a text begins an escape"),
            ("\"t\"", "\"\\q\"", "line 2: this is not TOML, a backslash in a text begins an escape"),
            ("seed = 1", "seed = 2026-13-99", "line 3: this is not TOML, this looks like a date"),
            ("seed = 1", "seed = 1 # \u{1}", "line 3: this is not TOML, there is an invisible character after '#'"),
            ("seed = 1", "se!ed = 1", "line 3: this is not TOML, a key has letters, digits"),
            ("seed = 1", "\rseed = 1", "line 3: this is not TOML, the line ends with a carriage return alone"),
            ("seed = 1", "= 1", "line 3: this is not TOML, a key is missing before '=': «= 1»"),
        ] {
            assert!(SOUND.contains(from), "{from}");
            let found = Study::parse(&Catalog::builtin(), &SOUND.replacen(from, to, 1))
                .err()
                .unwrap_or_else(|| panic!("{to}"))
                .to_string();
            assert!(found.starts_with(said), "{to}: {found}");
            for jargon in ["TOML parse error", "field", "variant", "enum", "sequence", "i128", "f64", "`"] {
                assert!(!found.contains(jargon), "{jargon} in {found}");
            }
        }
    }
}
