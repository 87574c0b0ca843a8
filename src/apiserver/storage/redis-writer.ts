import { isList } from '@rollkeeper/machinery/kubernetes';
import type { RedisConnection } from '@rollkeeper/redis/connection';
import { LuaScript } from '@rollkeeper/redis/connection';
import { Batcher } from './batcher.js';
import { isOutOfMemory } from './errors.js';
import type { LogEntry, LoggedWrite } from './log-entry.js';
import type { NewestTexts } from './newest-texts.js';
import type { StoredText } from './object-text.js';
import { fieldOf } from './object-text.js';
import type { RedisKeys } from './redis-layout.js';
import { parseStored, unexpectedReply } from './redis-layout.js';
import type { RedisOpener } from './redis-opener.js';
import type { CompiledRedisStorageOptions } from './redis-storage.options.js';
import type { Revision, StorageKey } from './storage.js';

const writeScript = new LuaScript(new URL('./lua/write-n.lua', import.meta.url));
/** For deletions, which make room. */
const beyondMemoryScript = new LuaScript(new URL('./lua/write-n.lua', import.meta.url), 'allow-oom');

/** Redis is blocked while it executes a batch: a millisecond or two. */
const MAX_BATCH = 64;
const MAX_BATCH_LENGTH = 1024 * 1024;

export interface Write {
  readonly type: LoggedWrite['type'];
  readonly key: StorageKey;
  /** The revision that is replaced or removed; 0 for a creation. */
  readonly expected: Revision;
  /** The new state; empty of a deletion, whose outcome has the last one. */
  readonly text: string;
}

type WriteOutcome =
  /** `text` is the new state; of a deletion the last. */
  | { readonly outcome: 'written'; readonly revision: Revision; readonly text: string }
  | { readonly outcome: 'exists' | 'missing' }
  | { readonly outcome: 'conflict'; readonly current: StoredText };

/** Called with this process's writes in the log's form. */
type TellWritten = (entries: readonly LogEntry[]) => void;

