#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| udeed_fuzz::rows(udeed::format::Format::Parquet, data));
