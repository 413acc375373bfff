//! The settings of UDEED as options.

use std::str::FromStr;

use clap::Args;
use udeed::{
    AdaBoost, Assemble, Auto, Bagging, Emphasis, Initial, Labeled, Loss, Method, Pick, Precision, Prior, Scaling,
    SemiBoost, Shared, Shares, Udeed, Variant, View, Vote, ZeroError,
};
use udeed_lab::Contender;

use crate::given::Given;
use crate::output::Usage;

/// What every fit understands, whatever its variant and size.
#[derive(Args, Clone)]
#[command(next_help_heading = "Learning")]
pub struct Settings {
    /// UDEED: how much diversity counts against accuracy [default: 1]; `fit --method auto`: how much it counts as members are moved
    /// [default: 0]
    #[arg(long, allow_hyphen_values = true)]
    pub gamma: Option<f64>,
    /// How much labels count against small weights in the initial members (scikit-learn's C); `auto` lets the rows choose that
    /// bootstraps leave out (UDEED and bagging)
    #[arg(long, value_name = "NUMBER|auto", default_value = "1", allow_hyphen_values = true)]
    pub lambda: Lambda,
    /// How features are scaled: to [0, 1], to mean 0 and deviation 1, or not
    #[arg(long, value_enum, default_value = "minmax")]
    pub scaling: ScalingName,
    /// How many random Fourier features the members see in place of the scaled ones, for curved boundaries; 0 for none.
    /// `--scaling standard --lambda 10` goes well with it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub fourier: usize,
    /// UDEED: how the fit to the labels is measured in the descent
    #[arg(long, value_enum, default_value = "logistic")]
    pub loss: LossName,
    /// UDEED: hidden units of each member; 0 for linear members
    #[arg(long, default_value_t = 0)]
    pub hidden: usize,
    /// UDEED: where members come from before the descent
    #[arg(long, value_enum, default_value = "bootstrap")]
    pub initial: InitialName,
    /// UDEED: length of a descent step, as a multiple of the gradient
    #[arg(long, default_value_t = 0.25, allow_hyphen_values = true)]
    pub rate: f64,
    /// UDEED: multiply the rate by members / 20: gives large ensembles the effect that 20 members have
    #[arg(long)]
    pub scale_rate: bool,
    /// UDEED: most descent steps in a stage
    #[arg(long, default_value_t = 25)]
    pub steps: usize,
    /// UDEED, bagging: members vote with their confidence, or one voice each
    #[arg(long, value_enum, default_value = "weighted")]
    pub vote: VoteName,
    /// UDEED: numbers of 64 or of 32 bits in the descent; these take half of the time
    #[arg(long, value_enum, default_value = "double")]
    pub precision: PrecisionName,
    /// What all random draws follow from
    #[arg(long, default_value_t = 0)]
    pub seed: u64,
}

impl Settings {
    pub fn udeed(&self) -> Udeed {
        Udeed::new()
            .gamma(self.gamma.unwrap_or(1.0))
            .lambda(self.lambda.value())
            .choose_lambda(self.lambda == Lambda::Auto)
            .scaling(self.scaling.into())
            .fourier(self.fourier)
            .loss(self.loss.into())
            .hidden(self.hidden)
            .initial(self.initial.into())
            .rate(self.rate)
            .scale_rate(self.scale_rate)
            .steps(self.steps)
            .vote(self.vote.into())
            .precision(self.precision.into())
            .seed(self.seed)
    }
}

impl Settings {
    /// Refuses what a method that chooses for itself would not heed.
    fn check_untouched(&self, name: &str) -> anyhow::Result<()> {
        let given = [
            ("--lambda", self.lambda != Lambda::Is(1.0)),
            ("--scaling", matches!(self.scaling, ScalingName::None)),
            ("--fourier", self.fourier != 0),
        ];
        match given.iter().find(|(_, given)| *given) {
            None => Ok(()),
            Some((option, _)) => Err(Usage(format!("`{option}`: `{name}` chooses it itself")).into()),
        }
    }
}

/// A number, or whatever out-of-bag rows choose.
#[derive(Clone, Copy, PartialEq)]
pub enum Lambda {
    Auto,
    Is(f64),
}

impl Lambda {
    fn value(self) -> f64 {
        match self {
            Lambda::Auto => 1.0,
            Lambda::Is(lambda) => lambda,
        }
    }
}

impl FromStr for Lambda {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "auto" => Ok(Lambda::Auto),
            _ => text.parse().map(Lambda::Is).map_err(|_| "expected a number or `auto`".to_owned()),
        }
    }
}

/// What the automatic ensemble understands.
#[derive(Args, Clone)]
#[command(next_help_heading = "Automatic ensemble")]
pub struct Automatic {
    /// What members of `auto` look at: linear, relevance, spectral [default: all three]
    #[arg(long, value_name = "VIEWS", value_delimiter = ',')]
    views: Vec<ViewName>,
    /// What is known of the classes of unlabeled rows: their shares, such as 0.7,0.3 in the order of the classes, or `labeled` if the
    /// labeled rows were drawn at random; members of `auto` are moved to agree with it
    #[arg(long, value_name = "SHARES|labeled")]
    prior: Option<PriorArg>,
}

