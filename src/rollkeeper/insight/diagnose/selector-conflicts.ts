import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { controllerOf, isEmptySelector, tryCompileLabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { LabelSelector } from '@rollkeeper/machinery/kubernetes';
import type { Diagnosis, DiagnosisFinding } from './diagnosis.js';
import { listed } from './findings.js';

/** An object that creates pods from a template, and selects them. */
export type Workload = DeepReadonly<
  KubernetesObject & {
    spec: {
      selector?: LabelSelector | undefined;
      template?: { metadata?: { labels?: Record<string, string> } } | undefined;
    };
  }
>;

/**
 * The workloads that select the pods of another one, by UID. Those that a controller owns are left out: their selectors
 * have the labels of their owner. Costs the pairs that have a label in common.
 */
export function selectorConflicts(workloads: readonly Workload[]): ReadonlyMap<string, DiagnosisFinding> {
  const living = workloads.filter(
    (each) => each.metadata.deletionTimestamp === undefined && controllerOf(each) === undefined,
  );
  const byNamespace = Map.groupBy(living, ({ metadata }) => metadata.namespace ?? '');
  const found = new Map<string, DiagnosisFinding>();
  for (const group of byNamespace.values()) {
    const byLabel = Map.groupBy(
      group.flatMap((workload) => labelsOf(workload).map((label) => ({ label, workload }))),
      ({ label }) => label,
    );
    for (const one of group) {
      const rivals = candidatesOf(one, group, byLabel).filter((other) => takesPodsOf(one, other));
      if (rivals.length > 0) found.set(one.metadata.uid ?? '', findingOf(rivals));
    }
  }
  return found;
}

function candidatesOf(
  one: Workload,
  group: readonly Workload[],
  byLabel: ReadonlyMap<string, readonly { readonly workload: Workload }[]>,
): readonly Workload[] {
  const [first] = Object.entries(one.spec.selector?.matchLabels ?? {});
  if (!first) return group;
  return (byLabel.get(first.join('=')) ?? []).map(({ workload }) => workload);
}

function labelsOf({ spec }: Workload): readonly string[] {
  return Object.entries(spec.template?.metadata?.labels ?? {}).map((label) => label.join('='));
}

function takesPodsOf({ metadata, spec }: Workload, other: Workload): boolean {
  if (metadata.uid === other.metadata.uid || spec.selector === undefined || isEmptySelector(spec.selector))
    return false;
  return tryCompileLabelSelector(spec.selector)?.(other.spec.template?.metadata?.labels) ?? false;
}

function findingOf(rivals: readonly Workload[]): DiagnosisFinding {
  const objects = rivals.map(({ kind = '', metadata: { name, namespace } }) => ({
    ...{ kind, name },
    ...(namespace !== undefined && { namespace }),
  }));
  return {
    cause: 'selector-conflict',
    severity: 'blocked',
    summary: `its selector takes the pods of ${listed(objects.map(({ kind, name }) => `${kind} ${name}`))} as well`,
    objects,
    unblockedBy: [
      'give each of them labels of its own, in its selector and its template: until then either adopts what the other has lost, and counts of both are wrong for those who select by label',
    ],
  };
}

/** A diagnosis with a conflict as a finding, which makes an object that is otherwise well a degraded one. */
export function withConflict(diagnosis: Diagnosis, conflict: DiagnosisFinding | undefined): Diagnosis {
  if (!conflict) return diagnosis;
  const others = diagnosis.waitsFor.filter(({ cause }) => cause !== conflict.cause);
  if (others.some(({ severity }) => severity === 'blocked'))
    return { ...diagnosis, waitsFor: [...others, conflict] };
  return {
    ...diagnosis,
    state: 'degraded',
    cause: conflict.cause,
    sentence: `Degraded: ${conflict.summary}.`,
    waitsFor: [conflict, ...others],
    unblockedBy: conflict.unblockedBy,
  };
}
