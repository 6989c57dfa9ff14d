/** State of the SpO2 from step to step. */
@unmanaged
export class Spo2State {
  /** Usual size of the infrared pulse, relative to its level, natural logarithm; 0 before there is one. */
  usualPerfusion: f64;
}

export const SPO2_STATE_BYTES: usize = offsetof<Spo2State>();
