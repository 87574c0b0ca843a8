import type { LuaArgument, LuaCall, RedisConnection } from '../connection/index.js';
import { REFUSED, answeredOnce, isCrossSlot, joinedCall } from '../connection/index.js';
import type { BullMqScripts } from './bullmq-scripts.js';

/** The work that belongs to the end of a run. */
export interface EndOfRun {
  /** Runs before the job is completed, in the same step; its error {@link REFUSED} keeps the job from being completed. */
  readonly call: LuaCall;
  /** After `call` was refused, and before the job is completed. */
  readonly refused: () => Promise<void>;
  /** The same work where it cannot be part of that step. */
  readonly alone: () => Promise<void>;
}

/** The steps of a queue when its workers take and complete jobs. */
export interface RunSteps {
  /** Follows the script that takes a job; its last reply is the job, or none. */
  beginning(): BeginningOfRun;
  /** The end of the run of a job, until {@link ended}. */
  endOf(jobId: string): EndOfRun | undefined;
  /** The run of the job has ended, whether or not the job could be completed. */
  ended(jobId: string): void;
  /** The worker is done with the job: what is left of the end of its run is done without it. Never rejects. */
  leave(jobId: string): Promise<void>;
}

export interface BeginningOfRun {
  readonly call: LuaCall;
  /** Keeps the answer to the whole step, so that a worker that sends it again gets the same job. */
  readonly answerKey: string;
  /** Later, another worker may have the job, milliseconds. */
  readonly answerKeptMs: number;
  readonly taken: (jobId: string, reply: unknown) => void;
}

/** The methods of BullMQ's backend by which a worker takes and completes jobs. */
export interface TakingBackend {
  execCommand(client: unknown, name: string, args: LuaArgument[]): Promise<unknown>;
  moveToFinished(jobId: string, args: LuaArgument[]): Promise<unknown>;
  readonly version: string;
}

/** BullMQ's scripts that may reply with a job: its fields and values, its id, and two delays. */
const TAKING = new Set(['moveToActive', 'moveToFinished']);

interface Joining {
  /** The connection of the worker that does not block. */
  readonly connection: RedisConnection;
  readonly scripts: BullMqScripts;
  readonly steps: RunSteps;
}

/**
 * Makes a worker end a run, complete its job, take the next job and begin its run in one step. If the worker dies before the reply
 * comes, the lock of the job that it took expires, and the job runs again.
 */
export function joinTaking(backend: TakingBackend, { connection, scripts, steps }: Joining): void {
  const execCommand = backend.execCommand.bind(backend);
  const moveToFinished = backend.moveToFinished.bind(backend);
  /** By the arguments of the command, which are new each time. */
  const ends = new WeakMap<LuaArgument[], EndOfRun & { readonly jobId: string }>();
  /** A Cluster behind a proxy refuses keys of queue and actor in one command. */
  let isSplit = false;

  backend.moveToFinished = async (jobId, args) => {
    const end = steps.endOf(jobId);
    if (end) ends.set(args, { ...end, jobId });
    return moveToFinished(jobId, args);
  };

  /** The job may still not be completed, because another worker has it or there is no answer. */
  function ended(args: LuaArgument[]): void {
    const end = ends.get(args);
    if (end) steps.ended(end.jobId);
    ends.delete(args);
  }

  async function runAlone(client: unknown, name: string, args: LuaArgument[]): Promise<unknown> {
    const end = ends.get(args);
    await end?.alone().catch(() => end.refused());
    ended(args);
    return execCommand(client, name, args);
  }

  async function runTogether(name: string, args: LuaArgument[]): Promise<unknown> {
    const end = ends.get(args);
    const before = end ? [end.call] : [];
    const { answerKey, answerKeptMs, call, taken } = steps.beginning();
    const ofBullMq = scripts.callOf(`${name}:${backend.version}`, args);
    const step = answeredOnce(joinedCall([...before, ofBullMq, call]), answerKey, answerKeptMs);
    const replies = await step.script.run(connection, step.keys, step.args);
    ended(args);
    const reply = replies[before.length];
    const jobId: unknown = Array.isArray(reply) && reply[1];
    if (typeof jobId === 'string') taken(jobId, replies.at(-1));
    return reply;
  }

  backend.execCommand = async (client, name, args) => {
    if (!TAKING.has(name)) return execCommand(client, name, args);
    if (isSplit) return runAlone(client, name, args);
    try {
      return await runTogether(name, args);
    } catch (error) {
      if (isCrossSlot(error)) {
        isSplit = true;
        return runAlone(client, name, args);
      }
      if (!(error instanceof Error) || !error.message.startsWith(REFUSED)) throw error;
      await ends.get(args)?.refused();
      ended(args);
      return runTogether(name, args);
    }
  };
}
