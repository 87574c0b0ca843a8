import type { RolloutPhase, RolloutView } from '@rollkeeper/controllers/deployment';
import {
  GOOD_SINCE,
  REVISION,
  failureOf,
  readFailures,
  rolloutState,
} from '@rollkeeper/controllers/deployment';
import { parseTimeMs } from '@rollkeeper/controllers/shared';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { DeepReadonly, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { findCondition, stringifyJson } from '@rollkeeper/machinery/kubernetes';

const TOLD = ['complete', 'failed', 'rolled-back', 'waiting-for-approval'] as const satisfies RolloutPhase[];
/** A phase that others are notified of. */
type ToldPhase = (typeof TOLD)[number];

/** An event about a rollout that is over, or that waits for a person. */
export interface RolloutEvent {
  readonly outcome: ToldPhase;
  /** The outcome, and what distinguishes it from others of the same revision. */
  readonly key: string;
  /** The same each time that it is sent, so that a receiver removes doubles. */
  readonly id: string;
  readonly revision: string;
  /** The ReplicaSet of the revision. It records the sinks that have been notified. */
  readonly replicaSet: DeepReadonly<ReplicaSet>;
  /** For people. */
  readonly message: string;
  /** A CloudEvent in structured JSON. */
  readonly body: string;
  readonly atMs: number;
}

/** An older outcome is not reported: nothing was sent then, or everything was tried. */
const TOLD_WITHIN_MS = 3_600_000;

const TYPE_PREFIX = 'dev.rollkeeper.rollout.';

/** Pure: the same rollout comes to the same event, on any replica and after any restart. */
export function decideRolloutEvent(view: RolloutView): RolloutEvent | undefined {
  const { deployment, nowMs } = view;
  const { metadata } = deployment;
  const revision = metadata.annotations?.[REVISION];
  const replicaSet = view.replicaSets.find((set) => set.metadata.annotations?.[REVISION] === revision);
  if (revision === undefined || !replicaSet) return undefined;
  const state = rolloutState(view);
  const cause = failureOf(state);
  const outcome = TOLD.find((each) => each === state.phase);
  const atMs = outcome && timeOf(view, outcome, replicaSet);
  if (!outcome || atMs === undefined || nowMs - atMs > TOLD_WITHIN_MS) return undefined;
  const key = keyOf(view, outcome);
  const { name, namespace = 'default', uid = '' } = metadata;
  const id = `${uid}.${revision}.${key}`;
  const event = {
    ...{ specversion: '1.0', id, type: `${TYPE_PREFIX}${outcome}` },
    source: `/apis/${deployment.apiVersion}/namespaces/${namespace}/deployments/${name}`,
    subject: `${namespace}/${name}`,
    time: toRfc3339(atMs),
    datacontenttype: 'application/json',
    data: {
      ...{ namespace, name, uid, revision, outcome },
      generation: metadata.generation,
      replicaSet: replicaSet.metadata.name,
      images: (replicaSet.spec.template?.spec?.containers ?? []).map(({ image }) => image),
      message: state.message,
      ...(cause !== undefined && { cause }),
    },
  };
  const { message } = state;
  return { outcome, key, id, revision, replicaSet, atMs, message, body: stringifyJson(event) };
}

/** By the API: when a person reads the event later, it is about the same moment. */
function timeOf(
  { deployment }: RolloutView,
  outcome: ToldPhase,
  { metadata }: DeepReadonly<ReplicaSet>,
): number | undefined {
  const progressing = findCondition(deployment.status?.conditions, 'Progressing');
  const said = parseTimeMs(progressing?.lastUpdateTime);
  const [newest] = readFailures(deployment.metadata.annotations ?? {});
  // With a bake time it is complete once that is over.
  const goodMs = parseTimeMs(metadata.annotations?.[GOOD_SINCE]);
  if (outcome === 'complete') return said === undefined ? goodMs : Math.max(said, goodMs ?? 0);
  return outcome === 'rolled-back' ? (parseTimeMs(newest?.at) ?? said) : said;
}

/** A revision may wait at several steps, and fail again after a retry. */
function keyOf({ deployment }: RolloutView, outcome: ToldPhase): string {
  if (outcome === 'waiting-for-approval') {
    const { message = '' } = findCondition(deployment.status?.conditions, 'Progressing') ?? {};
    return `${outcome}.${/^Step (\d+) /.exec(message)?.[1] ?? '0'}`;
  }
  const [newest] = readFailures(deployment.metadata.annotations ?? {});
  if (outcome === 'complete' || !newest) return outcome;
  return `${outcome}.${parseTimeMs(newest.at) ?? 0}`;
}
