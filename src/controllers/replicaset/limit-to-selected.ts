import type {
  BuiltController,
  DueWork,
  Enqueue,
  Informer,
  ResourceEvent,
  SyncReconciler,
} from '@rollkeeper/runtime';
import { OWNER_UID_INDEX } from '@rollkeeper/runtime';
import type {
  DeepReadonly,
  Deployment,
  LabelMatcher,
  OwnerReference,
  ReplicaSet,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { REPLICA_SETS, controllerOf, keyOf } from '@rollkeeper/machinery/kubernetes';

export interface WatchedDeployments {
  readonly type: ResourceType;
  readonly informer: Informer<Deployment>;
}

export interface SelectionInput {
  /** The installation's `--selector`. */
  readonly selects: LabelMatcher;
  /** By the API that they come by; the informers may hold the selected ones alone. */
  readonly deployments: readonly WatchedDeployments[];
  readonly replicaSets: Informer<ReplicaSet>;
}

/**
 * `controller`, for the ReplicaSets of the selected Deployments only: whoever selects means workloads, and a label on a
 * Deployment is no label on what it owns. A ReplicaSet that no Deployment controls is its own workload, and is selected by its
 * own labels. So complementary selectors (`a=b` and `a!=b`) share out every ReplicaSet, each to exactly one installation.
 */
export function limitToSelected(controller: BuiltController, input: SelectionInput): BuiltController {
  const selection = new ReplicaSetSelection(input);
  const due = controller.due?.bind(controller);
  const needsSync = controller.needsSync?.bind(controller);
  const objectOf = controller.objectOf?.bind(controller);
  return {
    reconciler: selection.limitReconciler(controller.reconciler),
    watch: (enqueue) => {
      const limited = selection.limitEnqueue(enqueue);
      const stops = [controller.watch(limited), selection.watch(limited)];
      return () => stops.forEach((stop) => stop());
    },
    ...(needsSync && { needsSync: (key) => selection.includesKey(key) && needsSync(key) }),
    ...(objectOf && { objectOf }),
    ...(due && { due: () => selection.limitDue(due()) }),
  };
}

class ReplicaSetSelection {
  constructor(private readonly input: SelectionInput) {}

  /** One that is gone counts as included: somebody has to tidy up after it. */
  includesKey(key: string): boolean {
    const replicaSet = this.input.replicaSets.lister.get(key);
    return !replicaSet || this.includes(replicaSet);
  }

  includes(replicaSet: DeepReadonly<ReplicaSet>): boolean {
    const owner = this.deploymentOf(replicaSet);
    if (!owner) return this.input.selects(replicaSet.metadata.labels);
    return owner.deployment !== undefined && this.input.selects(owner.deployment.metadata.labels);
  }

  limitReconciler(reconciler: SyncReconciler): SyncReconciler {
    return {
      reconcile: async (request, context) => {
        if (this.includesKey(request.key)) return reconciler.reconcile(request, context);
        // It went to another installation, which does not know what we meant to do.
        if (context.intents.current !== undefined) context.intents.clear();
        return {};
      },
    };
  }

  /** Whoever takes the key must have seen the Deployment that makes it ours, or it would pass it over. */
  limitEnqueue(enqueue: Enqueue): Enqueue {
    return (request) => {
      const replicaSet = this.input.replicaSets.lister.get(keyOf(request.ref));
      if (!replicaSet) return enqueue(request);
      if (!this.includes(replicaSet)) return;
      const owner = this.deploymentOf(replicaSet);
      const resourceVersion = owner?.deployment?.metadata.resourceVersion;
      const seen = owner && resourceVersion !== undefined ? [{ type: owner.type, resourceVersion }] : [];
      enqueue({ ...request, mustHaveSeen: [...(request.mustHaveSeen ?? []), ...seen] });
    };
  }

  /** What becomes ours without a change that asks for more by itself. */
  watch(enqueue: Enqueue): () => void {
    const { deployments, replicaSets } = this.input;
    const stops = [
      ...deployments.map(({ informer }) =>
        informer.addEventHandler((event) => this.onDeployment(event, enqueue)),
      ),
      replicaSets.addEventHandler((event) => this.onReplicaSet(event, enqueue)),
    ];
    return () => stops.forEach((stop) => stop());
  }

  *limitDue(due: Iterable<DueWork>): Generator<DueWork> {
    for (const work of due) if (this.includesKey(keyOf(work.ref))) yield work;
  }

  private onDeployment(event: ResourceEvent<Deployment>, enqueue: Enqueue): void {
    const { selects, replicaSets } = this.input;
    const { labels, uid = '' } = event.object.metadata;
    const wasOurs = event.type === 'modified' && selects(event.old.metadata.labels);
    if (event.type === 'deleted' || wasOurs || !selects(labels)) return;
    for (const replicaSet of replicaSets.lister.byIndex(OWNER_UID_INDEX, uid))
      this.wake(replicaSet, event.type === 'added' && event.initial, enqueue);
  }

  private onReplicaSet(event: ResourceEvent<ReplicaSet>, enqueue: Enqueue): void {
    if (event.type !== 'modified' || this.includes(event.old)) return;
    this.wake(event.object, false, enqueue);
  }

  private wake({ metadata }: DeepReadonly<ReplicaSet>, isInitial: boolean, enqueue: Enqueue): void {
    const { name, namespace, resourceVersion = '' } = metadata;
    enqueue({
      ref: { namespace, name },
      cause: { type: REPLICA_SETS, resourceVersion },
      priority: isInitial ? 'low' : 'normal',
      reason: isInitial ? 'initial-list' : 'user-change',
    });
  }

  /** Undefined where no Deployment controls it; without `deployment` where that one is not in the cache. */
  private deploymentOf(replicaSet: DeepReadonly<ReplicaSet>): ControllingDeployment | undefined {
    const { namespace } = replicaSet.metadata;
    const owner = controllerOf(replicaSet);
    const watched = owner && this.input.deployments.find(({ type }) => isOfType(owner, type));
    if (!watched) return undefined;
    const deployment = watched.informer.lister.get(keyOf({ namespace, name: owner.name }));
    const isOwner = deployment?.metadata.uid === owner.uid;
    return { type: watched.type, ...(isOwner && { deployment }) };
  }
}

interface ControllingDeployment {
  readonly type: ResourceType;
  readonly deployment?: DeepReadonly<Deployment>;
}

function isOfType({ apiVersion, kind }: DeepReadonly<OwnerReference>, type: ResourceType): boolean {
  return kind === type.kind && apiVersion.startsWith(`${type.group}/`);
}
