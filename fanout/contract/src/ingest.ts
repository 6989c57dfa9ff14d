import { z } from 'zod';
import { INSIGHT_TYPES, type InsightType } from './insight-types.js';

/** The limits that `ready` announces to devices. */
export const LIMITS = {
  /** A larger message closes the connection (1009). */
  max_frame_bytes: 65_536,
  /** Maximum data time that a device should have unacknowledged, ms. */
  max_unacked_ms: 30_000,
  /** Interval of acknowledgements while data arrive, ms. */
  ack_interval_ms: 500,
} as const;

/** Codes of `error` messages: one message was refused, and the connection stays open. In order of precedence. */
export const FRAME_ERRORS = [
  'bad_json',
  'bad_message',
  'bad_version',
  'bad_encoding',
  'bad_frame',
  'bad_length',
  'bad_value',
  'unknown_channel',
  'too_late',
  'in_future',
  'too_fast',
] as const;
export type FrameErrorCode = (typeof FRAME_ERRORS)[number];

/** Codes of `notice` messages: the data are accepted, but a problem reduces their value. */
export const NOTICES = [
  'rate_off',
  'ts_unsteady',
  'ts_back',
  'order_wrong',
  'channel_late',
  'all_duplicates',
  'all_lost',
  'frames_overlap',
  'not_analysed',
  'already_stored',
  'device_id_twice',
  'no_reading',
] as const;
export type NoticeCode = (typeof NOTICES)[number];

/** Reasons of `no_reading`: why there is no trusted reading of a type, in order of precedence. */
export const REASONS = [
  'no_data',
  'gaps',
  'no_contact',
  'saturated',
  'bad_scale',
  'no_dc',
  'implausible_ratio',
  'hum',
  'motion',
  'rate_off',
  'uncalibrated',
  'out_of_range',
  'too_little',
  'noise',
] as const;
export type Reason = (typeof REASONS)[number];

const channelIndex = z.int().min(0).max(255).meta({ description: 'Position of the channel in the device model.' });
const seq = z
  .int()
  .min(0)
  .max(2 ** 32);
const time = z.number().meta({ description: "The service's clock, ms since the epoch." });
const echo = z
  .union([z.string(), z.number(), z.boolean(), z.null()])
  .exactOptional()
  .meta({ description: 'Returned unchanged in the pong.' });
const sessionId = z.uuid();

/** The text messages of a device. */
export const FROM_DEVICE = {
  samples: z
    .object({
      type: z.literal('samples'),
      channel: channelIndex,
      seq: seq.meta({ description: 'Number of the first instant.' }),
      ts: z.number().nullish().meta({
        description: 'Device time of the first instant, ms since the epoch; null or absent if the device has no clock.',
      }),
      samples: z
        .array(z.number().nullable())
        .min(1)
        .meta({ description: 'Interleaved, whole instants; null is a missing value.' }),
    })
    .meta({
      title: 'Text data frame',
      examples: [{ type: 'samples', channel: 0, seq: 0, ts: 1_763_600_000_000, samples: [512, 513, null, 515] }],
    }),
  end: z.object({ type: z.literal('end') }).meta({ title: 'End of the session' }),
  ping: z
    .object({ type: z.literal('ping'), t: echo })
    .meta({ title: 'Ping for clients that cannot send WebSocket pings' }),
};

