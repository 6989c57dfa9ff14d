/** State of the SpO2 from step to step. */
@unmanaged
export class Spo2State {
  /** Usual size of the infrared pulse, relative to its level, natural logarithm; 0 before there is one. */
  usualPerfusion: f64;
  /** Whether the two channels of the newest estimate agree, so that there is nothing but its ratio to doubt. */
  agree: bool;
}

export const SPO2_STATE_BYTES: usize = (offsetof<Spo2State>() + 7) & ~7;
