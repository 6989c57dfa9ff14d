/** Natural logarithms of four positive, normal f32: exponent, and the series of artanh for the mantissa; within 2e-6. */
export function log4(x: v128): v128 {
  const exponent = f32x4.convert_i32x4_s(i32x4.sub(i32x4.shr_s(x, 23), i32x4.splat(127)));
  const mantissa = v128.or(v128.and(x, i32x4.splat(0x7fffff)), i32x4.splat(0x3f800000));
  const one = f32x4.splat(1);
  const t = f32x4.div(f32x4.sub(mantissa, one), f32x4.add(mantissa, one)); // 0 to 1/3
  const s = f32x4.mul(t, t);
  let series = f32x4.add(f32x4.mul(s, f32x4.splat(<f32>(2.0 / 9.0))), f32x4.splat(<f32>(2.0 / 7.0)));
  series = f32x4.add(f32x4.mul(s, series), f32x4.splat(<f32>(2.0 / 5.0)));
  series = f32x4.add(f32x4.mul(s, series), f32x4.splat(<f32>(2.0 / 3.0)));
  series = f32x4.add(f32x4.mul(s, series), f32x4.splat(2));
  return f32x4.add(f32x4.mul(exponent, f32x4.splat(<f32>Math.LN2)), f32x4.mul(t, series));
}

/** Exponentials of four f32 between -80 and 80, with a relative error below 1e-5. */
export function exp4(x: v128): v128 {
  const y = f32x4.mul(x, f32x4.splat(<f32>Math.LOG2E));
  const whole = f32x4.nearest(y);
  const f = f32x4.mul(f32x4.sub(y, whole), f32x4.splat(<f32>Math.LN2)); // -0.35 to 0.35
  let series = f32x4.add(f32x4.mul(f, f32x4.splat(<f32>(1.0 / 120.0))), f32x4.splat(<f32>(1.0 / 24.0)));
  series = f32x4.add(f32x4.mul(f, series), f32x4.splat(<f32>(1.0 / 6.0)));
  series = f32x4.add(f32x4.mul(f, series), f32x4.splat(0.5));
  series = f32x4.add(f32x4.mul(f, series), f32x4.splat(1));
  series = f32x4.add(f32x4.mul(f, series), f32x4.splat(1));
  const power = i32x4.shl(i32x4.add(i32x4.trunc_sat_f32x4_s(whole), i32x4.splat(127)), 23);
  return f32x4.mul(series, power);
}
