import { isNotFound } from '../../../src/client/api-client/api-status-error.js';
import { hasCode } from '../../../src/machinery/errors/index.js';
import { Pod } from '../../../src/machinery/kubernetes/index.js';
import type { UnansweredWrite } from '../../../src/runtime/activation/unanswered-write.js';
import { settleUnanswered } from '../../../src/runtime/controller/settle-unanswered.js';
import { refusal } from '../../../src/testing/fake-cluster.js';
import type { Model, Step } from './explorer.js';

/*
 * One write whose client has given up on it, a server that may still execute it for up to a second, and the activations
 * that ask for its outcome. Every time is relative to now, which is 0. The step is `settleUnanswered` of the product.
 */

const TICK_MS = 500;
/** A server executes an abandoned write sooner than this. */
const UNDER_WAY_MS = 1000;

export interface UnansweredSituation {
  readonly verb: 'create' | 'update' | 'delete';
  /** Whether the store of the key says how old the write is. */
  readonly isAgeKnown: boolean;
  /** How far the clock was ahead by which the write was noted, milliseconds. */
  readonly aheadMs: number;
}

export interface UnansweredState {
  /** The object at the server: its version. */
  readonly object: number | undefined;
  /** How much longer the server may take for the write; undefined once it has executed or dropped it. */
  readonly leftMs: number | undefined;
  /** Undefined once it is settled. */
  readonly stored: UnansweredWrite | undefined;
  /** Since an activation has asked for the first time. */
  readonly askedForMs: number | undefined;
  readonly hasOthers: boolean;
  readonly wrong: string | undefined;
}

export const SITUATIONS: readonly UnansweredSituation[] = (['create', 'update', 'delete'] as const).flatMap(
  (verb) => [
    { verb, isAgeKnown: true, aheadMs: 5000 },
    { verb, isAgeKnown: false, aheadMs: 0 },
    { verb, isAgeKnown: false, aheadMs: 5000 },
  ],
);

export function unansweredModel({ aheadMs, isAgeKnown, verb }: UnansweredSituation): Model<UnansweredState> {
  const write: UnansweredWrite = {
    ...{
      verb,
      type: Pod,
      ref: { namespace: 'default', name: 'web-x' },
      mayBeUnderWay: true,
      notedAtMs: aheadMs,
    },
    ...(verb === 'update' && { replaces: '1' }),
    ...(isAgeKnown && { ageMs: 0 }),
  };
  return {
    name: `${verb} without an answer`,
    initial: {
      ...{ object: verb === 'create' ? undefined : 1, leftMs: UNDER_WAY_MS - TICK_MS, stored: write },
      ...{ askedForMs: undefined, hasOthers: false, wrong: undefined },
    },
    steps: async (state) => [...ofServer(state, verb), ...(await settled(state))],
    fingerprint: (state) => JSON.stringify(state),
    violation: ({ wrong }) => wrong,
    goal: { says: 'the write is settled', isReached: ({ stored }) => stored === undefined },
  };
}

function ofServer(state: UnansweredState, verb: UnansweredSituation['verb']): Step<UnansweredState>[] {
  const { askedForMs, hasOthers, leftMs, object, stored } = state;
  const steps: Step<UnansweredState>[] = [];
  if (leftMs !== undefined) {
    const after = executed(object, verb);
    const isLate = stored === undefined && after !== object;
    const wrong = isLate ? 'A write takes effect after its outcome was settled' : undefined;
    steps.push(
      { says: `The server executes the ${verb}`, to: { ...state, object: after, leftMs: undefined, wrong } },
      { says: `The server drops the ${verb}`, to: { ...state, leftMs: undefined } },
    );
  }
  if (!hasOthers && object !== undefined)
    steps.push({
      says: 'Another client changes the object',
      to: { ...state, object: object + 10, hasOthers: true },
      isFault: true,
    });
  if (leftMs === 0 || (stored === undefined && leftMs === undefined)) return steps;
  const older = stored && {
    ...{ ...stored, notedAtMs: Math.max(stored.notedAtMs - TICK_MS, -3 * UNDER_WAY_MS) },
    ...(stored.ageMs !== undefined && { ageMs: Math.min(stored.ageMs + TICK_MS, 3 * UNDER_WAY_MS) }),
  };
  const waited = askedForMs === undefined ? undefined : Math.min(askedForMs + TICK_MS, 3 * UNDER_WAY_MS);
  const left = leftMs === undefined ? undefined : leftMs - TICK_MS;
  steps.push({
    says: 'Half a second passes',
    to: { ...state, leftMs: left, stored: older, askedForMs: waited },
  });
  return steps;
}

/** Creations and deletions by name, and updates of the first version. */
function executed(object: number | undefined, verb: UnansweredSituation['verb']): number | undefined {
  if (verb === 'create') return object ?? 1;
  if (verb === 'delete') return undefined;
  return object === 1 ? 2 : object;
}

async function settled(state: UnansweredState): Promise<Step<UnansweredState>[]> {
  const { askedForMs = 0, object, stored } = state;
  if (!stored) return [];
  let next: UnansweredWrite | undefined = stored;
  const metadata = { name: 'web-x', namespace: 'default', resourceVersion: String(object) };
  const asking = settleUnanswered(
    {
      unanswered: [stored],
      signal: new AbortController().signal,
      settleUnanswered: () => (next = undefined),
      noteUnanswered: (write) => (next = write),
    },
    {
      client: {
        get: <T>() =>
          object === undefined
            ? Promise.reject(refusal(404, 'NotFound', 'there is no such pod'))
            : Promise.resolve({ apiVersion: 'v1', kind: 'Pod', metadata } as T),
      },
      now: () => 0,
    },
  );
  const error = await asking.then(
    () => undefined,
    (failure: Error) => failure,
  );
  if (error !== undefined && (isNotFound(error) || !hasCode(error, 'WRITE_UNDER_WAY'))) throw error;
  const isLong = next !== undefined && askedForMs >= UNDER_WAY_MS;
  const wrong = isLong ? 'An activation waits for a write for more than a second' : undefined;
  return [
    {
      says: 'An activation asks what became of the write',
      to: { ...state, stored: next, askedForMs, wrong },
    },
  ];
}
