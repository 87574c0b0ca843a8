import { atEndOfTurn } from '@rollkeeper/machinery/clock';
import type { LuaCall } from './lua-script.js';
import type { RepliesOf } from './one-step.js';
import { runInOneStep } from './one-step.js';
import type { RedisConnection } from './redis-connection.js';

interface Waiting {
  readonly calls: readonly LuaCall[];
  readonly resolve: (replies: unknown[]) => void;
  readonly reject: (error: unknown) => void;
}

/** A server does nothing else meanwhile, so that a burst goes in several commands. */
const MAX_CALLS = 64;

/**
 * Sends the calls of one turn of the event loop as one command: what several callers want at the same time costs one trip.
 * If the server refuses one of them, they are sent again one by one, so they must be repeatable.
 */
export class SharedSteps {
  private waiting: Waiting[] = [];

  /** @param redis asked for when calls are sent; its owner closes it */
  constructor(private readonly redis: () => RedisConnection) {}

  async run<Reply>(call: LuaCall<Reply>): Promise<Reply> {
    const [reply] = await this.runAll([call]);
    return reply;
  }

  /** Atomically, in order: see {@link runInOneStep}. */
  runAll<const Calls extends readonly LuaCall[]>(calls: Calls): Promise<RepliesOf<Calls>> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ calls, resolve: resolve as (replies: unknown[]) => void, reject });
      if (this.waiting.length === 1) atEndOfTurn(() => this.sendAll());
    });
  }

  private sendAll(): void {
    const all = this.waiting.splice(0);
    for (let from = 0; from < all.length;) {
      let to = from;
      let size = 0;
      do size += all[to++]?.calls.length ?? 0;
      while (to < all.length && size + (all[to]?.calls.length ?? 0) <= MAX_CALLS);
      void this.send(all.slice(from, to));
      from = to;
    }
  }

  private async send(sent: readonly Waiting[]): Promise<void> {
    const calls = sent.flatMap((each) => each.calls);
    try {
      const replies: unknown[] = await runInOneStep(this.redis(), calls);
      let from = 0;
      for (const each of sent) {
        each.resolve(replies.slice(from, from + each.calls.length));
        from += each.calls.length;
      }
    } catch (error) {
      if (sent.length > 1 && isRefusal(error)) for (const each of sent) void this.send([each]);
      else for (const { reject } of sent) reject(error);
    }
  }
}

/** Whether the server has answered. Without an answer, a single call would have none either. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.name === 'ReplyError';
}
