import type { RedisConnection } from '../../redis/index.js';
import { LuaScript } from '../../redis/index.js';
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

const WRITE = new URL('./lua/write-n.lua', import.meta.url);
const writeScript = new LuaScript(WRITE);
/** For deletions, which make room. */
const beyondMemoryScript = new LuaScript(WRITE, 'allow-oom');

/** Redis serves nobody else while it carries a batch out: a millisecond or two. */
const MAX_BATCH = 64;
const MAX_BATCH_LENGTH = 1024 * 1024;

export interface Write {
  readonly type: LoggedWrite['type'];
  readonly key: StorageKey;
  /** Of what is replaced or removed; 0 of a creation. */
  readonly expected: Revision;
  /** The new state; empty of a deletion. */
  readonly text: string;
}

export type WriteOutcome =
  | { readonly outcome: 'written'; readonly revision: Revision }
  | { readonly outcome: 'exists' | 'missing' }
  | { readonly outcome: 'conflict'; readonly current: StoredText };

/** Told what was written by this process, as the log has it. */
export type TellWritten = (entries: readonly LogEntry[]) => void;

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

  /** Rejects with what Redis or the link to it says. */
  write(write: Write): Promise<WriteOutcome> {
    return this.batches.add(write);
  }

  private async run(writes: readonly Write[]): Promise<readonly (WriteOutcome | Error)[]> {
    try {
      return await this.send(writeScript, writes);
    } catch (error) {
      const deletions = writes.filter(({ type }) => type === 'deleted');
      if (!isOutOfMemory(error) || deletions.length === 0) throw error;
      const outcomes = (await this.send(beyondMemoryScript, deletions)).values();
      return writes.map(({ type }) => (type === 'deleted' ? outcomes.next().value! : error));
    }
  }

  private async send(script: LuaScript, writes: readonly Write[]): Promise<readonly WriteOutcome[]> {
    if (!this.opener.isReady) await this.opener.ready();
    const first = this.writes + 1;
    this.writes += writes.length;
    const before = writes.map(({ expected, key }) => this.knownAt(key, expected));
    const { args, keys } = this.callOf(writes, first);
    const beforeLoad = (): Promise<unknown> => this.opener.open();
    let reply = await script.run(this.redis, keys, args, { beforeLoad });
    if (isUnopened(reply)) {
      await this.opener.open();
      reply = await script.run(this.redis, keys, args, { beforeLoad });
    }
    return this.conclude(writes, before, first, reply);
  }

  private callOf(writes: readonly Write[], first: number): { keys: string[]; args: (string | number)[] } {
    const { maxLogEntries, processId } = this.options;
    const places = new Map<string, number>();
    const keys = [this.keys.meta, this.keys.log];
    const actions: (string | number)[] = [];
    for (const { expected, key, text, type } of writes) {
      let place = places.get(key.resource);
      if (place === undefined) {
        places.set(key.resource, (place = places.size + 1));
        const { index, objects } = this.keys.of(key.resource);
        keys.push(objects, index);
      }
      actions.push(type, place, fieldOf(key), type === 'created' ? '' : expected, text);
    }
    return { keys, args: [maxLogEntries, processId, first, places.size, ...places.keys(), ...actions] };
  }

  /** What is replaced, if this process remembers it. */
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
    if (!Array.isArray(reply) || reply.length !== writes.length + 2) throw unexpectedReply(reply);
    const [revisionBefore, writeIdBefore, ...results] = reply as [number, string, ...unknown[]];
    const outcomes = results.map(parseOutcome);
    const entries: LogEntry[] = [];
    let last = { revision: revisionBefore, writeId: writeIdBefore };
    let isWhole = true;
    outcomes.forEach((outcome, index) => {
      if (outcome.outcome !== 'written') return;
      const { key, text, type } = writes[index]!;
      const { revision } = outcome;
      const previous = before[index];
      const writeId = `${this.options.processId}.${first + index}`;
      if (type === 'deleted') this.newest.forget(key, revision);
      else this.newest.learn(key, { revision, text });
      if (type !== 'created' && !previous) isWhole = false;
      entries.push({
        type,
        key,
        revision,
        text: type === 'deleted' ? (previous?.text ?? '') : text,
        ...(previous ? { previous } : {}),
        writeId,
        previousRevision: last.revision,
        previousWriteId: last.writeId,
      });
      last = { revision, writeId };
    });
    this.opener.saw(last.revision);
    // Of what was not remembered, the log tells.
    if (isWhole && entries.length > 0) this.tellWritten(entries);
    return outcomes;
  }
}

function isUnopened(reply: unknown): boolean {
  return Array.isArray(reply) && reply.length === 0;
}

function parseOutcome(result: unknown): WriteOutcome {
  if (typeof result === 'number') return { outcome: 'written', revision: result };
  const [outcome, current] = result as ['exists' | 'missing' | 'conflict', string];
  return outcome === 'conflict' ? { outcome, current: parseStored(current) } : { outcome };
}
