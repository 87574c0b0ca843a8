import type { EventNote } from '@rollkeeper/runtime';
import {
  INVALID_DEPLOYMENT,
  REPLICA_SET_CREATE_ERROR,
  ROLLBACK_DONE,
  ROLLBACK_REVISION_NOT_FOUND,
  ROLLBACK_TEMPLATE_UNCHANGED,
  SCALING_REPLICA_SET,
  SELECTING_ALL,
} from './reasons.js';

/** Texts of a Deployment's events, worded as in Kubernetes 1.36. */

export function scaledNote(name: string, from: number, to: number): EventNote {
  const direction = to > from ? 'up' : 'down';
  return normal(SCALING_REPLICA_SET, `Scaled ${direction} replica set ${name} from ${from} to ${to}`);
}

export function rolledBackNote(deployment: string, revision: bigint): EventNote {
  return normal(ROLLBACK_DONE, `Rolled back deployment "${deployment}" to revision ${revision}`);
}

export function noLastRevisionNote(): EventNote {
  return warning(ROLLBACK_REVISION_NOT_FOUND, 'Unable to find last revision.');
}

export function noSuchRevisionNote(): EventNote {
  return warning(ROLLBACK_REVISION_NOT_FOUND, 'Unable to find the revision to rollback to.');
}

export function rollbackUnchangedNote(deployment: string): EventNote {
  return warning(
    ROLLBACK_TEMPLATE_UNCHANGED,
    `The rollback revision contains the same template as current deployment "${deployment}"`,
  );
}

export function createErrorMessage(replicaSet: string, problem: string): string {
  return `Failed to create new replica set "${replicaSet}": ${problem}`;
}

export function createErrorNote(replicaSet: string, problem: string): EventNote {
  return warning(REPLICA_SET_CREATE_ERROR, createErrorMessage(replicaSet, problem));
}

export function selectingAllNote(): EventNote {
  return warning(SELECTING_ALL, 'This deployment is selecting all pods. A non-empty selector is required.');
}

export function invalidDeploymentNote(problem: string): EventNote {
  return warning(INVALID_DEPLOYMENT, problem);
}

function normal(reason: string, message: string): EventNote {
  return { type: 'Normal', reason, message };
}

function warning(reason: string, message: string): EventNote {
  return { type: 'Warning', reason, message };
}
