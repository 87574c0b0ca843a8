import type { Json, JsonObject } from './json.js';

/** One recorded case, as far as all formats agree on it. */
export type RecordedCase = JsonObject & { readonly id: string };

/** A kind of recording: how it is recognised, and how our controllers are held against it. */
export interface ConformanceFormat {
  /** For messages: `deployment`. */
  readonly name: string;
  /** Whether a line is of this format, told by its fields. */
  matches(recorded: RecordedCase): boolean;
  /** Made ready before the first case of a file, with what the file says of what has to be there, if it does. */
  open?(setup: Json | undefined): Promise<void>;
  /** After the last one, whatever happened. */
  close?(): Promise<void>;
  /** Runs the case. Resolves with one line per difference: none where all is as recorded. */
  run(recorded: RecordedCase): Promise<readonly string[]>;
}
