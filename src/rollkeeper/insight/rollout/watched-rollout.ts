import type { ApiClient } from '@rollkeeper/client/api-client';
import type { Informer, SharedInformerOptions } from '@rollkeeper/client/informer';
import { SharedInformer, controlledBy, ownedBy } from '@rollkeeper/client/informer';
import { LinkedAbort, abortable } from '@rollkeeper/machinery/cancellation';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { TimeoutError, UnsupportedError } from '@rollkeeper/machinery/errors';
import type { PlaceNode } from '@rollkeeper/controllers/set-rollouts';
import { placeOf } from '@rollkeeper/controllers/set-rollouts';
import type { Deployment, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import { Namespace, Node, Pod, ReplicaSet, keyOf, selectorText } from '@rollkeeper/machinery/kubernetes';
import { silentLogger } from '@rollkeeper/machinery/logging';
import { completed } from '@rollkeeper/controllers/deployment';
import { ControllerRevision } from '@rollkeeper/controllers/shared';
import type { StatefulSet } from '@rollkeeper/runtime';
import type { ObservedRollout, RolloutSource } from './follow-rollout.js';
import type { RolloutTarget } from './rollout-verbs.js';
import { isPerNode, isSetTarget, setRollout } from './set-target.js';

interface WatchedRolloutDependencies {
  readonly clock: Clock;
  readonly random: RandomSource;
}

/**
 * A rollout by three watches: of the one Deployment, and of the ReplicaSets and pods that its selector matches. The watches are
 * restarted for as long as it takes.
 */
export class WatchedRollout implements RolloutSource {
  private readonly deployments: Informer<Deployment>;
  /** Its ReplicaSets, or the revisions of a set. */
  private readonly replicaSets: Informer<ReplicaSet>;
  private readonly pods: Informer<Pod>;
  /** The nodes that the pods of a DaemonSet are for. */
  private readonly nodes: Informer<PlaceNode> | undefined;
  private namespaceAnnotations: Readonly<Record<string, string>> | undefined;
  private hasChanged = false;
  private wake: (() => void) | undefined;

  constructor(
    private readonly target: RolloutTarget,
    private readonly deps: WatchedRolloutDependencies,
  ) {
    const { metadata, spec } = target.deployment;
    const labelSelector = selectorText(spec.selector);
    this.deployments = this.informer<Deployment>(target.type, {
      fieldSelector: `metadata.name=${metadata.name}`,
    });
    this.replicaSets = this.informer<ReplicaSet>(isSetTarget(target) ? ControllerRevision : ReplicaSet, {
      labelSelector,
    });
    this.pods = this.informer<Pod>(Pod, { labelSelector });
    if (isPerNode(target)) this.nodes = this.informer<PlaceNode>(Node, { trim: placeOf });
  }

  /** Why the Deployment cannot be listed or watched at the moment. */
  get trouble(): string | undefined {
    return this.deployments.trouble?.reason;
  }

  /**
   * Runs `work` while the watches run, once the first lists are there.
   * @throws UnsupportedError where the Deployment may not be listed, TimeoutError where no list comes in time
   */
  async watching<T>(timeoutMs: number, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    const stopper = new AbortController();
    const { deployments, nodes, pods, replicaSets } = this;
    for (const informer of [deployments, replicaSets, pods, ...(nodes ? [nodes] : [])])
      void informer.run(stopper.signal);
    try {
      await this.settle(timeoutMs, signal);
      return await work();
    } finally {
      // The watches are not awaited: one that connects to a silent server ends only when its own timeout does.
      stopper.abort();
    }
  }

  current(): ObservedRollout | undefined {
    const { uid } = this.target.deployment.metadata;
    const cached = this.deployments.lister.get(keyOf(this.target.deployment.metadata));
    if (!cached || cached.metadata.uid !== uid) return undefined;
    if (isSetTarget(this.target)) return this.currentSet(cached as unknown as StatefulSet);
    const deployment = completed(cached);
    const replicaSets = controlledBy(this.replicaSets.lister, deployment);
    const pods = replicaSets.flatMap((replicaSet) => ownedBy(this.pods.lister, replicaSet));
    const isWhole = this.replicaSets.hasSynced && this.pods.hasSynced;
    return { deployment, replicaSets, pods, namespaceAnnotations: this.namespaceAnnotations, isWhole };
  }

  private currentSet(set: StatefulSet): ObservedRollout {
    const revisions = ownedBy(this.replicaSets.lister, set) as unknown as readonly ControllerRevision[];
    const pods = ownedBy(this.pods.lister, set);
    const isWhole = this.replicaSets.hasSynced && this.pods.hasSynced;
    const nodes = this.nodes?.hasSynced ? this.nodes.lister.list() : undefined;
    const rollout = setRollout(this.target.type, { set, revisions, pods, nodes }, this.deps.clock.now());
    return { ...rollout, namespaceAnnotations: this.namespaceAnnotations, isWhole };
  }

  async waitForChange(forMs: number, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    if (!this.hasChanged) {
      const slept = new LinkedAbort(signal);
      this.wake = () => slept.abort(new Error('something has changed'));
      await this.deps.clock.sleep(forMs, slept.signal).catch(() => undefined);
      slept.close();
      this.wake = undefined;
      signal.throwIfAborted();
    }
    this.hasChanged = false;
  }

  private async settle(timeoutMs: number, signal: AbortSignal): Promise<void> {
    const late = new TimeoutError(`no list of Deployments came in time`);
    const linked = new LinkedAbort(signal);
    const either = linked.signal;
    const timer = this.deps.clock.setTimeout(() => linked.abort(late), timeoutMs);
    try {
      // A request whose connection is still being made notices no abort.
      this.namespaceAnnotations = await abortable(annotationsOfNamespace(this.target, either), either);
      await this.deployments.waitUntilSettled(either);
      if (!this.deployments.hasSynced)
        throw new UnsupportedError(`its Deployment cannot be watched: ${this.trouble ?? 'no list came'}`);
      // Their absence costs the cause alone.
      const others = [this.replicaSets, this.pods, ...(this.nodes ? [this.nodes] : [])];
      await Promise.all(others.map((informer) => informer.waitUntilSettled(either)));
    } catch (error) {
      if (error === late && this.trouble !== undefined)
        throw new TimeoutError(`${late.message}: ${this.trouble}`, { cause: error });
      throw error;
    } finally {
      timer.cancel();
      linked.close();
    }
  }

  private informer<T extends KubernetesObject>(
    type: ResourceType,
    selection: Pick<SharedInformerOptions<T>, 'fieldSelector' | 'labelSelector' | 'trim'>,
  ): Informer<T> {
    const { client, deployment } = this.target;
    const { clock, random } = this.deps;
    const namespaces = [deployment.metadata.namespace ?? 'default'];
    const informer = new SharedInformer<T>({
      ...{ type, client, clock, random, logger: silentLogger, namespaces },
      ...selection,
    });
    informer.addEventHandler(() => this.noteChange());
    return informer;
  }

  private noteChange(): void {
    this.hasChanged = true;
    this.wake?.();
  }
}

/** Many users who may read Deployments may not read namespaces: then its defaults are not known. */
async function annotationsOfNamespace(
  { client, deployment }: { readonly client: ApiClient; readonly deployment: Deployment },
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>> | undefined> {
  const name = deployment.metadata.namespace ?? 'default';
  try {
    return (await client.get<Namespace>(Namespace, { name }, { signal })).metadata.annotations;
  } catch {
    signal.throwIfAborted();
    return undefined;
  }
}
