//! What was put in a step, by variable.

use crate::value::variable::Variable;
use fp_types::{ArrayKind, Contribution, Region, VariablePut};
use std::collections::{BTreeMap, BTreeSet};

/// Items among which one is found by looking at each.
const FEW: usize = 16;

/// Variables whose memory is kept for the next step, and room for blocks of one that is kept though it was not needed.
const LIMIT_SPARE: usize = 64;

/// What was put in a step. It keeps its memory from step to step.
#[derive(Default)]
pub(crate) struct Puts {
    /// In the order of their first puts.
    contribution: Contribution,
    /// To find what is among many.
    many: Option<Box<Many>>,
    /// Of earlier steps, without blocks.
    spare: Vec<VariablePut>,
}

/// What was put once more, where there is much of it.
#[derive(Default)]
struct Many {
    /// Where each variable is, once there are many.
    places: BTreeMap<String, usize>,
    /// Blocks of global arrays that are many and were not put in ascending order, so that one put twice is found among a
    /// million. Those that ascend are found where they are.
    regions: BTreeMap<String, BTreeSet<Region>>,
}

impl Puts {
    fn find(&self, name: &str) -> Option<usize> {
        let puts = &self.contribution.variables;
        match puts.len() {
            ..=FEW => puts.iter().position(|put| put.def.name == name),
            _ => self.many.as_ref()?.places.get(name).copied(),
        }
    }

    /// What was put of a variable.
    pub(crate) fn get(&self, name: &str) -> Option<&VariablePut> {
        self.contribution.variables.get(self.find(name)?)
    }

    /// Where that is; made, without a block, where nothing was put of it.
    pub(crate) fn place(&mut self, variable: &Variable) -> usize {
        self.find(variable.name()).unwrap_or_else(|| self.begin(variable))
    }

    /// What was put of the variable at that place.
    pub(crate) fn at(&self, at: usize) -> &VariablePut {
        &self.contribution.variables[at]
    }

    fn begin(&mut self, variable: &Variable) -> usize {
        let shape = (variable.def.kind == ArrayKind::GlobalArray).then_some(variable.shape);
        let own = self.spare.iter().position(|spare| spare.def.name == variable.def.name);
        let spare = own.map(|at| self.spare.swap_remove(at)).or_else(|| self.spare.pop());
        let blocks = spare.map_or_else(|| Vec::with_capacity(1), |spare| spare.blocks);
        let puts = &mut self.contribution.variables;
        puts.push(VariablePut { def: variable.def.clone(), shape, blocks, bytes: 0 });
        let place = |(at, put): (usize, &VariablePut)| (put.def.name.clone(), at);
        match puts.len() {
            ..=FEW => {}
            len => {
                let places = &mut self.many.get_or_insert_default().places;
                match places.is_empty() {
                    true => *places = puts.iter().enumerate().map(place).collect(),
                    false => drop(places.insert(variable.name().to_owned(), len - 1)),
                }
                debug_assert_eq!(places.len(), len);
            }
        }
        puts.len() - 1
    }

    /// Whether this block of a global array was put.
    pub(crate) fn has(&self, put: &VariablePut, region: &Region) -> bool {
        match self.many.as_ref().and_then(|many| many.regions.get(&put.def.name)) {
            Some(regions) => regions.contains(region),
            None if put.blocks.len() <= FEW => put.blocks.contains(region),
            None => put.blocks.last() >= Some(region) && put.blocks.binary_search(region).is_ok(),
        }
    }

    /// A block of a variable was put.
    #[cfg(test)]
    pub(crate) fn add(&mut self, variable: &Variable, region: &Region, bytes: u64) {
        let at = self.place(variable);
        self.add_at(at, variable, region, bytes);
    }

    /// A block of the variable was put that is at that place.
    pub(crate) fn add_at(&mut self, at: usize, variable: &Variable, region: &Region, bytes: u64) {
        let put = &mut self.contribution.variables[at];
        let ascends = put.blocks.last() < Some(region);
        put.blocks.push(*region);
        put.bytes += bytes;
        let count = put.blocks.len();
        if variable.def.kind != ArrayKind::GlobalArray || count <= FEW {
            return;
        }
        let known = self.many.as_mut().and_then(|many| many.regions.get_mut(variable.name()));
        if let Some(regions) = known {
            regions.insert(*region);
        } else if !ascends || (count == FEW + 1 && !put.blocks.is_sorted()) {
            let all = put.blocks.iter().copied().collect();
            let regions = &mut self.many.get_or_insert_default().regions;
            regions.insert(variable.name().to_owned(), all);
        }
    }

