//! Numbers that look random, the same on every machine.
#![allow(dead_code)]

pub struct Draw(pub u64);

impl Draw {
    /// Between 0 and 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Between -1 and 1.
    pub fn both(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }
}
