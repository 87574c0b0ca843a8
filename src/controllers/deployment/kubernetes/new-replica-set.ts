import { POD_TEMPLATE_HASH } from '../../shared/index.js';
import type { DeepReadonly, PodTemplateSpec, ReplicaSetSpec } from '@rollkeeper/machinery/kubernetes';
import { findCondition, newControllerRef } from '@rollkeeper/machinery/kubernetes';
import { REVISION } from './annotations.js';
import { newCondition, withCondition } from './conditions.js';
import { isCustomDeployment } from './deployment-api.js';
import type { RolloutDraft, CompleteRolloutSets, RolloutSets } from './draft.js';
import type { ReplicaSetDraft } from './replica-set-draft.js';
import { sizeAnnotations } from './draft.js';
import { totalReplicas } from './replica-set-draft.js';
import type { RolloutRules } from './rollout-rules.js';
import type { Int32Arithmetic } from './int32.js';
import { int32Arithmetic } from './int32.js';
import { isRollingUpdate, maxTotalReplicas } from './limits.js';
import { customTemplateHash, equalIgnoringHash, podTemplateHash } from './pod-template.js';
import { hasProgressDeadline } from './progress.js';
import { FOUND_NEW_REPLICA_SET, NEW_REPLICA_SET_CREATED } from './reasons.js';
import { newReplicaSetAnnotations, nextRevision, servedRevision } from './revision.js';

/**
 * Finds the new ReplicaSet and updates its annotations, its `minReadySeconds` and the Deployment's revision; once per
 * step. If several have the Deployment's template, the oldest counts, so that the choice is deterministic.
 */
export function syncRevision(draft: RolloutDraft, rules: RolloutRules): RolloutSets {
  const sets = rolloutSetsOf(draft);
  if (!sets.latest) return sets;
  const { latest } = sets;
  const before = draft.version;
  if (!draft.keepsRevisions) syncAnnotations(draft, latest, revisionAfter(draft, sets.old, rules));
  draft.setMinReadySeconds(latest, draft.spec.minReadySeconds ?? 0);
  // A step that changes the ReplicaSet leaves the Deployment to the next step, which preserves the order of the
  // conditions.
  if (draft.version !== before) return sets;
  if (!draft.keepsRevisions) noteRevision(draft, latest, rules);
  noteProgress(draft, FOUND_NEW_REPLICA_SET, `Found new replica set "${latest.name}"`, { onlyFirst: true });
  return sets;
}

function syncAnnotations(draft: RolloutDraft, latest: ReplicaSetDraft, revision: bigint): void {
  const annotations = newReplicaSetAnnotations(
    draft.annotations,
    latest.annotations,
    revision,
    draft.limits.annotationRules,
  );
  // If the revision is invalid, Kubernetes does not write for the annotations alone.
  if (servedRevision(latest.annotations) === undefined) draft.annotateLater(latest, annotations);
  else draft.annotate(latest, annotations);
}

function revisionAfter(
  { leastRevision }: RolloutDraft,
  old: readonly ReplicaSetDraft[],
  rules: RolloutRules,
): bigint {
  const next = nextRevision(old, rules);
  return next > leastRevision ? next : leastRevision;
}

/** Creates a missing new ReplicaSet, as large as the limits allow. */
export function withNewReplicaSet(
  draft: RolloutDraft,
  sets: RolloutSets,
  rules: RolloutRules,
): CompleteRolloutSets {
  if (sets.latest) return { ...sets, latest: sets.latest };
  const created = newReplicaSet(draft, sets.old, rules);
  draft.add(created);
  noteRevision(draft, created, rules);
  noteProgress(draft, NEW_REPLICA_SET_CREATED, `Created new replica set "${created.name}"`, {
    onlyFirst: false,
  });
  return { latest: created, old: sets.old, all: [...sets.old, created] };
}

/**
 * The allowed size of the new ReplicaSet. Rolling: limited by the surge, never above `spec.replicas`. Recreate: full size,
 * because the old pods no longer exist.
 */
