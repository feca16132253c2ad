//! Bad input is refused with exit code 2 and one message that names what is wrong, before anything is drawn or written.

mod common;

use std::panic::{self, AssertUnwindSafe};

use common::{Folder, ldp};

/// Runs each row of a table, and reports all rows that fail, not only the first.
fn each<R>(rows: &[R], check: impl Fn(&R)) {
    let fails = |row: &&R| panic::catch_unwind(AssertUnwindSafe(|| check(row))).is_err();
    let failed = rows.iter().filter(fails).count();
    assert_eq!(failed, 0, "{failed} of {} rows failed, see above", rows.len());
}

/// `ldp simulate` with everything in order except what a row adds or replaces.
fn simulate(changed: &[(&str, &str)]) -> common::Ldp {
    let defaults = [
        ("--estimator", "two-stage:start=0,first-stage=30"),
        ("--theta", "0.5"),
        ("--users", "1000"),
        ("--epsilon", "1"),
        ("--replications", "10"),
    ];
    let kept = defaults.iter().filter(|(flag, _)| changed.iter().all(|(other, _)| other != flag));
    kept.chain(changed).fold(ldp("simulate"), |run, (flag, value)| run.on(flag).on(value))
}

#[test]
fn the_rows_below_differ_from_one_that_works() {
    simulate(&[]).succeeds();
}

#[test]
fn a_flag_with_a_bad_value_is_named_with_it() {
    let limit = "must be positive and finite";
    let whole = "expected a whole number";
    each(
        &[
            ("--epsilon", "0", limit),
            ("--epsilon", "-1", limit),
            ("--epsilon", "nan", limit),
            ("--epsilon", "inf", limit),
            ("--epsilon", "-inf", limit),
            ("--epsilon", "abc", "expected a number"),
            ("--epsilon", "", "expected a number"),
            ("--users", "0", "must be at least 1"),
            ("--users", "1.5", whole),
            ("--users", "many", whole),
            ("--replications", "0", "must be at least 1"),
            ("--replications", "0.5", whole),
            ("--theta", "nan", "expected a finite number"),
            ("--theta", "-inf", "expected a finite number"),
            ("--theta", "1e999", "expected a finite number"),
            ("--theta", "half", "expected a finite number"),
            ("--level", "0", "strictly between 0 and 1"),
            ("--level", "1", "strictly between 0 and 1"),
            ("--level", "2", "strictly between 0 and 1"),
            ("--level", "-0.5", "strictly between 0 and 1"),
            ("--level", "nan", "expected a finite number"),
            ("--interval", "bayes", "expected exact, wald, self-normalised, score or likelihood-ratio"),
            ("--fidelity", "exact", "expected users or tally"),
            ("--threads", "0", "must be at least 1"),
            ("--format", "xml", "human, json, csv"),
            ("--estimator", "", "the name is missing"),
            ("--estimator", ":start=0", "the name is missing"),
            ("--estimator", "two-stage:", "expected key=value after the colon"),
            ("--estimator", "two-stage:start", "expected key=value after the colon, got 'start'"),
            ("--estimator", "two-stage:start=", "expected key=value after the colon, got 'start='"),
            ("--estimator", "two-stage:start=0,start=1", "the key 'start' is given twice"),
        ],
        |&(flag, value, fragment)| named(flag, value, fragment),
    );
}

/// The flag must be refused with its value, and with this reason.
fn named(flag: &str, value: &str, fragment: &str) {
    let place = format!("invalid value '{value}' for '{flag} <");
    simulate(&[(flag, value)]).must_be_refused().saying(&place).saying(fragment);
}

#[test]
fn a_negative_count_is_not_mistaken_for_a_flag() {
    let flags = [("--users", "-5"), ("--replications", "-1"), ("--threads", "-1"), ("--seed", "-1")];
    each(&flags, |&(flag, value)| named(flag, value, ""));
}

#[test]
fn a_count_that_is_no_number_is_told_what_is_expected() {
    each(&["--users", "--replications", "--threads", "--seed"], |flag| named(flag, "two", "expected a whole number"));
}

#[test]
fn a_count_that_is_too_large_is_told_the_limit() {
    // 1e30 is a whole number: to say «expected a whole number» would be wrong.
    each(&["--users", "--replications"], |flag| named(flag, "1e30", "must be at most"));
    // As many as a study may have.
    named("--replications", "100000001", "must be at most 100000000");
}

