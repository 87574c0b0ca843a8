import type { JobsOptions, Queue, RedisQueueBackend } from 'bullmq';
import { Job } from 'bullmq';
import type { LuaArgument, LuaCall, RedisConnection } from '../../base/redis/index.js';
import { LuaScript, runInOneStep } from '../../base/redis/index.js';

/** How BullMQ sends a script that it has defined: by its name, with keys and arguments in one list. */
interface ScriptRunner {
  runCommand(name: string, keysAndArgs: LuaArgument[]): Promise<unknown>;
}

type Backend = Pick<RedisQueueBackend, 'addJobToTransaction'>;

/**
 * Adds jobs to BullMQ queues in one step with scripts of ours: all of it happens or nothing. What BullMQ stores, it decides
 * itself; it only hands its script to us instead of to the server.
 */
export class BullMqOneStep {
  private readonly scripts = new Map<string, { script: LuaScript; numberOfKeys: number }>();

  /** @param redis the connection that the queues will be made with, before they are */
  constructor(private readonly redis: RedisConnection) {
    const define = redis.defineCommand.bind(redis);
    redis.defineCommand = (name, definition) => {
      const numberOfKeys = definition.numberOfKeys ?? 0;
      const script = new LuaScript({ source: definition.lua, numberOfKeys });
      this.scripts.set(name, { script, numberOfKeys });
      define(name, definition);
    };
  }

  /**
   * `queue.add` after `before`, in one step. An error of one of those is an error of the add, which then has not happened.
   * @returns the replies of `before`
   */
  async add<Data, Name extends string>(
    queue: Queue<Data, unknown, Name>,
    name: Name,
    data: Data,
    options: JobsOptions,
    before: readonly LuaCall[],
  ): Promise<unknown[]> {
    let replies: unknown[] = [];
    const runner: ScriptRunner = {
      runCommand: async (script, keysAndArgs) => {
        replies = await runInOneStep(this.redis, [...before, this.callOf(script, keysAndArgs)]);
        return replies.pop();
      },
    };
    const { backend } = queue as unknown as { backend: Backend };
    const adding = {
      addJob: (...[job, id, parent]: Parameters<RedisQueueBackend['addJob']>) =>
        backend.addJobToTransaction(runner as never, job, id, parent),
    };
    const view = Object.create(queue, {
      backend: { value: Object.setPrototypeOf(adding, backend) as unknown },
    }) as typeof queue;
    await Job.create(view, name, data, { ...queue.jobsOpts, ...options });
    return replies;
  }

  private callOf(name: string, keysAndArgs: LuaArgument[]): LuaCall {
    const known = this.scripts.get(name);
    if (!known) throw new Error(`BullMQ has not defined ${name}`);
    const keys = keysAndArgs.slice(0, known.numberOfKeys) as string[];
    return known.script.call(keys, keysAndArgs.slice(known.numberOfKeys));
  }
}
