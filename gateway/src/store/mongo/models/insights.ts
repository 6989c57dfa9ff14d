import { Schema, type Types } from 'mongoose';
import type { StoredInsight } from '../../../insight.js';
import { OPTIONS } from './options.js';

/** The scope of its session, copied for the lists. */
export type InsightDocument = StoredInsight & { _id: Types.ObjectId; accountId: string; user: string | null };

export const insights = new Schema<InsightDocument>(
  {
    _id: Schema.Types.ObjectId,
    accountId: { type: String, required: true },
    user: String,
    session_id: String,
    device_id: String,
    type: { type: String },
    value: Number,
    unit: String,
    ts: Number,
    confidence: Number,
    sqi_class: String,
    actual_start: Number,
    actual_end: Number,
    coverage: Number,
    e2e_latency_ms: Number,
    algorithm: String,
    sdnn: Number,
    pnn50: Number,
  },
  OPTIONS,
);
insights.index({ session_id: 1, actual_end: 1, type: 1 }, { unique: true });
insights.index({ session_id: 1, type: 1, ts: 1 }, { unique: true });
insights.index({ session_id: 1, actual_end: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, actual_end: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, user: 1, actual_end: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, device_id: 1, actual_end: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, user: 1, ts: 1, _id: 1 });
insights.index({ accountId: 1, device_id: 1, ts: 1, _id: 1 });