/** Carries out the writes of a process, those that come together in one script. */
export class RedisWriter {
  private readonly batches: Batcher<Write, WriteOutcome>;
  private writes = 0;

  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: RedisKeys,
    private readonly options: Pick<CompiledRedisStorageOptions, 'maxLogEntries' | 'processId'>,
    private readonly opener: RedisOpener,
    private readonly newest: NewestTexts,
    private readonly tellWritten: TellWritten,
  ) {
    this.batches = new Batcher<Write, WriteOutcome>({
      run: (writes) => this.run(writes),
      maxItems: MAX_BATCH,
      maxLength: MAX_BATCH_LENGTH,
      lengthOf: ({ text }) => text.length,
    });
  }

  /**
   * Writes that come together share the fate of their script: one that Redis refuses or does not answer fails all of
   * them, and those that wait for it. Rejects with what Redis or the link to it says.
   */
  write(write: Write): Promise<WriteOutcome> {
    return this.batches.add(write);
  }

  private async run(writes: readonly Write[]): Promise<readonly (WriteOutcome | Error)[]> {
    try {
      return await this.send(writeScript, writes);
    } catch (error) {
      const deletions = writes.filter(({ type }) => type === 'deleted');
      if (!isOutOfMemory(error)) throw error;
      const outcomes = deletions.length === 0 ? [] : await this.send(beyondMemoryScript, deletions);
      const removed = outcomes.values();
      return writes.map(({ type }) => (type === 'deleted' ? removed.next().value! : error));
    }
  }

  private async send(script: LuaScript, writes: readonly Write[]): Promise<readonly WriteOutcome[]> {
    if (!this.opener.isReady) await this.opener.ready();
    const first = this.writes + 1;
    this.writes += writes.length;
    const before = writes.map(({ expected, key }) => this.knownAt(key, expected));
    const { args, keys } = this.callOf(writes, before, first);
    const beforeLoad = (): Promise<unknown> => this.opener.open();
    let reply = await script.run(this.redis, keys, args, { beforeLoad });
    if (isUnopened(reply)) {
      await this.opener.open();
      reply = await script.run(this.redis, keys, args, { beforeLoad });
    }
    return this.conclude(writes, before, first, reply);
  }

  private callOf(
    writes: readonly Write[],
    before: readonly (StoredText | undefined)[],
    first: number,
  ): { keys: string[]; args: (string | number)[] } {
    const { maxLogEntries, processId } = this.options;
    const places = new Map<string, number>();
    const keys = [this.keys.meta, this.keys.log];
    const actions: (string | number)[] = [];
    writes.forEach(({ expected, key, text, type }, index) => {
      let place = places.get(key.resource);
      if (place === undefined) {
        places.set(key.resource, (place = places.size + 1));
        const { index, objects } = this.keys.of(key.resource);
        keys.push(objects, index);
      }
      const wanted = type === 'deleted' && !before[index] ? 'return' : text;
      actions.push(type, place, fieldOf(key), type === 'created' ? '' : expected, wanted);
    });
    return { keys, args: [maxLogEntries, processId, first, places.size, ...places.keys(), ...actions] };
  }

  /** The text that is replaced, if this process remembers it. */
  private knownAt(key: StorageKey, revision: Revision): StoredText | undefined {
    const known = this.newest.recall(key);
    return known?.revision === revision ? known : undefined;
  }

  private conclude(
    writes: readonly Write[],
    before: readonly (StoredText | undefined)[],
    first: number,
    reply: unknown,
  ): readonly WriteOutcome[] {
    if (!isList(reply) || reply.length !== writes.length + 2) throw unexpectedReply(reply);
    const [revision, writeId, ...results] = reply;
    const chain = new Chain({ revision: Number(revision), writeId: String(writeId) });
    const outcomes = results.map((result, index): WriteOutcome => {
      const write = writes[index]!;
      const parsed = parseResult(result, before[index]);
      if (!('revision' in parsed)) return parsed;
      const text = write.type === 'deleted' ? (parsed.removed?.text ?? '') : write.text;
      this.remember(write, parsed.revision);
      chain.add(write, { ...parsed, text, writeId: `${this.options.processId}.${first + index}` });
      return { outcome: 'written', revision: parsed.revision, text };
    });
    this.opener.saw(chain.last.revision);
    // The log reports what was not remembered.
    if (chain.isWhole && chain.entries.length > 0) this.tellWritten(chain.entries);
    return outcomes;
  }

  private remember({ key, text, type }: Write, revision: Revision): void {
    if (type === 'deleted') this.newest.forget(key, revision);
    else this.newest.learn(key, { revision, text });
  }
}

interface Done {
  readonly revision: Revision;
  /** The text that was replaced or removed, as far as it is known. */
  readonly removed: StoredText | undefined;
}

/** The entries that a batch has put into the log. */
class Chain {
  readonly entries: LogEntry[] = [];
  /** False when it is not known what one of them replaced. */
  isWhole = true;

  constructor(public last: { readonly revision: Revision; readonly writeId: string }) {}

  add(
    { key, type }: Write,
    { removed, revision, text, writeId }: Done & { text: string; writeId: string },
  ): void {
    if (type !== 'created' && !removed) this.isWhole = false;
    this.entries.push({
      type,
      key,
      revision,
      text,
      ...(type !== 'created' && removed ? { previous: removed } : {}),
      writeId,
      previousRevision: this.last.revision,
      previousWriteId: this.last.writeId,
    });
    this.last = { revision, writeId };
  }
}

function isUnopened(reply: unknown): boolean {
  return Array.isArray(reply) && reply.length === 0;
}

type Refusal = Exclude<WriteOutcome, { outcome: 'written' }>;

function parseResult(result: unknown, known: StoredText | undefined): Done | Refusal {
  if (typeof result === 'number') return { revision: result, removed: known };
  const [outcome, ...details] = result as [Refusal['outcome'] | 'removed', ...unknown[]];
  if (outcome === 'removed')
    return { revision: Number(details[0]), removed: parseStored(String(details[1])) };
  return outcome === 'conflict' ? { outcome, current: parseStored(String(details[0])) } : { outcome };
}
