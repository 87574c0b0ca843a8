import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { WatchedNodes } from '../../shared/index.js';
import type { RolloutDraft } from '../kubernetes/draft.js';
import type { ReplicaSetDraft } from '../kubernetes/replica-set-draft.js';
import type { PodsOf } from '../kubernetes/recreate.js';
import type { RolloutLimits } from '../kubernetes/rollout-limits.js';
import type { ChecksContext } from './checks/check-needs.js';
import type { Configuration } from './config-restart/config-digests.js';
import type { Budgets } from './budgets/budgets.js';
import type { Turns } from './turns/turns.js';
import type { PolicyOutcome } from './outcome.js';
import type { PolicyWrites } from './policy-writes.js';
import type { RolloutPolicy } from './policy.js';
import type { WatchedServices } from './blue-green/selecting-services.js';

/** The pods of a ReplicaSet as the API has them, in whole. */
export interface LivePods {
  /** Its name. */
  readonly of: string;
  readonly pods: readonly DeepReadonly<Pod>[];
}

/** The surroundings of a Deployment. What is not known, the policies neither ask about nor doubt: the status counts as true. */
export interface Surroundings {
  /** What ConfigMaps and Secrets hold. @default not known */
  readonly configuration?: Configuration;
  /** The PodDisruptionBudgets. @default not known */
  readonly budgets?: Budgets;
  /** The queue of rollouts. @default not known */
  readonly turns?: Turns;
  /** The Services that blue-green rollouts move. @default not known */
  readonly services?: WatchedServices;
  /** The labels of nodes, for rollouts zone by zone. @default not known */
  readonly nodes?: WatchedNodes;
}

/** A pass under a policy. */
export interface Pass extends Surroundings {
  readonly draft: RolloutDraft;
  readonly policy: RolloutPolicy;
  readonly outcome: PolicyOutcome;
  readonly writes: PolicyWrites;
  readonly podsOf: PodsOf;
  readonly checks: ChecksContext;
  readonly livePods?: LivePods;
}

/** What a policy makes of a pass, before the steps of Kubernetes' controller are played. */
export interface PolicyDecision {
  /** Added to those of the policies before it. */
  readonly limits?: RolloutLimits;
  /** The version that the steps are played for. @default the one that the Deployment asks for */
  readonly runs?: ReplicaSetDraft;
  /** Neither the policies behind it nor the steps have a part in this pass. */
  readonly ends?: boolean;
  /** What it notes and reports once the steps have been played. The policies behind it have done so before. */
  readonly afterwards?: () => void;
}

/** A policy of rollouts; undefined: it asks for nothing. */
export type Policy = (pass: Pass) => PolicyDecision | undefined;
