import { Schema } from 'mongoose';

/** A row in its collection: the id is `_id`. */
export type Document<Row extends { id: string }> = Omit<Row, 'id'> & { _id: string };

/** Queries give plain objects, not documents of mongoose, which cost ten times as much to make. */
export const OPTIONS = {
  strict: 'throw',
  strictQuery: 'throw',
  versionKey: false,
  minimize: false,
  id: false,
  lean: true,
} as const;
/** The same for a part of a document. */
export const PART = { ...OPTIONS, _id: false } as const;

/** A channel of a device model. */
export const channel = new Schema(
  { ch_id: String, modality: String, sample_rate_hz: Number, bit_depth: Number, num_channels: Number },
  PART,
);
