import { PERMISSIONS } from '@device-insights/fanout/key-check';
import { Schema } from 'mongoose';
import type { Key } from '../../store.js';
import { type Document, OPTIONS } from './options.js';

export type KeyDocument = Document<Key>;

export const keys = new Schema<KeyDocument>(
  {
    _id: String,
    accountId: { type: String, required: true },
    user: String,
    hash: { type: String, required: true },
    prefix: { type: String, required: true },
    lastFour: String,
    createdAt: { type: Number, required: true },
    lastUsedAt: Number,
    revokedAt: Number,
    expiresAt: Number,
    subscribeOnly: Boolean,
    replacedBy: String,
    permissions: { type: [String], enum: PERMISSIONS },
    label: String,
  },
  OPTIONS,
);
keys.index({ hash: 1 }, { unique: true });
keys.index({ accountId: 1, createdAt: 1, _id: 1 });
keys.index({ accountId: 1, createdAt: -1, _id: 1 });
keys.index({ accountId: 1, user: 1, lastUsedAt: 1 });
keys.index({ expiresAt: 1 }, { partialFilterExpression: { subscribeOnly: true } });
keys.index({ revokedAt: 1 }, { partialFilterExpression: { revokedAt: { $gt: 0 } } });
