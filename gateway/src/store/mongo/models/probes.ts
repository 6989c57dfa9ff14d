import { Schema } from 'mongoose';
import { OPTIONS } from './options.js';

/** The last probe, and, as `at`, the version of the schema. */
export interface ProbeDocument {
  _id: string;
  at: number;
}

export const probes = new Schema<ProbeDocument>({ _id: String, at: { type: Number, required: true } }, OPTIONS);
