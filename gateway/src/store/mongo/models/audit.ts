import { Schema } from 'mongoose';
import type { AuditEntry } from '../../store.js';
import { OPTIONS } from './options.js';

/** `n` counts the entries. */
export type AuditDocument = AuditEntry & { n: number };

export const audit = new Schema<AuditDocument>(
  {
    n: { type: Number, required: true },
    at: { type: Number, required: true },
    actor: { type: String, required: true },
    action: { type: String, required: true },
    accountId: String,
    subject: String,
  },
  OPTIONS,
);
audit.index({ n: -1 }, { unique: true });
audit.index({ action: 1, n: 1 });
