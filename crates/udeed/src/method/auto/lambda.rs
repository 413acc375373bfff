//! Inverse regularisation strength chosen by out-of-bag rows.

use std::sync::Arc;

use crate::ensemble::{Findings, ViewFound};
use crate::ensemble::{Lambda, Shared, TrainingRows};
use crate::error::Result;
use crate::method::Method;
use crate::method::auto::LAMBDAS;
use crate::method::auto::out_of_bag::{FeatureMaps, MappedRows, OutOfBag};
use crate::observer::Watch;
use crate::view::FeatureMap;

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
        let found = choose(&prepared, shared, watch)?;
        let lambda = found.views[0].lambda;
        let prepared = prepared.with_lambda(lambda, watch)?;
        Ok((self.with_shared(Shared { lambda: lambda.into(), ..shared }), prepared, Some(found)))
    }
}

fn choose(prepared: &TrainingRows, shared: Shared, watch: &Watch<'_>) -> Result<Findings> {
    let out_of_bag = OutOfBag::draw(prepared, shared.members, shared.seed)?;
    // `LAMBDAS` are for rows of mean square length 1.
    let rows = prepared.labeled.rows();
    let mut square = 0.0;
    (0..rows.n_rows()).for_each(|i| rows.row(i).for_each(|_, x| square += x * x));
    let scale = rows.n_rows() as f64 / square;
    let lambdas = LAMBDAS.map(|lambda| if scale.is_finite() { lambda * scale } else { lambda });
    let maps = FeatureMaps::Shared(Arc::new(FeatureMap::Plain), MappedRows::new(prepared.labeled.clone()));
    let total = out_of_bag.n_fits(LAMBDAS.len() + 2);
    let fits = out_of_bag.fit(&maps, &lambdas, None, (0, total), watch)?;
    let mut warnings = Vec::new();
    let shares = out_of_bag.shares(&fits, &mut warnings);
    warnings.iter().for_each(|warning| watch.warn(warning));
    let lambda = libm::exp(shares.iter().zip(lambdas).map(|(share, lambda)| share * libm::log(lambda)).sum());
    let [chosen, plain] = [(lambda, 4), (1.0, 5)].map(|(lambda, done)| {
        out_of_bag
            .fit(&maps, &[lambda], None, (out_of_bag.n_fits(done), total), watch)
            .map(|mut fits| fits.swap_remove(0))
    });
    Ok(Findings {
        views: vec![ViewFound { view: "members before a descent".into(), weight: 1.0, lambda }],
        accuracy: out_of_bag.accuracy(&chosen?.outputs),
        logistic: out_of_bag.accuracy(&plain?.outputs),
        rows: out_of_bag.rows().len(),
        changed: None,
    })
}
