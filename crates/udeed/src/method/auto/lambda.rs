//! Inverse regularisation strength chosen by out-of-bag rows.

use crate::ensemble::{Findings, Lambda, Shared, TrainingRows, ViewFound, bootstraps, bootstraps_of_distinct};
use crate::error::Result;
use crate::method::Method;
use crate::method::auto::LAMBDAS;
use crate::method::auto::fitted::MappedRows;
use crate::method::auto::out_of_bag::{OutOfBag, Outputs};
use crate::observer::Watch;

impl Method {
    /// Replaces a lambda of `auto` by the one that out-of-bag rows choose, in the method and in its training rows, and returns
    /// the findings.
    pub(crate) fn with_chosen_lambda(
        self,
        prepared: TrainingRows,
        watch: &Watch<'_>,
    ) -> Result<(Method, TrainingRows, Option<Findings>)> {
        let shared = self.shared();
        if shared.lambda != Lambda::Auto {
            return Ok((self, prepared, None));
        }
        let (lambda, found) = choose(&prepared, shared, watch)?;
        let prepared = prepared.with_lambda(lambda, watch)?;
        Ok((self.with_shared(Shared { lambda: lambda.into(), ..shared }), prepared, Some(found)))
    }
}

fn choose(prepared: &TrainingRows, shared: Shared, watch: &Watch<'_>) -> Result<(f64, Findings)> {
    let draws = bootstraps_of_distinct(prepared, |classes| bootstraps(classes, shared.seed, shared.members))?;
    let out_of_bag = OutOfBag::new(prepared, draws, &prepared.weights);
    // `LAMBDAS` are for rows of mean square length 1.
    let rows = prepared.labeled.rows();
    let mut square = 0.0;
    (0..rows.n_rows()).for_each(|i| rows.row(i).for_each(|_, x| square += x * x));
    let scale = rows.n_rows() as f64 / square;
    let lambdas = LAMBDAS.map(|lambda| if scale.is_finite() { lambda * scale } else { lambda });
    let rows = MappedRows::new(prepared.labeled.clone());
    let total = out_of_bag.n_fits(LAMBDAS.len() + 2);
    let fits = out_of_bag.fit_together(&rows, &lambdas, (0, total), watch)?;
    let mut warnings = Vec::new();
    let outputs: Vec<&Outputs> = fits.iter().map(|fit| &fit.outputs).collect();
    let shares = out_of_bag.shares(&outputs, &[1.0; LAMBDAS.len()], &mut warnings);
    warnings.iter().for_each(|warning| watch.warn(warning));
    let lambda = libm::exp(shares.iter().zip(lambdas).map(|(share, lambda)| share * libm::log(lambda)).sum());
    let [chosen, plain] = [(lambda, 4), (1.0, 5)].map(|(lambda, done)| {
        let fits = out_of_bag.fit_together(&rows, &[lambda], (out_of_bag.n_fits(done), total), watch);
        fits.map(|mut fits| fits.swap_remove(0))
    });
    let found = Findings {
        views: vec![ViewFound { view: "members before a descent".into(), weight: 1.0, lambda: Some(lambda) }],
        accuracy: out_of_bag.accuracy(&chosen?.outputs),
        logistic: out_of_bag.accuracy(&plain?.outputs),
        rows: out_of_bag.rows().len(),
        changed: None,
    };
    Ok((lambda, found))
}
