import type { RedisConnection } from '@rollkeeper/redis/connection';
import { LuaScript } from '@rollkeeper/redis/connection';
import type { RedisKeys } from './redis-layout.js';
import type { CompiledRedisStorageOptions } from './redis-storage.options.js';
import type { Revision } from './storage.js';

const openedScript = new LuaScript(new URL('./lua/opened-1.lua', import.meta.url));
const openScript = new LuaScript(new URL('./lua/open-2.lua', import.meta.url));

/**
 * Opens the store on the current server, once per life of that server. When it ended, the server may have lost the last
 * second of an append-only file, an acknowledged write without a replica, or everything since a backup; even then it
 * must not issue the same revisions again. Writers call it first; while the connection holds, it sends nothing to
 * Redis.
 */
export class RedisOpener {
  private opening: Promise<Revision> | undefined;
  private isOpen = false;
  private openings = 0;
  private seen: Revision = 0;

  constructor(
    private readonly redis: RedisConnection,
    private readonly keys: RedisKeys,
    private readonly options: Pick<CompiledRedisStorageOptions, 'maxLogEntries' | 'processId'>,
  ) {}

  /** Whether nothing has to be awaited before a write. */
  get isReady(): boolean {
    return this.isOpen && this.redis.status === 'ready';
  }

  /** Resolves once the server has been asked since the link was built. */
  async ready(): Promise<void> {
    if (!this.isReady) await this.open();
  }

  /** Asks the server unconditionally. Resolves with the revision of the store. */
  async open(): Promise<Revision> {
    this.opening ??= this.ask().finally(() => (this.opening = undefined));
    return this.opening;
  }

  /** A revision that clients may know from us: the store never goes back behind it. */
  saw(revision: Revision): void {
    if (revision > this.seen) this.seen = revision;
  }

  /** The link is broken: the next answer may come from another server, or from another life of the same. */
  forget(): void {
    this.isOpen = false;
  }

  private async ask(): Promise<Revision> {
    const { maxLogEntries, processId } = this.options;
    const writeId = `${processId}.open.${++this.openings}`;
    this.isOpen = true;
    try {
      const { log, meta } = this.keys;
      const opened = await openedScript.run(this.redis, [meta], [this.seen]);
      const args = [this.seen, writeId, maxLogEntries];
      const revision = Number(opened ?? (await openScript.run(this.redis, [meta, log], args)));
      this.saw(revision);
      return revision;
    } catch (error) {
      this.isOpen = false;
      throw error;
    }
  }
}
