import type { Clock, RandomSource } from '../../base/clock/index.js';
import { errorMessage } from '../../base/errors/index.js';
import { NAMESPACES, qualifiedResource, SERVICE_ACCOUNTS } from '../../base/kubernetes/index.js';
import type { KubernetesObject, Namespace, Pod, UnstructuredObject } from '../../base/kubernetes/index.js';
import type { Logger } from '../../base/logging/index.js';
import type { KindDefinition, KindRegistry } from '../kinds/index.js';
import type { Revision, Storage } from '../storage/index.js';
import { refused } from './attributes.js';
import type { Attributes, WriteAttributes } from './attributes.js';
import { FollowedResource } from './followed-resource.js';
import { setDefaultIngressClass, setDefaultStorageClass } from './plugins/default-classes.js';
import { addDefaultTolerations } from './plugins/default-tolerations.js';
import { applyLimitDefaults, breachesOfClaim, breachesOfPod } from './plugins/limit-ranger.js';
import type { LimitRange } from './plugins/limit-ranger.js';
import { admitByNamespace } from './plugins/namespace-lifecycle.js';
import { admitPodPriority, checkDefaultClass } from './plugins/priority.js';
import type { PriorityClass } from './plugins/priority.js';
import { admitServiceAccount } from './plugins/service-account.js';
import type { ServiceAccount } from './plugins/service-account.js';
import type { ResourceQuota } from './quota/decide-charge.js';
import { QuotaKeeper } from './quota/quota-keeper.js';

export interface AdmissionDependencies {
  readonly storage: Storage;
  readonly kinds: KindRegistry;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
}

const QUOTAS = 'resourcequotas';

/** One step of the chain, for the requests that it is asked about. */
type Mutate = (attributes: WriteAttributes) => void | Promise<void>;
type Validate = (attributes: WriteAttributes) => void;

/**
 * What every write has to pass, in kube-apiserver's order: plug-ins that complete the object, its validation (by its
 * kind, between {@link mutate} and {@link validate}), plug-ins that refuse it, and last the quotas ({@link booked}).
 * All that they decide by is in memory, so that what is not configured costs nothing.
 */
export class Admission {
  private readonly followed = new Map<string, FollowedResource>();
  private readonly mutations: Readonly<Record<string, readonly Mutate[]>>;
  private readonly validations: Readonly<Record<string, readonly Validate[]>>;
  private readonly namespaces: FollowedResource<Namespace>;
  private readonly quotas: QuotaKeeper;

  constructor(private readonly dependencies: AdmissionDependencies) {
    this.namespaces = this.follow<Namespace>(qualifiedResource(NAMESPACES));
    this.quotas = new QuotaKeeper(this.follow<ResourceQuota>(QUOTAS), dependencies);
    const accounts = this.follow<ServiceAccount>(qualifiedResource(SERVICE_ACCOUNTS));
    const limits = this.follow<LimitRange>('limitranges');
    const priorities = this.follow<PriorityClass>('priorityclasses.scheduling.k8s.io');
    const storageClasses = this.follow('storageclasses.storage.k8s.io');
    const ingressClasses = this.follow('ingressclasses.networking.k8s.io');
    const classes = {
      get: (name: string) => priorities.get('', name),
      list: () => priorities.list(''),
    };
    this.mutations = {
      pods: [
        created(({ namespace, object }) =>
          applyLimitDefaults(object as unknown as Pod, limits.list(namespace)),
        ),
        created((attributes) => admitServiceAccount(attributes, accounts, dependencies)),
        (attributes) => admitPodPriority(attributes, classes),
        ({ object }) => addDefaultTolerations(object as unknown as Pod),
      ],
      persistentvolumeclaims: [
        created(({ object }) => setDefaultStorageClass(object, storageClasses.list(''))),
      ],
      'ingresses.networking.k8s.io': [
        created(({ object }) => setDefaultIngressClass(object, ingressClasses.list(''))),
      ],
    };
    this.validations = {
      pods: [
        (attributes) => {
          if (attributes.operation !== 'CREATE') return;
          const ranges = limits.list(attributes.namespace);
          refuseBreaches(attributes, breachesOfPod(attributes.object as unknown as Pod, ranges));
        },
      ],
      persistentvolumeclaims: [
        (attributes) =>
          refuseBreaches(attributes, breachesOfClaim(attributes.object, limits.list(attributes.namespace))),
      ],
      'priorityclasses.scheduling.k8s.io': [(attributes) => checkDefaultClass(attributes, classes.list())],
    };
  }

