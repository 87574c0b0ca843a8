import { isList } from '@rollkeeper/machinery/kubernetes';
import { randomUUID } from 'node:crypto';
import type { RedisConnection } from '@rollkeeper/redis/connection';
import { LuaScript } from '@rollkeeper/redis/connection';
import { StorageUnavailableError } from './errors.js';
import { encodeObject, fieldOf } from './object-text.js';
import type { RedisKeys } from './redis-layout.js';
import { unexpectedReply } from './redis-layout.js';
import type { RedisOpener } from './redis-opener.js';
import type { Revision, StorageRecord } from './storage.js';

const replaceScript = new LuaScript(new URL('./lua/replace-n.lua', import.meta.url));

/** Objects of one resource in one command. */
const BATCH = 200;
/** Objects that a process prepared before it died expire after this time without progress. */
const READY_FOR_MS = 600_000;
/**
 * Limit of the writes that may come while objects are prepared: minutes of a busy store, and ten seconds of an opener's
 * revisions.
 */
const ROOM_FOR_WRITES = 1_000_000;

interface Ready {
  /** Prepared objects, by resource. */
  readonly keys: ReadonlyMap<string, { readonly objects: string; readonly index: string }>;
  readonly count: number;
}

/** Replaces all objects of the store at once: made ready beside the present ones, and put in their place by one script. */
export class RedisReplacer {
  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: RedisKeys,
    private readonly opener: RedisOpener,
    private readonly processId: string,
  ) {}

  /** Resolves with the revision of the store; rejects, with nothing changed, also with what `records` rejects with. */
  async replaceAll(records: AsyncIterable<StorageRecord>): Promise<Revision> {
    const id = randomUUID();
    const first = (await this.opener.open()) + ROOM_FOR_WRITES;
    const staging = new Staging(this.redis, this.keys, id, first);
    try {
      for await (const record of records) await staging.add(record);
      return await this.putInPlace(await staging.finish(), first, `${this.processId}.replace.${id}`);
    } catch (error) {
      // A fault of the link leaves them to their expiry.
      await staging.discard().catch(() => undefined);
      throw error;
    }
  }

  private async putInPlace({ count, keys }: Ready, first: Revision, writeId: string): Promise<Revision> {
    const revision = first + count;
    const scriptKeys = [this.keys.meta, this.keys.log];
    for (const [resource, ready] of keys) {
      const { index, objects } = this.keys.of(resource);
      scriptKeys.push(objects, index, ready.objects, ready.index);
    }
    const { index, objects } = this.keys.of('');
    const reply = await replaceScript.run(this.redis, scriptKeys, [
      ...[first, revision, writeId, count],
      ...[objects, index],
    ]);
    if (!isList(reply)) throw unexpectedReply(reply);
    const [outcome] = reply;
    if (outcome !== 'ok') {
      const reason = outcome === 'late' ? 'the store has gone on too far' : 'what stood ready is gone';
      throw new StorageUnavailableError(`nothing was replaced, as ${reason} meanwhile; try again`);
    }
    this.opener.saw(revision);
    return revision;
  }
}

/** Objects on their way into the store, each at a revision that it will have there. */
class Staging {
  private readonly ready = new Map<string, { readonly objects: string; readonly index: string }>();
  private count = 0;
  private resource = '';
  private batch: { readonly field: string; readonly value: string }[] = [];

  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: RedisKeys,
    private readonly id: string,
    private readonly first: Revision,
  ) {}

  async add({ key, object }: StorageRecord): Promise<void> {
    if (key.resource !== this.resource || this.batch.length >= BATCH) await this.flush();
    this.resource = key.resource;
    const revision = this.first + this.count++;
    this.batch.push({ field: fieldOf(key), value: `${revision} ${encodeObject(object)}` });
  }

  async finish(): Promise<Ready> {
    await this.flush();
    return { keys: this.ready, count: this.count };
  }

  async discard(): Promise<void> {
    const keys = [...this.ready.values()].flatMap(({ index, objects }) => [objects, index]);
    if (keys.length > 0) await this.redis.unlink(...keys);
  }

  private async flush(): Promise<void> {
    const { batch, resource } = this;
    if (batch.length === 0) return;
    this.batch = [];
    const keys = this.keys.ready(this.id, resource);
    this.ready.set(resource, keys);
    await this.redis.hset(keys.objects, ...batch.flatMap(({ field, value }) => [field, value]));
    await this.redis.zadd(keys.index, ...batch.flatMap(({ field }) => [0, field]));
    for (const key of [keys.objects, keys.index]) await this.redis.pexpire(key, READY_FOR_MS);
  }
}
