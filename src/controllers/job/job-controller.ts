import { controllerOf, isPodReady, keyOf } from '@rollkeeper/machinery/kubernetes';
import type { ReconcileContext } from '@rollkeeper/runtime';
import { Job, Pod, indexBy, isConflict, updateStatus, watch } from '@rollkeeper/runtime';
import {
  PodControl,
  claimOwnPods,
  clusterController,
  failuresOf,
  isMade,
  ownPodIndexes,
  slowStartBatch,
  unlessGone,
  watchFreedRoom,
  watchOrphans,
  withoutFinalizer,
} from '../shared/index.js';
import { countPods } from './count-pods.js';
import { decideEnd, isJobFinished, msUntilDeadline, reachedCompletions } from './decide-end.js';
import { decidePods } from './decide-pods.js';
import type { Slot } from './decide-pods.js';
import type { LeftPods } from './decide-status.js';
import { decideStatus } from './decide-status.js';
import type { ReadablePod } from './job-pods.js';
import { TRACKING_FINALIZER, isTracked } from './job-pods.js';
import { podsFor } from './job-pod-template.js';
import type { JobView } from './view-job.js';
import { viewJob } from './view-job.js';

/** Index of pods by the Job that they name, whether or not it exists. */
const JOB_INDEX = 'jobs';
/** Default of `managedBy`. */
const THIS_CONTROLLER = 'kubernetes.io/job-controller';

const OWN_PODS = { kind: Job, finalizer: TRACKING_FINALIZER };

type Sync = ReconcileContext<Job>;

/**
 * Runs Jobs: creates their pods, counts how these end, and sets the final condition. Source: k/k pkg/controller/job.
 */
export const jobController = clusterController<Job>({
  name: 'job',
  for: Job,
  indexes: [indexBy(Pod, JOB_INDEX, (pod) => jobsNamedBy(pod).map(keyOf)), ...ownPodIndexes(OWN_PODS)],
  watches: [
    watch(Pod, jobsNamedBy),
    watchOrphans(OWN_PODS),
    watchFreedRoom(
      Job,
      (job) => !isJobFinished(job) && (job.status?.active ?? 0) < (job.spec.parallelism ?? 1),
    ),
  ],
  async reconcile({ key }, sync) {
    const { object: job } = sync;
    const isOurs = job && (job.spec.managedBy ?? THIS_CONTROLLER) === THIS_CONTROLLER;
    const pods = isOurs && !isJobFinished(job) ? await claimOwnPods(OWN_PODS, job, sync) : [];
    const kept = new Set(pods);
    const named = sync.lister(Pod).byIndex(JOB_INDEX, key);
    if (!job || isOurs)
      await release(
        sync,
        named.filter((pod) => isTracked(pod) && !kept.has(pod)),
      );
    return isOurs && !isJobFinished(job) ? new JobSync(viewJob(job, pods), sync).run() : {};
  },
});

/** The Job that controls the pod, or did, while the pod still has to be counted by it. */
function jobsNamedBy(pod: ReadablePod): { namespace: string; name: string }[] {
  const { labels, name, namespace = '' } = pod.metadata;
  const owner = controllerOf(pod);
  if (owner) return isJob(owner) ? [{ namespace, name: owner.name }] : [];
  return isTracked(pod) ? [{ namespace, name: labels?.['batch.kubernetes.io/job-name'] ?? name }] : [];
}

function isJob({ apiVersion, kind }: { readonly apiVersion: string; readonly kind: string }): boolean {
  return kind === Job.kind && apiVersion.startsWith(`${Job.group}/`);
}

/** Releases pods: they are counted, or will not be counted any more. */
async function release({ client }: Pick<Sync, 'client'>, pods: readonly ReadablePod[]): Promise<void> {
  const results = await Promise.allSettled(
    pods.map(({ metadata }) => {
      const { name, namespace, uid } = metadata;
      const body = { metadata: { uid, ...withoutFinalizer(TRACKING_FINALIZER) } };
      return unlessGone(client.patch<Pod>(Pod, { namespace, name }, { type: 'strategic', body }));
    }),
  );
  // A conflict means that another pod of that name has replaced the pod, which no longer exists either.
  const failed = results.find((each) => each.status === 'rejected' && !isConflict(each.reason));
  if (failed?.status === 'rejected') throw failed.reason;
}

