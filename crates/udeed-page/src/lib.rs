//! What the HTML pages of `udeed` share: the report of the laboratory, and the page to label rows on.
//!
//! A page has style sheets and scripts of its own, written into it, and a content security policy that knows them by their
//! hashes. It loads nothing from elsewhere, and nothing in the data that it shows can run.
//!
//! ```
//! let style = "p { margin: 0 }";
//! let policy = udeed_page::policy(&[udeed_page::BASE, style], &[], "img-src data:");
//! assert!(policy.starts_with("default-src 'none'; style-src 'sha256-"));
//! ```

mod policy;

pub use policy::policy;

/// The colours of all pages in light and dark, as properties of the root element, and their type.
pub const BASE: &str = include_str!("base.css");

/// Makes buttons with `data-copy`, the name of another element, copy the text of that one.
pub const COPY: &str = include_str!("copy.js");
