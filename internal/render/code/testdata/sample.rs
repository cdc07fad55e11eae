#![allow(dead_code)]
//! Crate docs
use std::collections::{HashMap, BTreeMap as Map};

/* block /* nested */ still
   a comment */
#[derive(Debug, Clone, PartialEq)]
pub struct Node<'a, T: ?Sized + 'static> {
    name: &'a str,
    next: Option<Box<Node<'a, T>>>,
}

impl<'a, T> Node<'a, T> where T: Copy {
    /// Docs for walk
    pub async fn walk(&mut self, n: u64) -> Result<(), Box<dyn std::error::Error>> {
        let raw = r#"raw "string"
            over lines"#;
        let c = 'x'; let b = b'\n'; let f = 1_000.5e-3_f64;
        match n {
            0..=9 if raw.len() > 3 => println!("{:?} {}", self.name, c),
            _ => unsafe { std::mem::zeroed() },
        }
        for i in 0..0xff_u8 { self.next.as_ref().map(|x| x.name)?; }
        Ok(())
    }
}

macro_rules! sum { ($($x:expr),*) => { 0 $(+ $x)* }; }
