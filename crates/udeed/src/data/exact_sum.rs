//! Sums in which nothing is rounded, so that they do not depend on the order of what is added.

use serde::{Deserialize, Serialize};

/// Bits of a digit.
const DIGIT: i32 = 32;
/// Bits of the whole number that a number is, times a power of two.
const MANTISSA: u32 = f64::MANTISSA_DIGITS;

/// A sum of numbers, as whole numbers times powers of 2^32. There is room for 2^40 of them.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Vec<(i32, i64)>", into = "Vec<(i32, i64)>")]
pub(crate) struct ExactSum {
    /// Ascending: digits, which may be larger than one, and their places. Numbers of a column have few.
    digits: Vec<(i32, i128)>,
}

impl ExactSum {
    /// Adds a whole number below 2^64 times a power of two.
    fn add_whole(&mut self, number: i128, exponent: i32) {
        let place = exponent.div_euclid(DIGIT);
        let number = number << exponent.rem_euclid(DIGIT);
        let at = self.digits.iter().position(|(own, _)| *own >= place).unwrap_or(self.digits.len());
        match self.digits.get_mut(at) {
            Some((own, digit)) if *own == place => *digit += number,
            _ => self.digits.insert(at, (place, number)),
        }
    }

    pub(crate) fn add(&mut self, x: f64) {
        let (whole, exponent) = parts(x);
        self.add_whole(whole, exponent);
    }

    pub(crate) fn add_square(&mut self, x: f64) {
        let (whole, exponent) = parts(x);
        self.add_product(whole, whole, 2 * exponent);
    }

    /// Adds the product of two whole numbers of at most 54 bits times a power of two.
    fn add_product(&mut self, a: i128, b: i128, exponent: i32) {
        let product = a * b;
        self.add_whole(product & ((1 << MANTISSA) - 1), exponent);
        self.add_whole(product >> MANTISSA, exponent + MANTISSA as i32);
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        for &(place, digit) in &other.digits {
            self.add_whole(digit, DIGIT * place);
        }
    }

    /// Of numbers of which this is the sum and `squares` that of their squares: the sum of the squares of their differences from
    /// `centre`.
    pub(crate) fn squares_about(&self, squares: &Self, centre: f64, n: usize) -> Self {
        let (whole, exponent) = parts(centre);
        let mut about = squares.clone();
        for (place, digit) in self.carried() {
            about.add_product(-2 * i128::from(digit), whole, DIGIT * place + exponent);
        }
        let mut square = ExactSum::default();
        square.add_square(centre);
        for (place, digit) in square.carried() {
            about.add_product(i128::from(digit), n as i128, DIGIT * place);
        }
        about
    }

    /// The digits, each of 32 bits but for the last, which has the sign.
    fn carried(&self) -> Vec<(i32, i64)> {
        let mut carried = Vec::new();
        let mut rest = self.digits.iter().peekable();
        let (mut place, mut carry) = (rest.peek().map_or(0, |(place, _)| *place), 0);
        loop {
            carry += rest.next_if(|(own, _)| *own == place).map_or(0, |(_, digit)| *digit);
            if rest.peek().is_none() && i32::try_from(carry).is_ok() {
                carried.push((place, carry as i64));
                return carried;
            }
            carried.push((place, (carry & i128::from(u32::MAX)) as i64));
            (place, carry) = (place + 1, carry >> DIGIT);
        }
    }

    /// The nearest number, and the exponent of a power of two, an even one, by which it is to be multiplied.
    pub(crate) fn scaled(&self) -> (f64, i32) {
        /// Digits that a number is made of.
        const DIGITS: usize = 4;
        let mut carried = self.carried();
        let is_negative = carried.last().is_some_and(|&(_, digit)| digit < 0);
        if is_negative {
            let negated = self.digits.iter().map(|&(place, digit)| (place, -digit)).collect();
            carried = ExactSum { digits: negated }.carried();
        }
        while carried.pop_if(|(_, digit)| *digit == 0).is_some() {}
        let (below, above) = carried.split_at(carried.len().saturating_sub(DIGITS));
        let whole = above.iter().rev().fold(0, |whole, &(_, digit)| (whole << DIGIT) | digit as u128);
        // What is below decides a tie only.
        let whole = whole | u128::from(below.iter().any(|&(_, digit)| digit != 0));
        let size = whole as f64;
        (if is_negative { -size } else { size }, above.first().map_or(0, |(place, _)| DIGIT * place))
    }

