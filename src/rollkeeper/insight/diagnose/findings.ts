import { counted } from '@rollkeeper/machinery/text';
import { EndpointSlice } from '@rollkeeper/runtime';
import { SERVICE_NAME_LABEL, classifyPod, describeReason, parseTimeMs } from '@rollkeeper/controllers/shared';
import type { ClassifiedPod } from '@rollkeeper/controllers/shared';
import type { DeepReadonly, KubernetesObject } from '@rollkeeper/machinery/kubernetes';
import { Event, Node, Pod } from '@rollkeeper/machinery/kubernetes';
import type { ObjectEvent } from '../object-event.js';
import { eventTimes } from '../object-event.js';
import { countOf, named, notReadyNodes, podTroubleFindings, unobservedFinding } from '../explain/index.js';
import type { DiagnosisFinding } from './diagnosis.js';
import type { Snapshot } from './snapshot.js';

type Readable<T> = DeepReadonly<T>;

/** `1 pod is`, `3 pods are`. */
export function countIs(number: number, word: string): string {
  return `${counted(number, word)} ${number === 1 ? 'is' : 'are'}`;
}

/** At most ten, and how many more. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, LISTED).join(', ');
  return names.length > LISTED ? `${shown} and ${names.length - LISTED} more` : shown;
}

const LISTED = 10;

/** The pods that an object controls, of those that were read. */
export function podsOf(snapshot: Snapshot, owner: Readable<KubernetesObject>): readonly Readable<Pod>[] {
  return snapshot.controlledBy<Pod>(Pod, owner);
}

/** How many ready endpoints a Service has. */
export function readyEndpoints(
  snapshot: Snapshot,
  { name, namespace }: { readonly name: string; readonly namespace?: string },
): number {
  return snapshot
    .list<EndpointSlice>(EndpointSlice, namespace)
    .filter(({ metadata }) => metadata.labels?.[SERVICE_NAME_LABEL] === name)
    .flatMap(({ endpoints }) => endpoints ?? [])
    .filter(({ conditions }) => conditions?.ready !== false).length;
}

/** The findings that keep pods from being ready, or from ending. */
export function findingsOfPods(
  pods: readonly Readable<Pod>[],
  {
    minReadySeconds = 0,
    nowMs,
    snapshot,
  }: { readonly minReadySeconds?: number; readonly nowMs: number; readonly snapshot: Snapshot },
): DiagnosisFinding[] {
  const classified = pods.map((pod) => classifyPod(pod, minReadySeconds, nowMs));
  const nodes = snapshot.isKnown(Node) ? notReadyNodes(snapshot.list<Node>(Node)) : undefined;
  return [...podTroubleFindings(classified, nodes), ...overdueFinding(classified)];
}

function overdueFinding(all: readonly ClassifiedPod[]): DiagnosisFinding[] {
  const pods = all.filter(({ state }) => state === 'overdue');
  const [first] = pods;
  if (!first) return [];
  return [
    {
      cause: 'terminating',
      severity: 'blocked',
      summary: `${countOf(pods)} should have ended: ${first.message ?? first.reason}`,
      pods: named(pods),
      unblockedBy: [
        'check that its node is Ready: the kubelet must confirm the end',
        'or the owner of its finalizers must remove them',
        'or, if the node does not recover, kubectl delete pod --force',
      ],
    },
  ];
}

/** A warning about an object, the last one of its reason. */
interface ObjectWarning {
  readonly reason: string;
  readonly message: string;
  /** First seen, RFC 3339. */
  readonly since?: string;
}

/** A controller that fails comes back within 17 minutes; an older warning may be over. */
const RECENT_MS = 20 * 60_000;

