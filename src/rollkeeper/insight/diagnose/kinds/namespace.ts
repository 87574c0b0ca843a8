import { counted } from '@rollkeeper/machinery/text';
import { ResourceQuota } from '@rollkeeper/runtime';
import type { DeepReadonly, KubernetesObject, Amount } from '@rollkeeper/machinery/kubernetes';
import { Namespace, nanosOf } from '@rollkeeper/machinery/kubernetes';
import type { DiagnosisFinding, NamedObject, Verdict } from '../diagnosis.js';
import { countIs, listed } from '../findings.js';
import type { KindDiagnosis } from '../kind-diagnosis.js';
import { inNamespace } from '../kind-diagnosis.js';
import { CONTENT } from '../snapshot.js';
import type { Snapshot } from '../snapshot.js';

type ReadableNamespace = DeepReadonly<Namespace>;
type ReadableObject = DeepReadonly<KubernetesObject>;

/** Namespaces: what one that is being deleted waits for, and quotas that are used up. */
export const namespaceDiagnosis: KindDiagnosis<Namespace> = {
  type: Namespace,
  aliases: ['ns'],
  needs: (namespace) => inNamespace([ResourceQuota], namespace),
  scopeOf: ({ metadata }) => metadata.name,
  alsoNeeds: (object) =>
    object.metadata.deletionTimestamp === undefined
      ? []
      : [{ type: CONTENT, namespace: object.metadata.name }],
  judge(object, snapshot): Verdict {
    const good = { state: 'healthy', sentence: 'active' } as const;
    if (object.metadata.deletionTimestamp !== undefined)
      return { good, findings: endFindings(object, snapshot), bad: 'deleting' };
    return { good, findings: quotaFindings(object, snapshot) };
  },
};

function endFindings(object: ReadableNamespace, snapshot: Snapshot): DiagnosisFinding[] {
  const { deletionTimestamp: since, name } = object.metadata;
  const sinceThen = since === undefined ? {} : { since };
  const content = snapshot.list<KubernetesObject>(CONTENT, name);
  const held = content.filter(({ metadata }) => (metadata.finalizers ?? []).length > 0);
  const findings = [
    ...discoveryFindings(object, sinceThen),
    ...(held.length > 0 ? [heldFinding(held, sinceThen)] : []),
    ...contentFinding(
      content.filter((each) => !held.includes(each)),
      sinceThen,
    ),
    ...ownFinalizers(object, sinceThen),
  ];
  if (findings.length > 0) return findings;
  return [
    {
      cause: 'deleting',
      severity: 'waits',
      summary: 'it is being deleted',
      ...sinceThen,
      unblockedBy: ['the namespace controller, which deletes its contents'],
    },
  ];
}

/** A group whose server is down may have objects in it, so the namespace is kept. */
function discoveryFindings(
  { status }: ReadableNamespace,
  since: Pick<DiagnosisFinding, 'since'>,
): DiagnosisFinding[] {
  const failure = status?.conditions?.find(
    ({ status: value, type }) =>
      value === 'True' &&
      (type === 'NamespaceDeletionDiscoveryFailure' ||
        type === 'NamespaceDeletionGroupVersionParsingFailure'),
  );
  if (!failure) return [];
  return [
    {
      cause: 'api-group-unavailable',
      severity: 'blocked',
      summary: `it is being deleted, and its remaining contents cannot be listed: ${failure.message ?? ''}`,
      ...since,
      unblockedBy: [
        'repair the API service of that group: kubectl get apiservices',
        'or, if it does not recover, kubectl delete apiservice of that group',
      ],
    },
  ];
}

function heldFinding(
  held: readonly ReadableObject[],
  since: Pick<DiagnosisFinding, 'since'>,
): DiagnosisFinding {
  const finalizers = [...new Set(held.flatMap(({ metadata }) => metadata.finalizers ?? []))];
  return {
    cause: 'namespace-finalizers',
    severity: 'blocked',
    summary: `it is being deleted, and ${countIs(held.length, 'object')} held in it by finalizers: ${listed(finalizers)}`,
    ...since,
    objects: held.slice(0, NAMED).map(named),
    unblockedBy: finalizers.map((name) => `the controller that owns ${name} must remove it: does it run?`),
  };
}

function contentFinding(
  content: readonly ReadableObject[],
  since: Pick<DiagnosisFinding, 'since'>,
): DiagnosisFinding[] {
  if (content.length === 0) return [];
  return [
    {
      cause: 'namespace-content',
      severity: 'waits',
      summary: `it is being deleted, and ${countIs(content.length, 'object')} left in it: ${byKind(content)}`,
      ...since,
      objects: content.slice(0, NAMED).map(named),
      unblockedBy: ['wait: pods have a grace period, and the namespace controller deletes the rest'],
    },
  ];
}

function ownFinalizers(
  { metadata, spec }: ReadableNamespace,
  since: Pick<DiagnosisFinding, 'since'>,
): DiagnosisFinding[] {
  const others = [...(metadata.finalizers ?? []), ...(spec?.finalizers ?? [])].filter(
    (name) => name !== 'kubernetes',
  );
  if (others.length === 0) return [];
  return [
    {
      cause: 'finalizers',
      severity: 'blocked',
      summary: `it is being deleted, and held by ${counted(others.length, 'finalizer')} of its own: ${listed(others)}`,
      ...since,
      unblockedBy: others.map((name) => `the controller that owns ${name} must remove it: does it run?`),
    },
  ];
}

const NAMED = 10;

function named({ kind, metadata }: ReadableObject): NamedObject {
  const { finalizers = [], name, namespace } = metadata;
  return {
    kind,
    name,
    ...(namespace !== undefined && { namespace }),
    ...(finalizers.length > 0 && { detail: finalizers.join(', ') }),
  };
}

/** `3 Pod, 1 Secret`, the most first. */
function byKind(content: readonly ReadableObject[]): string {
  const counts = new Map<string, number>();
  for (const { kind } of content) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const most = [...counts].toSorted(([a, n], [b, m]) => m - n || a.localeCompare(b));
  return listed(most.map(([kind, number]) => `${number} ${kind}`));
}

function quotaFindings({ metadata }: ReadableNamespace, snapshot: Snapshot): DiagnosisFinding[] {
  return snapshot.list<ResourceQuota>(ResourceQuota, metadata.name).flatMap((quota): DiagnosisFinding[] => {
    const { hard = {}, used = {} } = quota.status ?? {};
    const full = Object.keys(hard).filter((name) => isFull(used[name], hard[name]));
    if (full.length === 0) return [];
    const figures = full.map((name) => `${name} ${used[name]} of ${hard[name]}`);
    return [
      {
        cause: 'quota',
        severity: 'note',
        summary: `ResourceQuota ${quota.metadata.name} is used up: ${listed(figures)}`,
        objects: [{ kind: 'ResourceQuota', namespace: metadata.name, name: quota.metadata.name }],
        unblockedBy: ['raise the ResourceQuota, or reduce the usage'],
      },
    ];
  });
}

function isFull(used: Amount | undefined, hard: Amount | undefined): boolean {
  const may = nanosOf(hard);
  return may > 0n && nanosOf(used) >= may;
}