export function allowedNewSize(
  draft: RolloutDraft,
  current: number,
  all: readonly ReplicaSetDraft[],
  { sum }: Int32Arithmetic,
): number {
  if (!isRollingUpdate(draft.spec)) return draft.replicas;
  const [most, now] = [maxTotalReplicas(draft.spec), totalReplicas(all)];
  return now >= most ? current : current + Math.min(sum(most - now), draft.replicas - current);
}

/** The remaining ReplicaSets, by role. */
export function rolloutSetsOf(draft: RolloutDraft): RolloutSets {
  const all = draft.living;
  const latest = latestOf(draft, all);
  return { latest, old: all.filter((replicaSet) => replicaSet !== latest), all };
}

/**
 * The oldest with this template. A server may add unknown fields to the ReplicaSet of a custom Deployment: there the
 * hash identifies it too.
 */
export function latestOf(
  draft: Pick<RolloutDraft, 'observed' | 'spec' | 'status'>,
  replicaSets: readonly ReplicaSetDraft[],
): ReplicaSetDraft | undefined {
  const { template } = draft.spec;
  const equal = replicaSets.find((replicaSet) => equalIgnoringHash(replicaSet.template, template));
  if (equal || !isCustomDeployment(draft.observed)) return equal;
  const hash = customTemplateHash(template, draft.status.collisionCount);
  return replicaSets.find(({ labels }) => labels[POD_TEMPLATE_HASH] === hash);
}

/** The Deployment gets the revision of its new ReplicaSet. */
function noteRevision(
  draft: RolloutDraft,
  { annotations }: ReplicaSetDraft,
  { lastRevision }: RolloutRules,
): void {
  const revision = annotations[REVISION] ?? (lastRevision ? undefined : '');
  if (revision !== undefined) draft.setAnnotation(REVISION, revision);
}

function newReplicaSet(
  draft: RolloutDraft,
  old: readonly ReplicaSetDraft[],
  rules: RolloutRules,
): ReplicaSetDraft {
  const { spec } = draft;
  const hashOf = isCustomDeployment(draft.observed) ? customTemplateHash : podTemplateHash;
  const hash = hashOf(spec.template, draft.status.collisionCount);
  const labels = { ...spec.template.metadata?.labels, [POD_TEMPLATE_HASH]: hash };
  return {
    name: `${draft.name}-${hash}`,
    labels,
    selector: selectorWithHash(spec.selector, hash),
    template: withLabels(spec.template, labels),
    status: {},
    replicas: draft.withinRoom(
      0,
      Math.min(allowedNewSize(draft, 0, old, int32Arithmetic(rules)), draft.newSize),
    ),
    minReadySeconds: spec.minReadySeconds ?? 0,
    annotations: {
      ...newReplicaSetAnnotations(
        draft.annotations,
        {},
        revisionAfter(draft, old, rules),
        draft.limits.annotationRules,
      ),
      ...sizeAnnotations(spec),
    },
    ownerReferences: [newControllerRef(draft.observed)],
    deleted: false,
  };
}

function selectorWithHash(
  selector: DeepReadonly<ReplicaSetSpec['selector']>,
  hash: string,
): DeepReadonly<ReplicaSetSpec['selector']> {
  return { ...selector, matchLabels: { ...selector.matchLabels, [POD_TEMPLATE_HASH]: hash } };
}

function withLabels(
  template: DeepReadonly<PodTemplateSpec>,
  labels: Readonly<Record<string, string>>,
): DeepReadonly<PodTemplateSpec> {
  return { ...template, metadata: { ...template.metadata, labels } };
}

/** Records the new ReplicaSet in the Progressing condition, if progress is watched at all. */
function noteProgress(
  draft: RolloutDraft,
  reason: string,
  message: string,
  options: { onlyFirst: boolean },
): void {
  if (!hasProgressDeadline(draft.spec)) return;
  const { conditions } = draft.status;
  if (options.onlyFirst && findCondition(conditions, 'Progressing')) return;
  const condition = newCondition('Progressing', { status: 'True', reason, message }, draft.now);
  draft.setStatus({ ...draft.status, conditions: withCondition(conditions, condition) });
}
