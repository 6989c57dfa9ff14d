import { Schema } from 'mongoose';
import { OPTIONS } from './options.js';

/** The number of objects of a kind that an account has ever had, or, of devices, has now: `_id` holds both. */
export interface CounterDocument {
  _id: string;
  count: number;
}

export const counters = new Schema<CounterDocument>({ _id: String, count: { type: Number, required: true } }, OPTIONS);
