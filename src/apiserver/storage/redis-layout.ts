import { stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { InvalidOptionError } from '@rollkeeper/machinery/errors';
import type { LogEntry, LoggedWrite } from './log-entry.js';
import type { StoredText } from './object-text.js';
import { parseField } from './object-text.js';
import type { Revision } from './storage.js';

/** Far more than a server has resources. */
const MOST_KEPT = 5000;

/** The names of the store's keys. The braces keep all of them in one slot of a Redis cluster. */
export class RedisKeys {
  readonly meta: string;
  readonly log: string;
  private readonly base: string;
  private readonly byResource = new Map<string, { objects: string; index: string }>();

  constructor(keyPrefix: string) {
    this.base = `${keyPrefix}{storage}:`;
    this.meta = `${this.base}meta`;
    this.log = `${this.base}log`;
  }

  /** Kept by name, since each request needs them; those of definitions that are gone make room some time. */
  of(resource: string): { readonly objects: string; readonly index: string } {
    let keys = this.byResource.get(resource);
    if (!keys) {
      keys = { objects: `${this.base}objects:${resource}`, index: `${this.base}index:${resource}` };
      this.byResource.set(resource, keys);
      const [oldest] = this.byResource.keys();
      if (this.byResource.size > MOST_KEPT && oldest !== undefined) this.byResource.delete(oldest);
    }
    return keys;
  }

  /** The keys of objects that are made ready to take the place of others. */
  ready(id: string, resource: string): { readonly objects: string; readonly index: string } {
    const base = `${this.base}ready:${id}:`;
    return { objects: `${base}objects:${resource}`, index: `${base}index:${resource}` };
  }
}

/** `revision json`, as `lua/*.lua` writes it. */
export function parseStored(value: string): StoredText {
  const space = value.indexOf(' ');
  return { revision: Number(value.slice(0, space)), text: value.slice(space + 1) };
}

export function streamId(revision: Revision): string {
  return `${revision}-0`;
}

/** One entry of `XRANGE` or `XREAD`: id, then names and values in turn. */
type StreamEntry = readonly [id: string, fields: readonly string[]];

export function parseLogEntry([id, fields]: StreamEntry): LogEntry {
  const values: Record<string, string> = {};
  for (let i = 0; i + 1 < fields.length; i += 2) values[fields[i] ?? ''] = fields[i + 1] ?? '';
  const revision = Number(id.slice(0, id.indexOf('-')));
  const chain = {
    revision,
    previousRevision: values.a === undefined ? revision - 1 : Number(values.a),
    writeId: values.w ?? '',
    previousWriteId: values.b ?? '',
  };
  if (values.t === 'opened') return { type: values.t, ...chain };
  const previous = values.p === undefined ? undefined : parseStored(values.p);
  return {
    type: values.t as LoggedWrite['type'],
    key: Object.freeze({ resource: values.r ?? '', ...parseField(values.f ?? '') }),
    text: values.o ?? previous?.text ?? '',
    ...(previous ? { previous } : {}),
    ...chain,
  };
}

/** A reply that the scripts cannot give: other data is stored under our keys. */
export function unexpectedReply(reply: unknown): Error {
  return new InvalidOptionError(
    'storage.keyPrefix',
    `Redis answers ${stringifyJson(reply ?? null).slice(0, 100)}: does another program use these keys?`,
  );
}