    /// All of it, by the names of the variables. Nothing is looked for or put after it.
    pub(crate) fn contribution(&mut self) -> &Contribution {
        self.contribution.variables.sort_unstable_by(|one, other| one.def.name.cmp(&other.def.name));
        &self.contribution
    }

    /// Forgets all of it, but for memory that the next step can use. Much of it that this step had no use for goes.
    pub(crate) fn clear(&mut self) {
        self.many = None;
        self.spare.retain(|spare| spare.blocks.capacity() <= LIMIT_SPARE);
        for mut put in self.contribution.variables.drain(..) {
            let needed = LIMIT_SPARE.max(2 * put.blocks.len());
            if self.spare.len() < LIMIT_SPARE && put.blocks.capacity() <= needed {
                put.blocks.clear();
                self.spare.push(put);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(name: &str) -> Variable {
        Variable::global::<u8>(name, &[1000]).expect("a variable")
    }

    fn region(at: u64) -> Region {
        Region::new([at], [1]).expect("a region")
    }

    #[test]
    fn a_block_that_was_put_is_known_among_few_and_many() {
        let variable = variable("x");
        let mut puts = Puts::default();
        for step in 0..3 {
            for at in 0..3 * FEW as u64 {
                let known = |puts: &Puts, at| puts.get("x").is_some_and(|put| puts.has(put, &region(at)));
                assert!(!known(&puts, at), "step {step}, block {at} before it is put");
                puts.add(&variable, &region(at), 1);
                assert!((0..=at).all(|at| known(&puts, at)), "step {step}, after block {at}");
            }
            puts.clear();
        }
    }

    /// Ascending, descending, ascending but for one among the first or one behind them, and in no order.
    #[test]
    fn blocks_are_known_in_whatever_order_they_are_put() {
        let count = 5 * FEW as u64;
        let swapped = |one: u64| move |at: u64| if at / 2 == one { at ^ 1 } else { at };
        let orders: [Vec<u64>; 5] = [
            (0..count).collect(),
            (0..count).rev().collect(),
            (0..count).map(swapped(3)).collect(),
            (0..count).map(swapped(FEW as u64)).collect(),
            (0..count).map(|at| at * 37 % count).collect(),
        ];
        for order in orders {
            let (variable, mut puts) = (variable("x"), Puts::default());
            for (put, &at) in order.iter().enumerate() {
                puts.add(&variable, &region(at), 1);
                let of = puts.get("x").expect("it was put");
                let known: Vec<u64> = (0..count).filter(|at| puts.has(of, &region(*at))).collect();
                let mut wanted = order[..=put].to_vec();
                wanted.sort_unstable();
                assert_eq!(known, wanted, "of {order:?}");
            }
        }
    }

    /// The one with many blocks has its memory again, though another is put first. A step without it lets that go.
    #[test]
    fn memory_for_many_blocks_is_kept_for_the_next_step_alone() {
        let (many, few) = (variable("many"), variable("few"));
        let mut puts = Puts::default();
        (0..900).for_each(|at| puts.add(&many, &region(at), 1));
        puts.add(&few, &region(0), 1);
        let room = |puts: &Puts, name| puts.get(name).expect("it was put").blocks.capacity();
        let grown = room(&puts, "many");
        puts.clear();
        puts.add(&few, &region(0), 1);
        puts.add(&many, &region(0), 1);
        assert_eq!((room(&puts, "many"), room(&puts, "few") <= LIMIT_SPARE), (grown, true));
        (1..900).for_each(|at| puts.add(&many, &region(at), 1));
        puts.clear();
        puts.add(&few, &region(0), 1);
        puts.clear();
        assert!(puts.spare.iter().all(|spare| spare.blocks.capacity() <= LIMIT_SPARE));
    }

    #[test]
    fn variables_are_found_among_few_and_many_and_told_by_name() {
        let names: Vec<String> = (0..3 * FEW).map(|at| format!("x{:02}", at * 29 % (3 * FEW))).collect();
        let mut puts = Puts::default();
        for _ in 0..3 {
            for (at, name) in names.iter().enumerate() {
                assert!(puts.get(name).is_none());
                (0..=at as u64).for_each(|block| puts.add(&variable(name), &region(block), 10));
                let found = |(at, name): (usize, &String)| {
                    let put = puts.get(name).expect("it was put");
                    put.def.name == *name && put.blocks.len() == at + 1 && put.bytes == 10 * (at as u64 + 1)
                };
                assert!(names.iter().take(at + 1).enumerate().all(found));
            }
            let told: Vec<_> = puts.contribution().variables.iter().map(|put| put.def.name.clone()).collect();
            assert!(told.is_sorted() && told.len() == names.len());
            puts.clear();
            assert!(puts.contribution().variables.is_empty());
        }
    }
}
