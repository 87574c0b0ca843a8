import { isEmptySelector, keyOf, sameJson } from '@rollkeeper/machinery/kubernetes';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { ReconcileContext, ReconcileResult } from '@rollkeeper/runtime';
import { DaemonSet, Node, Pod, own, updateStatus, watch } from '@rollkeeper/runtime';
import { REVISION_INDEXES, syncRevisions, truncateRevisions } from '../revisions/revision-history.js';
import {
  ControllerRevision,
  PodControl,
  REVISION_LABEL,
  claimOwnPods,
  clusterController,
  failuresOf,
  isMade,
  ownPodIndexes,
  slowStartBatch,
  watchFreedRoom,
  watchOrphans,
} from '../shared/index.js';
import type { ReadableNode, ReadablePod, ReadableSet } from './daemon-pod.js';
import { daemonPod, targetNodeOf } from './daemon-pod.js';
import type { DaemonDecision, DaemonView } from './decide-daemons.js';
import { decideDaemons, decideStatus, msUntilNextAvailable, viewDaemons } from './decide-daemons.js';

const OWN_PODS = { kind: DaemonSet };
const REVISIONS = { kind: DaemonSet, hashLabel: REVISION_LABEL };

type Sync = ReconcileContext<DaemonSet>;

/** Limit of pods created or deleted in one sync. */
const MAX_AT_ONCE = 250;

/** Keeps a pod of each DaemonSet on every suitable node. Source: k/k pkg/controller/daemon. */
export const daemonSetController = clusterController<DaemonSet>(
  { name: 'daemonset', serviceAccount: 'daemon-set-controller', for: DaemonSet },
  () => {
    const rejections = new Rejections();
    return {
      owns: [own(Pod, { selected: true }), own(ControllerRevision, { selected: true })],
      indexes: [...ownPodIndexes(OWN_PODS), ...REVISION_INDEXES],
      watches: [
        watchOrphans(OWN_PODS),
        watchFreedRoom(DaemonSet, ({ status }) => {
          const { currentNumberScheduled = 0, desiredNumberScheduled = 0 } = status ?? {};
          return currentNumberScheduled < desiredNumberScheduled;
        }),
        watch(
          Node,
          (_node, listerOf) =>
            listerOf(DaemonSet)
              .list()
              .map(({ metadata }) => metadata),
          (event) => event.type !== 'modified' || !sameJson(placeFacts(event.old), placeFacts(event.object)),
        ),
      ],
      whileLeading: () => () => rejections.clear(),
      async reconcile({ key }, sync) {
        const { object: set } = sync;
        if (!set) rejections.forget(key);
        // Its dependents are deleted with it.
        if (!set || set.metadata.deletionTimestamp !== undefined) return {};
        if (isEmptySelector(set.spec.selector)) {
          const message = 'This daemon set is selecting all pods. A non-empty selector is required.';
          sync.events.record(set, { type: 'Warning', reason: 'SelectingAll', message });
          return {};
        }
        return new DaemonSetSync(set, sync, rejections).run(key);
      },
    };
  },
);

/** The facts that make a node suitable for a set. */
function placeFacts({ metadata, spec }: ReadableNode): unknown {
  return [metadata.labels, spec?.taints];
}

class DaemonSetSync {
  private readonly control: PodControl;
  private readonly failures: unknown[] = [];

  constructor(
    private readonly set: ReadableSet,
    private readonly sync: Sync,
    private readonly rejections: Rejections,
  ) {
    this.control = new PodControl(set, sync);
  }

