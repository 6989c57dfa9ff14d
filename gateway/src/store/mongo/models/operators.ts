import { Schema } from 'mongoose';
import type { Operator } from '../../store.js';
import { type Document, OPTIONS } from './options.js';

export type OperatorDocument = Document<Operator>;

export const operators = new Schema<OperatorDocument>(
  {
    _id: String,
    name: { type: String, required: true },
    role: { type: String, enum: ['operator', 'viewer'], required: true },
    password: { type: String, required: true },
    revision: { type: Number, required: true },
    createdAt: { type: Number, required: true },
  },
  OPTIONS,
);
operators.index({ name: 1 }, { unique: true });
