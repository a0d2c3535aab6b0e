//! Steps that cannot be joined: each is told once, and what comes behind it is joined.

use fp_core::Variable;
use fp_flow::{Key, NextWindow, Windows};

use crate::support::{KEY, PATIENCE, Place, next_window, publish, rows};

fn next_error(windows: &mut Windows) -> String {
    windows.next(PATIENCE).expect_err("an error").to_string()
}

#[test]
fn falling_keys_are_told_and_repeated_ones_left_out() {
    let place = Place::new();
    let ([mut a], streams) = place.streams(["a"], 9);
    let mut windows = Windows::new(streams).by(KEY).tumbling(1).expect("enough credit");
    publish(&mut a, [5, 3, 6, 6, 7]);
    assert_eq!(rows(&next_window(&mut windows)), [(5, vec![50])]);
    let text = next_error(&mut windows);
    assert!(
        text.starts_with(r#"stream "a", step 1: the scalar "time_step" is 3, and was 5 before"#),
        "{text}"
    );
    let rest: Vec<_> = (0..2).flat_map(|_| rows(&next_window(&mut windows))).collect();
    assert_eq!(rest, [(6, vec![60]), (7, vec![70])]);
    assert_eq!(windows.statistics().repeated_steps, 1);
}

#[test]
fn steps_without_a_key_are_told() {
    let place = Place::new();
    let ([mut a], streams) = place.streams(["a"], 9);
    let mut windows = Windows::new(streams).by("t").tumbling(1).expect("enough credit");
    let t = Variable::scalar::<f64>("t").expect("a name");
    publish(&mut a, [1]);
    for value in [f64::NAN, 2.0] {
        let mut writer = a.begin_step().expect("it begins");
        writer.put_scalar(&t, value).expect("put");
        writer.end().expect("it ends");
    }
    let mut writer = a.begin_step().expect("it begins");
    writer.put_text(&Variable::text("t").expect("a name"), "noon").expect("put");
    writer.end().expect("it ends");
    let text = next_error(&mut windows);
    assert!(text.starts_with(r#"stream "a", step 0: it has no scalar "t": name a global scalar"#), "{text}");
    let nan = r#"stream "a", step 1: the scalar "t" is NaN, and no number that steps can be ordered by"#;
    assert_eq!(next_error(&mut windows), nan);
    assert!(matches!(windows.next(PATIENCE), Ok(NextWindow::Window(_))));
    let noon =
        r#"stream "a", step 3: the scalar "t" is of type string, and no number that steps can be ordered by"#;
    assert_eq!(next_error(&mut windows), noon);
}

/// Values of scalars come with the announcement of a step, whatever is subscribed to.
#[test]
fn a_key_need_not_be_subscribed_to() {
    let place = Place::new();
    let mut a = place.publisher("a");
    let nothing = place.holding(5).with_variables(Vec::<String>::new());
    let subscriber = fp_core::Subscriber::open("a", nothing).expect("attached");
    let mut windows = Windows::new([subscriber]).by(KEY).tumbling(1).expect("enough credit");
    publish(&mut a, [1]);
    assert_eq!(next_window(&mut windows).first().key(), Key::Integer(1));
}
