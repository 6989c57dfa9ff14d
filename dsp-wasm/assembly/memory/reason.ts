// Why there is no trusted estimate, as far as the sample values tell, with the numbers that the host uses, in their order of precedence.
export const NO_REASON: i32 = 0;
export const NO_CONTACT: i32 = 1;
export const SATURATED: i32 = 2;
export const BAD_SCALE: i32 = 3;
export const NO_DC: i32 = 4;
export const HUM: i32 = 5;
export const MOTION: i32 = 6;
export const NOISE: i32 = 7;
