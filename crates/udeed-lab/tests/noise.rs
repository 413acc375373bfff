//! The noise of the splits, measured.

use udeed_lab::statistics::{DecidingTest, MeanSquare, Sampled};
use udeed_lab::{Entry, Experiment, Journal, Result, Results, Set, run};

/// A run and the same with another seed differ by chance alone.
#[test]
fn two_seeds_differ_by_their_noise() -> Result<()> {
    let built_in = |name: &str| -> Result<Set> {
        Ok(Set { name: name.to_owned(), data: udeed::format::built_in(name)?.read()?.into_train()? })
    };
    let names = ["diabetes", "house", "ionosphere", "labor", "sonar", "vote", "wdbc"];
    let sets = names.map(built_in).into_iter().collect::<Result<Vec<Set>>>()?;
    let methods = vec![Entry::INITIAL, Entry::LCUD];
    let experiment = Experiment { methods: methods.clone(), splits: 25, seeds: 2, ..Experiment::default() };
    let trials = run(&experiment, &sets, Journal::in_memory(), &|_, _| {})?;
    let results = Results::new(&experiment, &sets, &trials, "a test", DecidingTest::Paired)?;
    assert_eq!((trials.len(), results.by_seed.len()), (7 * 50, 2));
    for method in methods {
        let sampled = |run: usize, name: &str| {
            let outcome = results.by_seed[run].outcome(name, 20, method).unwrap();
            assert_eq!(outcome.accuracies.len(), 25);
            Sampled { mean: outcome.mean, std: outcome.std.unwrap(), n: 25, unit: 0.0 }
        };
        let z: Vec<f64> = names.iter().map(|name| sampled(0, name).z(&sampled(1, name)).unwrap()).collect();
        let found = MeanSquare::of(&z).unwrap();
        assert!(found.is_chance() && found.value > found.by_chance[0], "{method:?}: {found:?}, {z:?}");
    }
    Ok(())
}
