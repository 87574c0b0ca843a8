import type { DeepReadonly, Pod } from '@rollkeeper/machinery/kubernetes';
import type { WatchedNodes } from '../../shared/index.js';
import type { RolloutDraft } from '../draft.js';
import type { PodsOf } from '../recreate.js';
import type { ChecksContext } from './checks/check-needs.js';
import type { Configuration } from './config-digests.js';
import type { Budgets } from './budgets.js';
import type { Turns } from './turns.js';
import type { PolicyOutcome } from './outcome.js';
import type { RolloutPolicy } from './policy.js';
import type { WatchedServices } from './selecting-services.js';

/** The pods of a ReplicaSet as the API has them, in whole. */
export interface LivePods {
  /** Its name. */
  readonly of: string;
  readonly pods: readonly DeepReadonly<Pod>[];
}

/** A pass under a policy. */
export interface Pass {
  readonly draft: RolloutDraft;
  readonly policy: RolloutPolicy;
  readonly outcome: PolicyOutcome;
  readonly podsOf: PodsOf;
  readonly configuration?: Configuration;
  readonly budgets?: Budgets;
  readonly turns?: Turns;
  readonly services?: WatchedServices;
  readonly nodes?: WatchedNodes;
  readonly checks: ChecksContext;
  readonly livePods?: LivePods;
}
