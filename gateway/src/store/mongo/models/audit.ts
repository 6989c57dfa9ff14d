import { Schema } from 'mongoose';
import type { AuditEntry } from '../../store.js';
import { OPTIONS } from './options.js';

/** `n` counts the entries. */
export type AuditDocument = AuditEntry & { n: number; kind: string };

export const audit = new Schema<AuditDocument>(
  {
    n: { type: Number, required: true },
    at: { type: Number, required: true },
    actor: { type: String, required: true },
    action: { type: String, required: true },
    kind: { type: String, required: true },
    accountId: String,
    subject: String,
  },
  OPTIONS,
);
audit.index({ n: -1 }, { unique: true });
audit.index({ kind: 1, n: 1 });
