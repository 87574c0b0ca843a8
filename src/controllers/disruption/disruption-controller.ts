import type { DeepReadonly, KubernetesObject, LabelSelector } from '@rollkeeper/machinery/kubernetes';
import { Pod, compileLabelSelector, isPodReady, sameJson } from '@rollkeeper/machinery/kubernetes';
import { TerminalError, errorMessage } from '@rollkeeper/machinery/errors';
import type { EventNote, ListerOf } from '@rollkeeper/runtime';
import {
  Deployment,
  ReplicaSet,
  StatefulSet,
  generationChanged,
  indexBy,
  updateStatus,
  watch,
  PodDisruptionBudget,
} from '@rollkeeper/runtime';
import {
  LABEL_INDEX,
  SELECTOR_INDEX,
  WHOLE_PODS,
  clusterController,
  labelIndex,
  selectedFrom,
  selectorIndex,
  selectorIndexValuesFor,
} from '../shared/index.js';
import { countBudget, decideStatus, failedStatus, needsScale } from './decide-status.js';
import { expectedScale } from './expected-scale.js';

/**
 * Writes into the status of each PodDisruptionBudget how many of its pods may be evicted now, which the API server uses
 * to grant evictions. Source: k/k pkg/controller/disruption.
 */
export const disruptionController = clusterController<PodDisruptionBudget>({
  name: 'disruption',
  eventSource: 'controllermanager',
  trims: WHOLE_PODS,
  for: PodDisruptionBudget,
  indexes: [
    indexBy(PodDisruptionBudget, SELECTOR_INDEX, (budget) =>
      selectorIndex({ ...budget, spec: budget.spec ?? {} }),
    ),
    indexBy<Pod>(Pod, LABEL_INDEX, labelIndex),
  ],
  watches: [
    watch<Pod>(
      Pod,
      budgetsOf,
      (event) => event.type !== 'modified' || !sameJson(countedFacts(event.old), countedFacts(event.object)),
    ),
    watch(Deployment, budgetsOfTemplate, generationChanged),
    watch(ReplicaSet, budgetsOfTemplate, generationChanged),
    watch(StatefulSet, budgetsOfTemplate, generationChanged),
  ],
  async reconcile(_request, { client, clock, events, lister, object: budget }) {
    if (!budget) return;
    const pods = podsOf(budget, lister);
    if (pods.length === 0)
      events.record(budget, { type: 'Normal', reason: 'NoPods', message: 'No matching pods found' });
    try {
      const scaled = needsScale(budget) ? await expectedScale(pods, lister, client) : undefined;
      if (scaled && scaled.unmanaged.length > 0) events.record(budget, unmanagedPods(budget));
      const count = countBudget(budget, pods.length, scaled?.scale ?? 0);
      const { overdue, recheckMs, status } = decideStatus(budget, pods, count, clock.now());
      for (const pod of overdue) events.record(pod, notDeleted(budget));
      await updateStatus(client, PodDisruptionBudget, budget, status);
      return recheckMs === undefined ? {} : { requeueAfterMs: recheckMs };
    } catch (error) {
      if (!(error instanceof TerminalError)) throw error;
      const message = `Failed to calculate the number of expected pods: ${errorMessage(error)}`;
      events.record(budget, { type: 'Warning', reason: 'CalculateExpectedPodCountFailed', message });
      await updateStatus(
        client,
        PodDisruptionBudget,
        budget,
        failedStatus(budget, errorMessage(error), clock.now()),
      );
      return {};
    }
  },
});

function unmanagedPods({ spec }: DeepReadonly<PodDisruptionBudget>): EventNote {
  const message =
    `Pods selected by this PodDisruptionBudget (selector: ${selectorWords(spec?.selector ?? {})}) were found to be unmanaged. ` +
    'As a result, the status of the PDB cannot be calculated correctly, which may result in undefined behavior. ' +
    'To account for these pods please set ".spec.minAvailable" field of the PDB to an integer value.';
  return { type: 'Warning', reason: 'UnmanagedPods', message };
}

/** The genuine message names the namespace twice, and the budget not at all. */
function notDeleted({ metadata: { namespace } }: DeepReadonly<PodDisruptionBudget>): EventNote {
  const message = `Pod was expected by PDB ${namespace}/${namespace} to be deleted but it wasn't`;
  return { type: 'Warning', reason: 'NotDeleted', message };
}

/** An empty selector selects every pod of the namespace, an absent one none. */
function podsOf({ metadata, spec }: DeepReadonly<PodDisruptionBudget>, listerOf: ListerOf) {
  const { selector } = spec ?? {};
  return selector ? selectedFrom(listerOf<Pod>(Pod), metadata.namespace ?? '', selector) : [];
}

function countedFacts(pod: DeepReadonly<Pod>): unknown {
  const { deletionTimestamp, labels } = pod.metadata;
  return [labels, deletionTimestamp, isPodReady(pod)];
}

function* budgetsOf({ metadata }: DeepReadonly<KubernetesObject>, listerOf: ListerOf) {
  for (const value of selectorIndexValuesFor({ apiVersion: '', kind: '', metadata }))
    for (const budget of listerOf(PodDisruptionBudget).byIndex(SELECTOR_INDEX, value))
      if (compileLabelSelector(budget.spec?.selector)(metadata.labels)) yield budget.metadata;
}

/** Budgets for pods with these labels: the expected number may have changed. */
function budgetsOfTemplate(
  { metadata, spec }: DeepReadonly<Deployment> | DeepReadonly<ReplicaSet> | DeepReadonly<StatefulSet>,
  listerOf: ListerOf,
) {
  const { labels } = spec.template?.metadata ?? {};
  const { name, namespace } = metadata;
  return budgetsOf({ apiVersion: '', kind: '', metadata: { name, namespace, labels } }, listerOf);
}

/**
 * A selector in the spelling of the genuine controller's Events, which print the Go struct. People search for it, and
 * tools compare it.
 */
export function selectorWords({
  matchExpressions = [],
  matchLabels = {},
}: DeepReadonly<LabelSelector>): string {
  const labels = Object.entries(matchLabels)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, value]) => `${key}: ${value},`)
    .join('');
  const expressions = matchExpressions
    .map(
      ({ key, operator, values = [] }) =>
        `LabelSelectorRequirement{Key:${key},Operator:${operator},Values:[${values.join(' ')}],},`,
    )
    .join('');
  return `&LabelSelector{MatchLabels:map[string]string{${labels}},MatchExpressions:[]LabelSelectorRequirement{${expressions}},}`;
}
