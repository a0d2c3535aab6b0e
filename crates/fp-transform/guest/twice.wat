;; Twice each element of a block of f64, written by hand: a field of the same shape, that conditions measure.
(module
  (memory (export "memory") 2)

  ;; Room from address 1024 on: the result's description lies before it.
  (func (export "flexpath_reserve_1") (param $len i32) (result i32)
    (i32.const 1024))

  (func (export "flexpath_transform_1") (param $inputs i32) (param $count i32) (param $output i32) (result i32)
    (local $at i32) (local $end i32)
    (if (i32.ne (i32.load offset=8 (local.get $inputs)) (i32.const 12)) ;; FLEXPATH_F64
      (then (return (i32.const 1))))
    (local.set $at (i32.load (local.get $inputs)))
    (local.set $end (i32.add (local.get $at) (i32.load offset=4 (local.get $inputs))))
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (f64.store (local.get $at) (f64.add (f64.load (local.get $at)) (f64.load (local.get $at))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next)))
    ;; What is described as given is what is described as made: the elements lie in place.
    (memory.copy (local.get $output) (local.get $inputs) (i32.const 152))
    (i32.const 0)))
