;; The sum of the squares of a block of f64, written by hand: what guest/sum_of_squares.c does, in WebAssembly's own text.
(module
  (memory (export "memory") 1)

  ;; Room from address 1024 on: the result lies before it.
  (func (export "flexpath_reserve_1") (param $len i32) (result i32)
    (local $missing i32)
    (local.set $missing
      (i32.sub
        (i32.shr_u (i32.add (i32.add (local.get $len) (i32.const 1024)) (i32.const 65535)) (i32.const 16))
        (memory.size)))
    (if (i32.gt_s (local.get $missing) (i32.const 0))
      (then
        (if (i32.eq (memory.grow (local.get $missing)) (i32.const -1))
          (then (return (i32.const 0))))))
    (i32.const 1024))

  (func (export "flexpath_transform_1") (param $inputs i32) (param $count i32) (param $output i32) (result i32)
    (local $at i32) (local $end i32) (local $sum f64) (local $x v128)
    (local $a v128) (local $b v128) (local $c v128) (local $d v128)
    (if (i32.ne (i32.load offset=8 (local.get $inputs)) (i32.const 12)) ;; FLEXPATH_F64
      (then (return (i32.const 1))))
    (local.set $at (i32.load (local.get $inputs)))
    (local.set $end (i32.add (local.get $at) (i32.load offset=4 (local.get $inputs))))

    ;; Eight sums at once, as each addition waits for the one before it; and sixteen elements in a turn of the loop, as each
    ;; turn is counted and looks at the time.
    (block $rest
      (loop $turn
        (br_if $rest (i32.lt_u (i32.sub (local.get $end) (local.get $at)) (i32.const 128)))
        (local.set $x (v128.load offset=0 align=8 (local.get $at)))
        (local.set $a (f64x2.add (local.get $a) (f64x2.mul (local.get $x) (local.get $x))))
        (local.set $x (v128.load offset=16 align=8 (local.get $at)))
        (local.set $b (f64x2.add (local.get $b) (f64x2.mul (local.get $x) (local.get $x))))
        (local.set $x (v128.load offset=32 align=8 (local.get $at)))
        (local.set $c (f64x2.add (local.get $c) (f64x2.mul (local.get $x) (local.get $x))))
        (local.set $x (v128.load offset=48 align=8 (local.get $at)))
        (local.set $d (f64x2.add (local.get $d) (f64x2.mul (local.get $x) (local.get $x))))
        (local.set $x (v128.load offset=64 align=8 (local.get $at)))
        (local.set $a (f64x2.add (local.get $a) (f64x2.mul (local.get $x) (local.get $x))))
        (local.set $x (v128.load offset=80 align=8 (local.get $at)))
        (local.set $b (f64x2.add (local.get $b) (f64x2.mul (local.get $x) (local.get $x))))
        (local.set $x (v128.load offset=96 align=8 (local.get $at)))
        (local.set $c (f64x2.add (local.get $c) (f64x2.mul (local.get $x) (local.get $x))))
        (local.set $x (v128.load offset=112 align=8 (local.get $at)))
        (local.set $d (f64x2.add (local.get $d) (f64x2.mul (local.get $x) (local.get $x))))
        (local.set $at (i32.add (local.get $at) (i32.const 128)))
        (br $turn)))
    (local.set $a
      (f64x2.add
        (f64x2.add (local.get $a) (local.get $b))
        (f64x2.add (local.get $c) (local.get $d))))
    (local.set $sum (f64.add (f64x2.extract_lane 0 (local.get $a)) (f64x2.extract_lane 1 (local.get $a))))

    ;; What is left, one by one.
    (block $done
      (loop $next
        (br_if $done (i32.ge_u (local.get $at) (local.get $end)))
        (local.set $sum
          (f64.add (local.get $sum) (f64.mul (f64.load (local.get $at)) (f64.load (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const 8)))
        (br $next)))
    (f64.store (i32.const 0) (local.get $sum))
    (i32.store offset=4 (local.get $output) (i32.const 8))  ;; data is 0 already
    (i32.store offset=8 (local.get $output) (i32.const 12))
    (i32.const 0)))