/** The recent warnings about an object, newest first, one of each reason. */
export function warningsAbout(
  snapshot: Snapshot,
  { metadata }: Pick<Readable<KubernetesObject>, 'metadata'>,
  nowMs: number,
): readonly ObjectWarning[] {
  const events = snapshot
    .list<ObjectEvent>(Event, metadata.namespace ?? 'default')
    .filter(({ involvedObject, type }) => type === 'Warning' && involvedObject?.uid === metadata.uid)
    .map((event) => ({ event, atMs: parseTimeMs(eventTimes(event).last) ?? 0 }))
    .filter(({ atMs }) => nowMs - atMs < RECENT_MS)
    .toSorted((a, b) => b.atMs - a.atMs);
  const byReason = new Map<string, ObjectWarning>();
  for (const { event } of events) {
    const { eventTime, firstTimestamp, message = '', reason = '' } = event;
    if (byReason.has(reason)) continue;
    const since = firstTimestamp ?? eventTime;
    byReason.set(reason, { reason, message, ...(since !== undefined && { since }) });
  }
  return [...byReason.values()];
}

/** Why a controller may not create pods or claims, by the Event that it recorded. Kinds without a condition for it say it only there. */
export function creationFindings(warnings: readonly ObjectWarning[]): DiagnosisFinding[] {
  return warnings
    .filter(({ reason }) => reason === 'FailedCreate')
    .slice(0, 1)
    .map(({ message, reason, since }) => ({
      ...refusalOf(message),
      severity: 'blocked' as const,
      summary: `its pods cannot be created: ${describeReason({ reason, message })}`,
      ...(since !== undefined && { since }),
    }));
}

/** The part of the API that refused, by its own words. */
export function refusalOf(message: string): Pick<DiagnosisFinding, 'cause' | 'unblockedBy'> {
  if (/exceeded quota/i.test(message))
    return { cause: 'quota', unblockedBy: ['raise the ResourceQuota, or reduce the usage'] };
  if (/(minimum|maximum) .*usage per|limit to request ratio/i.test(message))
    return {
      cause: 'limit-range',
      unblockedBy: ["request resources within the namespace's LimitRange, or change the LimitRange"],
    };
  if (/failed calling webhook/i.test(message))
    return {
      cause: 'webhook-unreachable',
      unblockedBy: [
        'repair the webhook: does its Service have ready pods, and is its certificate trusted?',
        'or, if it is optional, set failurePolicy: Ignore',
      ],
    };
  if (/admission webhook|denied the request|violates PodSecurity/i.test(message))
    return {
      cause: 'admission',
      unblockedBy: ['change the template so that the named policy allows it, or change the policy'],
    };
  return {
    cause: 'pod-create-error',
    unblockedBy: ['remove the cause of the refusal: admission, a limit range, a missing service account'],
  };
}

/** The finding that an object is being deleted, and what holds it. */
export function deletionFindings(
  { metadata }: Pick<Readable<KubernetesObject>, 'metadata'>,
  dependents = '',
): DiagnosisFinding[] {
  const { deletionTimestamp: since, finalizers = [] } = metadata;
  if (since === undefined) return [];
  const others = finalizers.filter((name) => name !== 'foregroundDeletion' && name !== 'orphan');
  const waits = finalizers.includes('foregroundDeletion') && dependents !== '' ? `, after ${dependents}` : '';
  if (others.length === 0)
    return [
      {
        cause: 'deleting',
        severity: 'waits',
        summary: `it is being deleted${waits}`,
        since,
        unblockedBy: ['the garbage collector'],
      },
    ];
  return [
    {
      cause: 'finalizers',
      severity: 'blocked',
      summary: `it is being deleted${waits}, and held by ${counted(others.length, 'finalizer')}: ${listed(others)}`,
      since,
      unblockedBy: others.map((name) => `the controller that owns ${name} must remove it: does it run?`),
    },
  ];
}

/** The finding that a controller has not looked at the latest change. @param controller its kind */
export function unobservedFindings(
  { metadata }: Pick<Readable<KubernetesObject>, 'metadata'>,
  observedGeneration: number | undefined,
  controller: string,
  nowMs: number,
): DiagnosisFinding[] {
  const found = unobservedFinding({
    ...{ metadata, observedGeneration, nowMs },
    controller: `${controller} controller`,
  });
  return found ? [found] : [];
}
