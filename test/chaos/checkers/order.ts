import type { Deployment, ReplicaSet } from '../../../src/machinery/kubernetes/index.js';
import type { HistoryEvent } from '../history.js';
import { isRolledOut } from './rest.js';
import type { StoreReplay } from './store-replay.js';
import { ownerOf } from './store-replay.js';
import type { Violation } from './violation.js';

const P = 'rollkeeper.dev/';
const PREDECESSOR = /^deployment\/(.*)@complete$/;

/** Longer than a cache may lag behind the store while links are slow. */
const KNOWLEDGE_MS = 10_000;

/**
 * (j) Of Deployments with a release that come after another one: no version gets its ReplicaSet before the other one is complete and of
 * the same release. A Deployment that wants no pods does not wait. A cache may lag, so a moment shortly before counts as well. Call
 * before the change is applied to the replay.
 */
export class OrderChecker {
  checks = 0;
  /** By the UID of a Deployment, when it last did not have to wait. */
  private readonly free = new Map<string, number>();

  constructor(private readonly replay: StoreReplay) {}

  check({ deleted, kind, object, resourceVersion, seenAtMs }: HistoryEvent): Violation[] {
    this.noteFree(seenAtMs);
    if (kind !== 'ReplicaSet' || deleted || this.replay.replicaSets.has(object.metadata.uid ?? '')) return [];
    const deployment = this.replay.deployments.get(ownerOf(object) ?? '');
    if (!deployment || predecessorOf(deployment) === undefined) return [];
    this.checks += 1;
    const { name, uid = '' } = deployment.metadata;
    const freeAtMs = this.free.get(uid);
    if (freeAtMs !== undefined && seenAtMs - freeAtMs <= KNOWLEDGE_MS) return [];
    const problem = `${(object as ReplicaSet).metadata.name} began before ${predecessorOf(deployment)} was complete (revision ${resourceVersion})`;
    return [{ check: 'order', subject: name, problem }];
  }

  /** All that is known holds until the change that is seen now. */
  private noteFree(untilMs: number): void {
    const byName = new Map([...this.replay.deployments.values()].map((each) => [each.metadata.name, each]));
    for (const [uid, deployment] of this.replay.deployments) {
      const predecessor = predecessorOf(deployment);
      if (predecessor === undefined) continue;
      const other = byName.get(predecessor);
      const isReleased = other !== undefined && releaseOf(other) === releaseOf(deployment);
      if (deployment.spec.replicas === 0 || (isReleased && isRolledOut(other))) this.free.set(uid, untilMs);
    }
  }
}

function predecessorOf({ metadata }: Deployment): string | undefined {
  return PREDECESSOR.exec(metadata.annotations?.[`${P}after`] ?? '')?.[1];
}

function releaseOf({ metadata }: Deployment): string | undefined {
  return metadata.annotations?.[`${P}release`];
}
