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
  /** Of a case that differs: by which of our rules it does so on purpose; none where it should not. */
  deliberate?(recorded: RecordedCase): Promise<readonly string[]>;
}

/** A value of JSON. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;

export interface JsonObject {
  readonly [field: string]: Json | undefined;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Every text in `value`, at any depth, replaced by what `replace` makes of it. */
export function mapStrings(value: Json | undefined, replace: (text: string) => string): Json | undefined {
  if (typeof value === 'string') return replace(value);
  if (Array.isArray(value)) return value.map((item) => mapStrings(item as Json, replace) ?? null);
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [replace(name), mapStrings(field, replace)]),
  );
}
