//! A device of the caller's evaluates every descent of a fit, and nothing else does.
#![allow(clippy::unwrap_used)]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use udeed::method::udeed::{Device, EnsembleLoss, Loss, Objective, Stages};
use udeed::observer::Losses;
use udeed::prelude::*;
use udeed::validation::{Grid, choose};

/// The processor, which counts what it is asked for and may refuse it.
#[derive(Debug, Default)]
struct Counted {
    descents: AtomicUsize,
    evaluations: AtomicUsize,
    /// The addresses of the labeled rows of each stage.
    labeled: Mutex<Vec<usize>>,
    refuses: bool,
}

impl Device for Counted {
    fn name(&self) -> String {
        "counted:3".to_owned()
    }

    fn start<'a>(&'a self) -> Result<Box<dyn Stages<'a> + 'a>> {
        self.descents.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(self))
    }
}

impl<'a> Stages<'a> for &'a Counted {
    fn objective<'s>(&'s self, loss: EnsembleLoss<'a>) -> Result<Box<dyn Objective + 's>> {
        if self.refuses {
            return Err(Error::device(self.name(), "rows", "none", None));
        }
        self.labeled.lock().unwrap().push(std::ptr::from_ref(loss.labeled).cast::<()>().addr());
        Ok(Box::new(Counting { of: loss, by: self }))
    }
}

struct Counting<'a> {
    of: EnsembleLoss<'a>,
    by: &'a Counted,
}

impl Objective for Counting<'_> {
    fn evaluate(&self, weights: &[f64], gradient: &mut [f64]) -> Result<Losses> {
        self.by.evaluations.fetch_add(1, Ordering::Relaxed);
        self.of.evaluate(weights, gradient)
    }
}

fn train() -> TrainSet {
    let train = built_in("ionosphere").unwrap().read().unwrap().into_train().unwrap();
    let hidden: Vec<usize> = (0..351).filter(|i| i % 4 != 0).collect();
    train.hide_labels(&hidden)
}

#[test]
fn it_evaluates_every_step_and_is_no_part_of_the_model() {
    let (train, device) = (train(), Arc::new(Counted::default()));
    let settings = Udeed::new().members(4).steps(5);
    let there = settings.clone().on(device.clone()).fit(&train).unwrap();
    let here = settings.fit(&train).unwrap();
    assert_eq!(there.ensemble(), here.ensemble());
    assert_eq!(there.method(), here.method());
    assert!(!serde_json::to_string(there.method()).unwrap().contains("device"));
    // A stage begins with an evaluation and may end with a step that is not accepted.
    let steps: usize = there.training().stages.iter().map(|stage| 1 + stage.steps).sum();
    let evaluations = device.evaluations.load(Ordering::Relaxed);
    assert!((steps..=steps + 2).contains(&evaluations), "{evaluations} evaluations for {steps} steps");
    // Both stages have the same rows, which a device needs to be sent once.
    let labeled = device.labeled.lock().unwrap();
    assert!(labeled.len() == 2 && labeled[0] == labeled[1] && device.descents.load(Ordering::Relaxed) == 1);
}

#[test]
fn folds_and_candidates_descend_on_it_too() {
    let (train, device) = (train(), Arc::new(Counted::default()));
    let settings = Udeed::new().members(3).steps(2).on(device.clone());
    cross_validate(&settings.clone().into(), &train, 3, &mut ()).unwrap();
    assert_eq!(device.descents.load(Ordering::Relaxed), 3);
    let grid = Grid { gamma: vec![0.5, 1.0], lambda: vec![1.0], scaling: vec![Scaling::Standard], members: vec![3] };
    choose(&settings, &grid, &train, &train.folds(3, 0), &mut ()).unwrap();
    // Two candidates of each fold, and bagging, which is a descent of no steps.
    assert_eq!(device.descents.load(Ordering::Relaxed), 3 + 3 * 3);
}

#[test]
fn what_it_refuses_is_done_nowhere() {
    let device = Arc::new(Counted { refuses: true, ..Counted::default() });
    let error = Udeed::new().on(device.clone()).fit(&train()).unwrap_err();
    assert_eq!(error.to_string(), "counted:3: found rows, expected none");
    let error = Udeed::new().hidden(2).on(device.clone()).fit(&train()).unwrap_err();
    let expected = "`hidden` is 2, expected 0 on `counted:3`: members with hidden units are trained on the processor";
    assert_eq!(error.to_string(), expected);
    let error = Udeed::new().loss(Loss::Printed).on(device.clone()).fit(&train()).unwrap_err();
    assert!(error.to_string().starts_with("`loss` is `printed`, expected another on `counted:3`"), "{error}");
    for name in Method::NAMES.iter().filter(|name| **name != "udeed") {
        let error = Method::named(name).unwrap().on(device.clone()).unwrap_err();
        let found = format!("`device` is `counted:3` for method `{name}`, expected `cpu`, or method `udeed`");
        assert_eq!(error.to_string(), found);
    }
}
