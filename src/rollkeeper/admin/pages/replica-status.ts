import type { LeadershipStatus, ReplicaStatus, StatusSource } from '../server/index.js';
import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339Micro } from '@rollkeeper/machinery/clock';
import type { WorkQueueCounts } from '@rollkeeper/runtime/work-queue';
import type { ExtendedManager } from '@rollkeeper/runtime';
import { qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { ManagedController } from '@rollkeeper/runtime/manager';
import { troublesOf } from '@rollkeeper/runtime/manager';
import { VERSION } from '@rollkeeper/machinery/version';

/** Less than other replicas wait for an answer. */
const COUNTS_WITHIN_MS = 500;

/** This replica's status. Counts of an unreadable queue are omitted. */
export class ReplicaStatusSource implements StatusSource {
  constructor(
    private readonly manager: ExtendedManager,
    private readonly clock: Clock,
  ) {}

  async status(): Promise<ReplicaStatus> {
    const { controllers, election, identity, informers, leader, slots } = this.manager;
    return {
      identity,
      version: VERSION,
      leader: election.isLeader,
      leaderIdentity: leader,
      epoch: election.epoch,
      controllers: await Promise.all(controllers.map((managed) => this.controllerStatus(managed))),
      ...(slots && { slots }),
      informers: informers.all().map(({ hasSynced, lastSyncedResourceVersion, lister, trouble, type }) => ({
        resource: qualifiedResource(type),
        synced: hasSynced,
        resourceVersion: lastSyncedResourceVersion,
        objects: lister.list().length,
        trouble: trouble?.reason,
      })),
    };
  }

  leadership(): LeadershipStatus {
    const { epoch, history, isLeader, leader, lock } = this.manager.election;
    return {
      leader: isLeader,
      leaderIdentity: leader,
      epoch,
      lock,
      transitions: history.map(({ atMs, ...transition }) => ({ ...transition, at: toRfc3339Micro(atMs) })),
    };
  }

  private async controllerStatus(managed: ManagedController): Promise<ReplicaStatus['controllers'][number]> {
    const { built, controller, queue } = managed;
    const { isConsuming: consuming, name, workers } = controller;
    const isLeaders = managed.worksOn === 'leader' || this.manager.reconcileOn === 'leader';
    return {
      name,
      workers,
      consuming,
      worksOn: isLeaders ? 'leader' : 'all',
      ...troublesOf(managed),
      figures: built.figures?.(),
      queue: await this.countsOf(queue),
    };
  }

  /** A hanging Redis must not block the rest of the status. */
  private async countsOf(queue: ManagedController['queue']): Promise<WorkQueueCounts | undefined> {
    const done = new AbortController();
    const late = this.clock.sleep(COUNTS_WITHIN_MS, done.signal).then(noCounts, noCounts);
    try {
      return await Promise.race([queue.counts().catch(noCounts), late]);
    } finally {
      done.abort();
    }
  }
}

const noCounts = (): undefined => undefined;
