import { Schema } from 'mongoose';
import { OPTIONS } from './options.js';

export interface GatewayDocument {
  _id: string;
  beat: number;
  /** UUID of the server session of its commits. */
  commitSession?: string;
}

export const gateways = new Schema<GatewayDocument>(
  { _id: String, beat: { type: Number, required: true }, commitSession: String },
  OPTIONS,
);
gateways.index({ beat: 1 });