  async run(key: string): Promise<ReconcileResult> {
    const { set, sync } = this;
    const revisions = await syncRevisions(REVISIONS, set, sync);
    const hash = revisions.update.metadata.labels?.[REVISION_LABEL] ?? '';
    const pods = await claimOwnPods(OWN_PODS, set, sync);
    const view = viewDaemons(set, pods, sync.lister(Node).list(), hash, sync.clock.now());
    const decision = decideDaemons(view);
    const held = this.rejections.hold(key, decision.ended, sync.clock);
    await this.apply(view, { ...decision, delete: decision.delete.filter((pod) => !held.pods.has(pod)) });
    await updateStatus(sync.client, DaemonSet, set, decideStatus(view, revisions.collisionCount));
    const inUse = new Set([hash, ...pods.map(({ metadata }) => metadata.labels?.[REVISION_LABEL])]);
    await truncateRevisions(
      set,
      revisions.all,
      ({ metadata }) => inUse.has(metadata.labels?.[REVISION_LABEL]),
      sync,
    );
    if (this.failures.length > 0) throw this.failures[0];
    const known = [msUntilNextAvailable(view), held.forMs].filter((wait) => wait !== undefined);
    return known.length > 0 ? { requeueAfterMs: Math.ceil(Math.min(...known)) } : {};
  }

  private async apply({ hash }: DaemonView, decision: DaemonDecision): Promise<void> {
    const { set, sync } = this;
    const deleted = new Set(decision.delete);
    for (const pod of decision.ended.filter((each) => deleted.has(each))) {
      const hasFailed = pod.status?.phase === 'Failed';
      const word = hasFailed ? 'failed' : 'succeeded';
      const message = `Found ${word} daemon pod ${keyOf(pod.metadata)} on node ${targetNodeOf(pod)}, will try to ${hasFailed ? 'kill' : 'delete'} it`;
      sync.events.record(set, {
        type: hasFailed ? 'Warning' : 'Normal',
        reason: hasFailed ? 'FailedDaemonPod' : 'SucceededDaemonPod',
        message,
      });
    }
    const deletions = await Promise.all(
      decision.delete
        .slice(0, MAX_AT_ONCE)
        .map(({ metadata }) => this.control.tryDelete({ name: metadata.name, uid: metadata.uid ?? '' })),
    );
    const { namespace } = set.metadata;
    const isTaken = (name: string): boolean => sync.lister(Pod).get(keyOf({ namespace, name })) !== undefined;
    const { outcomes } = await slowStartBatch(
      decision.create.slice(0, MAX_AT_ONCE),
      (node) => this.control.tryCreate(daemonPod(set, node, hash, isTaken)),
      (outcome) => !isMade(outcome),
    );
    this.failures.push(...failuresOf([...deletions, ...outcomes]));
  }
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 900_000;

/** Backoff for nodes that repeatedly reject pods. Source: failedPodsBackoff. */
class Rejections {
  private readonly pauses = new Map<string, { untilMs: number; lengthMs: number }>();

  /** The ended pods that are kept for now, and for how long. */
  hold(key: string, ended: readonly ReadablePod[], clock: Pick<Clock, 'now'>) {
    const nowMs = clock.now();
    const pods = new Set<ReadablePod>();
    let forMs: number | undefined;
    for (const pod of ended) {
      const place = `${key}@${targetNodeOf(pod)}`;
      const pause = this.pauses.get(place);
      const leftMs = (pause?.untilMs ?? 0) - nowMs;
      if (leftMs > 0) {
        pods.add(pod);
        forMs = Math.min(forMs ?? Infinity, leftMs);
        continue;
      }
      // Quiet for long enough: start over.
      const isFresh = !pause || -leftMs > 2 * LONGEST_PAUSE_MS;
      const lengthMs = isFresh ? FIRST_PAUSE_MS : Math.min(pause.lengthMs * 2, LONGEST_PAUSE_MS);
      this.dropQuiet(nowMs);
      this.pauses.set(place, { lengthMs, untilMs: nowMs + lengthMs });
    }
    return { pods, forMs };
  }

  /** They would start over, and their nodes may be gone. */
  private dropQuiet(nowMs: number): void {
    for (const [place, { untilMs }] of this.pauses)
      if (nowMs - untilMs > 2 * LONGEST_PAUSE_MS) this.pauses.delete(place);
  }

  forget(key: string): void {
    for (const place of this.pauses.keys()) if (place.startsWith(`${key}@`)) this.pauses.delete(place);
  }

  clear(): void {
    this.pauses.clear();
  }
}
