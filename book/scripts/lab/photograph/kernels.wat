;; The two functions in which nearly all the time of the large model goes, on four float32 numbers at once. Lengths and
;; counts are in numbers; addresses and strides are in bytes. book/photograph_kernels.py compiles this twice: as it
;; stands, and with a multiplication and an addition in place of relaxed_madd, for browsers that lack it.
(module
  (memory (import "lab" "memory") 1)

  ;; Turns eight outputs of a layer from int16 into float32: (length, 8), each column times its scale.
  (func (export "unpack") (param $from i32) (param $scales i32) (param $length i32) (param $to i32)
    (local $end i32) (local $eight v128) (local $left v128) (local $right v128)
    (local.set $left (v128.load (local.get $scales)))
    (local.set $right (v128.load offset=16 (local.get $scales)))
    (local.set $end (i32.add (local.get $from) (i32.shl (local.get $length) (i32.const 4))))
    (loop $each
      (local.set $eight (v128.load (local.get $from)))
      (v128.store (local.get $to) (f32x4.mul (local.get $left)
        (f32x4.convert_i32x4_s (i32x4.extend_low_i16x8_s (local.get $eight)))))
      (v128.store offset=16 (local.get $to) (f32x4.mul (local.get $right)
        (f32x4.convert_i32x4_s (i32x4.extend_high_i16x8_s (local.get $eight)))))
      (local.set $to (i32.add (local.get $to) (i32.const 32)))
      (br_if $each (i32.lt_u (local.tee $from (i32.add (local.get $from) (i32.const 16))) (local.get $end)))))

  ;; a b + start, eight columns of the result: a (rows, length), b (length, 8), start (8). If add is 1, it is added to
  ;; what stands in the result, else it takes its place. rows is a multiple of 4. Four rows and eight columns are
  ;; computed together, because their 32 sums fit into a processor's registers: six loads serve 32 products.
  (func (export "multiply")
    (param $a i32) (param $a_stride i32) (param $rows i32) (param $b i32) (param $length i32)
    (param $start i32) (param $add i32) (param $out i32) (param $stride i32)
    (local $a0 i32) (local $a1 i32) (local $a2 i32) (local $a3 i32) (local $at i32) (local $end i32)
    (local $x v128) (local $left v128) (local $right v128)
    (local $l0 v128) (local $l1 v128) (local $l2 v128) (local $l3 v128)
    (local $r0 v128) (local $r1 v128) (local $r2 v128) (local $r3 v128)
    (local.set $end (i32.add (local.get $b) (i32.shl (local.get $length) (i32.const 5))))
    (loop $four_rows
      (local.set $a0 (local.get $a))
      (local.set $a1 (i32.add (local.get $a0) (local.get $a_stride)))
      (local.set $a2 (i32.add (local.get $a1) (local.get $a_stride)))
      (local.set $a3 (i32.add (local.get $a2) (local.get $a_stride)))
      (local.set $a (i32.add (local.get $a3) (local.get $a_stride)))
      (local.set $l0 (v128.load (local.get $start)))
      (local.set $r0 (v128.load offset=16 (local.get $start)))
      (local.set $l1 (local.get $l0))
      (local.set $l2 (local.get $l0))
      (local.set $l3 (local.get $l0))
      (local.set $r1 (local.get $r0))
      (local.set $r2 (local.get $r0))
      (local.set $r3 (local.get $r0))
      (local.set $at (local.get $b))
      (loop $each
        (local.set $left (v128.load (local.get $at)))
        (local.set $right (v128.load offset=16 (local.get $at)))
        (local.set $x (v128.load32_splat (local.get $a0)))
        (local.set $l0 (f32x4.relaxed_madd (local.get $x) (local.get $left) (local.get $l0)))
        (local.set $r0 (f32x4.relaxed_madd (local.get $x) (local.get $right) (local.get $r0)))
        (local.set $x (v128.load32_splat (local.get $a1)))
        (local.set $l1 (f32x4.relaxed_madd (local.get $x) (local.get $left) (local.get $l1)))
        (local.set $r1 (f32x4.relaxed_madd (local.get $x) (local.get $right) (local.get $r1)))
        (local.set $x (v128.load32_splat (local.get $a2)))
        (local.set $l2 (f32x4.relaxed_madd (local.get $x) (local.get $left) (local.get $l2)))
        (local.set $r2 (f32x4.relaxed_madd (local.get $x) (local.get $right) (local.get $r2)))
        (local.set $x (v128.load32_splat (local.get $a3)))
        (local.set $l3 (f32x4.relaxed_madd (local.get $x) (local.get $left) (local.get $l3)))
        (local.set $r3 (f32x4.relaxed_madd (local.get $x) (local.get $right) (local.get $r3)))
        (local.set $a0 (i32.add (local.get $a0) (i32.const 4)))
        (local.set $a1 (i32.add (local.get $a1) (i32.const 4)))
        (local.set $a2 (i32.add (local.get $a2) (i32.const 4)))
        (local.set $a3 (i32.add (local.get $a3) (i32.const 4)))
        (br_if $each (i32.lt_u (local.tee $at (i32.add (local.get $at) (i32.const 32))) (local.get $end))))
      (local.set $out (call $put (local.get $out) (local.get $stride) (local.get $add) (local.get $l0) (local.get $r0)))
      (local.set $out (call $put (local.get $out) (local.get $stride) (local.get $add) (local.get $l1) (local.get $r1)))
      (local.set $out (call $put (local.get $out) (local.get $stride) (local.get $add) (local.get $l2) (local.get $r2)))
      (local.set $out (call $put (local.get $out) (local.get $stride) (local.get $add) (local.get $l3) (local.get $r3)))
      (br_if $four_rows (i32.gt_s (local.tee $rows (i32.sub (local.get $rows) (i32.const 4))) (i32.const 0)))))

  ;; Writes eight numbers of a row, or adds them; returns the address of the next row.
  (func $put (param $out i32) (param $stride i32) (param $add i32) (param $left v128) (param $right v128) (result i32)
    (if (local.get $add)
      (then
        (local.set $left (f32x4.add (local.get $left) (v128.load (local.get $out))))
        (local.set $right (f32x4.add (local.get $right) (v128.load offset=16 (local.get $out))))))
    (v128.store (local.get $out) (local.get $left))
    (v128.store offset=16 (local.get $out) (local.get $right))
    (i32.add (local.get $out) (local.get $stride))))