interface Left extends LeftPods {
  /** More pods are needed after this time. */
  readonly backOffMs?: number;
}

/** One sync of one active Job: decides, writes pods, then the counts, and then releases the counted pods. */
class JobSync {
  private readonly control: PodControl;
  private readonly failures: unknown[] = [];

  constructor(
    private readonly view: JobView,
    private readonly sync: Sync,
  ) {
    this.control = new PodControl(view.job, sync);
  }

  async run(): Promise<{ requeueAfterMs?: number }> {
    const { sync, view } = this;
    const { job } = view;
    const nowMs = sync.clock.now();
    const limit = decideEnd(view, nowMs);
    const left = limit ? this.left(await this.stop(view.active)) : await this.manage(nowMs);
    // The Job is not over as long as a pod could not be stopped.
    const end = limit && left.active > 0 ? undefined : (limit ?? reachedCompletions(view, left.active));
    const counted = countPods(view, end);
    const { events, status } = decideStatus({ view, left, counted, end, nowMs });
    await updateStatus(sync.client, Job, job, status);
    for (const note of events) sync.events.record(job, note);
    await release(sync, counted.release);
    if (this.failures.length > 0) throw this.failures[0];
    const deadlineMs = end ? undefined : msUntilDeadline({ ...job, status }, nowMs);
    const waits = [left.backOffMs, deadlineMs].filter((wait) => wait !== undefined);
    return waits.length > 0 ? { requeueAfterMs: Math.max(Math.ceil(Math.min(...waits)), 0) } : {};
  }

  private async manage(nowMs: number): Promise<Left> {
    const { active, job } = this.view;
    if (job.metadata.deletionTimestamp !== undefined) return this.left(active);
    const decision = decidePods(this.view, nowMs);
    switch (decision.kind) {
      case 'delete':
        // Untracked first, so that it does not count as failed.
        await release(this.sync, decision.pods.filter(isTracked));
        return this.left(await this.stop(decision.pods));
      case 'create':
        return this.left(active, await this.create(decision.slots));
      case 'back-off':
        return { ...this.left(active), backOffMs: decision.forMs };
      case 'nothing':
        return this.left(active);
    }
  }

  /** Returns the active pods that are left. */
  private async stop(pods: readonly ReadablePod[]): Promise<readonly ReadablePod[]> {
    const outcomes = await Promise.all(
      pods.map(({ metadata }) => this.control.tryDelete({ name: metadata.name, uid: metadata.uid ?? '' })),
    );
    this.failures.push(...failuresOf(outcomes));
    const stopped = new Set(outcomes.flatMap((each) => ('error' in each ? [] : [each.pod.uid])));
    return this.view.active.filter(({ metadata }) => !stopped.has(metadata.uid ?? ''));
  }

  /** Returns the number of created pods. */
  private async create(slots: readonly Slot[]): Promise<number> {
    const { job } = this.view;
    const { namespace } = job.metadata;
    const pods = this.sync.lister(Pod);
    const isTaken = (name: string): boolean => pods.get(keyOf({ namespace, name })) !== undefined;
    const { outcomes } = await slowStartBatch(
      podsFor(this.view, slots, isTaken),
      (pod) => this.control.tryCreate(pod),
      (outcome) => !isMade(outcome),
    );
    // It may exist or not. While the Job is unchanged, the next attempt uses the same name.
    for (const outcome of outcomes) if (outcome.kind === 'unknown') throw outcome.error;
    this.failures.push(...failuresOf(outcomes));
    return outcomes.filter(isMade).length;
  }

  private left(active: readonly ReadablePod[], more = 0): Left {
    return {
      active: active.length + more,
      ready: active.filter(isPodReady).length,
      terminating: this.view.terminating + this.view.active.length - active.length,
    };
  }
}