#[derive(Clone)]
struct PriorArg(Prior);

impl FromStr for PriorArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "labeled" {
            return Ok(PriorArg(Prior::Labeled));
        }
        let shares: Result<Vec<f64>, _> = text.split(',').map(|share| share.trim().parse()).collect();
        shares
            .map(|shares| PriorArg(Prior::Shares(shares)))
            .map_err(|_| "expected `labeled`, or the share of each class such as 0.7,0.3".to_owned())
    }
}

impl Automatic {
    fn auto(&self, gamma: f64) -> Auto {
        let settings = Auto::new().gamma(gamma).prior(self.prior.clone().map_or(Prior::Unknown, |prior| prior.0));
        match self.views.is_empty() {
            true => settings,
            false => settings.views(self.views.iter().map(|&view| view.into()).collect()),
        }
    }

    /// Refuses what is said where nobody understands it.
    fn check(&self, takes_part: bool) -> anyhow::Result<()> {
        match (&self.views[..], &self.prior, takes_part) {
            ([], None, _) | (_, _, true) => Ok(()),
            ([], ..) => Err(Usage("`--prior`: only `auto` has it".into()).into()),
            _ => Err(Usage("`--views`: only `auto` has them".into()).into()),
        }
    }
}

/// What only some methods understand.
#[derive(Args, Clone)]
#[command(next_help_heading = "Rivals of UDEED")]
pub struct Rivals {
    /// AdaBoost: weight rows, or draw them [default: weighting]; ASSEMBLE: [default: resampling]
    #[arg(long, value_enum)]
    pub emphasis: Option<EmphasisName>,
    /// AdaBoost: what becomes of a member without error; either way it is the last
    #[arg(long, value_enum, default_value = "keep")]
    pub zero_error: ZeroErrorName,
    /// ASSEMBLE: share of the first weights that labeled rows get
    #[arg(long, default_value_t = 0.9, allow_hyphen_values = true)]
    pub labeled_share: f64,
    /// SemiBoost: percentile of the distances that is the width of the similarity
    #[arg(long, default_value_t = 1.0, allow_hyphen_values = true)]
    pub percentile: f64,
    /// SemiBoost: draw unlabeled rows by how sure their labels are, or take the surest
    #[arg(long, value_enum, default_value = "draw")]
    pub pick: PickName,
    /// SemiBoost: share of the unlabeled rows that a member is fitted to
    #[arg(long, default_value_t = 0.1, allow_hyphen_values = true)]
    pub pick_share: f64,
    /// SemiBoost, MCSSB, RegBoost: only so many nearest neighbours count as similar; of the first two 0 for all rows, in memory that
    /// goes with the square of their number [default: 20, of RegBoost 10; for SemiBoost in `reproduce` 0]
    #[arg(long, value_name = "K")]
    pub neighbors: Option<usize>,
    /// Whether SemiBoost compares all rows with all unless told otherwise, as its paper does.
    #[arg(skip)]
    semiboost_compares_all: bool,
    /// Most memory for the rows of `--unlabeled` and all that is made of them, and for SemiBoost's similarities, such as 500M or
    /// 8G; more rows are kept in a temporary file beside the model and read again in every step [default: half of the
    /// machine's]
    #[arg(long, value_name = "SIZE", value_parser = parse_size)]
    pub memory: Option<u64>,
    #[command(flatten)]
    automatic: Automatic,
    #[command(flatten)]
    given: Given,
}

/// A number of bytes, with K, M, G or T for powers of 1024.
fn parse_size(text: &str) -> Result<u64, String> {
    let expected = || "expected a size such as 500M or 8G".to_owned();
    let (number, power) = match text.char_indices().next_back() {
        Some((at, unit)) if unit.is_ascii_alphabetic() => {
            let power = "KMGT".find(unit.to_ascii_uppercase()).ok_or_else(expected)? + 1;
            (&text[..at], power as u32)
        }
        _ => (text, 0),
    };
    let number: u64 = number.parse().map_err(|_| expected())?;
    number.checked_mul(1024u64.pow(power)).filter(|&bytes| bytes > 0).ok_or_else(expected)
}

impl Rivals {
    /// With what the paper did in place of our defaults, where they differ.
    pub fn as_in_the_paper(&self) -> Self {
        Rivals { semiboost_compares_all: true, ..self.clone() }
    }

    pub fn adaboost(&self) -> AdaBoost {
        let settings = AdaBoost::new().zero_error(self.zero_error.into());
        match self.emphasis {
            Some(emphasis) => settings.emphasis(emphasis.into()),
            None => settings,
        }
    }

    pub fn assemble(&self) -> Assemble {
        let settings = Assemble::new().labeled_share(self.labeled_share);
        match self.emphasis {
            Some(emphasis) => settings.emphasis(emphasis.into()),
            None => settings,
        }
    }

