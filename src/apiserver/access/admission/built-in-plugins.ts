import type { Binding } from '@rollkeeper/machinery/types/core-v1';
import {
  CLAIM_PROTECTION,
  ConfigMap,
  Deployment,
  ReplicaSet,
  RollkeeperDeployment,
  VOLUME_ATTRIBUTES_CLASS_PROTECTION,
  VOLUME_PROTECTION,
  objectOfKind,
  qualifiedResource,
} from '@rollkeeper/machinery/kubernetes';
import type { DecodedObject, Namespace, Node, Pod, StorageClass } from '@rollkeeper/machinery/kubernetes';
import type { Clock, RandomSource } from '@rollkeeper/machinery/clock';
import { refused } from './attributes.js';
import type { Attributes, WriteAttributes } from './attributes.js';
import type { FollowedObjects, Storage } from '../../storage/index.js';
import type { Plugin } from './plugin.js';
import type { NodeRestrictionKnowledge } from './node-restriction/node-request.js';
import { NODE_RESTRICTED, restrictNode } from './node-restriction/node-restriction.js';
import {
  checkApproval,
  checkSigning,
  nameRequestor,
  restrictSubject,
} from './plugins/certificate-requests.js';
import { nameChangeAuthor, nameRequester, nameSizeAuthor } from './plugins/change-author.js';
import { setDefaultIngressClass, setDefaultStorageClass } from './plugins/default-classes.js';
import { checkNamespace, checkPod, checkTemplate, TEMPLATE_HOLDERS } from './pod-security/pod-security.js';
import type { PodSecurityKnowledge } from './pod-security/pod-security.js';
import { addDefaultTolerations } from './plugins/default-tolerations.js';
import { applyLimitDefaults, breachesOfClaim, breachesOfPod } from './plugins/limit-ranger.js';
import type { LimitRange } from './plugins/limit-ranger.js';
import { checkRoomForResize } from './plugins/pod-resize.js';
import { addTopologyLabels } from './plugins/pod-topology-labels.js';
import { admitPodPriority, checkDefaultClass } from './plugins/priority.js';
import type { PriorityClass } from './plugins/priority.js';
import { claimPlugins } from './plugins/resource-claims.js';
import { keepRecords, protectHistory } from './plugins/rollout-records.js';
import { admitRuntimeClass, checkOverhead } from './plugins/runtime-class.js';
import type { RuntimeClass } from './plugins/runtime-class.js';
import { admitServiceAccount } from './plugins/service-account.js';
import type { ServiceAccount, UnknownAccounts } from './plugins/service-account.js';
import { checkClaimGrowth, protectStorageObject } from './plugins/storage-objects.js';
import { taintNewNode } from './plugins/taint-nodes.js';
import type { AccessDecider } from './request-authority.js';

/** The plug-ins' inputs. */
interface PluginKnowledge extends PodSecurityKnowledge, NodeRestrictionKnowledge {
  readonly storage: Pick<Storage, 'get' | 'list'>;
  readonly accounts: FollowedObjects<ServiceAccount>;
  readonly unknownAccounts: UnknownAccounts;
  readonly limits: FollowedObjects<LimitRange>;
  readonly namespaces: FollowedObjects<Namespace>;
  readonly nodes: FollowedObjects<Node>;
  readonly priorities: FollowedObjects<PriorityClass>;
  readonly runtimeClasses: FollowedObjects<RuntimeClass>;
  readonly storageClasses: FollowedObjects<StorageClass>;
  readonly ingressClasses: FollowedObjects;
  readonly clock: Clock;
  readonly random: RandomSource;
  readonly access: AccessDecider;
}