/** The messages of the service to a device. */
export const TO_DEVICE = {
  ready: z
    .object({
      type: z.literal('ready').meta({ description: 'Kind of the message.' }),
      session_id: sessionId.meta({ description: 'The session that was opened or resumed.' }),
      resumed: z.boolean().meta({ description: 'Whether the session was open already.' }),
      server_time: time,
      channels: z
        .array(
          z.object({
            index: channelIndex,
            ch_id: z.uuid().meta({ description: 'Id of the channel.' }),
            modality: z.string().meta({ description: 'Name of the modality.', pattern: '^[a-z0-9_]{1,64}$' }),
            sample_rate_hz: z.number().meta({ description: 'Sample instants per second, as declared.' }),
            bit_depth: z.int().meta({ description: 'Bits per sample.' }),
            num_channels: z.int().meta({ description: 'Sub-channels: values in one sample instant.' }),
            next_seq: seq.meta({ description: 'Number of the instant at which the channel continues.' }),
          }),
        )
        .meta({ description: "The session's channels." }),
      replay_ms: z.int().meta({
        description:
          'Length of the most recent data that the device should send again, because this gateway has none of them, ms of data time; 0 for none.',
      }),
      limits: z
        .object({
          max_frame_bytes: z.int().meta({ description: 'Maximum length of a frame, bytes.' }),
          max_unacked_ms: z.int().meta({ description: 'Maximum data time that may be unacknowledged, ms.' }),
          ack_interval_ms: z.int().meta({ description: 'Time between acknowledgements while data arrive, ms.' }),
        })
        .meta({ description: 'The limits of the service.' }),
    })
    .meta({ title: 'The session of this connection' }),
  ack: z
    .object({
      type: z.literal('ack'),
      next_seq: z.record(z.string(), seq).meta({
        description: 'For each channel that has started, by index, the lowest number that the service still waits for.',
      }),
      server_time: time,
    })
    .meta({
      title: 'Acknowledgement of data that were received, or given up as lost',
      examples: [{ type: 'ack', next_seq: { 0: 1200, 1: 400 }, server_time: 1_763_600_000_500 }],
    }),
  error: z
    .object({
      type: z.literal('error').meta({ description: 'Kind of the message.' }),
      code: z.enum(FRAME_ERRORS).meta({ description: 'Cause. Later versions may add codes.' }),
      detail: z.string().meta({ description: 'The fault, and how to correct it, in words.' }),
      channel: z.int().exactOptional().meta({ description: "The frame's channel, if it could be read." }),
      seq: z.number().exactOptional().meta({ description: "The frame's number, if it could be read." }),
    })
    .meta({ title: 'One message was refused' }),
  notice: z
    .looseObject({
      type: z.literal('notice').meta({ description: 'Kind of the message.' }),
      code: z.enum(NOTICES).meta({ description: 'The problem. Later versions may add codes.' }),
      detail: z.string().meta({ description: 'The problem and how to correct it, in words.' }),
      channel: z
        .int()
        .exactOptional()
        .meta({ description: 'Index of the channel. Absent if the notice is about the whole session.' }),
      over: z.literal(true).exactOptional().meta({ description: 'Present when the problem is over.' }),
      measured_hz: z
        .number()
        .exactOptional()
        .meta({ description: 'Of rate_off: the rate of the data, Hz; known to 1 %.' }),
      declared_hz: z.number().exactOptional().meta({ description: 'Of rate_off: the rate of the device model, Hz.' }),
      expected_seq: z.int().exactOptional().meta({ description: 'Of all_lost: the number that should have followed.' }),
      modalities: z
        .array(z.string())
        .readonly()
        .exactOptional()
        .meta({ description: "Of not_analysed: the modalities that the account's algorithms use." }),
      session_id: z
        .string()
        .exactOptional()
        .meta({ description: 'Of already_stored: the closed session that has data of the same time.' }),
      insight: z
        .enum(INSIGHT_TYPES as [InsightType])
        .exactOptional()
        .meta({ description: 'Of no_reading: the type without a trusted reading.' }),
      reason: z.enum(REASONS).exactOptional().meta({
        description: 'Of no_reading: the first reason that applies. What was seen follows as numbers, by name.',
      }),
      algorithm: z
        .string()
        .exactOptional()
        .meta({ description: 'Of no_reading: the algorithm that came closest to a reading.' }),
    })
    .meta({
      title: 'The data are accepted, but a problem reduces their value',
      examples: [
        { type: 'notice', code: 'rate_off', channel: 0, detail: '…', measured_hz: 50, declared_hz: 100 },
        {
          type: 'notice',
          code: 'no_reading',
          insight: 'spo2',
          reason: 'implausible_ratio',
          algorithm: 'spo2-ratio',
          ratio: 2.12,
          detail: '…',
        },
      ],
    }),
  pong: z.object({ type: z.literal('pong'), t: echo }).meta({ title: 'Answer to a ping' }),
  ended: z
    .object({ type: z.literal('ended'), session_id: sessionId })
    .meta({ title: 'The session is closed, its insights are stored and published' }),
};

/** A message of the service to a device. */
export type ServiceMessage = {
  [name in keyof typeof TO_DEVICE]: Readonly<z.infer<(typeof TO_DEVICE)[name]>>;
}[keyof typeof TO_DEVICE];
