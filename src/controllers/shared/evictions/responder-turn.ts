import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type {
  DeepReadonly,
  Eviction,
  Pod as PodObject,
  ResponderStatus,
} from '@rollkeeper/machinery/kubernetes';
import { Pod, hasEvictionEnded, isPodFinished, responderStatusOf } from '@rollkeeper/machinery/kubernetes';
import type { ReconcileContext } from '@rollkeeper/runtime';
import { unlessGone } from '@rollkeeper/runtime';
import { parseTimeMs } from '../pods/pod-readiness.js';

type ReadableEviction = DeepReadonly<Eviction>;
type ReadableReport = DeepReadonly<ResponderStatus>;

/** The longest interval between two signs of life of a responder, even if nothing happens. */
export const HEARTBEAT_EVERY_MS = 180_000;
const LONGEST_MESSAGE = 4000;

/** The report of a responder that has its turn and has not completed it; undefined for any other responder. */
export function openTurnOf(eviction: ReadableEviction, responder: string): ReadableReport | undefined {
  const turn = eviction.status?.targetResponders?.find(({ name }) => name === responder);
  const report = responderStatusOf(eviction, responder);
  if (hasEvictionEnded(eviction) || turn?.state !== 'Active' || !report) return undefined;
  return report.completionTime === undefined ? report : undefined;
}

/**
 * The pod of an eviction, by its UID; undefined if it does not exist. Reports are final and the cache may be behind, so a pod that
 * the cache does not have is read from the API.
 */
export async function podOf(
  { metadata: { namespace }, spec }: ReadableEviction,
  { client, lister, signal }: Pick<ReconcileContext, 'client' | 'lister' | 'signal'>,
): Promise<DeepReadonly<PodObject> | undefined> {
  const { name = '', uid } = spec.target.pod ?? {};
  const cached = lister<PodObject>(Pod).get(`${namespace}/${name}`);
  if (cached && cached.metadata.uid === uid) return cached;
  const pod = await unlessGone(client.get<PodObject>(Pod, { namespace, name }, { signal }));
  return pod?.metadata.uid === uid ? pod : undefined;
}

/** The progress that a responder reports. */
export interface Progress {
  readonly message: string;
  /** Whether the turn is over: the pod was deleted, or the next responder must try. */
  readonly isDone?: boolean;
  /** Whether a sign of life is due now, even with the same message. @default false */
  readonly isDue?: boolean;
  /** When the deletion of the pod is expected to end, epoch milliseconds. */
  readonly expectedMs?: number;
}

/** The progress of a pod that was deleted, has ended, or is being deleted; undefined for any other pod. */
export function endOf(podName: string, pod: DeepReadonly<PodObject> | undefined): Progress | undefined {
  if (!pod) return { message: `Pod ${podName} is gone`, isDone: true };
  if (isPodFinished(pod)) return { message: `Pod ${podName} has ended`, isDone: true };
  const endsMs = parseTimeMs(pod.metadata.deletionTimestamp);
  if (endsMs === undefined) return undefined;
  return { message: `Pod ${podName} is being deleted, and ends gracefully`, expectedMs: endsMs };
}

/**
 * The status with the progress of a responder; undefined if the progress is not new and no heartbeat is due. Every change counts as a
 * sign of life.
 */
export function reported(
  { status = {} }: ReadableEviction,
  report: ReadableReport,
  { expectedMs, isDone = false, isDue = false, message }: Progress,
  nowMs: number,
): DeepReadonly<NonNullable<Eviction['status']>> | undefined {
  const now = toRfc3339(nowMs);
  const text = message.slice(0, LONGEST_MESSAGE);
  const lastMs = parseTimeMs(report.heartbeatTime) ?? -Infinity;
  // The server refuses an expectation that is in the past.
  const expected = expectedMs === undefined ? undefined : toRfc3339(Math.max(expectedMs, nowMs));
  const isNews = isDone || isDue || text !== report.message;
  if (!isNews && nowMs - lastMs < HEARTBEAT_EVERY_MS) return undefined;
  const next: ReadableReport = {
    ...report,
    message: text,
    heartbeatTime: now,
    ...(expected !== undefined && { expectedCompletionTime: expected }),
    ...(isDone && { completionTime: now }),
  };
  const responders = status.responders?.map((each) => (each.name === report.name ? next : each));
  return { ...status, ...(responders && { responders }) };
}
