//! Mechanisms from tables: the weights in integers, the level, and what is refused.

use ldp_core::conformance::{
    check_channel, check_draws, check_epsilon, check_epsilon_density, check_sampler, check_wire_round_trip,
};
use ldp_core::model::{Categorical, Poisson};
use ldp_core::{AsChannel, Epsilon, Error, Finite, Mechanism, Publish};
use ldp_mechanisms::{Matrix, MatrixError, RandomizedResponse};
use ldp_simulate::conformance::check_marginal;
use ldp_simulate::seed::{Purpose, stream};
use rand::RngExt;

/// Four categories, three reports.
fn own() -> Vec<Vec<u64>> {
    vec![vec![5, 3, 2], vec![3, 5, 2], vec![2, 3, 5], vec![4, 2, 4]]
}

fn weights(matrix: &Matrix, row: u32) -> Vec<u64> {
    (0..matrix.reports()).map(|report| matrix.as_channel().weight(row, report)).collect()
}

#[test]
fn all_laws_of_a_mechanism() {
    let matrix = Matrix::from_integers(&own()).unwrap();
    let (inputs, reports) = ([-1.0, 0.0, 1.0, 2.0, 3.0, 9.0], [0, 1, 2]);
    // The largest ratio of a column: 5/2.
    assert!((matrix.epsilon().value() - 2.5f64.ln()).abs() < 1e-15);
    check_epsilon(&matrix, matrix.epsilon()).unwrap();
    check_epsilon(&matrix.publish(), matrix.epsilon()).unwrap();
    check_epsilon_density(&matrix, matrix.epsilon(), &inputs, &reports).unwrap();
    check_channel(&matrix, &inputs, 1).unwrap();
    check_draws(&matrix, &inputs).unwrap();
    check_sampler(&matrix, &inputs, 1).unwrap();
    check_marginal(&matrix, &Categorical::new(4).unwrap(), 0.4, 1).unwrap();
    check_marginal(&matrix, &Poisson, 1.7, 1).unwrap();
    check_wire_round_trip(&matrix).unwrap();
    check_wire_round_trip(&matrix.publish()).unwrap();
}

#[test]
fn weights_are_rounded_and_the_level_is_that_of_the_rounded_ones() {
    let mut rng = stream(5, Purpose::Noise, 0, 0);
    for number in 0..300 {
        let (rows, columns) = (rng.random_range(2..9), rng.random_range(2..9));
        let largest = 1u64 << rng.random_range(1..63);
        let mut table: Vec<Vec<u64>> =
            (0..rows).map(|_| (0..columns).map(|_| rng.random_range(1..=largest)).collect()).collect();
        let sum = |row: &Vec<u64>| row.iter().map(|&entry| u128::from(entry)).sum::<u128>();
        let most = table.iter().map(sum).max().unwrap();
        // Equal sums by what is put on the last entry, which must stay below 2^64.
        let last = columns - 1;
        let filled = |row: &Vec<u64>| u64::try_from(u128::from(row[last]) + most - sum(row));
        let Ok(fill) = table.iter().map(filled).collect::<Result<Vec<_>, _>>() else { continue };
        table.iter_mut().zip(fill).for_each(|(row, entry)| row[last] = entry);
        let Ok(matrix) = Matrix::from_integers(&table) else { panic!("{number}: {table:?}") };
        let mut extreme = (1, 1);
        for (row, entries) in (0u32..).zip(&table) {
            let found = weights(&matrix, row);
            assert_eq!(found.iter().map(|&weight| u128::from(weight)).sum::<u128>(), 1 << 64);
            for (&weight, &entry) in found.iter().zip(entries) {
                let exact = entry as f64 / most as f64 * 2f64.powi(64);
                assert!((weight as f64 - exact).abs() <= 1.0 + 1e-15 * exact, "{weight} for {exact}");
            }
        }
        for report in 0..columns as u32 {
            let column: Vec<u64> = (0..rows as u32).map(|row| matrix.as_channel().weight(row, report)).collect();
            let (large, small) = (*column.iter().max().unwrap(), *column.iter().min().unwrap());
            if u128::from(large) * extreme.1 > extreme.0 * u128::from(small) {
                extreme = (u128::from(large), u128::from(small));
            }
        }
        // A proof in integers, and no slack: the number before it is not one.
        let level = matrix.epsilon();
        assert!(level.covers_wide(extreme.0, extreme.1));
        let before = Epsilon::new(level.value().next_down()).unwrap();
        assert!(!before.covers_wide(extreme.0, extreme.1), "{table:?}");
    }
}

#[test]
fn probabilities_and_whole_numbers_agree() {
    let share = |row: &Vec<u64>| row.iter().map(|&entry| entry as f64 / 10.0).collect();
    let (whole, parts) = (own(), own().iter().map(share).collect::<Vec<Vec<f64>>>());
    let (whole, parts) = (Matrix::from_integers(&whole).unwrap(), Matrix::from_probabilities(&parts).unwrap());
    for row in 0..4 {
        for (a, b) in weights(&whole, row).into_iter().zip(weights(&parts, row)) {
            // Tenths are known to 53 binary digits.
            assert!(a.abs_diff(b) < 1 << 12, "{a} {b}");
        }
    }
    let text = "# four categories\n5, 3, 2\n3,5,2\n\n2,3,5\r\n4,2,4";
    assert_eq!(Matrix::from_csv(text).unwrap(), whole);
    assert_eq!(Matrix::from_csv("0.5,0.3,0.2\n0.3,0.5,0.2\n0.2,0.3,0.5\n0.4,0.2,0.4\n").unwrap(), parts);
    // Randomised response as a table of its own weights is the same channel.
    let response = RandomizedResponse::new(Epsilon::new(1.3).unwrap(), 4).unwrap();
    let row = |cell| (0..4).map(|report| response.as_channel().weight(cell, report)).collect();
    let table = Matrix::from_integers(&(0..4).map(row).collect::<Vec<Vec<u64>>>()).unwrap();
    assert_eq!(table.epsilon(), response.epsilon());
    assert_eq!((0..4).map(|cell| weights(&table, cell)).collect::<Vec<_>>(), (0..4).map(row).collect::<Vec<_>>());
}

