/** Reasons for which the core has no trusted estimate, in the order of their numbers (assembly/memory/reason.ts) and of precedence. */
export const CORE_REASONS = ['no_contact', 'saturated', 'bad_scale', 'no_dc', 'hum', 'motion', 'noise'] as const;
export type CoreReason = (typeof CORE_REASONS)[number];
