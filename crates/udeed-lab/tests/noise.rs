//! The noise of the splits, measured.

use udeed_lab::paper::Figure;
use udeed_lab::statistics::{DecidingTest, MeanSquare, Sampled, deviation, mean};
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
    // The same of gains, those of the second seed as table V prints them.
    let gains = |run: usize, name: &str| {
        let of = |method| &results.by_seed[run].outcome(name, 20, method).unwrap().accuracies;
        let gains: Vec<f64> = of(Entry::LCUD).iter().zip(of(Entry::INITIAL)).map(|(a, b)| a - b).collect();
        Sampled { mean: mean(&gains).unwrap(), std: deviation(&gains).unwrap(), n: 25, unit: 0.0 }
    };
    let z = |name: &&str| {
        let second = gains(1, name);
        let printed = Figure { mean: as_table_v_prints(second.mean), std: second.std, lcud: None };
        gains(0, name).z(&Sampled { n: 25, ..printed.gain() }).unwrap()
    };
    let found = MeanSquare::of(&names.iter().map(z).collect::<Vec<_>>()).unwrap();
    assert!(found.is_chance() && found.value > found.by_chance[0], "{found:?}");
    Ok(())
}

/// Three digits; 0.001 or -0.001 where they would be 0.
fn as_table_v_prints(gain: f64) -> f64 {
    let nearest = (gain * 1000.0).round() / 1000.0;
    if nearest == 0.0 && gain != 0.0 { 0.001 * gain.signum() } else { nearest }
}

/// Gains of table V's size differ by chance with the values that its 0.001 stands for, and not with the nearest.
#[test]
fn small_gains_differ_by_their_noise() {
    let mut uniform = uniform();
    let (std, n) = (0.001, 50);
    let pairs: Vec<[f64; 2]> = (0..1000)
        .map(|_| {
            let expected = 0.003 * uniform() - 0.0005;
            [(); 2].map(|()| expected + std * normal(&mut uniform) / (n as f64).sqrt())
        })
        .collect();
    let z = |stands_for: &dyn Fn(Figure) -> Sampled| {
        let z = |&[ours, paper]: &[f64; 2]| {
            let figure = Figure { mean: as_table_v_prints(paper), std, lcud: None };
            Sampled { mean: ours, std, n, unit: 0.0 }.z(&stands_for(figure))
        };
        MeanSquare::of(&pairs.iter().filter_map(z).collect::<Vec<_>>()).unwrap()
    };
    let [rule, nearest] =
        [z(&|figure| figure.gain()), z(&|figure| Sampled { mean: figure.mean, unit: 0.001, ..figure.gain() })];
    assert!(rule.is_chance() && rule.value > rule.by_chance[0], "{rule:?}");
    assert!(!nearest.is_chance(), "{nearest:?}");
}

/// Means of fifty draws that vary by about the digits that are printed: without what rounding adds, chance would not explain them.
#[test]
fn rounded_figures_differ_by_chance() {
    let mut uniform = uniform();
    let (std, n, unit) = (0.0015, 50, 0.001);
    let mut pair = || {
        let expected = 0.8 + 0.1 * uniform();
        let mut drawn = || expected + std * normal(&mut uniform) / (n as f64).sqrt();
        let (ours, paper) = (drawn(), (drawn() / unit).round() * unit);
        [Sampled { mean: ours, std, n, unit: 0.0 }, Sampled { mean: paper, std, n, unit }]
    };
    let pairs: Vec<[Sampled; 2]> = (0..400).map(|_| pair()).collect();
    let z = |unit| pairs.iter().filter_map(|[ours, paper]| ours.z(&Sampled { unit, ..*paper })).collect::<Vec<_>>();
    let [counted, not] = [0.001, 0.0].map(|unit| MeanSquare::of(&z(unit)).unwrap());
    assert!(counted.is_chance() && counted.value > counted.by_chance[0], "{counted:?}");
    assert!(!not.is_chance(), "{not:?}");
}

/// Uniform numbers in `[0, 1)`, the same in every run.
fn uniform() -> impl FnMut() -> f64 {
    let mut state = 2010u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A draw that is nearly standard normal.
fn normal(uniform: &mut impl FnMut() -> f64) -> f64 {
    (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}