#[test]
fn a_spec_that_names_nothing_is_shown_with_the_nearest_name() {
    each(
        &[
            ("--estimator", "twostage", "unknown estimator 'twostage'", "did you mean 'two-stage'?"),
            ("--estimator", "zebra", "unknown estimator 'zebra'", "one-stage, two-stage"),
            ("--estimator", "two-stage:starts=1", "no key 'starts'", "did you mean 'start'?"),
            ("--estimator", "one-stage:first-stage=3", "no key 'first-stage'", "its keys: start"),
            ("--model", "gausian", "unknown model 'gausian'", "did you mean 'gaussian'?"),
            ("--model", "Gaussian", "unknown model 'Gaussian'", "did you mean 'gaussian'?"),
            ("--model", "gaussian:sigm=2", "no key 'sigm'", "did you mean 'sigma'?"),
            ("--model", "poisson:rate=2", "no key 'rate'", "it has none"),
        ],
        |&(flag, spec, what, hint)| {
            simulate(&[(flag, spec)]).must_be_refused().saying(what).saying(hint);
        },
    );
}

#[test]
fn two_letters_that_changed_places_are_a_slip() {
    // The commonest slip of all, in short words too.
    each(
        &[
            ("--estimator", "two-stage:strat=1", "did you mean 'start'?"),
            ("--model", "gaussian:sgima=2", "did you mean 'sigma'?"),
            ("--model", "posison", "did you mean 'poisson'?"),
        ],
        |&(flag, spec, hint)| {
            simulate(&[(flag, spec)]).must_be_refused().saying(hint);
        },
    );
}

#[test]
fn a_spec_that_names_nothing_is_shown_with_its_flag() {
    each(
        &[
            ("--estimator", "twostage"),
            ("--estimator", "two-stage:strat=1"),
            ("--model", "gausian"),
            ("--model", "gaussian:sgima=2"),
        ],
        |&(flag, spec)| {
            simulate(&[(flag, spec)]).must_be_refused().saying(&format!("{flag} {spec}"));
        },
    );
}

#[test]
fn a_value_inside_a_spec_is_named_with_its_limit() {
    each(
        &[
            ("--model", "gaussian:sigma=0", "sigma must be positive and finite, got 0"),
            ("--model", "gaussian:sigma=-1", "sigma must be positive and finite, got -1"),
            ("--model", "gaussian:sigma=nan", "sigma must be a finite number, got 'nan'"),
            ("--model", "gaussian:sigma=inf", "sigma must be a finite number, got 'inf'"),
            ("--model", "gaussian:sigma=1,5", "expected key=value after the colon, got '5'"),
            ("--model", "laplace:scale=0", "scale must be positive and finite, got 0"),
            ("--model", "student-t:degrees=-2", "degrees must be positive and finite, got -2"),
            ("--model", "categorical:size=1", "must be at least 2, got 1"),
            ("--model", "categorical:size=2.5", "size must be a whole number, got '2.5'"),
            ("--estimator", "two-stage:start=abc", "start must be a finite number, got 'abc'"),
            ("--estimator", "two-stage:start=1e999", "start must be a finite number, got '1e999'"),
            ("--estimator", "two-stage:first-stage=0", "first-stage must be at least 1, got 0"),
            ("--estimator", "two-stage:first-stage=-3", "first-stage must be a whole number or 'auto', got '-3'"),
            ("--estimator", "two-stage:first-stage=1.5", "first-stage must be a whole number or 'auto', got '1.5'"),
            ("--estimator", "two-stage:first-stage=some", "first-stage must be a whole number or 'auto', got 'some'"),
        ],
        |&(flag, spec, fragment)| {
            simulate(&[(flag, spec)]).must_be_refused().saying(flag).saying(spec).saying(fragment);
        },
    );
}

#[test]
fn a_size_that_does_not_fit_is_refused_and_not_changed() {
    simulate(&[("--model", "categorical:size=99999999999")])
        .must_be_refused()
        .saying("must be at most 4294967295, got '99999999999'");
}

#[test]
fn values_that_do_not_go_together_are_both_named() {
    let first_stage = |size| ("--estimator", ["two-stage:first-stage=1000", "two-stage:first-stage=1001"][size]);
    each(
        &[
            ([first_stage(0), ("--users", "1000")], "--users 1000", "first-stage must be at most 999, got 1000"),
            ([first_stage(1), ("--users", "1000")], "--users 1000", "first-stage must be at most 999, got 1001"),
            ([("--estimator", "two-stage"), ("--users", "1")], "--users 1", "users must be at least 2, got 1"),
            ([("--model", "exponential"), ("--theta", "-1")], "--theta -1 for exponential", "must be positive"),
            ([("--model", "gaussian-scale"), ("--theta", "0")], "--theta 0 for gaussian-scale", "must be positive"),
            ([("--model", "poisson"), ("--theta", "-0.5")], "--theta -0.5 for poisson", "must be positive"),
            (
                [("--model", "bernoulli"), ("--theta", "2")],
                "--theta 2 for bernoulli",
                "strictly between 0 and 1, got 2",
            ),
            ([("--model", "categorical"), ("--theta", "1")], "--theta 1 for categorical", "between 0 and 1, got 1"),
            ([("--epsilon", "1e-30"), ("--users", "10")], "epsilon", "too small for 2 reports"),
        ],
        |(changed, place, fragment)| {
            simulate(changed).must_be_refused().saying(place).saying(fragment);
        },
    );
}

