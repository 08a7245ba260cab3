//! Conway's Game of Life on an unbounded plane, storing live cells only.

use std::collections::{BTreeSet, HashMap};
use std::fmt::{self, Write as _};
use std::ops::RangeInclusive;
use std::str::FromStr;

const LIVE: char = '■';
const DEAD: char = '·';
const NEIGHBOURS: [(i64, i64); 8] = [
    (-1, -1), (-1, 0), (-1, 1),
    (0, -1), (0, 1),
    (1, -1), (1, 0), (1, 1),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Cell {
    pub row: i64,
    pub col: i64,
}

impl Cell {
    fn neighbours(self) -> impl Iterator<Item = Cell> {
        NEIGHBOURS.iter().map(move |&(dr, dc)| Cell {
            row: self.row.wrapping_add(dr),
            col: self.col.wrapping_add(dc),
        })
    }
}

/// Which neighbour counts bring a cell to life, and which keep it alive.
#[derive(Clone, Copy, Debug)]
pub struct Rule {
    birth_mask: u16,
    survival_mask: u16,
}

impl Rule {
    pub const CONWAY: Rule = Rule { birth_mask: 1 << 3, survival_mask: 1 << 2 | 1 << 3 };
    pub const HIGH_LIFE: Rule = Rule { birth_mask: 0b0_0100_1000, survival_mask: 0b0_0000_1100 };

    fn lives(self, was_alive: bool, count: u8) -> bool {
        let mask = if was_alive { self.survival_mask } else { self.birth_mask };
        mask >> count & 1 == 1
    }
}

#[derive(Clone, Debug, PartialEq)]
pub struct World {
    cells: BTreeSet<Cell>,
    generation: u64,
}

impl World {
    #[must_use]
    pub fn step(&self, rule: Rule) -> World {
        let mut counts: HashMap<Cell, u8> = HashMap::with_capacity(self.cells.len() * 4);
        for neighbour in self.cells.iter().flat_map(|cell| cell.neighbours()) {
            *counts.entry(neighbour).or_insert(0) += 1;
        }
        let cells = counts
            .into_iter()
            .filter(|(cell, count)| rule.lives(self.cells.contains(cell), *count))
            .map(|(cell, _)| cell)
            .collect();
        World { cells, generation: self.generation + 1 }
    }

    pub fn bounds(&self) -> Option<(RangeInclusive<i64>, RangeInclusive<i64>)> {
        let top = self.cells.first()?.row;
        let bottom = self.cells.last()?.row;
        let left = self.cells.iter().map(|cell| cell.col).min()?;
        let right = self.cells.iter().map(|cell| cell.col).max()?;
        Some((top..=bottom, left..=right))
    }
}

impl FromStr for World {
    type Err = String;

    fn from_str(picture: &str) -> Result<Self, Self::Err> {
        let mut cells = BTreeSet::new();
        for (row, line) in (0_i64..).zip(picture.lines()) {
            for (col, symbol) in (0_i64..).zip(line.trim().chars()) {
                match symbol {
                    LIVE | '#' | 'O' => drop(cells.insert(Cell { row, col })),
                    DEAD | '.' => {}
                    other => return Err(format!("{}:{}: stray {other:?}", row + 1, col + 1)),
                }
            }
        }
        Ok(World { cells, generation: 0 })
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "generation {:>4}, {} alive", self.generation, self.cells.len())?;
        let Some((rows, cols)) = self.bounds() else {
            return f.write_str("(empty)");
        };
        for row in rows {
            for col in cols.clone() {
                f.write_char(if self.cells.contains(&Cell { row, col }) { LIVE } else { DEAD })?;
            }
            f.write_char('\n')?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn glider_travels_one_cell_in_four_generations() {
        let start: World = ".#.\n..#\n###".parse().unwrap();
        let end = (0..4).fold(start.clone(), |world, _| world.step(Rule::CONWAY));
        let shifted: BTreeSet<_> =
            start.cells.iter().map(|c| Cell { row: c.row + 1, col: c.col + 1 }).collect();
        assert_eq!(end.cells, shifted);
        assert!("#x#".parse::<World>().is_err());
    }
}
