import type {
  DeepReadonly,
  DeploymentCondition,
  DeploymentStatus,
  ObjectMeta,
} from '@rollkeeper/machinery/kubernetes';
import { isJsonObject, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { SET_ROLLOUT } from '../deployment/index.js';
import { isCount, isShortText, isTime, readJson } from '../shared/index.js';

type Status = DeepReadonly<DeploymentStatus>;

/**
 * The state of a set's rollout. The controllers of Kubernetes write the whole status of a set, conditions included, so what a
 * Deployment has in its status is an annotation here.
 */
export interface KeptState {
  /** The UID of the set. @default not known: it was kept by a version that did not note it */
  readonly uid?: string;
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

type Metadata = DeepReadonly<Pick<ObjectMeta, 'annotations' | 'uid'>>;

/**
 * The state that is kept on a set; an empty one if there is none, or it cannot be read. Of a state that was copied from another set with its
 * annotations, as by a backup, only the value of the moved field counts: that was copied as well.
 */
export function readKeptState(metadata: Metadata): KeptState {
  const state = readState(metadata.annotations);
  if (!isOfAnother(state, metadata)) return state;
  return { ...(state.original !== undefined && { original: state.original }), status: {} };
}

/** Whether nothing of the rollout of this set has been noted yet. */
export function isFirstSeen(metadata: Metadata): boolean {
  const { annotations } = metadata;
  return annotations?.[SET_ROLLOUT] === undefined || isOfAnother(readState(annotations), metadata);
}

function isOfAnother(state: KeptState, { uid }: Metadata): boolean {
  return state.uid !== undefined && uid !== undefined && state.uid !== uid;
}

function readState(annotations: Metadata['annotations']): KeptState {
  const read = readJson(annotations?.[SET_ROLLOUT]);
  if (!isJsonObject(read)) return { status: {} };
  const { conditions, original, revision, uid } = read;
  const counts = COUNTS.flatMap((name) => {
    const count = read[name];
    return isCount(count) ? [[name, count] as const] : [];
  });
  const readable = Array.isArray(conditions) ? conditions.filter(isCondition) : [];
  return {
    ...(isShortText(uid) && { uid }),
    ...(isShortText(revision, LONGEST_REVISION) && { revision }),
    ...(isShortText(original, LONGEST_ORIGINAL) && { original }),
    status: { ...Object.fromEntries(counts), ...(readable.length > 0 && { conditions: readable }) },
  };
}

/** The value of the annotation. */
export function renderKeptState({ original, revision, status, uid }: KeptState): string {
  const { conditions = [] } = status;
  const kept = conditions.filter(({ type }) => CONDITIONS.has(type));
  return stringifyJson({
    ...(uid !== undefined && { uid }),
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
