/** Estimate of the window that ends at `end` (seconds): writes OUT_VALUE and OUT_CONFIDENCE; 1, or 0 for none. */
export function estimateRrResp(slot: usize, end: f64): i32 {
  return 0;
}
