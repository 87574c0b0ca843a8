import { createHash } from 'node:crypto';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { KindDefinition, KindRegistry } from '../../kinds/index.js';
import { byName, groupsOf, groupVersionsOf } from './group-versions.js';
import type { AnsweredType, GroupVersion } from './group-versions.js';
import { subresourceFacts, verbsOf } from './verbs.js';

/** `GET /api` */
export function coreVersions(serverAddress: string): object {
  return {
    kind: 'APIVersions',
    versions: ['v1'],
    serverAddressByClientCIDRs: [{ clientCIDR: '0.0.0.0/0', serverAddress }],
  };
}

/** `GET /apis` */
export function groupList(kinds: KindRegistry): object {
  const groups = groupsOf(kinds)
    .filter(([{ group }]) => group !== '')
    .map(toGroup);
  return { kind: 'APIGroupList', apiVersion: 'v1', groups };
}

/** `GET /apis/GROUP`; undefined when there is no such group. */
export function oneGroup(kinds: KindRegistry, group: string): object | undefined {
  const found = groupsOf(kinds).find(([candidate]) => candidate.group === group && group !== '');
  return found && { kind: 'APIGroup', apiVersion: 'v1', ...toGroup(found) };
}

function toGroup(found: readonly [GroupVersion, ...GroupVersion[]]): object {
  const entries = found.map(({ group, version }) => ({ groupVersion: `${group}/${version}`, version }));
  return { name: found[0].group, versions: entries, preferredVersion: entries[0] };
}

/** `GET /api/v1` and `GET /apis/GROUP/VERSION`; undefined when there is no such version. */
export function resourceList(kinds: KindRegistry, group: string, version: string): object | undefined {
  const found = groupVersionsOf(kinds).find(
    (candidate) => candidate.group === group && candidate.version === version,
  );
  if (!found) return undefined;
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf(found),
    resources: byName(
      group,
      [...found.kinds.flatMap(toResources), ...found.answered.map(answeredResource)],
      ({ name }) => name,
    ),
  };
}

interface Named {
  readonly name: string;
  readonly [field: string]: unknown;
}

function answeredResource({ kind, namespaced, resource, shortNames, singular, verbs }: AnsweredType): Named {
  return {
    name: resource,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames && { shortNames }),
  };
}

function toResources(kind: KindDefinition): Named[] {
  const { resource, namespaced } = kind.type;
  const own = {
    name: resource,
    singularName: kind.singular,
    namespaced,
    kind: kind.type.kind,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
    storageVersionHash: storageVersionHash(kind),
  };
  const parts = kind.subresources.flatMap((subresource) => {
    const facts = subresourceFacts(kind, subresource);
    if (!facts) return [];
    const foreign = facts.group !== kind.type.group || facts.version !== kind.type.version;
    return [
      {
        name: `${resource}/${subresource}`,
        singularName: '',
        namespaced,
        ...(foreign && { group: facts.group, version: facts.version }),
        kind: facts.kind,
        verbs: facts.verbs,
      },
    ];
  });
  return [own, ...parts];
}

/** Kinds that a genuine server stores in another version than the one of the list. */
const STORED_AS: Readonly<Record<string, string>> = {
  'events.k8s.io/v1/Event': '/v1/Event',
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicy':
    'admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicy',
  'admissionregistration.k8s.io/v1/MutatingAdmissionPolicyBinding':
    'admissionregistration.k8s.io/v1beta1/MutatingAdmissionPolicyBinding',
  'apiextensions.k8s.io/v1/CustomResourceDefinition': 'apiextensions.k8s.io/v1beta1/CustomResourceDefinition',
  'autoscaling/v1/HorizontalPodAutoscaler': 'autoscaling/v2/HorizontalPodAutoscaler',
};

/** Clients that migrate what is stored compare it. Source: StorageVersionHash of apiserver. */
function storageVersionHash({ type, view }: KindDefinition): string {
  const { group, kind, version } = type;
  const stored = view?.conversion ? view.conversion.stored : `${group}/${version}`;
  const own = `${stored}/${kind}`;
  return createHash('sha256')
    .update(STORED_AS[own] ?? own)
    .digest()
    .subarray(0, 8)
    .toString('base64');
}
