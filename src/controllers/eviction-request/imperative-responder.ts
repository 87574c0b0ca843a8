import { errorMessage } from '@rollkeeper/machinery/errors';
import type { DeepReadonly, Pod, ResponderStatus } from '@rollkeeper/machinery/kubernetes';
import { Eviction, IMPERATIVE_EVICTOR } from '@rollkeeper/machinery/kubernetes';
import type { ApiClient } from '@rollkeeper/runtime';
import { apiStatusOf, evict, updateStatus } from '@rollkeeper/runtime';
import type { Progress } from '../shared/index.js';
import {
  EVICTION_INDEX,
  HEARTBEAT_EVERY_MS,
  clusterController,
  endOf,
  openTurnOf,
  parseTimeMs,
  podOf,
  reported,
  watchEndingPods,
} from '../shared/index.js';

const FIRST_RETRY_MS = 5000;
const ATTEMPTS = / \(attempts=(\d{1,6})\)/;

/** The number of failed attempts, as the message of an earlier report has it; 0 if it has none. */
export function attemptsIn(message: string | undefined): number {
  return Number(ATTEMPTS.exec(message ?? '')?.[1] ?? 0);
}

/** The delay after this number of failed attempts: it doubles from 5 s up to the interval between two heartbeats. */
export function retryAfterMs(attempts: number): number {
  return Math.min(FIRST_RETRY_MS * 2 ** Math.min(Math.max(0, attempts - 1), 20), HEARTBEAT_EVERY_MS);
}

/**
 * The last responder of every pod. It evicts the pod by the `eviction` subresource, so budgets count, and retries while the API
 * refuses. Each attempt is a sign of life, so a replica that takes over needs to know the time of the last attempt only.
 * Source: k/k pkg/controller/imperativeevictionresponder.
 */
export const imperativeEvictionResponder = clusterController<Eviction>({
  name: 'imperative-eviction-responder',
  for: Eviction,
  indexes: [EVICTION_INDEX],
  watches: [watchEndingPods()],
  async reconcile(_request, context) {
    const { client, clock, object: eviction, signal } = context;
    const report = eviction && openTurnOf(eviction, IMPERATIVE_EVICTOR.name);
    if (!report) return {};
    const { name = '' } = eviction.spec.target.pod ?? {};
    const pod = await podOf(eviction, context);
    const end = endOf(name, pod);
    const dueMs = end || !pod ? 0 : dueOf(report) - clock.now();
    if (dueMs > 0) return { requeueAfterMs: dueMs };
    const progress = end ?? (pod ? await attempt(client, pod, report, signal) : undefined);
    const status = progress && reported(eviction, report, progress, clock.now());
    if (status) await updateStatus<Eviction>(client, Eviction, eviction, status);
    if (!progress || progress.isDone) return {};
    return { requeueAfterMs: end ? HEARTBEAT_EVERY_MS : retryAfterMs(attemptsIn(progress.message)) };
  },
});

/** When the next attempt is due, epoch milliseconds. */
function dueOf({ heartbeatTime, message }: DeepReadonly<ResponderStatus>): number {
  const attempts = attemptsIn(message);
  const lastMs = parseTimeMs(heartbeatTime);
  return attempts === 0 || lastMs === undefined ? 0 : lastMs + retryAfterMs(attempts);
}

async function attempt(
  client: ApiClient,
  { metadata: { name, namespace, uid } }: DeepReadonly<Pod>,
  { message }: DeepReadonly<ResponderStatus>,
  signal: AbortSignal,
): Promise<Progress> {
  signal.throwIfAborted();
  try {
    await evict(client, { namespace, name }, { preconditions: { uid } });
    return { message: `Pod ${name} was evicted, and ends gracefully` };
  } catch (error) {
    const { code = 500 } = apiStatusOf(error) ?? {};
    // Without an answer of the server it is unknown whether the pod was evicted, so the attempt is not counted.
    if (code < 400 || code > 499 || code === 401) throw error;
    const attempts = attemptsIn(message) + 1;
    return { message: `Pod ${name} cannot be evicted (attempts=${attempts}): ${errorMessage(error)}` };
  }
}
