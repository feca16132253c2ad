//! What the best first stage is the best of.

use ldp_core::Epsilon;
use ldp_core::model::Gaussian;
use ldp_estimators::TwoStage;
use ldp_estimators::plan::{Distances, best_first_stage, first_stage_law};
use ldp_simulate::exact::{Errors, Exact};

/// With few users one stage in disguise is better than the best of the sizes looked at, as a look at all of them finds.
#[test]
fn of_all_sizes_one_user_is_best_where_one_stage_is() {
    let (users, model, half) = (1000, Gaussian::new(1.0).unwrap(), Distances::at(0.5).unwrap());
    for (level, disguised) in [(0.5, true), (1.0, true), (2.0, false)] {
        let epsilon = Epsilon::new(level).unwrap();
        let at = |size| {
            let estimator = TwoStage::new(epsilon, 0.0, size).unwrap();
            let errors = Exact::new(&model, 0.5).unwrap().best(&estimator, users, || Errors::new(0.5)).unwrap();
            users as f64 * errors.gather.mse()
        };
        let all: Vec<f64> = (1..=users / 2).map(at).collect();
        let smallest = |from: usize| all[from - 1..].iter().copied().fold(f64::INFINITY, f64::min);
        let found = best_first_stage(epsilon, users, &half).unwrap();
        assert!((found.of_one_user / all[0] - 1.0).abs() < 1e-9);
        // A report of one user explains no mean: one stage with a user less.
        assert!((found.of_one_user / (found.one_stage * 1000.0 / 999.0) - 1.0).abs() < 1e-3, "{found:?}");
        let third = (first_stage_law(epsilon, users, &half).unwrap() / 3.0).round() as usize;
        assert!((found.scaled_mse / smallest(third) - 1.0).abs() < 1e-9, "{found:?}");
        assert_eq!(found.of_one_user < found.scaled_mse, disguised, "{found:?}");
        let best = found.of_one_user.min(found.scaled_mse);
        assert!((best / smallest(1) - 1.0).abs() < 1e-9, "{level}: {}", smallest(1));
    }
}
