import type { Decision } from '../../kit/index.js';
import type { DeepReadonly, ReplicaSet } from '../../base/kubernetes/index.js';
import { counted } from '../shared/index.js';

interface Decided {
  readonly active: readonly unknown[];
  /** Of stored intents: carried out again. */
  readonly recreate: readonly unknown[];
  readonly pendingDeletes: readonly unknown[];
  /** Those of intents included. */
  readonly creates: readonly unknown[];
  readonly deletes: readonly unknown[];
  /** Nodes rejected too many pods. */
  readonly heldBack: boolean;
}

/** What a sync decided about a ReplicaSet's pods and from what, for people. */
export function describeDecision(replicaSet: DeepReadonly<ReplicaSet>, decided: Decided): Decision {
  const { active, creates, deletes, pendingDeletes, recreate } = decided;
  const parts = [
    ...(creates.length > 0 ? [`create ${pods(creates)}`] : []),
    ...(deletes.length > 0 ? [`delete ${pods(deletes)}`] : []),
  ];
  return {
    branch: branchOf(decided),
    summary: parts.length > 0 ? `${replicaSet.metadata.name}: ${parts.join(', ')}` : '',
    // Deletions that only wait for the cache to show them were told of when they were decided.
    changes: creates.length > 0 || deletes.length > pendingDeletes.length,
    inputs: {
      'rollkeeper.replicas': replicaSet.spec.replicas ?? 1,
      'rollkeeper.pods.active': active.length,
      ...counted({
        'rollkeeper.pods.create': creates,
        'rollkeeper.pods.delete': deletes,
        'rollkeeper.intents.create': recreate,
        'rollkeeper.intents.delete': pendingDeletes,
      }),
    },
  };
}

function branchOf({ creates, deletes, heldBack }: Decided): string {
  if (heldBack) return 'hold-creations';
  if (creates.length > 0) return 'create-pods';
  return deletes.length > 0 ? 'delete-pods' : 'rest';
}

function pods({ length }: readonly unknown[]): string {
  return `${length} pod${length === 1 ? '' : 's'}`;
}
