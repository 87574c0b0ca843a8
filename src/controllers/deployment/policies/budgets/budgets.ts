import type { InformerSource, Kind, Lister, ResourceEvent, WatchedKind } from '@rollkeeper/runtime';
import {
  NAMESPACE_INDEX,
  OWNER_UID_INDEX,
  ReplicaSet,
  watch,
  PodDisruptionBudget,
} from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment, Pod } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import { selectedFrom } from '../../../shared/index.js';
import type { Annotations } from '../../kubernetes/annotations.js';
import { annotationOf } from '../common/names.js';

export type Budget = DeepReadonly<PodDisruptionBudget>;

/** The PodDisruptionBudgets that the caches know, with the pods that they speak for. */
export interface BudgetSource {
  budgetsIn(namespace: string): readonly Budget[];
  /** The pods that a budget selects, of any owner and in any state. */
  podsOf(budget: Budget): readonly DeepReadonly<Pod>[];
  /** `starting`: the first list is under way. `refused`: the server does not give it. */
  readonly availability: 'known' | 'starting' | 'refused';
}

/** `off`: the replica does not watch them. */
export type Budgets = BudgetSource | 'off';

/** If they may not be listed, Deployments are rolled out without them, and say so. */
export function budgetSource(
  informers: Pick<InformerSource, 'informerFor'>,
  pods: Lister<Pod>,
): BudgetSource {
  const budgets = informers.informerFor<PodDisruptionBudget>(PodDisruptionBudget, { optional: true });
  return {
    budgetsIn: (namespace) => budgets.lister.byIndex(NAMESPACE_INDEX, namespace),
    // An empty selector selects every pod of the namespace, an absent one none.
    podsOf: ({ metadata, spec }) =>
      spec?.selector ? selectedFrom(pods, metadata.namespace ?? '', spec.selector) : [],
    get availability() {
      if (budgets.hasSynced) return 'known';
      return budgets.trouble ? 'refused' : 'starting';
    },
  };
}

/** A change of a budget brings the Deployments back whose pods it selects, if they respect budgets and something follows. */
export function watchBudgets(
  kind: Kind<Deployment>,
  defaultsOf: (namespace: string) => Annotations | undefined,
): WatchedKind {
  const watched = watch<PodDisruptionBudget>(
    PodDisruptionBudget,
    ({ metadata, spec }, listerOf) => {
      const { namespace = '' } = metadata;
      const selects = tryCompileLabelSelector(spec?.selector);
      const byDefault = isGiven(defaultsOf(namespace));
      const replicaSets = listerOf(ReplicaSet);
      return listerOf(kind)
        .byIndex(NAMESPACE_INDEX, namespace)
        .filter((deployment) => byDefault || isGiven(deployment.metadata.annotations))
        .filter((deployment) =>
          replicaSets
            .byIndex(OWNER_UID_INDEX, deployment.metadata.uid ?? '')
            .some((set) => selects?.(set.spec.template?.metadata?.labels)),
        )
        .map((deployment) => deployment.metadata);
    },
    hasChanged,
  );
  return { ...watched, optional: true, urgency: { onlyIfNeeded: true } };
}

/** The settings under which a rollout respects budgets. */
const RESPECTING = ['disruption-budgets', 'surge'];

function isGiven(annotations: Annotations | undefined): boolean {
  return RESPECTING.some((setting) => (annotations?.[annotationOf(setting)] ?? '') !== '');
}

function hasChanged(event: ResourceEvent<PodDisruptionBudget>): boolean {
  if (event.type !== 'modified') return true;
  const { object, old } = event;
  return !semanticEqual([old.spec, old.status], [object.spec, object.status]);
}
