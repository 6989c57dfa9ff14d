import { Schema } from 'mongoose';
import type { Account } from '../../store.js';
import { type Document, OPTIONS } from './options.js';

export type AccountDocument = Document<Account>;

export const accounts = new Schema<AccountDocument>(
  {
    _id: String,
    name: { type: String, required: true },
    algorithms: { type: [String], default: null },
    createdAt: { type: Number, required: true },
  },
  OPTIONS,
);
accounts.index({ name: 1 }, { unique: true });
