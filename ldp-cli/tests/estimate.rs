//! `ldp estimate` runs a protocol on any layout of data, privately, in constant memory.

mod common;

use std::fmt::Write;

use common::{Folder, ldp, number};
use serde_json::Value;

/// `rows` values of a Gaussian sample in increasing order: the quantiles at the middle of each step, so that the mean
/// is `mean` but for rounding.
fn sorted(rows: usize, mean: f64, sigma: f64) -> impl Iterator<Item = f64> {
    (0..rows).map(move |row| mean + sigma * ldp_core::special::normal::quantile((row as f64 + 0.5) / rows as f64))
}

/// The values as text, one a line, after a first line.
fn lines(first: &str, values: impl Iterator<Item = f64>) -> String {
    let mut text = String::from(first);
    values.for_each(|value| writeln!(text, "{value}").expect("a string grows"));
    text
}

/// The two ends of a record's interval, infinite ones read from their words.
fn interval(record: &Value) -> (f64, f64) {
    let end = |name: &str| match &record["interval"][name] {
        Value::String(word) if word == "inf" => f64::INFINITY,
        Value::String(word) if word == "-inf" => f64::NEG_INFINITY,
        value => value.as_f64().unwrap_or_else(|| panic!("{name} in {record:#}")),
    };
    (end("low"), end("high"))
}

#[test]
fn the_record_has_every_field_it_promises() {
    let folder = Folder::new();
    let file = folder.file("data.csv", lines("x\n", sorted(5_000, 0.5, 1.0)));
    let record = ldp("estimate --estimator two-stage:start=0,first-stage=500 --model gaussian:sigma=1 --epsilon 1 --seed 1 --format json")
        .on(file)
        .succeeds()
        .json();
    for (field, expected) in [
        ("command", "estimate"),
        ("version", env!("CARGO_PKG_VERSION")),
        ("estimator", "two-stage:start=0,first-stage=500"),
        ("model", "gaussian:sigma=1"),
    ] {
        assert_eq!(record[field], expected, "{field}");
    }
    for (field, expected) in [("users", 5_000), ("skipped", 0), ("rounds", 2), ("seed", 1)] {
        assert_eq!(record[field].as_u64(), Some(expected), "{field}");
    }
    let (estimate, error) = (number(&record, "estimate"), number(&record, "standard_error"));
    // The bound of the model says what the standard error is about: √(7.36 / 5,000) = 0.038.
    assert!((0.03..0.05).contains(&error), "{error}");
    assert!(number(&record, "epsilon") <= 1.0);
    assert_eq!(number(&record, "claimed_epsilon"), 1.0);
    assert_eq!(record["private"], false);
    assert_eq!(record["interval"]["kind"], "exact");
    assert_eq!(number(&record["interval"], "level"), 0.95);
    let (low, high) = interval(&record);
    assert!(low < estimate && estimate < high, "{record:#}");
    for field in ["interval_reason", "note"] {
        assert!(record.as_object().expect("an object").contains_key(field) && record[field].is_null(), "{field}");
    }
}

