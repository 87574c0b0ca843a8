import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { errorMessage } from '@rollkeeper/machinery/errors';
import {
  Namespace,
  Node,
  ServiceAccount,
  objectOfKind,
  qualifiedResource,
} from '@rollkeeper/machinery/kubernetes';
import type { UnstructuredObject } from '@rollkeeper/machinery/kubernetes';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { VersionConverter } from '../../kinds/conversion/version-converter.js';
import type { FieldError } from '../../schema/errors/index.js';
import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import type { SchemaRegistry } from '../../schema/index.js';
import type { FollowedObjects, FollowedResources, Storage } from '../../storage/index.js';
import { ServiceAddresses, WebhookClient } from '../../kinds/webhook-client/index.js';
import type { WebhookCaller } from '../../kinds/webhook-client/index.js';
import type { Attributes, WriteAttributes } from './attributes.js';
import { builtInPlugins } from './built-in-plugins.js';
import type { Plugin } from './plugin.js';
import { admitByNamespace } from './plugins/namespace-lifecycle.js';
import { objectCheckPlugin } from './plugins/object-checks.js';
import type { ObjectCheck } from './plugins/object-checks.js';
import type { UnknownAccounts } from './plugins/service-account.js';
import type { ResourceQuota } from './quota/decide-charge.js';
import { MutatingPolicyPlugin } from './policies/mutating-policy-plugin.js';
import { PolicyPlugin } from './policies/policy-plugin.js';
import type { AccessDecider } from './request-authority.js';
import { QuotaKeeper } from './quota/quota-keeper.js';
import type { Conversion } from './webhooks/admission-review.js';
import { WebhookPlugin } from './webhooks/webhook-plugin.js';

interface AdmissionDependencies {
  readonly storage: Storage;
  readonly followed: FollowedResources;
  readonly kinds: KindRegistry;
  readonly schemas: SchemaRegistry;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly logger: Logger;
  /** Authorizer for expressions. */
  readonly access: AccessDecider;
  /** Converts objects to the versions that webhooks and policies match. */
  readonly converter: Pick<VersionConverter, 'inFormOf'>;
}

const QUOTAS = 'resourcequotas';

interface AdmissionOptions {
  /**
   * How to treat pods with a missing service account: manifests often create the account after the pod. kube-apiserver
   * refuses them. @default 'warn'
   */
  readonly unknownAccounts?: UnknownAccounts;
  /** Checks beyond those of Kubernetes, which come after its own. @default none */
  readonly checks?: readonly ObjectCheck[];
  /** Disabled plug-ins. @default none */
  readonly disabled?: readonly AdmissionPluginName[];
  /** Calls the webhooks. @default one that resolves their Services */
  readonly webhooks?: WebhookCaller;
}

/** kube-apiserver's plug-ins that can be disabled. */
export const ADMISSION_PLUGINS = [
  'CertificateApproval',
  'CertificateSigning',
  'CertificateSubjectRestriction',
  'DefaultIngressClass',
  'DefaultStorageClass',
  'DefaultTolerationSeconds',
  'LimitRanger',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionWebhook',
  'NodeRestriction',
  'PersistentVolumeClaimResize',
  'PodResizeValidator',
  'PodSecurity',
  'PodTopologyLabels',
  'Priority',
  'ResourceQuota',
  'RuntimeClass',
  'ServiceAccount',
  'StorageObjectInUseProtection',
  'TaintNodesByCondition',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionWebhook',
] as const;

export type AdmissionPluginName = (typeof ADMISSION_PLUGINS)[number];

/**
 * The admission chain of every write, in kube-apiserver's order: plug-ins that complete the object, its validation (by
 * its kind, between {@link mutate} and {@link validate}), plug-ins that refuse it, and finally the quotas
 * ({@link booked}). All its inputs are in memory once `followed` has been loaded, so that unconfigured features cost
 * nothing.
 */
export class Admission {
  private readonly plugins = new Map<string, Plugin[]>();
  private readonly namespaces: FollowedObjects<Namespace>;
  /** Absent: quotas are disabled. */
  private readonly quotas: QuotaKeeper | undefined;
  private readonly mutatingPolicies: MutatingPolicyPlugin | undefined;
  private readonly policies: PolicyPlugin | undefined;
  private readonly mutatingWebhooks: WebhookPlugin | undefined;
  private readonly validatingWebhooks: WebhookPlugin | undefined;

