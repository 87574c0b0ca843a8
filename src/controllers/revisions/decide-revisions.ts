import type { DeepReadonly, KubernetesObject, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';
import { semanticEqual, toDouble } from '@rollkeeper/machinery/kubernetes';
import type { ControllerRevision } from '../shared/index.js';

type Revision = DeepReadonly<ControllerRevision>;
type Template = DeepReadonly<PodTemplateSpec>;

/** An object with a pod template whose former states are kept. */
export interface Revised extends KubernetesObject {
  spec: { template: PodTemplateSpec; revisionHistoryLimit?: number };
  status?: { collisionCount?: number };
}

/** How to get the revision of the current template. */
type RevisionDecision =
  | { readonly kind: 'known'; readonly update: Revision }
  /** A former revision becomes the newest again: a rollback. */
  | { readonly kind: 'renumber'; readonly update: Revision; readonly revision: number }
  | { readonly kind: 'create'; readonly revision: number };

/** Source: `getStatefulSetRevisions` in k/k pkg/controller/statefulset. */
export function decideRevision(template: Template, revisions: readonly Revision[]): RevisionDecision {
  const sorted = sortRevisions(revisions);
  const newest = sorted.at(-1);
  const revision = newest ? toDouble(newest.revision) + 1 : 1;
  const same = sorted.findLast((each) => semanticEqual(templateOf(each), template));
  if (!same) return { kind: 'create', revision };
  return same === newest ? { kind: 'known', update: same } : { kind: 'renumber', update: same, revision };
}

/** Revisions that no pod and no rollout needs, beyond the limit, oldest first. */
export function decideOldRevisions(
  revisions: readonly Revision[],
  isInUse: (revision: Revision) => boolean,
  limit: number,
): readonly Revision[] {
  const idle = sortRevisions(revisions).filter((each) => !isInUse(each));
  return idle.slice(0, Math.max(idle.length - limit, 0));
}

/** The template of the revision. */
export function templateOf({ data }: Revision): Template | undefined {
  if (!data?.spec?.template) return undefined;
  const { $patch: _patch, ...template } = data.spec.template;
  return template;
}

/** Oldest first. */
function sortRevisions(revisions: readonly Revision[]): Revision[] {
  return [...revisions].sort(
    (a, b) =>
      toDouble(a.revision) - toDouble(b.revision) ||
      (a.metadata.creationTimestamp ?? '').localeCompare(b.metadata.creationTimestamp ?? '') ||
      a.metadata.name.localeCompare(b.metadata.name),
  );
}
