/** One recorded case: the part common to all formats. */
export type RecordedCase = JsonObject & { readonly id: string; readonly section?: string };

/** A kind of recording: how to recognise it, and how to compare our controllers with it. */
export interface ConformanceFormat {
  /** For messages: `deployment`. */
  readonly name: string;
  /** Whether a line is of this format, judged by its fields. */
  matches(recorded: RecordedCase): boolean;
  /** The cases of a file whose lines have no ids; undefined if it is not of this format. Each has its section. */
  casesOf?(lines: readonly JsonObject[]): readonly RecordedCase[] | undefined;
  /** Called before the first case of a file, with the set-up that the file declares, if any. */
  open?(setup: Json | undefined): Promise<void>;
  /** Called after the last case, also after a failure. */
  close?(): Promise<void>;
  /** Runs the case. Resolves with one line per difference: none if all is as recorded. */
  run(recorded: RecordedCase): Promise<readonly string[]>;
  /** After the last case: in how many of them all agree, part by part, one line each. */
  agreed?(): readonly string[];
  /** For a case that differs: the rules of ours that explain it; none if it should not differ. */
  deliberate?(recorded: RecordedCase): Promise<readonly string[]>;
}

/** A JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [field: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Applies `replace` to every text in `value`, at any depth. */
export function mapStrings(value: Json | undefined, replace: (text: string) => string): Json | undefined {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item as Json, replace) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [replace(name), mapStrings(field, replace)]),
  );
}
