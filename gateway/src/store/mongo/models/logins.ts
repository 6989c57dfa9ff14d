import { Schema } from 'mongoose';
import type { Login } from '../../store.js';
import { OPTIONS } from './options.js';

export type LoginDocument = Omit<Login, 'hash'> & { _id: string };

export const logins = new Schema<LoginDocument>(
  {
    _id: String,
    operatorId: { type: String, required: true },
    revision: { type: Number, required: true },
    createdAt: { type: Number, required: true },
    expiresAt: { type: Number, required: true },
  },
  OPTIONS,
);
logins.index({ expiresAt: 1 });
