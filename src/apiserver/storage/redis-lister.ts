import type { RedisConnection } from '@rollkeeper/redis/connection';
import { LuaScript } from '@rollkeeper/redis/connection';
import { StorageExpiredError } from './errors.js';
import { fieldOf, parseField, toStoredObject } from './object-text.js';
import type { RedisKeys } from './redis-layout.js';
import { parseStored, unexpectedReply } from './redis-layout.js';
import type { RedisLog } from './redis-log.js';
import type { RedisOpener } from './redis-opener.js';
import type { PresentPage } from './rewound-page.js';
import { ChangesSince } from './rewound-page.js';
import type { Revision, StorageCursor, StorageList, StorageListOptions, StoredObject } from './storage.js';
import type { WatchRing } from './watch-ring.js';

const listScript = new LuaScript(new URL('./lua/list-3.lua', import.meta.url));

/** Objects, and bytes of them, in one script call. A longer list is read in several, so that writers wait milliseconds at most. */
const PAGE = 500;
const PAGE_BYTES = 1024 * 1024;

/**
 * Lists of one state: the present is read page by page, and what was written since the first page is undone by the
 * watch log.
 */
export class RedisLister {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: RedisKeys,
    private readonly log: RedisLog,
    private readonly ring: () => WatchRing | undefined,
    private readonly opener: RedisOpener,
  ) {}

  /** @throws StorageExpiredError */
  async list(resource: string, options: StorageListOptions = {}): Promise<StorageList> {
    const { namespace, limit = Infinity, maxTextLength = Infinity, continueFrom } = options;
    const scope = { resource, ...(namespace === undefined ? {} : { namespace }) };
    const items: StoredObject[] = [];
    let textLength = 0;
    let changes = continueFrom && new ChangesSince(scope, continueFrom.revision);
    let after = continueFrom && fieldOf(continueFrom);
    for (;;) {
      const want = Math.min(limit - items.length, PAGE);
      const present = await this.readPresent(
        { resource, namespace, after },
        want,
        maxTextLength - textLength,
      );
      changes ??= new ChangesSince(scope, present.revision);
      await this.catchUp(changes, present.revision);
      const page = changes.rewind(present, want);
      for (const item of page.items) {
        items.push(toStoredObject(item, { resource, ...parseField(item.field) }));
        textLength += item.text.length;
      }
      const end = { items, revision: changes.revision, remaining: page.remaining };
      if (page.end === undefined) return end;
      if (items.length >= limit || textLength >= maxTextLength)
        return { ...end, next: cursorAt(changes.revision, page.end) };
      after = page.end;
    }
  }

  private async readPresent(
    stretch: Stretch,
    limit: number,
    length: number,
  ): Promise<PresentPage & { readonly revision: Revision }> {
    await this.opener.ready();
    const { resource, namespace, after } = stretch;
    const { objects, index } = this.keys.of(resource);
    const reply = await listScript.run(
      this.redis,
      [this.keys.meta, objects, index],
      [beginOf(stretch), endOf(namespace), limit, Math.min(length, PAGE_BYTES)],
    );
    if (!Array.isArray(reply) || reply.length !== 4) throw unexpectedReply(reply);
    const [revision, remaining, fields, values] = reply as [number, number, string[], string[]];
    if (revision === 0) {
      await this.opener.open();
      return this.readPresent(stretch, limit, length);
    }
    const items = fields.map((field, i) => ({ field, ...parseStored(values[i] as string) }));
    return { revision, remaining, after, items };
  }

  private async catchUp(changes: ChangesSince, revision: Revision): Promise<void> {
    if (revision < changes.revision) {
      throw new StorageExpiredError(changes.revision, `the store is at ${revision}`);
    }
    for await (const entries of this.log.between(changes.upTo, revision, this.ring())) changes.add(entries);
  }
}

/** The objects of a resource, in one namespace or all, behind a field or from the beginning. */
interface Stretch {
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly after: string | undefined;
}

/** Never before the namespace, regardless of the cursor: names sort after `namespace\0`. */
function beginOf({ after, namespace }: Stretch): string {
  const first = namespace === undefined ? '' : fieldOf({ namespace, name: '' });
  if (after !== undefined && isBytewiseAtLeast(after, first)) return `(${after}`;
  return namespace === undefined ? '-' : `[${first}`;
}

/** Nothing but names sorts between `namespace\0` and `namespace\x01`. */
function endOf(namespace: string | undefined): string {
  return namespace === undefined ? '+' : `(${namespace}\x01`;
}

/** As Redis compares; strings compare otherwise beyond U+D7FF. */
function isBytewiseAtLeast(field: string, bound: string): boolean {
  return Buffer.compare(Buffer.from(field), Buffer.from(bound)) >= 0;
}

function cursorAt(revision: Revision, field: string): StorageCursor {
  return { revision, ...parseField(field) };
}