#[test]
fn tiny_probabilities_stay_possible() {
    let matrix = Matrix::from_probabilities(&[vec![1.0 - 1e-17, 1e-30], vec![0.5, 0.5]]).unwrap();
    assert!(weights(&matrix, 0)[1] >= 1 && matrix.epsilon().value() < 44.4);
    assert_eq!(weights(&matrix, 0).iter().map(|&w| u128::from(w)).sum::<u128>(), 1 << 64);
    let many = Matrix::from_integers(&[vec![u64::MAX, 1, 1, 1], vec![1, 1, 1, u64::MAX]]).unwrap();
    assert!(many.epsilon().value() < 44.4);
}

#[test]
fn what_is_no_mechanism_is_refused_with_its_place() {
    let refused = |rows: &[Vec<f64>]| Matrix::from_probabilities(rows).unwrap_err();
    let half = || vec![0.5, 0.5];
    assert!(matches!(
        refused(&[half(), vec![1.0, 0.0]]),
        MatrixError::Zero { row: 1, column: 1, other: 0, value: 0.5 }
    ));
    assert!(matches!(refused(&[vec![0.5, 0.5, 0.0], vec![0.4, 0.6, 0.0]]), MatrixError::EmptyColumn { column: 2 }));
    assert!(matches!(refused(&[half(), vec![0.5, 0.5 + 2e-9]]), MatrixError::Sum { row: 1, expected: 1.0, .. }));
    assert!(Matrix::from_probabilities(&[half(), vec![0.4, 0.6 + 5e-10]]).is_ok());
    for bad in [f64::NAN, -0.5, f64::INFINITY, 1.5] {
        let error = refused(&[vec![0.5, bad], half()]);
        assert!(matches!(error, MatrixError::Probability { row: 0, column: 1, .. }), "{bad}: {error}");
    }
    assert!(matches!(refused(&[half(), vec![1.0]]), MatrixError::Length { row: 1, found: 1, expected: 2 }));
    for rows in [vec![], vec![half()], vec![vec![1.0], vec![1.0]]] {
        assert!(matches!(refused(&rows), MatrixError::Size { least: 2, .. }), "{rows:?}");
    }
    let long = vec![1u64; Matrix::MOST + 1];
    let error = Matrix::from_integers(&[long.clone(), long]).unwrap_err();
    assert!(matches!(error, MatrixError::Size { what: "columns", found: 1025, most: 1024, .. }));
    assert!(matches!(refused(&[half(), half()]), MatrixError::Channel(Error::Uninformative)));
    assert!(matches!(
        Matrix::from_integers(&[vec![0, 0], vec![0, 0]]),
        Err(MatrixError::Sum { row: 0, .. } | MatrixError::EmptyColumn { .. })
    ));
    // Into the error of the other crates with its words.
    let words = refused(&[half(), vec![1.0, 0.0]]).to_string();
    assert_eq!(refused(&[half(), vec![1.0, 0.0]]).into_error().to_string(), words);
}

#[test]
fn texts_are_refused_with_line_and_column() {
    for (text, words) in [
        ("1,2\nx,3", "line 2, column 1: not a number"),
        ("1,2\n\n# more\n2,", "line 4, column 2: not a number"),
        ("0.5,0.5\n0.5,nan", "line 2: row 1, column 1: a probability must be from 0 to 1, got NaN"),
        ("0.5,0.5\n# more\n0.5,0.4", "line 3: row 1 must add up to 1 within 1e-9, got 0.9"),
        ("1,2\n3,0", "line 2: row 1, column 1: 0 beside 2 in row 0"),
        ("1,2\n3,4,5", "line 2: row 1 must have 2 entries as row 0 has, got 3"),
        ("1,-2\n3,4", "line 1: row 0, column 1: a probability must be from 0 to 1, got -2"),
        ("", "the number of rows must be from 2 to 1024, got 0"),
        ("1;2\n2;1", "line 1, column 1: not a number"),
    ] {
        let Err(error) = Matrix::from_csv(text) else { panic!("{text:?} was read") };
        let found = error.to_string();
        assert!(found.starts_with(words), "{text:?}: {found}");
    }
    let wide = vec!["1"; 5000].join(",");
    assert!(matches!(Matrix::from_csv(&wide), Err(MatrixError::Size { what: "columns", found: 5000, .. })));
    let tall = "1,2\n".repeat(5000);
    assert!(matches!(Matrix::from_csv(&tall), Err(MatrixError::Size { what: "rows", found: 5000, .. })));
}

#[test]
fn tampered_json_is_refused() {
    let json = serde_json::to_string(&Matrix::from_integers(&own()).unwrap()).unwrap();
    assert!(serde_json::from_str::<Matrix>(&json).is_ok());
    for (from, to) in [("[1.0,2.0,3.0]", "[1.0,2.5,3.0]"), ("[0,1,2,3]", "[0,2,1,3]"), ("dense", "response")] {
        assert!(json.contains(from), "{json}");
        assert!(serde_json::from_str::<Matrix>(&json.replace(from, to)).is_err(), "{to}");
    }
}
