import { Schema } from 'mongoose';
import type { Session } from '../../store.js';
import { channel, type Document, OPTIONS, PART } from './options.js';

export type SessionDocument = Document<Session> & {
  /** The gateway from which the session was taken, and the taker's epoch, until that gateway has been told. */
  takeovers: { gateway: string; epoch: number }[];
  /** Counts the commits, so that a claim and a concurrent commit conflict. */
  commits: number;
};

const progress = new Schema(
  {
    clockShift: Number,
    originWithoutClock: Number,
    firstInstant: Number,
    lastInstant: Number,
    lastDataAt: Number,
    handedOverBy: Number,
    nextSeq: Schema.Types.Mixed,
    counted: Schema.Types.Mixed,
    slips: Schema.Types.Mixed,
  },
  PART,
);

export const sessions = new Schema<SessionDocument>(
  {
    _id: String,
    accountId: { type: String, required: true },
    user: String,
    deviceId: { type: String, required: true },
    deviceModelId: { type: String, required: true },
    status: { type: String, enum: ['open', 'closed'], required: true },
    startedAt: { type: Number, required: true },
    endedAt: Number,
    gateway: { type: String, required: true },
    epoch: { type: Number, required: true },
    channels: [channel],
    spo2Curve: { type: [Number], default: null },
    algorithms: { type: [String], default: null },
    progress,
    takeovers: [new Schema({ gateway: { type: String, required: true }, epoch: Number }, PART)],
    commits: Number,
  },
  OPTIONS,
);
sessions.index({ accountId: 1, deviceId: 1 }, { unique: true, partialFilterExpression: { status: 'open' } });
sessions.index({ status: 1, gateway: 1 }, { partialFilterExpression: { status: 'open' } });
sessions.index({ 'takeovers.gateway': 1 });
sessions.index({ accountId: 1, startedAt: -1, _id: 1 });
sessions.index({ accountId: 1, status: 1, startedAt: -1, _id: 1 });
sessions.index({ accountId: 1, user: 1, startedAt: -1, _id: 1 });
sessions.index({ accountId: 1, deviceId: 1, startedAt: -1, _id: 1 });
