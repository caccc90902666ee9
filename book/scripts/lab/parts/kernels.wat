;; The slow parts of a forward pass, on four float32 numbers at once. Addresses, lengths and strides are in bytes;
;; four numbers are 16. kernels.js has the same functions in JavaScript.
(module
  (memory (import "lab" "memory") 1)

  ;; a bᵀ: the dot products of rows of a with rows of b, four columns of the result at a time. The result has at
  ;; least four columns; if their number is no multiple of four, the last columns are computed twice.
  (func (export "dotProducts")
    (param $a i32) (param $rows i32) (param $b i32) (param $columns i32) (param $length i32)
    (param $out i32) (param $stride i32)
    (local $column i32) (local $row i32) (local $i i32) (local $even i32) (local $a_row i32) (local $to i32)
    (local $b0 i32) (local $b1 i32) (local $b2 i32) (local $b3 i32)
    (local $x v128) (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local.set $even (i32.and (local.get $length) (i32.const -16))) ;; four numbers are 16 bytes
    (loop $four_columns
      (if (i32.gt_s (i32.add (local.get $column) (i32.const 4)) (local.get $columns))
        (then (local.set $column (i32.sub (local.get $columns) (i32.const 4)))))
      (local.set $b0 (i32.add (local.get $b) (i32.mul (local.get $column) (local.get $length))))
      (local.set $b1 (i32.add (local.get $b0) (local.get $length)))
      (local.set $b2 (i32.add (local.get $b1) (local.get $length)))
      (local.set $b3 (i32.add (local.get $b2) (local.get $length)))
      (local.set $a_row (local.get $a))
      (local.set $to (i32.add (local.get $out) (i32.mul (local.get $column) (i32.const 4))))
      (local.set $row (i32.const 0))
      (loop $each_row
        (local.set $s0 (v128.const f32x4 0 0 0 0))
        (local.set $s1 (v128.const f32x4 0 0 0 0))
        (local.set $s2 (v128.const f32x4 0 0 0 0))
        (local.set $s3 (v128.const f32x4 0 0 0 0))
        (local.set $i (i32.const 0))
        (block $no_more_fours
          (loop $four_numbers
            (br_if $no_more_fours (i32.ge_u (local.get $i) (local.get $even)))
            (local.set $x (v128.load (i32.add (local.get $a_row) (local.get $i))))
            (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul (local.get $x)
              (v128.load (i32.add (local.get $b0) (local.get $i))))))
            (local.set $s1 (f32x4.add (local.get $s1) (f32x4.mul (local.get $x)
              (v128.load (i32.add (local.get $b1) (local.get $i))))))
            (local.set $s2 (f32x4.add (local.get $s2) (f32x4.mul (local.get $x)
              (v128.load (i32.add (local.get $b2) (local.get $i))))))
            (local.set $s3 (f32x4.add (local.get $s3) (f32x4.mul (local.get $x)
              (v128.load (i32.add (local.get $b3) (local.get $i))))))
            (local.set $i (i32.add (local.get $i) (i32.const 16)))
            (br $four_numbers)))
        (block $no_more
          (loop $one_number
            (br_if $no_more (i32.ge_u (local.get $i) (local.get $length)))
            (local.set $x (v128.load32_zero (i32.add (local.get $a_row) (local.get $i))))
            (local.set $s0 (f32x4.add (local.get $s0) (f32x4.mul (local.get $x)
              (v128.load32_zero (i32.add (local.get $b0) (local.get $i))))))
            (local.set $s1 (f32x4.add (local.get $s1) (f32x4.mul (local.get $x)
              (v128.load32_zero (i32.add (local.get $b1) (local.get $i))))))
            (local.set $s2 (f32x4.add (local.get $s2) (f32x4.mul (local.get $x)
              (v128.load32_zero (i32.add (local.get $b2) (local.get $i))))))
            (local.set $s3 (f32x4.add (local.get $s3) (f32x4.mul (local.get $x)
              (v128.load32_zero (i32.add (local.get $b3) (local.get $i))))))
            (local.set $i (i32.add (local.get $i) (i32.const 4)))
            (br $one_number)))
        ;; Each s holds four parts of one sum. Halves are added until the sums are side by side.
        (local.set $s0 (f32x4.add
          (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $s0) (local.get $s1))
          (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $s0) (local.get $s1))))
        (local.set $s2 (f32x4.add
          (i8x16.shuffle 0 1 2 3 16 17 18 19 4 5 6 7 20 21 22 23 (local.get $s2) (local.get $s3))
          (i8x16.shuffle 8 9 10 11 24 25 26 27 12 13 14 15 28 29 30 31 (local.get $s2) (local.get $s3))))
        (v128.store (local.get $to) (f32x4.add
          (i8x16.shuffle 0 1 2 3 4 5 6 7 16 17 18 19 20 21 22 23 (local.get $s0) (local.get $s2))
          (i8x16.shuffle 8 9 10 11 12 13 14 15 24 25 26 27 28 29 30 31 (local.get $s0) (local.get $s2))))
        (local.set $a_row (i32.add (local.get $a_row) (local.get $length)))
        (local.set $to (i32.add (local.get $to) (local.get $stride)))
        (local.set $row (i32.add (local.get $row) (i32.const 1)))
        (br_if $each_row (i32.lt_s (local.get $row) (local.get $rows))))
      (local.set $column (i32.add (local.get $column) (i32.const 4)))
      (br_if $four_columns (i32.lt_s (local.get $column) (local.get $columns)))))

  ;; The softmax of each row of x.
  (func (export "softmaxRows") (param $x i32) (param $rows i32) (param $length i32) (param $out i32)
    (local $row i32) (local $i i32) (local $even i32)
    (local $largest v128) (local $sum v128) (local $e v128)
    (local.set $even (i32.and (local.get $length) (i32.const -16)))
    (loop $each_row
      (local.set $largest (f32x4.splat (f32.const -inf)))
      (local.set $i (i32.const 0))
      (block $no_more_fours
        (loop $four_numbers
          (br_if $no_more_fours (i32.ge_u (local.get $i) (local.get $even)))
          (local.set $largest (f32x4.pmax (local.get $largest) (v128.load (i32.add (local.get $x) (local.get $i)))))
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          (br $four_numbers)))
      (block $no_more
        (loop $one_number
          (br_if $no_more (i32.ge_u (local.get $i) (local.get $length)))
          (local.set $largest (f32x4.pmax (local.get $largest) (v128.load32_splat (i32.add (local.get $x) (local.get $i)))))
          (local.set $i (i32.add (local.get $i) (i32.const 4)))
          (br $one_number)))
      (local.set $largest (f32x4.pmax (local.get $largest)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $largest) (local.get $largest))))
      (local.set $largest (f32x4.pmax (local.get $largest)
        (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $largest) (local.get $largest))))

      (local.set $sum (f32x4.splat (f32.const 0)))
      (local.set $i (i32.const 0))
      (block $no_more_fours
        (loop $four_numbers
          (br_if $no_more_fours (i32.ge_u (local.get $i) (local.get $even)))
          (local.set $e (call $exp (f32x4.sub (v128.load (i32.add (local.get $x) (local.get $i))) (local.get $largest))))
          (v128.store (i32.add (local.get $out) (local.get $i)) (local.get $e))
          (local.set $sum (f32x4.add (local.get $sum) (local.get $e)))
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          (br $four_numbers)))
      (block $no_more
        (loop $one_number
          (br_if $no_more (i32.ge_u (local.get $i) (local.get $length)))
          (local.set $e (call $exp
            (f32x4.sub (v128.load32_splat (i32.add (local.get $x) (local.get $i))) (local.get $largest))))
          (v128.store32_lane 0 (i32.add (local.get $out) (local.get $i)) (local.get $e))
          (local.set $sum (f32x4.add (local.get $sum) (v128.and (local.get $e) (v128.const i32x4 -1 0 0 0))))
          (local.set $i (i32.add (local.get $i) (i32.const 4)))
          (br $one_number)))
      (local.set $sum (f32x4.add (local.get $sum)
        (i8x16.shuffle 8 9 10 11 12 13 14 15 0 1 2 3 4 5 6 7 (local.get $sum) (local.get $sum))))
      (local.set $sum (f32x4.add (local.get $sum)
        (i8x16.shuffle 4 5 6 7 0 1 2 3 12 13 14 15 8 9 10 11 (local.get $sum) (local.get $sum))))

      (local.set $i (i32.const 0))
      (block $no_more_fours
        (loop $four_numbers
          (br_if $no_more_fours (i32.ge_u (local.get $i) (local.get $even)))
          (v128.store (i32.add (local.get $out) (local.get $i))
            (f32x4.div (v128.load (i32.add (local.get $out) (local.get $i))) (local.get $sum)))
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          (br $four_numbers)))
      (block $no_more
        (loop $one_number
          (br_if $no_more (i32.ge_u (local.get $i) (local.get $length)))
          (v128.store32_lane 0 (i32.add (local.get $out) (local.get $i))
            (f32x4.div (v128.load32_splat (i32.add (local.get $out) (local.get $i))) (local.get $sum)))
          (local.set $i (i32.add (local.get $i) (i32.const 4)))
          (br $one_number)))
      (local.set $x (i32.add (local.get $x) (local.get $length)))
      (local.set $out (i32.add (local.get $out) (local.get $length)))
      (local.set $row (i32.add (local.get $row) (i32.const 1)))
      (br_if $each_row (i32.lt_s (local.get $row) (local.get $rows)))))

  ;; x Φ(x) in place, for a multiple of four numbers. erf as in Abramowitz and Stegun 1964, 7.1.26.
  (func (export "gelu") (param $x i32) (param $length i32)
    (local $end i32) (local $it v128) (local $z v128) (local $t v128) (local $erf v128)
    (local.set $end (i32.add (local.get $x) (local.get $length)))
    (loop $four_numbers
      (local.set $it (v128.load (local.get $x)))
      (local.set $z (f32x4.mul (f32x4.abs (local.get $it)) (f32x4.splat (f32.const 0.70710678))))
      (local.set $t (f32x4.div (f32x4.splat (f32.const 1))
        (f32x4.add (f32x4.splat (f32.const 1)) (f32x4.mul (f32x4.splat (f32.const 0.3275911)) (local.get $z)))))
      (local.set $erf (f32x4.splat (f32.const 1.061405429)))
      (local.set $erf (f32x4.add (f32x4.mul (local.get $erf) (local.get $t)) (f32x4.splat (f32.const -1.453152027))))
      (local.set $erf (f32x4.add (f32x4.mul (local.get $erf) (local.get $t)) (f32x4.splat (f32.const 1.421413741))))
      (local.set $erf (f32x4.add (f32x4.mul (local.get $erf) (local.get $t)) (f32x4.splat (f32.const -0.284496736))))
      (local.set $erf (f32x4.add (f32x4.mul (local.get $erf) (local.get $t)) (f32x4.splat (f32.const 0.254829592))))
      (local.set $erf (f32x4.sub (f32x4.splat (f32.const 1)) (f32x4.mul (f32x4.mul (local.get $erf) (local.get $t))
        (call $exp (f32x4.neg (f32x4.mul (local.get $z) (local.get $z)))))))
      (local.set $erf (v128.or (local.get $erf) (v128.and (local.get $it) (f32x4.splat (f32.const -0))))) ;; x's sign
      (v128.store (local.get $x) (f32x4.mul (f32x4.mul (local.get $it) (f32x4.splat (f32.const 0.5)))
        (f32x4.add (f32x4.splat (f32.const 1)) (local.get $erf))))
      (local.set $x (i32.add (local.get $x) (i32.const 16)))
      (br_if $four_numbers (i32.lt_u (local.get $x) (local.get $end)))))

  ;; eˣ of numbers that are not above 0: 2ⁿ eʳ, with the polynomial of Cephes' expf for eʳ.
  (func $exp (param $x v128) (result v128)
    (local $n v128) (local $r v128) (local $y v128)
    (local.set $x (f32x4.pmax (local.get $x) (f32x4.splat (f32.const -87))))
    (local.set $n (f32x4.nearest (f32x4.mul (local.get $x) (f32x4.splat (f32.const 1.44269504)))))
    ;; n ln 2 in two parts, the first of which is exact
    (local.set $r (f32x4.sub (local.get $x) (f32x4.mul (local.get $n) (f32x4.splat (f32.const 0.693359375)))))
    (local.set $r (f32x4.add (local.get $r) (f32x4.mul (local.get $n) (f32x4.splat (f32.const 2.12194440e-4)))))
    (local.set $y (f32x4.splat (f32.const 1.9875691500e-4)))
    (local.set $y (f32x4.add (f32x4.mul (local.get $y) (local.get $r)) (f32x4.splat (f32.const 1.3981999507e-3))))
    (local.set $y (f32x4.add (f32x4.mul (local.get $y) (local.get $r)) (f32x4.splat (f32.const 8.3334519073e-3))))
    (local.set $y (f32x4.add (f32x4.mul (local.get $y) (local.get $r)) (f32x4.splat (f32.const 4.1665795894e-2))))
    (local.set $y (f32x4.add (f32x4.mul (local.get $y) (local.get $r)) (f32x4.splat (f32.const 1.6666665459e-1))))
    (local.set $y (f32x4.add (f32x4.mul (local.get $y) (local.get $r)) (f32x4.splat (f32.const 5.0000001201e-1))))
    (local.set $y (f32x4.add (f32x4.mul (f32x4.mul (local.get $y) (local.get $r)) (local.get $r)) (local.get $r)))
    (local.set $y (f32x4.add (local.get $y) (f32x4.splat (f32.const 1))))
    (f32x4.mul (local.get $y)
      (i32x4.shl (i32x4.add (i32x4.trunc_sat_f32x4_s (local.get $n)) (i32x4.splat (i32.const 127))) (i32.const 23)))))