#[test]
fn every_layout_of_the_same_values_gives_the_same_bytes() {
    let folder = Folder::new();
    let values: Vec<f64> = sorted(2_000, 3.0, 2.0).collect();
    let table = |separator: char, header: bool, ending: &str| {
        let mut text = String::new();
        if header {
            text += &format!("id{separator}\"the value\"{separator}note{ending}");
        }
        for (id, value) in values.iter().enumerate() {
            text += &format!("{id}{separator}{value}{separator}\"a{separator}b\"{ending}");
        }
        text
    };
    let run = "estimate --estimator two-stage:start=2 --model gaussian:sigma=2 --epsilon 1 --seed 5 --format json";
    let plain = lines("", values.iter().copied());
    let expected = ldp(run).on(folder.file("values.txt", &plain)).succeeds().stdout;

    let named = |run: common::Ldp| run.on("--column").on("the value");
    let csv = folder.file("a.csv", table(',', true, "\n"));
    assert_eq!(named(ldp(run)).on(&csv).succeeds().stdout, expected, "CSV by name");
    assert_eq!(ldp(run).with("--column 2").on(&csv).succeeds().stdout, expected, "CSV by number");
    let marked = folder.file("b.csv", format!("\u{feff}{}", table(',', true, "\r\n")));
    assert_eq!(named(ldp(run)).on(marked).succeeds().stdout, expected, "CSV from a spreadsheet");
    let bare = folder.file("c.csv", table(',', false, "\n"));
    assert_eq!(ldp(run).with("--no-header --column 2").on(bare).succeeds().stdout, expected, "CSV without header");
    let tabs = folder.file("d.tsv", table('\t', true, "\n"));
    assert_eq!(named(ldp(run)).on(&tabs).succeeds().stdout, expected, "TSV");
    let hidden = folder.file("e.dat", table('\t', true, "\n"));
    assert_eq!(named(ldp(run)).with("--layout tsv").on(hidden).succeeds().stdout, expected, "--layout tsv");
    assert_eq!(ldp(run).with("-").fed(plain).succeeds().stdout, expected, "lines from standard input");
    assert_eq!(named(ldp(run)).with("-").fed(table(',', true, "\n")).succeeds().stdout, expected, "CSV from a pipe");
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_gives_the_same_bytes_too() {
    let folder = Folder::new();
    let values: Vec<f64> = sorted(2_000, 3.0, 2.0).collect();
    let bytes = parquet_of(&values);
    let run = "estimate --estimator two-stage:start=2 --model gaussian:sigma=2 --epsilon 1 --seed 5 --format json";
    let expected = ldp(run).on(folder.file("a.txt", lines("", values.iter().copied()))).succeeds().stdout;
    assert_eq!(ldp(run).with("--column x").on(folder.file("a.parquet", &bytes)).succeeds().stdout, expected);
    assert_eq!(ldp(run).with("--column 2").on(folder.file("a.dat", &bytes)).succeeds().stdout, expected);
    assert_eq!(ldp(run).with("--column x -").fed(bytes).succeeds().stdout, expected);
}

/// A file with two columns of numbers, the second of them `x` with these values, in two row groups.
#[cfg(feature = "parquet")]
fn parquet_of(values: &[f64]) -> Vec<u8> {
    use parquet::data_type::{DoubleType, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    let schema = parse_message_type("message m { required int64 id; required double x; }").unwrap();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema.into(), Default::default()).unwrap();
    for part in values.chunks(values.len().div_ceil(2)) {
        let ids: Vec<i64> = (0..part.len() as i64).collect();
        let mut group = writer.next_row_group().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        let mut column = group.next_column().unwrap().unwrap();
        column.typed::<DoubleType>().write_batch(part, None, None).unwrap();
        column.close().unwrap();
        group.close().unwrap();
    }
    writer.close().unwrap();
    bytes
}

#[test]
fn a_seed_repeats_the_noise_and_says_so() {
    let folder = Folder::new();
    let file = folder.file("a.txt", lines("", sorted(2_000, 0.5, 1.0)));
    let run = |more: &str| {
        ldp("estimate --estimator two-stage:start=0 --model gaussian:sigma=1 --epsilon 1")
            .with(more)
            .on(&file)
            .succeeds()
    };
    for format in ["human", "json", "csv"] {
        let more = format!("--seed 3 --format {format}");
        let first = run(&more).saying("not private");
        assert_eq!(first.stdout, run(&more).stdout, "{format}");
        assert_eq!(first.stdout, run(&format!("{more} --threads 1")).stdout, "{format}");
        assert_ne!(first.stdout, run(&format!("--seed 4 --format {format}")).stdout, "{format}");
    }
    assert_eq!(run("--seed 3 --format json").json()["private"], false);
    assert!(run("--seed 3").stdout.contains("NOT private"));
}

#[test]
fn without_a_seed_the_noise_is_fresh_and_the_result_private() {
    let folder = Folder::new();
    let file = folder.file("a.txt", lines("", sorted(100_000, 0.5, 1.0)));
    let run = || {
        ldp("estimate --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --format json")
            .on(&file)
            .succeeds()
            .silently()
    };
    let records: Vec<Value> = (0..4).map(|_| run().json()).collect();
    for record in &records {
        assert_eq!(record["private"], true);
        assert!(record["seed"].is_null());
    }
    // The only test without a seed, since it is about having none. Two honest runs agree with probability 0.002 (the
    // largest weight of a difference of two binomial counts with variance 25,000), so four do with 6e-9. Noise from a
    // seed that is built in, which would undo the privacy, agrees always.
    assert!(records.iter().any(|record| record["estimate"] != records[0]["estimate"]), "{records:#?}");
}

#[test]
fn an_interval_has_the_kind_and_level_asked_for() {
    let folder = Folder::new();
    let file = folder.file("a.txt", lines("", sorted(20_000, 0.5, 1.0)));
    let run = |more: &str| {
        ldp("estimate --estimator two-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --seed 2 --format json")
            .with(more)
            .on(&file)
            .succeeds()
            .json()
    };
    let wald = run("--interval wald --level 0.9");
    assert_eq!(wald["interval"]["kind"], "wald");
    assert_eq!(number(&wald["interval"], "level"), 0.9);
    let half = 1.644_853_626_951_472_7 * number(&wald, "standard_error");
    let (low, high) = interval(&wald);
    assert!((low - (number(&wald, "estimate") - half)).abs() < 1e-12, "{wald:#}");
    assert!((high - (number(&wald, "estimate") + half)).abs() < 1e-12, "{wald:#}");

    let exact = run("");
    assert_eq!(exact["interval"]["kind"], "exact");
    assert_eq!(exact["interval"], run("--interval exact --level 0.95")["interval"]);
    // The same counts: a higher level contains a lower one, and exact limits are wald's but for second-order terms.
    let nested: Vec<_> =
        ["0.5", "0.9", "0.95", "0.999"].map(|level| interval(&run(&format!("--level {level}")))).into();
    assert!(nested.windows(2).all(|pair| pair[1].0 < pair[0].0 && pair[0].1 < pair[1].1), "{nested:?}");
    let (low, high) = nested[1];
    assert!(((high - low) / (2.0 * half) - 1.0).abs() < 0.02, "{nested:?}");
}

#[test]
fn an_infinite_end_is_a_word() {
    let folder = Folder::new();
    // Twelve values far on one side: nothing in their signs says how far.
    for (value, end, word) in [("50", "high", "inf"), ("-50", "low", "-inf")] {
        let file = folder.file("far.txt", format!("{value}\n").repeat(12));
        let run = |more: &str| {
            ldp("estimate --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 4 --seed 1")
                .with(more)
                .on(&file)
                .succeeds()
        };
        let record = run("--format json").json();
        assert_eq!(record["interval"][end], word, "{record:#}");
        number(&record, "estimate");
        let (low, high) = interval(&record);
        assert!(low.is_finite() != high.is_finite(), "{record:#}");
        assert!(run("--format csv").stdout.lines().nth(1).unwrap().split(',').any(|cell| cell == word));
        assert!(run("").stdout.contains(word));
    }
}

#[test]
fn counts_at_the_boundary_have_no_standard_error_but_an_exact_interval() {
    let run = |more: &str| {
        ldp("estimate - --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --seed 1 --format json")
            .with(more)
            .fed("50\n")
            .succeeds()
    };
    let exact = run("").saying("warning: ").json();
    assert!(exact["standard_error"].is_null());
    assert_eq!(number(&exact, "estimate"), 0.0);
    assert!(exact["note"].as_str().is_some_and(|note| !note.is_empty()), "{exact:#}");
    assert_eq!(interval(&exact), (f64::NEG_INFINITY, f64::INFINITY));
    let wald = run("--interval wald").json();
    assert!(wald["interval"].is_null());
    assert!(wald["interval_reason"].as_str().is_some_and(|reason| reason.contains("standard error")), "{wald:#}");
}

#[test]
fn a_sorted_file_comes_out_right() {
    let folder = Folder::new();
    let (rows, mean) = (200_000, 170.5);
    let text = lines("height\n", sorted(rows, mean, 8.0));
    let file = folder.file("sorted.csv", text);
    let run = |more: &str| {
        ldp("estimate --column height --estimator two-stage:start=165,first-stage=20000 --model gaussian:sigma=8")
            .with("--epsilon 1 --seed 1 --format json")
            .with(more)
            .on(&file)
            .succeeds()
            .json()
    };
    let off = |record: &Value| (number(record, "estimate") - mean).abs() / number(record, "standard_error");
    let random = run("");
    assert_eq!((random["users"].as_u64(), random["rounds"].as_u64()), (Some(200_000), Some(2)));
    // Four standard errors are passed by chance once in 16,000.
    assert!(off(&random) < 4.0, "{random:#}");
    // The test sees what it is about: with the smallest tenth in the first round, the mean of the others is 0.2 σ, or
    // thirty standard errors, too high.
    let file_order = run("--order file");
    assert!(off(&file_order) > 10.0, "{file_order:#}");
}

#[test]
fn rows_in_the_order_of_the_file_are_enough_for_one_round() {
    let folder = Folder::new();
    let file = folder.file("a.txt", lines("", sorted(50_000, 0.5, 1.0)));
    let record = ldp("estimate --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --seed 1 --order file --format json")
        .on(file)
        .succeeds()
        .json();
    assert_eq!(record["rounds"].as_u64(), Some(1));
    // Four standard errors, as above: in one round every row is asked, whatever the order.
    assert!((number(&record, "estimate") - 0.5).abs() < 4.0 * number(&record, "standard_error"), "{record:#}");
}

#[test]
fn epsilon_is_what_the_questions_say_and_never_more_than_claimed() {
    for claimed in ["0.001", "0.1", "0.3", "0.3333333333333333", "0.7", "1", "1.1", "2.718281828459045", "5", "10"] {
        let record =
            ldp("estimate - --estimator two-stage:start=0 --model gaussian:sigma=1 --seed 1 --format json --epsilon")
                .with(claimed)
                .fed("1\n2\n3\n4\n")
                .succeeds()
                .json();
        let (epsilon, limit) = (number(&record, "epsilon"), claimed.parse::<f64>().unwrap());
        assert_eq!(number(&record, "claimed_epsilon"), limit);
        // Not one bit above; and below only by what weights in units of 2^-64 cannot express.
        assert!(epsilon <= limit && epsilon > limit * (1.0 - 1e-9), "{epsilon} for {claimed}");
    }
}

#[test]
fn invalid_cells_are_skipped_and_counted_when_asked() {
    let folder = Folder::new();
    let valid = lines("", sorted(100, 0.5, 1.0));
    let file = folder.file("a.csv", format!("x\nnan\n{valid}inf\n1e999\nabc\n\n\"\"\n-inf\n1.5\n"));
    let run = |more: &str| {
        ldp("estimate --column x --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --seed 1")
            .with(more)
            .on(&file)
    };
    run("").must_be_refused().saying("line 2");
    let record = run("--skip-invalid --format json").succeeds().json();
    assert_eq!((record["users"].as_u64(), record["skipped"].as_u64()), (Some(101), Some(7)), "{record:#}");
    assert!(run("--skip-invalid").succeeds().stdout.contains("7 rows skipped"));
    let clean =
        ldp("estimate - --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --seed 1 --format json")
            .fed(format!("{valid}1.5\n"));
    assert_eq!(record["estimate"], clean.succeeds().json()["estimate"]);
}

#[test]
fn a_refused_cell_names_the_flag_that_would_skip_it() {
    ldp("estimate - --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1")
        .fed("1\nx\n")
        .must_be_refused()
        .saying("--skip-invalid");
}

#[test]
fn a_family_that_is_not_gaussian_is_warned_about_in_the_result() {
    let call = "estimate - --estimator one-stage:start=0 --model laplace:scale=1 --epsilon 1 --seed 1";
    let run = |more: &str| ldp(call).with(more).fed("1\n2\n-1\n").succeeds();
    run("").saying("takes the values to be Gaussian").saying("laplace");
    let said = "takes the values to be Gaussian; under laplace:scale=1";
    assert!(run("--quiet --format json").json()["warning"].as_str().is_some_and(|text| text.contains(said)));
    let human = run("--quiet").stdout;
    assert!(human.contains("│ warning ") && human.contains("the scale of laplace:scale=1"), "{human}");
}

/// What should be known before a number is trusted stands beside it, also where standard error is thrown away.
#[test]
fn caveats_and_notes_are_rows() {
    let liu = "estimate - --estimator liu:start=0.5,scale=1 --epsilon 4 --seed 1 --quiet";
    let values = lines("", sorted(20_000, 0.5, 1.0));
    let human = ldp(liu).fed(values.as_str()).succeeds().silently().stdout;
    assert!(human.contains("│ caveat ") && human.contains("the interval is widened"), "{human}");
    let note = "estimate - --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --seed 1 --quiet";
    let human = ldp(note).fed("50\n").succeeds().silently().stdout;
    assert!(human.contains("│ caveat ") && human.contains("beyond what any mean explains"), "{human}");
}

/// Files of results can be put one below the other.
#[test]
fn a_table_has_the_same_columns_whatever_the_data() {
    let call =
        "estimate - --estimator duchi-rogers:start=0,range=1 --model gaussian:sigma=1 --epsilon 1 --seed 1 --quiet";
    let far = "50\n".repeat(10_000);
    let near = lines("", sorted(10_000, 0.2, 1.0));
    let [near, far] = [near, far].map(|values| ldp(call).with("--format csv").fed(values).succeeds().stdout);
    assert_eq!(near.lines().next(), far.lines().next());
    assert!(near.contains(",diagnostics\n") && near.contains(",interval.low,"), "{near}");
    assert!(far.contains("beyond") && near.lines().count() == 2, "{far}");
}

/// 160/9 times 9 is above 160.
#[test]
fn an_estimate_is_in_the_range_it_is_clamped_to() {
    let values = lines("", sorted(10_000, 171.4, 9.0));
    for seed in 0..5 {
        let call =
            "estimate - --estimator duchi-rogers:start=150,range=10 --model gaussian:sigma=9 --epsilon 2 --quiet";
        let record = ldp(call).with(&format!("--format json --seed {seed}")).fed(values.as_str()).succeeds().json();
        assert_eq!(number(&record, "estimate"), 160.0, "{record:#}");
    }
}

#[test]
fn a_standard_error_too_small_for_a_number_is_none() {
    let call = "estimate - --estimator two-stage:start=0 --model gaussian:sigma=5e-324 --epsilon 1 --seed 1 --quiet";
    let record = ldp(call).with("--format json").fed("0\n".repeat(10_000)).succeeds().json();
    assert!(record["standard_error"].is_null(), "{record:#}");
}

/// The memory a process may map stands in for the memory it uses: it can be limited, and a run that needs more dies.
#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_the_rows() {
    let folder = Folder::new();
    // The same mean, first stage and start, so that the two runs take the same steps.
    let small = folder.file("small.csv", lines("x\n", sorted(50_000, 0.5, 1.0)));
    let large = folder.file("large.csv", lines("x\n", sorted(1_000_000, 0.5, 1.0)));
    let fits = |file: &std::path::Path, mebibytes: u64| {
        let run = ldp("estimate --estimator two-stage:start=0,first-stage=5000 --model gaussian:sigma=1 --epsilon 1 --seed 1 --threads 1")
            .with("--quiet --format json")
            .on(file)
            .into_command();
        let output = std::process::Command::new("sh")
            .arg("-c")
            .arg(format!("ulimit -c 0; ulimit -v {}; exec \"$0\" \"$@\"", 1024 * mebibytes))
            .arg(run.get_program())
            .args(run.get_args())
            .output()
            .expect("a shell starts");
        output.status.success()
    };
    assert!(fits(&small, 1024), "a gibibyte is enough for 50,000 rows");
    let (mut too_little, mut enough) = (1, 1024);
    while enough - too_little > 1 {
        let middle = (too_little + enough) / 2;
        *if fits(&small, middle) { &mut enough } else { &mut too_little } = middle;
    }
    assert!(enough > 2, "the limit is in force");
    // The 950,000 further values alone would be 7.2 MiB, their text 18.
    assert!(fits(&large, enough + 4), "a million rows need more than the {enough} MiB of 50,000");
}
