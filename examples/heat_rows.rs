//! Follows the heat solver in Fortran (`examples/fortran/heat.f90`). Its ranks put boxes whose first dimension runs
//! fastest. Here they arrive as one array in rows: the last dimension runs fastest. Each cell is compared with the
//! solution.
use flexpath::{NextStep, Subscriber, SubscriberOptions};
use std::f64::consts::PI;
use std::time::Duration;

/// How many waves the solution has in each dimension.
const MODES: [f64; 3] = [1.0, 2.0, 3.0];

/// What a cell has to be: the mode at its place, and what is left of it after so many iterations.
fn solution(at: [usize; 3], shape: &[usize], iteration: i32) -> f64 {
    let cells: f64 = shape.iter().map(|&extent| (extent as f64 + 1.0).powi(2)).sum();
    let (mut mode, mut factor) = (1.0, 1.0);
    for ((index, extent), waves) in at.into_iter().zip(shape).zip(MODES) {
        let cells_of_this = *extent as f64 + 1.0;
        let share = 0.4 * cells_of_this.powi(2) / (2.0 * cells);
        mode *= (waves * PI * (index as f64 + 1.0) / cells_of_this).sin();
        factor -= 2.0 * share * (1.0 - (waves * PI / cells_of_this).cos());
    }
    mode * factor.powi(iteration)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut subscriber = Subscriber::open("heat3d", SubscriberOptions::default())?;
    loop {
        match subscriber.next_step(Duration::from_secs(10))? {
            NextStep::Step(step) => {
                let iteration = step.scalar::<i32>("iteration")?;
                let field = step.get_array::<f64>("temperature", "[...]")?;
                let farthest = field.indexed_iter().map(|(at, value)| {
                    (value - solution([at[0], at[1], at[2]], field.shape(), iteration)).abs()
                });
                let farthest = farthest.fold(0.0, f64::max);
                let row = step.get::<f64>("temperature", "[12, 4, 0:3]")?;
                println!("iteration {iteration}: {row:.4?}, at most {farthest:.0e} off");
                if farthest > 1e-12 {
                    return Err("the field is not the solution".into());
                }
            }
            NextStep::NotYet => println!("no step for 10 s"),
            NextStep::Ended(ending) => {
                println!("{}", ending.reason);
                return Ok(());
            }
        }
    }
}