/** In kube-apiserver's order. */
export function builtInPlugins(known: PluginKnowledge): readonly Plugin[] {
  const { accounts, ingressClasses, runtimeClasses } = known;
  return [
    ...limitPlugins(known),
    {
      name: 'ServiceAccount',
      resource: 'pods',
      mutate: onCreation((attributes) => admitServiceAccount(attributes, accounts, known)),
    },
    ...nodeRestrictionPlugins(known),
    ...podSecurityPlugins(known),
    ...priorityPlugins(known),
    {
      name: 'DefaultTolerationSeconds',
      resource: 'pods',
      mutate: ({ object }) => addDefaultTolerations(podOf(object)),
    },
    {
      name: 'RuntimeClass',
      resource: 'pods',
      mutate: onCreation((attributes) => admitRuntimeClass(attributes, runtimeClasses)),
      validate: onCreation((attributes) => checkOverhead(attributes, runtimeClasses)),
    },
    ...topologyLabelPlugins(known),
    ...storagePlugins(known),
    {
      name: 'TaintNodesByCondition',
      resource: 'nodes',
      mutate: onCreation(({ object }) => taintNewNode(objectOfKind(object))),
    },
    {
      name: 'DefaultIngressClass',
      resource: 'ingresses.networking.k8s.io',
      mutate: onCreation(({ object }) => setDefaultIngressClass(object, ingressClasses.list(''))),
    },
    ...certificatePlugins(known),
    ...claimPlugins(known),
    ...DEPLOYMENT_RESOURCES.flatMap((resource) => authorPlugins(resource, known)),
    ...recordPlugins(known),
  ];
}

function limitPlugins({ limits, nodes }: PluginKnowledge): readonly Plugin[] {
  const checkPodLimits = (attributes: WriteAttributes): void =>
    refuseBreaches(attributes, breachesOfPod(podOf(attributes.object), limits.list(attributes.namespace)));
  const addLimits = ({ namespace, object }: WriteAttributes): void =>
    applyLimitDefaults(podOf(object), limits.list(namespace));
  return [
    {
      name: 'LimitRanger',
      resource: 'pods',
      // Beyond a resize, containers are immutable after creation.
      mutate: onCreation(addLimits),
      validate: onCreation(checkPodLimits),
    },
    {
      name: 'LimitRanger',
      resource: 'pods',
      subresource: 'resize',
      mutate: addLimits,
      validate: checkPodLimits,
    },
    {
      name: 'PodResizeValidator',
      resource: 'pods',
      subresource: 'resize',
      validate: (attributes) => checkRoomForResize(attributes, (name) => nodes.get('', name)),
    },
    {
      name: 'LimitRanger',
      resource: 'persistentvolumeclaims',
      validate: (attributes) =>
        refuseBreaches(attributes, breachesOfClaim(attributes.object, limits.list(attributes.namespace))),
    },
  ];
}

function priorityPlugins({ priorities }: PluginKnowledge): readonly Plugin[] {
  const classes = {
    get: (name: string) => priorities.get('', name),
    list: () => priorities.list(''),
  };
  return [
    {
      name: 'Priority',
      resource: 'pods',
      mutate: (attributes) => admitPodPriority(attributes, classes),
    },
    {
      name: 'Priority',
      resource: 'priorityclasses.scheduling.k8s.io',
      validate: (attributes) => checkDefaultClass(attributes, classes.list()),
    },
  ];
}

function topologyLabelPlugins({ nodes }: PluginKnowledge): readonly Plugin[] {
  return [
    {
      name: 'PodTopologyLabels',
      resource: 'pods',
      mutate: onCreation(({ object }) =>
        addTopologyLabels(object, nodes.get('', podOf(object).spec.nodeName ?? '')),
      ),
    },
    {
      name: 'PodTopologyLabels',
      resource: 'pods',
      subresource: 'binding',
      mutate: ({ object }) => {
        const { kind, name = '' } = objectOfKind<DecodedObject<Binding>>(object).target ?? {};
        if (kind === 'Node') addTopologyLabels(object, nodes.get('', name));
      },
    },
  ];
}

function storagePlugins({ storageClasses }: PluginKnowledge): readonly Plugin[] {
  return [
    {
      name: 'DefaultStorageClass',
      resource: 'persistentvolumeclaims',
      mutate: onCreation(({ object }) => setDefaultStorageClass(object, storageClasses.list(''))),
    },
    {
      name: 'StorageObjectInUseProtection',
      resource: 'persistentvolumes',
      mutate: onCreation(({ object }) => protectStorageObject(object, VOLUME_PROTECTION)),
    },
    {
      name: 'StorageObjectInUseProtection',
      resource: 'persistentvolumeclaims',
      mutate: onCreation(({ object }) => protectStorageObject(object, CLAIM_PROTECTION)),
    },
    {
      name: 'StorageObjectInUseProtection',
      resource: 'volumeattributesclasses.storage.k8s.io',
      mutate: onCreation(({ object }) => protectStorageObject(object, VOLUME_ATTRIBUTES_CLASS_PROTECTION)),
    },
    {
      name: 'PersistentVolumeClaimResize',
      resource: 'persistentvolumeclaims',
      validate: (attributes) => checkClaimGrowth(attributes, (name) => storageClasses.get('', name)),
    },
  ];
}

