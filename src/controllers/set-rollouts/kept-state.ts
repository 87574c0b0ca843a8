import type { DeepReadonly, DeploymentCondition, DeploymentStatus } from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { SET_ROLLOUT } from '../deployment/index.js';
import { isCount, isShortText, isTime, readJson } from '../shared/index.js';

type Status = DeepReadonly<DeploymentStatus>;

/**
 * The state of a set's rollout. The controllers of Kubernetes write the whole status of a set, conditions included, so what a
 * Deployment has in its status is an annotation here.
 */
export interface KeptState {
  /** The number of the revision whose rollout was the last to begin. @default none has */
  readonly revision?: string;
  /** The value of the field that is moved, before it was first moved. JSON. */
  readonly original?: string;
  /** Counts and conditions as of a Deployment. */
  readonly status: Status;
}

const COUNTS = [
  'observedGeneration',
  'replicas',
  'updatedReplicas',
  'readyReplicas',
  'availableReplicas',
] as const;
/** The conditions that are kept: what Kubernetes' status counts anyway is not. */
const CONDITIONS: ReadonlySet<string> = new Set(['Progressing', 'RolloutPolicy', 'Degraded']);
const LONGEST_MESSAGE = 4000;
const LONGEST_REVISION = 19;
const LONGEST_ORIGINAL = 200;

/** The state that is kept on a set; an empty one if there is none, or it cannot be read. */
export function readKeptState(annotations: Readonly<Record<string, string>> | undefined): KeptState {
  const read = readJson(annotations?.[SET_ROLLOUT]);
  if (!isJsonObject(read)) return { status: {} };
  const { conditions, original, revision } = read;
  const counts = COUNTS.flatMap((name) => {
    const count = read[name];
    return isCount(count) ? [[name, count] as const] : [];
  });
  const readable = Array.isArray(conditions) ? conditions.filter(isCondition) : [];
  return {
    ...(isShortText(revision, LONGEST_REVISION) && { revision }),
    ...(isShortText(original, LONGEST_ORIGINAL) && { original }),
    status: { ...Object.fromEntries(counts), ...(readable.length > 0 && { conditions: readable }) },
  };
}

/** The value of the annotation. */
export function renderKeptState({ original, revision, status }: KeptState): string {
  const { conditions = [] } = status;
  const kept = conditions.filter(({ type }) => CONDITIONS.has(type));
  return stringifyJson({
    ...(revision !== undefined && { revision }),
    ...(original !== undefined && { original }),
    ...Object.fromEntries(
      COUNTS.flatMap((name) => (status[name] === undefined ? [] : [[name, status[name]]])),
    ),
    ...(kept.length > 0 && { conditions: kept }),
  });
}

function isCondition(value: unknown): value is DeploymentCondition {
  if (!isJsonObject(value)) return false;
  const { lastTransitionTime, lastUpdateTime, message, reason, status, type } = value;
  return (
    isShortText(type) &&
    CONDITIONS.has(type) &&
    isShortText(status) &&
    (reason === undefined || isShortText(reason)) &&
    (message === undefined || isShortText(message, LONGEST_MESSAGE)) &&
    [lastTransitionTime, lastUpdateTime].every((time) => time === undefined || isTime(time))
  );
}
