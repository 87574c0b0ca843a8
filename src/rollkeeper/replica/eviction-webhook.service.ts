import type { OnModuleInit } from '@nestjs/common';
import { Inject } from '@nestjs/common';
import type { Informer } from '@rollkeeper/client/informer';
import { NAMESPACE_POLICIES, completed, deploymentTypeOf } from '@rollkeeper/controllers/deployment';
import { SystemClock } from '@rollkeeper/machinery/clock';
import type {
  DeepReadonly,
  Deployment,
  KubernetesObject,
  ResourceType,
} from '@rollkeeper/machinery/kubernetes';
import { Pod, ReplicaSet, apiVersionOf, controllerOf, keyOf } from '@rollkeeper/machinery/kubernetes';
import { Webhook } from '@rollkeeper/nest';
import { ControllerManager } from '@rollkeeper/runtime';
import type { AdmissionRequest, Verdict, WebhookHandlers } from '@rollkeeper/webhooks';
import type { EvictedPod, Eviction } from './eviction-webhook.js';
import { EVICTION_WEBHOOK_RULES, EvictedPods, holdEviction } from './eviction-webhook.js';
import { KubernetesApi } from './kubernetes-api.service.js';
import type { CompiledReplicaOptions } from './replica.options.js';
import { REPLICA_OPTIONS } from './replica-options.module.js';
import { deploymentDefinition } from './watched-deployments.js';

/**
 * Makes the API server of any cluster hold evictions, as the embedded one does by itself. The API server asks it before it looks at budgets;
 * without an answer, budgets alone decide.
 */
@Webhook(EvictedPods, EVICTION_WEBHOOK_RULES)
export class EvictionWebhook implements WebhookHandlers<Eviction>, OnModuleInit {
  private caches: Caches | undefined;

  constructor(
    @Inject(REPLICA_OPTIONS) private readonly options: CompiledReplicaOptions,
    @Inject(ControllerManager) private readonly manager: ControllerManager,
    @Inject(SystemClock) private readonly clock: SystemClock,
    @Inject(KubernetesApi) private readonly api: KubernetesApi,
  ) {}

  /** Before the application starts: the manager fills the caches requested by then. */
  onModuleInit(): void {
    const { informers } = this.manager;
    this.caches = {
      pods: informers.informerFor<Pod>(Pod),
      replicaSets: informers.informerFor<ReplicaSet>(ReplicaSet),
      deployments: this.options.deploymentApis.map(deploymentTypeOf).map((deploymentType) => ({
        type: deploymentType,
        informer: informers.informerFor<Deployment>(deploymentType),
      })),
      namespaces: informers.partialInformerFor<KubernetesObject>(NAMESPACE_POLICIES),
    };
  }

  async validate(eviction: DeepReadonly<Eviction>, request: AdmissionRequest<Eviction>): Promise<Verdict> {
    const evicted = this.find(request.namespace ?? '', request.name || eviction.metadata.name);
    if (!evicted) return undefined;
    const dryRun = request.dryRun || (eviction.deleteOptions?.dryRun ?? []).length > 0;
    return holdEviction(evicted, this.client(), { dryRun, nowMs: this.clock.now(), signal: request.signal });
  }

  /** With the rights of the Deployment controller, which processes the pod. */
  private client() {
    const { clients, client } = this.api;
    const definition = deploymentDefinition(this.options);
    return definition ? clients.clientFor(definition) : client;
  }

  /** Undefined: no Deployment of ours controls the pod, or the caches do not show it yet. Owners are compared by UID. */
  private find(namespace: string, name: string): EvictedPod | undefined {
    const { caches } = this;
    const pod = caches?.pods.lister.get(keyOf({ namespace, name }));
    const replicaSet = pod && caches?.replicaSets.lister.get(ownerKey(pod));
    if (!caches || !replicaSet || controllerOf(pod)?.uid !== replicaSet.metadata.uid) return undefined;
    const owner = controllerOf(replicaSet);
    const watched = caches.deployments.find(
      ({ type }) => owner?.kind === type.kind && owner.apiVersion === apiVersionOf(type),
    );
    const cached = watched?.informer.lister.get(ownerKey(replicaSet));
    if (!cached || cached.metadata.uid !== owner?.uid) return undefined;
    const { annotations } = caches.namespaces.lister.get(namespace)?.metadata ?? {};
    return { pod, deployment: completed(cached), namespaceAnnotations: annotations };
  }
}

interface Caches {
  readonly pods: Informer<Pod>;
  readonly replicaSets: Informer<ReplicaSet>;
  readonly deployments: readonly { readonly type: ResourceType; readonly informer: Informer<Deployment> }[];
  readonly namespaces: Pick<Informer<KubernetesObject>, 'lister'>;
}

function ownerKey(object: DeepReadonly<KubernetesObject>): string {
  return keyOf({ namespace: object.metadata.namespace, name: controllerOf(object)?.name ?? '' });
}