    pub fn semiboost(&self) -> SemiBoost {
        let settings = SemiBoost::new()
            .percentile(self.percentile)
            .pick(self.pick.into())
            .pick_share(self.pick_share)
            .memory(self.memory.unwrap_or(0));
        match self.neighbors.or(self.semiboost_compares_all.then_some(0)) {
            Some(neighbors) => settings.neighbors(neighbors),
            None => settings,
        }
    }

    /// A method by its name, with everything that was said about it.
    pub fn method(&self, name: &str, settings: &Settings, variant: Variant, members: usize) -> anyhow::Result<Method> {
        self.automatic.check(name == "auto")?;
        let chooses = settings.lambda == Lambda::Auto;
        let method = match Method::named(name)? {
            Method::Udeed(_) => settings.udeed().variant(variant).into(),
            Method::Bagging(_) => Bagging::new().vote(settings.vote.into()).choose_lambda(chooses).into(),
            Method::Auto(_) => {
                settings.check_untouched(name)?;
                self.automatic.auto(settings.gamma.unwrap_or(0.0)).into()
            }
            _ if chooses => return Err(Usage(format!("`--lambda auto`: `{name}` cannot choose it")).into()),
            other => self.optioned(other),
        };
        let (lambda, scaling, seed) = (settings.lambda.value(), settings.scaling.into(), settings.seed);
        self.given.of_one(method.with_shared(Shared { members, lambda, scaling, fourier: settings.fourier, seed }))
    }

    /// UDEED and all other methods for a comparison, with everything that was said about them.
    pub fn methods(
        &self,
        udeed: Udeed,
        vote: VoteName,
        contenders: &[Contender],
    ) -> anyhow::Result<(Udeed, Vec<Method>)> {
        let mut methods = vec![Method::from(udeed.clone())];
        for name in Method::NAMES.iter().filter(|name| **name != "udeed") {
            methods.push(match Method::named(name)? {
                Method::Bagging(_) => Bagging::new().vote(vote.into()).choose_lambda(udeed.choose_lambda).into(),
                Method::Auto(_) => self.automatic.auto(0.0).into(),
                other => self.optioned(other),
            });
        }
        self.automatic.check(contenders.contains(&Contender::Auto))?;
        let can_choose = |contender: &Contender| matches!(contender.method(), None | Some("bagging"));
        if udeed.choose_lambda && !contenders.iter().any(can_choose) {
            return Err(Usage("`--lambda auto`: none of these methods can choose it".into()).into());
        }
        let takes_part = |method: &Method| {
            let named = |contender: &Contender| contender.method().unwrap_or("udeed") == method.name();
            contenders.iter().any(named)
        };
        let mut methods = self.given.of_some(methods, takes_part)?;
        match methods.remove(0) {
            Method::Udeed(settings) => Ok((settings, methods)),
            _ => Ok((udeed, methods)),
        }
    }

    /// The settings that have options of their own.
    fn optioned(&self, method: Method) -> Method {
        match method {
            Method::AdaBoost(_) => self.adaboost().into(),
            Method::Assemble(_) => self.assemble().into(),
            Method::SemiBoost(_) => self.semiboost().into(),
            Method::Mcssb(settings) => {
                let neighbors = self.neighbors.unwrap_or(settings.neighbors);
                settings.neighbors(neighbors).memory(self.memory.unwrap_or(0)).into()
            }
            Method::RegBoost(settings) => {
                let neighbors = self.neighbors.filter(|&neighbors| neighbors > 0).unwrap_or(settings.neighbors);
                settings.neighbors(neighbors).memory(self.memory.unwrap_or(0)).into()
            }
            other => other,
        }
    }
}

/// How rows are dealt out for an experiment.
#[derive(Args, Clone, Copy)]
pub struct SharesArgs {
    /// How many training rows keep their labels: a share such as 0.25, or a number such as 10
    #[arg(long, value_name = "SHARE|N", default_value = "0.25", allow_hyphen_values = true)]
    pub labeled: Labeled,
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
        #[derive(clap::ValueEnum, Clone, Copy)]
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

pub(crate) use words;

words!(VariantName, Variant { Lc = "lc", Lcd = "lcd", LcUd = "lcud" });
words!(ScalingName, Scaling { MinMax = "minmax", Standard = "standard", None = "none" });
words!(LossName, Loss { Logistic = "logistic", Squared = "squared", Hinge = "hinge" });
words!(InitialName, Initial { Bootstrap = "bootstrap", Random = "random" });
words!(VoteName, Vote { Weighted = "weighted", Unweighted = "unweighted" });
words!(PrecisionName, Precision { Double = "double", Single = "single" });
words!(EmphasisName, Emphasis { Weighting = "weighting", Resampling = "resampling" });
words!(ZeroErrorName, ZeroError { Keep = "keep", Discard = "discard" });
words!(ViewName, View { Linear = "linear", Relevance = "relevance", Spectral = "spectral" });
words!(PickName, Pick { Draw = "draw", Top = "top" });

#[cfg(test)]
mod tests {
    use super::parse_size;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("1"), Ok(1));
        assert_eq!(parse_size("2k"), Ok(2048));
        assert_eq!(parse_size("8G"), Ok(8 << 30));
        for bad in ["", "0", "G", "-1", "1.5G", "9999999999999T", "8GB", "é"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
