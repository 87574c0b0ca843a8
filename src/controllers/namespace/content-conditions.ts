import { transitionTime } from '@rollkeeper/machinery/kubernetes';
import type { Namespace } from '@rollkeeper/machinery/kubernetes';

type NamespaceCondition = NonNullable<NonNullable<Namespace['status']>['conditions']>[number];

/** The result of one pass over a namespace's content. */
export interface ContentReport {
  /** Groups whose discovery failed, and why. */
  readonly discoveryFailures: readonly string[];
  /** Types whose objects could not be listed or deleted, and why. */
  readonly deletionFailures: readonly string[];
  /** Remaining objects, by `resource.group`. */
  readonly remaining: ReadonlyMap<string, number>;
  /** Remaining objects with a finalizer, by finalizer. */
  readonly finalizers: ReadonlyMap<string, number>;
}

interface Verdict {
  readonly type: string;
  readonly failed: boolean;
  readonly reason: string;
  readonly message: string;
}

/**
 * The conditions that say what blocks a namespace's deletion, with Kubernetes' texts: `kubectl describe` shows them. An
 * unchanged condition keeps its time; others' conditions are kept. Source: k/k
 * pkg/controller/namespace/deletion/status_condition_utils.go.
 */
export function decideConditions(
  current: readonly NamespaceCondition[],
  report: ContentReport,
  nowText: string,
): NamespaceCondition[] {
  const verdicts = verdictsOf(report);
  const others = current.filter(({ type }) => !verdicts.some((verdict) => verdict.type === type));
  return [
    ...others,
    ...verdicts.map(({ type, failed, reason, message }): NamespaceCondition => {
      const status = failed ? 'True' : 'False';
      const before = current.find((condition) => condition.type === type);
      const lastTransitionTime = transitionTime(before, status, nowText);
      return { type, status, lastTransitionTime, reason, message };
    }),
  ];
}

function verdictsOf(report: ContentReport): Verdict[] {
  const { discoveryFailures, deletionFailures, remaining, finalizers } = report;
  return [
    verdict(
      'NamespaceDeletionDiscoveryFailure',
      discoveryFailures.length > 0 && {
        reason: 'DiscoveryFailed',
        message: `Discovery failed for some groups, ${discoveryFailures.length} failing: ${list(discoveryFailures)}`,
      },
      { reason: 'ResourcesDiscovered', message: 'All resources successfully discovered' },
    ),
    verdict('NamespaceDeletionGroupVersionParsingFailure', false, {
      reason: 'ParsedGroupVersions',
      message: 'All legacy kube types successfully parsed',
    }),
    verdict(
      'NamespaceDeletionContentFailure',
      deletionFailures.length > 0 && {
        reason: 'ContentDeletionFailed',
        message: `Failed to delete all resource types, ${deletionFailures.length} remaining: ${list(deletionFailures)}`,
      },
      {
        reason: 'ContentDeleted',
        message: 'All content successfully deleted, may be waiting on finalization',
      },
    ),
    verdict(
      'NamespaceContentRemaining',
      remaining.size > 0 && {
        reason: 'SomeResourcesRemain',
        message: `Some resources are remaining: ${list(counts(remaining, 'has'))}`,
      },
      { reason: 'ContentRemoved', message: 'All content successfully removed' },
    ),
    verdict(
      'NamespaceFinalizersRemaining',
      finalizers.size > 0 && {
        reason: 'SomeFinalizersRemain',
        message: `Some content in the namespace has finalizers remaining: ${list(counts(finalizers, 'in'))}`,
      },
      { reason: 'ContentHasNoFinalizers', message: 'All content-preserving finalizers finished' },
    ),
  ];
}

type Words = Pick<Verdict, 'reason' | 'message'>;

function verdict(type: string, failure: Words | false, success: Words): Verdict {
  return { type, failed: failure !== false, ...(failure === false ? success : failure) };
}

function counts(numbers: ReadonlyMap<string, number>, verb: 'has' | 'in'): string[] {
  return [...numbers].map(([name, count]) => `${name} ${verb} ${count} resource instances`);
}

function list(texts: readonly string[]): string {
  return [...texts].sort().join(', ');
}
