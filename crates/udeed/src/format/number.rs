//! Parsing of numbers.

use crate::text::quoted;

/// The powers of ten that are exact.
const EXACT_TENS: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20,
    1e21, 1e22,
];

/// Parses a number. The error is what was found and what was expected.
pub(super) fn parse_number(cell: &str) -> std::result::Result<f64, (String, &'static str)> {
    match cell.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok(x),
        Ok(_) => Err((format!("{}, which is infinite", quoted(cell)), "a finite number")),
        Err(_) => Err((quoted(cell), "a number")),
    }
}

/// Parses the number that bytes begin with, and returns it with its length. `None` means that it may need more care: the
/// caller then takes the slow path, which gives the same bits.
///
/// Whole numbers up to 2^53 and powers of ten up to 22 are exact, so one product or quotient of them is the nearest
/// number, which any correct algorithm finds. Numbers with more digits are left to the standard library.
#[inline]
pub(super) fn leading_number(bytes: &[u8]) -> Option<(f64, usize)> {
    let negative = bytes.first() == Some(&b'-');
    let start = usize::from(negative);
    let mut mantissa = 0u64;
    let whole = digits(&bytes[start..], &mut mantissa);
    let mut end = start + whole;
    let mut n_digits = whole;
    let mut exponent = 0i32;
    if bytes.get(end) == Some(&b'.') {
        let fraction = digits(&bytes[end + 1..], &mut mantissa);
        exponent = -(fraction.min(1 << 16) as i32);
        n_digits += fraction;
        end += 1 + fraction;
    }
    if n_digits == 0 {
        return None;
    }
    if let Some(b'e' | b'E') = bytes.get(end) {
        let (power, length) = power(&bytes[end + 1..])?;
        exponent += power;
        end += 1 + length;
    }
    let is_exact = n_digits <= 19 && mantissa <= 1 << 53 && exponent.unsigned_abs() <= 22;
    if !is_exact {
        let number = std::str::from_utf8(&bytes[..end]).ok()?.parse().ok().filter(|x: &f64| x.is_finite())?;
        return Some((number, end));
    }
    let power = EXACT_TENS[exponent.unsigned_abs() as usize];
    let size = if exponent < 0 { mantissa as f64 / power } else { mantissa as f64 * power };
    Some((if negative { -size } else { size }, end))
}

/// Appends the digits that bytes begin with to a number, and returns their count. More than 19 may overflow.
#[inline]
pub(super) fn digits(bytes: &[u8], number: &mut u64) -> usize {
    let mut count = 0;
    for byte in bytes {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            break;
        }
        *number = number.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    count
}

/// Parses the power of ten after an `e`, of few digits, and returns it with its length.
fn power(bytes: &[u8]) -> Option<(i32, usize)> {
    let sign = usize::from(matches!(bytes.first(), Some(b'-' | b'+')));
    let mut size = 0;
    let count = digits(&bytes[sign..], &mut size);
    if count == 0 || count > 4 {
        return None;
    }
    let size = size as i32;
    Some((if bytes[0] == b'-' { -size } else { size }, sign + count))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn assert_as_standard(text: &str) {
        let bits = |number: f64| (number.to_bits(), text.len());
        let expected = text.parse::<f64>().ok().filter(|x| x.is_finite()).map(bits);
        let found = leading_number(text.as_bytes()).filter(|(_, end)| *end == text.len());
        assert_eq!(found.map(|(number, _)| bits(number)), expected, "{text}");
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "-", ".", "-.", "e5", "1e", "1e+", "x", "+1", "inf", "1e99999", "1e400"] {
            assert_eq!(leading_number(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn a_number_ends_where_it_ends() {
        for (text, expected) in [("12,3", (12.0, 2)), ("-0.5 ", (-0.5, 4)), ("1e3:", (1000.0, 3)), ("7.x", (7.0, 2))] {
            assert_eq!(leading_number(text.as_bytes()), Some(expected));
        }
    }

    #[test]
    fn edges_have_the_bits_of_the_standard_library() {
        let edges =
            ["-0", "0.0", "9007199254740993", "9007199254740992e22", "1e22", "1e23", "1e-22", "1e-23", ".5", "5."];
        let long =
            ["18446744073709551616", "184467440737095516160", "0.30000000000000004", "00000000000000000000000001"];
        let small = ["5e-324", "2.2250738585072014e-308", "1.7976931348623157e308", "123456789012345678e-22"];
        edges.into_iter().chain(long).chain(small).for_each(assert_as_standard);
    }

    proptest! {
        #[test]
        fn numbers_have_the_bits_of_the_standard_library(
            x in any::<f64>(), text in "-?[0-9]{0,22}(\\.[0-9]{0,22})?([eE][-+]?[0-9]{1,3})?"
        ) {
            assert_as_standard(&text);
            assert_as_standard(&x.to_string());
            assert_as_standard(&format!("{x:e}"));
            assert_as_standard(&format!("{:.6}", x % 1000.0));
        }
    }
}
