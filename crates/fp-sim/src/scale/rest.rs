//! Whether ranks forget: many steps, layouts and subscriptions that come and go, and what is remembered of them.

use crate::scale::content::Case;
use crate::scale::rank::{Input, Slot};
use crate::scale::world::World;

/// Steps of one round. What comes goes again in each, so all rounds leave the same behind.
const ROUND: [Case; 5] = [Case::NewLayout, Case::Unchanged, Case::OneRank, Case::EveryCount, Case::Unchanged];

/// Plays so many rounds, in each of which a newcomer attaches, asks, takes some steps and leaves. Gives the bytes that the
/// machine of each rank has after each round: first the publisher's ranks, then the subscriber's.
pub fn rest(mut world: World, rounds: usize) -> Vec<Vec<i64>> {
    world.open_publishers();
    world.open_subscribers();
    let standing = world.ranks.len();
    let round = |_| {
        let newcomer = world.add_newcomer();
        world.guests = 1;
        ROUND.into_iter().for_each(|case| drop(world.step("round", case)));
        world.guests = 0;
        leave(&mut world, newcomer);
        world.step("alone", Case::Unchanged);
        world.ranks[..standing].iter().map(|rank| rank.held.own + rank.held.layouts).collect()
    };
    (0..rounds).map(round).collect()
}

fn leave(world: &mut World, newcomer: Slot) {
    world.begin_stage();
    world.command(newcomer, Input::Close);
    world.settle();
}
