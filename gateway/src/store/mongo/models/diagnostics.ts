import { Schema } from 'mongoose';
import type { Diagnostics } from '../../store.js';
import { OPTIONS } from './options.js';

export interface DiagnosticsDocument {
  readonly _id: string;
  readonly diagnostics: Diagnostics;
}

export const diagnostics = new Schema<DiagnosticsDocument>({ _id: String, diagnostics: Schema.Types.Mixed }, OPTIONS);
