//! The settings of UDEED as options.

use clap::{Args, ValueEnum};
use udeed::{Initial, Loss, Scaling, Shares, Udeed, Variant, Vote};

/// What every fit understands, whatever its variant and size.
#[derive(Args, Clone)]
#[command(next_help_heading = "Learning")]
pub struct Settings {
    /// How much diversity counts against accuracy
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
    pub gamma: f64,
    /// How much labels count against small weights in the initial members (scikit-learn's C)
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
    pub lambda: f64,
    /// How features are scaled: to [0, 1], to mean 0 and deviation 1, or not
    #[arg(long, value_enum, default_value = "minmax")]
    pub scaling: ScalingName,
    /// How the fit to the labels is measured in the descent
    #[arg(long, value_enum, default_value = "logistic")]
    pub loss: LossName,
    /// Where members come from before the descent
    #[arg(long, value_enum, default_value = "bootstrap")]
    pub initial: InitialName,
    /// Length of a descent step, as a multiple of the gradient
    #[arg(long, default_value_t = 0.25, allow_hyphen_values = true)]
    pub rate: f64,
    /// Multiply the rate by members / 20: gives large ensembles the effect that 20 members have
    #[arg(long)]
    pub scale_rate: bool,
    /// Most descent steps in a stage
    #[arg(long, default_value_t = 25)]
    pub steps: usize,
    /// Members vote with their confidence, or one voice each
    #[arg(long, value_enum, default_value = "weighted")]
    pub vote: VoteName,
    /// What all random draws follow from
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

impl Settings {
    pub fn udeed(&self) -> Udeed {
        Udeed::new()
            .gamma(self.gamma)
            .lambda(self.lambda)
            .scaling(self.scaling.into())
            .loss(self.loss.into())
            .initial(self.initial.into())
            .rate(self.rate)
            .scale_rate(self.scale_rate)
            .steps(self.steps)
            .vote(self.vote.into())
            .seed(self.seed)
    }
}

/// How rows are dealt out for an experiment.
#[derive(Args, Clone, Copy)]
pub struct SharesArgs {
    /// Share of the training rows that keep their labels
    #[arg(long, value_name = "SHARE", default_value_t = 0.25, allow_hyphen_values = true)]
    pub labeled: f64,
    /// Share of all rows kept for testing
    #[arg(long, value_name = "SHARE", default_value_t = 0.5, allow_hyphen_values = true)]
    pub test: f64,
}

impl From<&SharesArgs> for Shares {
    fn from(shares: &SharesArgs) -> Self {
        Shares { test: shares.test, labeled: shares.labeled }
    }
}

/// An enum of the library as the words of an option.
macro_rules! words {
    ($name:ident, $target:ident { $($variant:ident = $word:literal),+ $(,)? }) => {
        #[derive(ValueEnum, Clone, Copy)]
        pub enum $name {
            $(#[value(name = $word)] $variant),+
        }

        impl From<$name> for $target {
            fn from(name: $name) -> Self {
                match name {
                    $($name::$variant => $target::$variant),+
                }
            }
        }
    };
}

words!(VariantName, Variant { Lc = "lc", Lcd = "lcd", LcUd = "lcud" });
words!(ScalingName, Scaling { MinMax = "minmax", Standard = "standard", None = "none" });
words!(LossName, Loss { Logistic = "logistic", Squared = "squared", Hinge = "hinge" });
words!(InitialName, Initial { Bootstrap = "bootstrap", Random = "random" });
words!(VoteName, Vote { Weighted = "weighted", Unweighted = "unweighted" });
