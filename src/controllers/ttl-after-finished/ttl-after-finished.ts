import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { Job } from '@rollkeeper/runtime';
import { clusterController, parseTimeMs, unlessGone } from '../shared/index.js';

/**
 * When a Job's time after its end is over, epoch milliseconds; undefined while it runs, or without a limit. Source:
 * `timeLeft` in k/k pkg/controller/ttlafterfinished.
 */
export function decideExpiry({ spec, status }: DeepReadonly<Job>): number | undefined {
  const { ttlSecondsAfterFinished: ttlSeconds } = spec;
  const end = status?.conditions?.find(
    ({ status: is, type }) => is === 'True' && (type === 'Complete' || type === 'Failed'),
  );
  const endedMs = parseTimeMs(end?.lastTransitionTime);
  if (ttlSeconds === undefined || endedMs === undefined) return undefined;
  return endedMs + Number(ttlSeconds) * 1000;
}

/** Deletes Jobs when their `ttlSecondsAfterFinished` have passed, pods first. */
export const ttlAfterFinishedController = clusterController<Job>({
  name: 'ttl-after-finished',
  for: Job,
  predicates: [(event) => event.type !== 'deleted' && decideExpiry(event.object) !== undefined],
  async reconcile({ name, namespace }, { client, clock, object: job }) {
    const expiryMs = job && job.metadata.deletionTimestamp === undefined ? decideExpiry(job) : undefined;
    if (!job || expiryMs === undefined) return {};
    const leftMs = expiryMs - clock.now();
    if (leftMs > 0) return { requeueAfterMs: leftMs };
    // With a precondition: the limit may have been raised since.
    const { resourceVersion, uid } = job.metadata;
    const preconditions = { uid, resourceVersion };
    await unlessGone(
      client.delete(Job, { namespace, name }, { preconditions, propagationPolicy: 'Foreground' }),
    );
    return {};
  },
});