    /// The nearest number.
    pub(crate) fn value(&self) -> f64 {
        let (value, exponent) = self.scaled();
        libm::ldexp(value, exponent)
    }
}

impl From<Vec<(i32, i64)>> for ExactSum {
    fn from(digits: Vec<(i32, i64)>) -> Self {
        let mut sum = ExactSum::default();
        // Of a file that is none, a place may be anything.
        for (place, digit) in digits.into_iter().filter(|(place, _)| place.abs() < 128) {
            sum.add_whole(i128::from(digit), DIGIT * place);
        }
        sum
    }
}

impl From<ExactSum> for Vec<(i32, i64)> {
    fn from(sum: ExactSum) -> Self {
        sum.carried()
    }
}

/// A number as a whole one times two to the power of the other.
fn parts(x: f64) -> (i128, i32) {
    let bits = x.to_bits();
    let (fraction, exponent) = (bits & ((1 << (MANTISSA - 1)) - 1), (bits >> (MANTISSA - 1)) as i32 & 0x7ff);
    let (whole, exponent) = if exponent == 0 { (fraction, 1) } else { (fraction | 1 << (MANTISSA - 1), exponent) };
    let whole = i128::from(whole);
    (if x.is_sign_negative() { -whole } else { whole }, exponent - 1075)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn sum_of(numbers: &[f64]) -> ExactSum {
        let mut sum = ExactSum::default();
        numbers.iter().for_each(|&x| sum.add(x));
        sum
    }

    #[test]
    fn nothing_is_lost() {
        assert_eq!(ExactSum::default().value(), 0.0);
        assert_eq!(sum_of(&[1e300, 1.0, -1e300, 1e-300, -1.0]).value(), 1e-300);
        assert_eq!(sum_of(&[1.0, f64::EPSILON / 2.0, f64::MIN_POSITIVE]).value(), 1.0 + f64::EPSILON);
        assert_eq!(sum_of(&[-0.1; 10]).value(), -1.0);
        assert_eq!(sum_of(&[5e-324, 5e-324]).value(), 1e-323);
        assert_eq!(sum_of(&[f64::MAX, f64::MAX]).value(), f64::INFINITY);
    }

    fn numbers() -> impl Strategy<Value = Vec<f64>> {
        let number = prop_oneof![-1e3..1e3, 1e8..1.0001e8, -1e-150..1e-150, Just(0.0), Just(-3.5e200)];
        prop::collection::vec(number, 1..40)
    }

    proptest! {
        #[test]
        fn any_order_and_any_parts_give_the_same(numbers in numbers(), cut in 0..40usize) {
            let (all, mut back) = (sum_of(&numbers), numbers.clone());
            back.reverse();
            prop_assert_eq!(all.value(), sum_of(&back).value());
            let (above, below) = numbers.split_at(cut.min(numbers.len()));
            let mut merged = ExactSum::from(Vec::from(sum_of(below)));
            merged.merge(&sum_of(above));
            prop_assert_eq!(merged.value(), all.value());
        }

        #[test]
        fn squares_about_a_centre_are_those_of_the_differences(whole in prop::collection::vec(-1000..1000i32, 1..40), by in -40..40i32) {
            let unit = libm::ldexp(1.0, by);
            let (numbers, centre) = (whole.iter().map(|&x| f64::from(x) * unit).collect::<Vec<_>>(), f64::from(whole[0]) * unit);
            let mut squares = ExactSum::default();
            numbers.iter().for_each(|&x| squares.add_square(x));
            let found = sum_of(&numbers).squares_about(&squares, centre, numbers.len()).value();
            let expected: f64 = numbers.iter().map(|x| (x - centre) * (x - centre)).sum();
            prop_assert_eq!(found, expected);
        }
    }
}
