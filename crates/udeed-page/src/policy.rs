//! The content security policy of a page: its own style sheet and scripts, known by their hashes, and nothing else. Even
//! a data set with a hostile name neither loads nor runs anything.

/// The policy of a page with these contents of `style` and `script` elements, and what `others` allow besides, such as
/// `img-src data:`.
pub fn policy(styles: &[&str], scripts: &[&str], others: &str) -> String {
    let source = |text: &&str| format!("'sha256-{}'", base64(&sha256(text.as_bytes())));
    let sources = |texts: &[&str]| texts.iter().map(source).collect::<Vec<String>>().join(" ");
    format!("default-src 'none'; style-src {}; script-src {}; {others}", sources(styles), sources(scripts))
}

/// SHA-256 (FIPS 180-4), the only use of which is here.
fn sha256(text: &[u8]) -> [u8; 32] {
    // The message, a one, zeros, and its length in bits fill blocks of 64 bytes.
    let mut message = text.to_vec();
    message.push(0x80);
    message.resize((message.len() + 8).next_multiple_of(64) - 8, 0);
    message.extend((8 * text.len() as u64).to_be_bytes());
    let mut state = roots(8, f64::sqrt);
    let constants = roots(64, f64::cbrt);
    for block in message.chunks_exact(64) {
        compress(&mut state, &constants, block);
    }
    let mut hash = [0; 32];
    for (bytes, word) in hash.chunks_exact_mut(4).zip(state) {
        bytes.copy_from_slice(&word.to_be_bytes());
    }
    hash
}

/// The first 32 bits of the fractions of the roots of the first primes.
fn roots(n: usize, root: fn(f64) -> f64) -> Vec<u32> {
    let primes = (2_u32..).filter(|p| (2..*p).take_while(|d| d * d <= *p).all(|d| p % d != 0));
    primes.take(n).map(|prime| (root(f64::from(prime)).fract() * 4_294_967_296.0) as u32).collect()
}

fn compress(state: &mut [u32], constants: &[u32], block: &[u8]) {
    let mut words: Vec<u32> =
        block.chunks_exact(4).map(|bytes| bytes.iter().fold(0, |word, byte| word << 8 | u32::from(*byte))).collect();
    for i in 16..64 {
        let (x, y) = (words[i - 15], words[i - 2]);
        let low = x.rotate_right(7) ^ x.rotate_right(18) ^ (x >> 3);
        let high = y.rotate_right(17) ^ y.rotate_right(19) ^ (y >> 10);
        words.push(words[i - 16].wrapping_add(low).wrapping_add(words[i - 7]).wrapping_add(high));
    }
    let mut v = [0_u32; 8];
    v.copy_from_slice(state);
    for (word, constant) in words.iter().zip(constants) {
        let [a, b, c, d, e, f, g, h] = v;
        let choice = (e & f) ^ (!e & g);
        let majority = (a & b) ^ (a & c) ^ (b & c);
        let of_e = e.rotate_right(6) ^ e.rotate_right(11) ^ e.rotate_right(25);
        let of_a = a.rotate_right(2) ^ a.rotate_right(13) ^ a.rotate_right(22);
        let first = h.wrapping_add(of_e).wrapping_add(choice).wrapping_add(*constant).wrapping_add(*word);
        v = [first.wrapping_add(of_a).wrapping_add(majority), a, b, c, d.wrapping_add(first), e, f, g];
    }
    for (word, added) in state.iter_mut().zip(v) {
        *word = word.wrapping_add(added);
    }
}

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for chunk in bytes.chunks(3) {
        let bits = (0..3).fold(0, |bits, i| bits << 8 | usize::from(chunk.get(i).copied().unwrap_or(0)));
        for i in 0..4 {
            text.push(if i <= chunk.len() { char::from(DIGITS[bits >> (18 - 6 * i) & 63]) } else { '=' });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `printf abc | openssl sha256 -binary | base64`, and the like.
    #[test]
    fn hashes_as_openssl() {
        let hash = |text: &str| base64(&sha256(text.as_bytes()));
        assert_eq!(hash(""), "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=");
        assert_eq!(hash("abc"), "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=");
        assert_eq!(hash(&"a".repeat(55)), "n0OQ+NMMLdkuyfCVtl4rmumwqSWlJY4kHJ8ekQ9zQxg=");
        assert_eq!(hash(&"a".repeat(56)), "s1Q5pKxvCUi21vnjxq8PX1kM4g8b3nCQ73lwaG7Gc4o=");
        assert_eq!(hash(&"a".repeat(63)), "fT50oF19sVvOStnsBljqmOPwbu7PFrTG//LaRX3cLzQ=");
        assert_eq!(hash(&"a".repeat(64)), "/+BU/nrgy23GXDr5th1SCfQ5hR20PQulmXM33xVGaOs=");
        assert_eq!(hash(&"a".repeat(65)), "Y1NhxIu56rFBmOduqKt/GkFoXWrWKqkUbTAdTxfrCuA=");
        assert_eq!(hash(&"a".repeat(1000)), "Qe3s5C1j6Nm/UVqbppMuHCDLyfWl0TRkWttdsblzfqM=");
    }

    #[test]
    fn nothing_is_allowed_by_its_place_alone() {
        let policy = policy(&["p { margin: 0 }"], &["a()", "b()"], "img-src data:");
        assert!(!policy.contains("unsafe") && policy.matches("'sha256-").count() == 3, "{policy}");
    }
}
