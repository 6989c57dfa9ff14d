import { Schema, type Types } from 'mongoose';
import { OPTIONS } from './options.js';

/** The beats of 10 s of data time of a session (beat-pack.ts). */
export interface BeatsDocument {
  readonly _id: Types.ObjectId;
  readonly accountId: string;
  readonly session_id: string;
  readonly start: number;
  readonly ts: number;
  readonly beats: string;
}

export const beats = new Schema<BeatsDocument>(
  {
    _id: Schema.Types.ObjectId,
    accountId: { type: String, required: true },
    session_id: String,
    start: Number,
    ts: Number,
    beats: String,
  },
  OPTIONS,
);
beats.index({ session_id: 1, start: 1 }, { unique: true });
beats.index({ accountId: 1, ts: 1, _id: 1 });