  /** Reads what there is to decide by. Before the first request. */
  async load(): Promise<void> {
    await Promise.all([...this.followed.values()].map((resource) => resource.load()));
  }

  /** Follows what it decides by until aborted. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.all([...this.followed.values()].map((resource) => resource.run(signal)));
  }

  /**
   * Lets the plug-ins complete a new state, which has its defaults already and is not validated yet.
   * @throws StatusError
   */
  async mutate(attributes: WriteAttributes): Promise<void> {
    await admitByNamespace(attributes, this.namespaces);
    if (attributes.subresource !== '') return;
    for (const plugin of this.mutations[qualifiedResource(attributes.kind.type)] ?? [])
      await plugin(attributes);
  }

  /** Asks the plug-ins whether a complete and valid new state may be stored. @throws StatusError */
  async validate(attributes: WriteAttributes): Promise<void> {
    if (attributes.subresource !== '') return;
    for (const plugin of this.validations[qualifiedResource(attributes.kind.type)] ?? []) plugin(attributes);
  }

  /** Asks whether an object may be deleted. @throws StatusError */
  async validateDeletion(attributes: Attributes): Promise<void> {
    await admitByNamespace(attributes, this.namespaces);
  }

  /**
   * Lets `write` store, or remove, what has been admitted, within the quotas. Told of by {@link wrote} or {@link removed}.
   * @throws StatusError
   */
  booked<T>(attributes: Attributes, write: () => Promise<T>): Promise<T> {
    return this.quotas.booked(attributes, write);
  }

  /** What {@link booked} would say, for a dry run. @throws StatusError */
  checkQuotas(attributes: Attributes): Promise<void> {
    return this.quotas.check(attributes);
  }

  /** Tells of a state that this process has stored, so that it never decides by its own yesterday. */
  observe({ type }: KindDefinition, object: KubernetesObject): void {
    this.followed.get(qualifiedResource(type))?.observe(object);
  }

  /** Tells of a removal by this process. */
  forget({ type }: KindDefinition, { metadata }: KubernetesObject, revision: Revision): void {
    this.followed.get(qualifiedResource(type))?.forget(metadata.namespace ?? '', metadata.name, revision);
  }

  /** After a write is through: what the server keeps about the object follows it. */
  async settle({ type }: KindDefinition, object: Readonly<UnstructuredObject>): Promise<void> {
    if (qualifiedResource(type) !== QUOTAS) return;
    const quota = object as unknown as ResourceQuota;
    try {
      await this.quotas.counted(quota);
    } catch (error) {
      // It is counted when the first object asks to be let in.
      const { name, namespace } = quota.metadata;
      this.dependencies.logger.warn('a quota was not counted', {
        namespace,
        quota: name,
        error: errorMessage(error),
      });
    }
  }

  private follow<T extends KubernetesObject>(resource: string): FollowedResource<T> {
    const followed = new FollowedResource<T>(resource, this.dependencies);
    this.followed.set(resource, followed);
    return followed;
  }
}

function created(plugin: Mutate): Mutate {
  return (attributes) => (attributes.operation === 'CREATE' ? plugin(attributes) : undefined);
}

function refuseBreaches(attributes: WriteAttributes, breaches: readonly string[]): void {
  if (breaches.length === 0) return;
  throw refused(attributes, breaches.length === 1 ? breaches[0]! : `[${breaches.join(', ')}]`);
}
