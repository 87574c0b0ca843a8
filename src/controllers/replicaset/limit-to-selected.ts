import type { Enqueue, Informer, KeyLimit, Lister, ResourceEvent, Urgency } from '@rollkeeper/runtime';
import { OWNER_UID_INDEX, findOwner, ownerRefOf } from '@rollkeeper/runtime';
import type { DeepReadonly, Deployment, LabelMatcher, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { ReplicaSet } from '@rollkeeper/machinery/kubernetes';

interface WatchedDeployments {
  readonly type: ResourceType;
  readonly informer: Informer<Deployment>;
}

interface SelectionInput {
  /** The installation's `--selector`. */
  readonly selects: LabelMatcher;
  /** One per API; the informers may contain only the selected ones. */
  readonly deployments: readonly WatchedDeployments[];
  readonly replicaSets: Lister<ReplicaSet>;
}

/**
 * The ReplicaSets of the selected Deployments only: a selector is meant for workloads, and a label on a Deployment is no label
 * on what it owns. A ReplicaSet that no Deployment controls is its own workload, and is selected by its own labels. So
 * complementary selectors (`a=b` and `a!=b`) share out every ReplicaSet, each to exactly one installation.
 */
export function limitToSelected(input: SelectionInput): ReplicaSetSelection {
  return new ReplicaSetSelection(input);
}

class ReplicaSetSelection implements KeyLimit {
  constructor(private readonly input: SelectionInput) {}

  /** A deleted one counts as included: what it has left has to be tidied up. */
  includes(key: string): boolean {
    const replicaSet = this.input.replicaSets.get(key);
    return !replicaSet || this.selects(replicaSet);
  }

  /** The Deployment that makes it ours. */
  restsOn(key: string): { type: ResourceType; resourceVersion: string }[] {
    const replicaSet = this.input.replicaSets.get(key);
    const owner = replicaSet && this.deploymentOf(replicaSet);
    const resourceVersion = owner?.deployment?.metadata.resourceVersion;
    return owner && resourceVersion !== undefined ? [{ type: owner.type, resourceVersion }] : [];
  }

  /** A ReplicaSet becomes ours by a change that asks for nothing more by itself. */
  urgency(event: ResourceEvent<ReplicaSet>): Urgency | undefined {
    if (event.type !== 'modified' || this.selects(event.old)) return undefined;
    return { priority: 'normal', reason: 'user-change' };
  }

  /** ReplicaSets become ours with their Deployment. */
  watch(enqueue: Enqueue): () => void {
    const stops = this.input.deployments.map(({ informer }) =>
      informer.addEventHandler((event) => this.onDeployment(event, enqueue)),
    );
    return () => stops.forEach((stop) => stop());
  }

  private selects(replicaSet: DeepReadonly<ReplicaSet>): boolean {
    const owner = this.deploymentOf(replicaSet);
    if (!owner) return this.input.selects(replicaSet.metadata.labels);
    return owner.deployment !== undefined && this.input.selects(owner.deployment.metadata.labels);
  }

  private onDeployment(event: ResourceEvent<Deployment>, enqueue: Enqueue): void {
    const { selects, replicaSets } = this.input;
    const { labels, uid = '' } = event.object.metadata;
    const wasOurs = event.type === 'modified' && selects(event.old.metadata.labels);
    if (event.type === 'deleted' || wasOurs || !selects(labels)) return;
    const isInitial = event.type === 'added' && event.initial;
    for (const { metadata } of replicaSets.byIndex(OWNER_UID_INDEX, uid)) {
      const { name, namespace, resourceVersion = '' } = metadata;
      enqueue({
        ref: { namespace, name },
        cause: { type: ReplicaSet, resourceVersion },
        priority: isInitial ? 'low' : 'normal',
        reason: isInitial ? 'initial-list' : 'user-change',
      });
    }
  }

  /** Undefined if no Deployment controls it; without `deployment` if that one is not cached. */
  private deploymentOf(replicaSet: DeepReadonly<ReplicaSet>): ControllingDeployment | undefined {
    const watched = this.input.deployments.find(({ type }) => ownerRefOf(replicaSet, type));
    if (!watched) return undefined;
    const deployment = findOwner(replicaSet, watched.type, watched.informer.lister);
    return { type: watched.type, ...(deployment && { deployment }) };
  }
}

interface ControllingDeployment {
  readonly type: ResourceType;
  readonly deployment?: DeepReadonly<Deployment>;
}