/** The Deployments of both APIs. */
const DEPLOYMENT_RESOURCES = [Deployment, RollkeeperDeployment].map(qualifiedResource);

function authorPlugins(resource: string, { namespaces }: PluginKnowledge): readonly Plugin[] {
  const nameScaler = (attributes: WriteAttributes): void =>
    nameSizeAuthor(attributes, namespaces.get('', attributes.namespace));
  const nameAuthors = (attributes: WriteAttributes): void => {
    nameChangeAuthor(attributes, namespaces.get('', attributes.namespace));
    nameScaler(attributes);
    nameRequester(attributes);
  };
  return [
    { name: 'ChangeAuthor', resource, mutate: nameAuthors },
    // A write of the status can change annotations as well.
    { name: 'ChangeAuthor', resource, subresource: 'status', mutate: nameAuthors },
    { name: 'ChangeAuthor', resource, subresource: 'scale', mutateBehind: nameScaler },
  ];
}

function recordPlugins({ access }: PluginKnowledge): readonly Plugin[] {
  const name = 'RolloutRecords';
  const mutate = (attributes: WriteAttributes): void => keepRecords(attributes, access);
  return [
    ...['', 'status'].map((subresource) => ({
      ...{ name, subresource, mutate },
      resource: qualifiedResource(ReplicaSet),
    })),
    {
      name,
      resource: qualifiedResource(ConfigMap),
      validate: (attributes) => protectHistory(attributes, access),
    },
  ];
}

const CERTIFICATE_REQUESTS = 'certificatesigningrequests.certificates.k8s.io';

function nodeRestrictionPlugins(known: PluginKnowledge): readonly Plugin[] {
  return Object.entries(NODE_RESTRICTED).flatMap(([resource, subresources]) => {
    const restrict = (attributes: Attributes): Promise<void> => restrictNode(resource, attributes, known);
    return subresources.map((subresource) => ({
      name: 'NodeRestriction',
      resource,
      subresource,
      mutate: restrict,
      ...(subresource === '' && { validateDeletion: restrict }),
    }));
  });
}

function podSecurityPlugins(known: PluginKnowledge): readonly Plugin[] {
  const name = 'PodSecurity';
  return [
    { name, resource: 'namespaces', validate: (attributes) => checkNamespace(attributes, known) },
    ...['', 'ephemeralcontainers', 'resize'].map((subresource) => ({
      name,
      resource: 'pods',
      subresource,
      validate: (attributes: WriteAttributes) => checkPod(attributes, known),
    })),
    ...TEMPLATE_HOLDERS.map((holder) => ({
      name,
      resource: holder.resource,
      validate: (attributes: WriteAttributes) => checkTemplate(attributes, holder, known),
    })),
  ];
}

function certificatePlugins({ access }: Pick<PluginKnowledge, 'access'>): readonly Plugin[] {
  const resource = CERTIFICATE_REQUESTS;
  return [
    // This is no plug-in in kube-apiserver: there it is part of the resource, and cannot be disabled either.
    { name: 'CertificateRequestor', resource, mutate: onCreation(nameRequestor) },
    { name: 'CertificateSubjectRestriction', resource, validate: onCreation(restrictSubject) },
    {
      name: 'CertificateApproval',
      resource,
      subresource: 'approval',
      validate: (attributes) => checkApproval(attributes, access),
    },
    {
      name: 'CertificateSigning',
      resource,
      subresource: 'status',
      validate: (attributes) => checkSigning(attributes, access),
    },
  ];
}

function podOf(object: WriteAttributes['object']): Pod {
  return objectOfKind(object);
}

function onCreation<R>(
  step: (attributes: WriteAttributes) => R,
): (attributes: WriteAttributes) => R | undefined {
  return (attributes) => (attributes.operation === 'CREATE' ? step(attributes) : undefined);
}

function refuseBreaches(attributes: WriteAttributes, breaches: readonly string[]): void {
  if (breaches.length === 0) return;
  throw refused(attributes, breaches.length === 1 ? breaches[0]! : `[${breaches.join(', ')}]`);
}
