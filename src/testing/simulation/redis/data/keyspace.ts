import { ErrorReply, WRONG_TYPE } from '../resp/reply.js';
import { SortedSet } from './sorted-set.js';
import { Stream } from './stream.js';

export class TextValue {
  readonly type = 'string';
  constructor(public text: string) {}
}

export class HashValue {
  readonly type = 'hash';
  readonly fields = new Map<string, string>();
  get size(): number {
    return this.fields.size;
  }
}

export class ListValue {
  readonly type = 'list';
  items: string[] = [];
  get size(): number {
    return this.items.length;
  }
}

export class SetValue {
  readonly type = 'set';
  readonly members = new Set<string>();
  get size(): number {
    return this.members.size;
  }
}

export type Value = TextValue | HashValue | ListValue | SetValue | SortedSet | Stream;

interface Entry {
  readonly value: Value;
  /** Wall clock of the server, epoch milliseconds. */
  expiresAtMs?: number;
}

/** The result of {@link Keyspace.snapshot}. */
export type Snapshot = ReadonlyMap<string, Entry>;

/** One database: keys, their values and when they expire by the server's wall clock. */
export class Keyspace {
  private entries = new Map<string, Entry>();
  /** Keys that got something that a client may block on, in that order. */
  readonly ready = new Set<string>();

  constructor(private readonly now: () => number) {}

  get(key: string): Value | undefined {
    return this.live(key)?.value;
  }

  /** The value of a key, which has that type if there is any. @throws ErrorReply */
  typed<Wanted extends Value>(key: string, type: new (...args: never[]) => Wanted): Wanted | undefined {
    const value = this.get(key);
    if (value === undefined || value instanceof type) return value;
    throw new ErrorReply(WRONG_TYPE);
  }

  /** The same; a key that is missing gets a new one. @throws ErrorReply */
  typedOrNew<Wanted extends Value>(key: string, type: new () => Wanted): Wanted {
    const found = this.typed(key, type);
    if (found) return found;
    const made = new type();
    this.entries.set(key, { value: made });
    return made;
  }

  /** Replaces what the key held. @param expiresAtMs undefined: never */
  set(key: string, value: Value, expiresAtMs?: number): void {
    this.entries.set(key, expiresAtMs === undefined ? { value } : { value, expiresAtMs });
  }

  delete(key: string): boolean {
    const isLive = this.live(key) !== undefined;
    this.entries.delete(key);
    return isLive;
  }

  /** A collection that became empty is no key any more. */
  dropIfEmpty(key: string, value: Exclude<Value, TextValue>): void {
    if (value.size === 0 && !(value instanceof Stream)) this.entries.delete(key);
  }

  expiryOf(key: string): number | undefined {
    return this.live(key)?.expiresAtMs;
  }

  setExpiry(key: string, expiresAtMs: number | undefined): void {
    const entry = this.live(key);
    if (!entry) return;
    if (expiresAtMs === undefined) delete entry.expiresAtMs;
    else entry.expiresAtMs = expiresAtMs;
  }

  keys(): string[] {
    return [...this.entries.keys()].filter((key) => this.live(key) !== undefined);
  }

  signal(key: string): void {
    this.ready.add(key);
  }

  flush(): void {
    this.entries.clear();
  }

  snapshot(): Snapshot {
    return new Map(
      this.keys().map((key) => {
        const { expiresAtMs, value } = this.entries.get(key) as Entry;
        return [
          key,
          { value: copyOf(value), ...(expiresAtMs === undefined ? {} : { expiresAtMs }) },
        ] as const;
      }),
    );
  }

  restore(snapshot: Snapshot): void {
    this.entries = new Map(
      [...snapshot].map(([key, entry]) => [key, { ...entry, value: copyOf(entry.value) }]),
    );
  }

  private live(key: string): Entry | undefined {
    const entry = this.entries.get(key);
    if (entry?.expiresAtMs === undefined || entry.expiresAtMs >= this.now()) return entry;
    this.entries.delete(key);
    return undefined;
  }
}

function copyOf(value: Value): Value {
  if (value instanceof SortedSet || value instanceof Stream) return value.clone();
  if (value instanceof TextValue) return new TextValue(value.text);
  if (value instanceof ListValue) return Object.assign(new ListValue(), { items: [...value.items] });
  if (value instanceof SetValue) {
    const copy = new SetValue();
    for (const member of value.members) copy.members.add(member);
    return copy;
  }
  const copy = new HashValue();
  for (const [field, text] of value.fields) copy.fields.set(field, text);
  return copy;
}