#[test]
fn an_interval_that_the_protocol_does_not_have_is_refused_before_the_first_draw() {
    // A hundred million replications would take minutes.
    simulate(&[("--interval", "self-normalised"), ("--replications", "1e8")])
        .must_be_refused()
        .saying("--interval self-normalised")
        .saying("exact")
        .saying("wald");
}

#[test]
fn an_interval_that_the_protocol_does_not_have_is_refused_before_the_data_are_read() {
    // Once the users have answered, the answers are spent.
    ldp("estimate - --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --interval self-normalised")
        .fed("1\n2\n")
        .must_be_refused()
        .saying("--interval self-normalised");
}

#[test]
fn a_command_that_is_not_there_is_named() {
    each(
        &[
            ("simulat", "unrecognized subcommand 'simulat'"),
            ("simulat", "'simulate'"),
            ("list modells", "'modells'"),
            ("list modells", "'models'"),
            ("completions tcsh", "'tcsh'"),
            ("simulate --estimator one-stage --theta 0 --users 10", "--epsilon"),
            ("simulate --mdel gaussian", "'--model'"),
            ("estimate", "<FILE>"),
            (
                "estimate data.csv --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --order sorted",
                "random, file",
            ),
            (
                "estimate data.csv --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1 --layout xlsx",
                "csv, tsv, lines, parquet",
            ),
        ],
        |&(arguments, fragment)| {
            ldp(arguments).must_be_refused().saying(fragment);
        },
    );
}

#[test]
fn flags_are_checked_before_the_data_are_touched() {
    each(&["--epsilon 0", "--model gaussian:sigma=0", "--level 1", "--estimator zebra"], |&bad| {
        let flags = ["--epsilon 1", "--estimator one-stage:start=0", "--model gaussian:sigma=1"];
        let kept = flags.iter().filter(|flag| flag.split(' ').next() != bad.split(' ').next());
        let run = kept.fold(ldp("estimate /no/such/file.csv"), |run, flag| run.with(flag)).with(bad).must_be_refused();
        assert!(!run.stderr.contains("/no/such/file.csv"), "{run:#?}");
    });
}

/// Estimates from a file of this name and content, which must be refused; returns the message.
fn refused(name: &str, content: &[u8], arguments: &str) -> common::Ran {
    let folder = Folder::new();
    let path = folder.file(name, content);
    let run = ldp("estimate --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1").with(arguments);
    run.on(&path).must_be_refused().saying(&path.display().to_string())
}

#[test]
fn a_file_that_cannot_be_opened_is_named_with_the_reason() {
    let folder = Folder::new();
    let run = || ldp("estimate --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1");
    let missing = folder.path("missing.csv");
    run().on(&missing).must_be_refused().saying(&format!("cannot open {}: ", missing.display()));
    let itself = folder.path("");
    let refused = run().on(&itself).must_be_refused().saying(&format!("cannot open {}: ", itself.display()));
    // Elsewhere a folder cannot even be opened, and the system gives another reason.
    if cfg!(unix) {
        refused.saying("is a directory");
    }
}

#[test]
fn a_bad_cell_is_named_by_file_line_and_column() {
    each(
        &[
            ("nan", "something else"),
            ("NaN", "something else"),
            ("inf", "something else"),
            ("-inf", "something else"),
            ("1e999", "something else"),
            ("", "an empty cell"),
            ("  ", "an empty cell"),
            ("abc", "something else"),
            ("1.2.3", "something else"),
            ("0x10", "something else"),
            ("\"1,5\"", "something else (--skip-invalid skips such rows); numbers are read with a decimal point"),
            ("\u{1b}[31mred", "something else"),
        ],
        |(cell, found)| {
            let content = format!("id,x\n1,0.5\n2,1.5\n3,{cell}\n4,2\n");
            let ran = refused("data.csv", content.as_bytes(), "--column x")
                .saying(&format!("data.csv: line 4, column \"x\": expected a finite number, found {found}"));
            // Standard error is a pipe here, which may lead to a log: what the cell holds is not in it.
            let shown = cell.trim().trim_matches('"');
            assert!(shown.len() < 3 || shown == "inf" || !ran.stderr.contains(shown), "{ran:#?}");
        },
    );
}