  constructor(
    private readonly dependencies: AdmissionDependencies,
    { checks = [], disabled = [], unknownAccounts = 'warn', webhooks: client }: AdmissionOptions = {},
  ) {
    const isDisabled = (name: string): boolean => disabled.some((one) => one === name);
    const { followed } = dependencies;
    this.namespaces = followed.objects(qualifiedResource(Namespace));
    if (!isDisabled('ResourceQuota')) this.quotas = new QuotaKeeper(followed.objects(QUOTAS), dependencies);
    const plugins = builtInPlugins({
      ...dependencies,
      accounts: followed.objects(qualifiedResource(ServiceAccount)),
      unknownAccounts,
      namespaces: this.namespaces,
      limits: followed.objects('limitranges'),
      nodes: followed.objects(qualifiedResource(Node)),
      priorities: followed.objects('priorityclasses.scheduling.k8s.io'),
      runtimeClasses: followed.objects('runtimeclasses.node.k8s.io'),
      storageClasses: followed.objects('storageclasses.storage.k8s.io'),
      ingressClasses: followed.objects('ingressclasses.networking.k8s.io'),
    });
    const convert: Conversion = (wanted, own, object) => dependencies.converter.inFormOf(wanted, own, object);
    const webhooks = new WebhookPlugin(
      {
        ...dependencies,
        convert,
        namespaces: this.namespaces,
        mutating: followed.objects('mutatingwebhookconfigurations.admissionregistration.k8s.io'),
        validating: followed.objects('validatingwebhookconfigurations.admissionregistration.k8s.io'),
      },
      client ?? new WebhookClient(new ServiceAddresses(dependencies.storage), dependencies.clock),
    );
    const policies = new PolicyPlugin({
      ...dependencies,
      convert,
      namespaces: this.namespaces,
      policies: followed.objects('validatingadmissionpolicies.admissionregistration.k8s.io'),
      bindings: followed.objects('validatingadmissionpolicybindings.admissionregistration.k8s.io'),
    });
    const mutatingPolicies = new MutatingPolicyPlugin({
      ...dependencies,
      convert,
      namespaces: this.namespaces,
      policies: followed.objects('mutatingadmissionpolicies.admissionregistration.k8s.io'),
      bindings: followed.objects('mutatingadmissionpolicybindings.admissionregistration.k8s.io'),
    });
    if (!isDisabled('MutatingAdmissionPolicy')) this.mutatingPolicies = mutatingPolicies;
    if (!isDisabled('ValidatingAdmissionPolicy')) this.policies = policies;
    if (!isDisabled('MutatingAdmissionWebhook')) this.mutatingWebhooks = webhooks;
    if (!isDisabled('ValidatingAdmissionWebhook')) this.validatingWebhooks = webhooks;
    const further = checks.map((check) => objectCheckPlugin(check, this.namespaces));
    for (const plugin of [...plugins, ...further]) {
      if (isDisabled(plugin.name)) continue;
      const others = this.plugins.get(plugin.resource) ?? [];
      this.plugins.set(plugin.resource, [...others, plugin]);
    }
  }

  /**
   * Lets the plug-ins complete a new state, which has its defaults already and is not validated yet.
   * @throws StatusError
   */
  async mutate(attributes: WriteAttributes): Promise<void> {
    await admitByNamespace(attributes, this.namespaces);
    await this.complete(attributes);
    const policies = this.mutatingPolicies;
    const round = await policies?.mutate(attributes);
    const complete = async (): Promise<void> => {
      attributes.kind.applyDefaults(attributes.object);
      await this.complete(attributes);
      if (round) await policies?.again(attributes, round);
    };
    const isChanged = round?.hasChanged ?? false;
    if (this.mutatingWebhooks) await this.mutatingWebhooks.mutate(attributes, complete, { isChanged });
    else if (isChanged) await complete();
  }

  /** Lets the plug-ins of a subresource, and the webhooks, change its body. @throws StatusError */
  async mutateSent(attributes: WriteAttributes): Promise<void> {
    await this.complete(attributes);
    await this.mutatingWebhooks?.mutate(attributes, () => this.complete(attributes));
  }

  /** Lets the plug-ins of a subresource with another body complete the object behind it. */
  completeBehind(attributes: WriteAttributes): void {
    for (const plugin of this.pluginsOf(attributes)) plugin.mutateBehind?.(attributes);
  }

  /** Finds the problems of a complete new state; they are named before what its kind finds wrong with it. */
  async problems(attributes: WriteAttributes): Promise<FieldError[]> {
    const found: FieldError[] = [];
    for (const plugin of this.pluginsOf(attributes))
      found.push(...((await plugin.problems?.(attributes)) ?? []));
    return found;
  }

  /** Checks with the plug-ins whether a complete and valid new state may be stored. @throws StatusError */
  async validate(attributes: WriteAttributes): Promise<void> {
    for (const plugin of this.pluginsOf(attributes)) await plugin.validate?.(attributes);
    await this.policies?.validate(attributes);
    await this.validatingWebhooks?.validate(attributes);
  }

  /** Checks whether an object may be deleted. @throws StatusError */
  async validateDeletion(attributes: Attributes): Promise<void> {
    await admitByNamespace(attributes, this.namespaces);
    for (const plugin of this.pluginsOf(attributes)) await plugin.validateDeletion?.(attributes);
    await this.mutatingWebhooks?.mutate(attributes, () => Promise.resolve());
    await this.policies?.validate(attributes);
    await this.validatingWebhooks?.validate(attributes);
  }

  /**
   * Lets `write` store or remove what has been admitted, within the quotas. Followed by {@link wrote} or
   * {@link removed}.
   * @throws StatusError
   */
  booked<T>(attributes: Attributes, write: () => Promise<T>): Promise<T> {
    return this.quotas ? this.quotas.booked(attributes, write) : write();
  }

  /** The result of {@link booked} for a dry run. @throws StatusError */
  async checkQuotas(attributes: Attributes): Promise<void> {
    await this.quotas?.check(attributes);
  }

  /** After a successful write: updates what the server keeps about the object. */
  async settle({ type }: KindDefinition, object: Readonly<UnstructuredObject>): Promise<void> {
    if (qualifiedResource(type) !== QUOTAS) return;
    const quota = objectOfKind<ResourceQuota>(object);
    try {
      await this.quotas?.counted(quota);
    } catch (error) {
      // It is counted when the first object is admitted.
      const { name, namespace } = quota.metadata;
      this.dependencies.logger.warn('a quota was not counted', {
        namespace,
        quota: name,
        error: errorMessage(error),
      });
    }
  }

  private async complete(attributes: WriteAttributes): Promise<void> {
    for (const plugin of this.pluginsOf(attributes)) await plugin.mutate?.(attributes);
  }

  private pluginsOf({ kind, subresource }: Attributes): readonly Plugin[] {
    const all = this.plugins.get(qualifiedResource(kind.type)) ?? [];
    return all.filter((plugin) => (plugin.subresource ?? '') === subresource);
  }
}
