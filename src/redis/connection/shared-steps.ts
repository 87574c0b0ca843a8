import { atEndOfTurn } from '@rollkeeper/machinery/clock';
import type { LuaCall } from './lua-script.js';
import { runInOneStep } from './one-step.js';
import type { RedisConnection } from './redis-connection.js';

interface Waiting {
  readonly call: LuaCall;
  readonly resolve: (reply: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends the calls of one turn of the event loop as one command: what several queues ask at the same time costs one trip.
 * If one of them fails, all of them do, so they must be repeatable.
 */
export class SharedSteps {
  private waiting: Waiting[] = [];

  /** @param redis asked for when calls are sent; its owner closes it */
  constructor(private readonly redis: () => RedisConnection) {}

  run<Reply>(call: LuaCall<Reply>): Promise<Reply> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ call, resolve: resolve as (reply: unknown) => void, reject });
      if (this.waiting.length === 1) atEndOfTurn(() => void this.send());
    });
  }

  private async send(): Promise<void> {
    const sent = this.waiting.splice(0);
    try {
      const replies = await runInOneStep(
        this.redis(),
        sent.map(({ call }) => call),
      );
      for (const [index, { resolve }] of sent.entries()) resolve(replies[index]);
    } catch (error) {
      for (const { reject } of sent) reject(error);
    }
  }
}