#[test]
fn a_table_that_does_not_hold_the_column_is_refused() {
    let two: &[u8] = b"id,height\n1,2\n";
    each(
        &[
            ("ragged.csv", b"id,x\n1,0.5\n2\n".as_slice(), "--column x", "line 3: expected 2 cells"),
            (
                "ragged.csv",
                b"id,x\n1,0.5\n2,3,4\n",
                "--column x",
                "line 3: expected 2 cells as in the first line, found 3",
            ),
            ("ragged.csv", b"x\n1\n2,3\n", "", "line 3: expected 1 cell as in the first line, found 2"),
            ("wide.csv", b"\xff\xfe\0\0x\0\0\0\n\0\0\0", "", "text in UTF-32"),
            ("data.csv", two, "--column salary", "no column \"salary\", available: \"id\", \"height\""),
            ("data.csv", two, "--column heigth", "did you mean \"height\"?"),
            ("data.csv", two, "--column 3", "no column \"3\""),
            ("data.csv", two, "--column 0", "no column \"0\""),
            ("data.csv", two, "", "choose one column with --column, available: \"id\", \"height\""),
            ("data.csv", two, "--no-header --column height", "no column \"height\", available: 1 to 2, without names"),
            ("data.csv", b"x,y,x\n1,2,3\n", "--column x", "2 columns are named \"x\""),
            ("data.csv", b"0.5\n1.5\n", "", "--no-header"),
            ("data.csv", b"x\n\"1\n2\n", "", "line 2: a quote is opened and never closed"),
            ("data.txt", b"1\n2\n", "--layout lines --column x", "no column \"x\""),
            ("empty.csv", b"", "", "expected at least one row of data, found none"),
            ("empty.csv", b"", "--column x", "expected at least one row of data, found none"),
            ("empty.txt", b"\n\n", "", "expected at least one row of data, found none"),
            ("header.csv", b"x\n", "--column x", "expected at least one row of data, found none"),
            ("bad.csv", b"x\nabc\nnan\n", "--skip-invalid", "all 2 rows were skipped as invalid"),
        ],
        |&(name, content, arguments, fragment)| {
            // A bad flag is told without opening the file, so only the others name it.
            if arguments.contains("sigma=0") {
                ldp("estimate data.csv --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1")
                    .with(arguments)
                    .must_be_refused()
                    .saying(fragment);
            } else {
                refused(name, content, arguments).saying(fragment);
            }
        },
    );
}

#[test]
fn too_few_rows_for_the_protocol_are_counted() {
    let run = |estimator: &str| ldp("estimate - --model gaussian:sigma=1 --epsilon 1 --estimator").with(estimator);
    run("two-stage:start=0").fed("1\n").must_be_refused().saying("1 row").saying("at least 2");
    run("two-stage:start=0,first-stage=3")
        .fed("1\n2\n3\n")
        .must_be_refused()
        .saying("3 rows")
        .saying("at most 2, got 3");
}

#[test]
fn standard_input_has_a_name() {
    let run = || ldp("estimate - --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1");
    run().must_be_refused().saying("standard input: expected at least one row");
    run()
        .fed("1\n2\nthree\n")
        .must_be_refused()
        .saying("standard input: line 3: expected a finite number, found something else");
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_that_is_not_one_is_refused() {
    refused("text.parquet", b"x\n1\n2\n", "").saying("not a Parquet file");
    refused("empty.parquet", b"", "").saying("not a Parquet file");
    refused("footless.parquet", b"PAR1 and nothing else", "").saying("cannot decode the Parquet file");
}

#[cfg(feature = "parquet")]
#[test]
fn a_parquet_file_cut_anywhere_is_refused() {
    let whole = parquet(&[0.5, 1.5, -2.0]);
    let folder = Folder::new();
    let path = folder.file("whole.parquet", &whole);
    ldp("estimate --estimator one-stage:start=0 --model gaussian:sigma=1 --epsilon 1").on(path).succeeds();
    for length in (4..whole.len()).step_by(29) {
        refused("cut.parquet", &whole[..length], "").saying("cut.parquet");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn a_bad_parquet_cell_or_column_is_named() {
    let bytes = parquet(&[0.5, 1.5, f64::NAN]);
    refused("a.parquet", &bytes, "")
        .saying("a.parquet: row 3, column \"x\": expected a finite number, found one that is not finite");
    refused("a.parquet", &bytes, "--column y").saying("no column \"y\", available: \"x\"");
    let bytes = parquet(&[]);
    refused("a.parquet", &bytes, "").saying("expected at least one row of data, found none");
}

/// A file of one column `x`.
#[cfg(feature = "parquet")]
fn parquet(values: &[f64]) -> Vec<u8> {
    use parquet::data_type::DoubleType;
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;

    let schema = parse_message_type("message m { required double x; }").unwrap();
    let mut bytes = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut bytes, schema.into(), Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<DoubleType>().write_batch(values, None, None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    bytes
}
