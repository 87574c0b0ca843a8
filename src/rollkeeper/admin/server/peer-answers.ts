import type { ZodType } from 'zod';
import { z } from 'zod';
import { UnsupportedError, errorMessage } from '@rollkeeper/machinery/errors';
import type { WorkQueueCounts } from '@rollkeeper/runtime/work-queue';
import type { PeerAnswer } from './peer-client.js';

/**
 * The form of an answer of another replica, as far as it is read here. The other one may be of another release, or another server may be
 * at its address; fields that are not read here are passed on as they are.
 */
export interface AnswerForm {
  /** The answer in words: `a list of queues`. */
  readonly what: string;
  readonly schema: ZodType;
}

/** @throws UnsupportedError naming what was expected */
export function assertForm(answer: unknown, { schema, what }: AnswerForm): void {
  if (!schema.safeParse(answer).success)
    throw new UnsupportedError(
      `it answers with something else than ${what}: it is of another release, or another server is at its address`,
    );
}

/** The answer, or the problem that it is something else. */
export function inForm<T>(asked: PeerAnswer<T>, form: AnswerForm): PeerAnswer<T> {
  if (asked.problem !== undefined) return asked;
  try {
    assertForm(asked.answer, form);
    return asked;
  } catch (error) {
    return { problem: errorMessage(error) };
  }
}

const OF_KEY = { key: z.string() };
const WAITING = z.looseObject({ ...OF_KEY, priority: z.string(), reason: z.string(), sinceMs: z.number() });
const DELAYED = z.looseObject({ ...OF_KEY, dueMs: z.number(), failures: z.number() });
const PARKED = z.looseObject({
  ...OF_KEY,
  error: z.string(),
  retries: z.number(),
  parkedAtMs: z.number(),
});

/** The counts of a queue. */
export const COUNTS_SCHEMA = z.object({
  ...{ waiting: z.number(), active: z.number() },
  ...{ delayed: z.number(), parked: z.number() },
});
const COUNTED = z.looseObject({ controller: z.string(), counts: COUNTS_SCHEMA });

export const QUEUE_LIST: AnswerForm = { what: 'a list of queues', schema: z.array(COUNTED) };
export const QUEUE: AnswerForm = {
  what: 'the keys of a queue',
  schema: COUNTED.extend({
    waiting: z.array(WAITING),
    delayed: z.array(DELAYED),
    parked: z.array(PARKED),
  }),
};
export const KEY: AnswerForm = {
  what: 'the state of a key',
  schema: z.looseObject({
    failures: z.number(),
    hasJob: z.boolean(),
    waiting: WAITING.optional(),
    delayed: DELAYED.optional(),
    parked: PARKED.optional(),
  }),
};

const NAMED = { namespace: z.string(), name: z.string() };
const STATED = { state: z.string(), cause: z.string(), sentence: z.string() };

export const DEPLOYMENT_LIST: AnswerForm = {
  what: 'a list of Deployments',
  schema: z.array(z.looseObject({ ...NAMED, ...STATED })),
};
export const EXPLANATION: AnswerForm = {
  what: 'the explanation of a rollout',
  schema: z.looseObject({
    ...NAMED,
    ...STATED,
    waitsFor: z.array(z.looseObject({ cause: z.string(), severity: z.string(), summary: z.string() })),
    replicaSets: z.array(z.looseObject({ name: z.string(), because: z.array(z.string()) })),
    lastDecisions: z.array(z.looseObject({ atMs: z.number(), actions: z.array(z.string()) })),
    unblockedBy: z.array(z.string()),
  }),
};
export const ROLLOUT: AnswerForm = {
  what: 'the steps and the history of a rollout',
  schema: z.looseObject({ history: z.array(z.looseObject({})), canRetry: z.boolean() }),
};

export const LOCAL: AnswerForm = {
  what: 'the state of a replica',
  schema: z.looseObject({
    status: z.looseObject({
      ...{ version: z.string(), leader: z.boolean() },
      controllers: z.array(z.looseObject({ name: z.string(), consuming: z.boolean() })),
    }),
    running: z.array(z.looseObject({ controller: z.string(), key: z.string(), sinceMs: z.number() })),
  }),
};
export const DECISIONS: AnswerForm = {
  what: 'a list of decisions',
  schema: z.array(
    z.looseObject({
      ...{ atMs: z.number(), controller: z.string(), key: z.string(), replica: z.string() },
      actions: z.array(z.string()),
    }),
  ),
};
export const SPANS: AnswerForm = {
  what: 'a list of spans',
  schema: z.array(
    z.looseObject({
      ...{ spanId: z.string(), name: z.string(), startMs: z.number(), durationMs: z.number() },
      attributes: z.record(z.string(), z.unknown()),
    }),
  ),
};

const MEASURED = z.array(z.tuple([z.number(), z.number()]));
export const SAMPLES: AnswerForm = {
  what: 'measurements of rollouts',
  schema: z.looseObject({ firstWrite: MEASURED, overhead: MEASURED }),
};

/** The counts of a queue whose keys several replicas have in their memory. */
export function addedCounts(all: readonly WorkQueueCounts[]): WorkQueueCounts {
  const sum = (field: keyof WorkQueueCounts): number => all.reduce((total, each) => total + each[field], 0);
  return {
    ...{ waiting: sum('waiting'), active: sum('active') },
    ...{ delayed: sum('delayed'), parked: sum('parked') },
  };
}
