import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { KindDefinition, KindRegistry } from '../kinds/index.js';
import { groupsOf, groupVersionsOf } from './group-versions.js';
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
    resources: [...found.kinds.flatMap(toResources), ...found.answered.map(answeredResource)],
  };
}

function answeredResource({ kind, namespaced, resource, shortNames, singular, verbs }: AnsweredType): object {
  return {
    name: resource,
    singularName: singular,
    namespaced,
    kind,
    verbs,
    ...(shortNames && { shortNames }),
  };
}

function toResources(kind: KindDefinition): object[] {
  const { resource, namespaced } = kind.type;
  const own = {
    name: resource,
    singularName: kind.singular,
    namespaced,
    kind: kind.type.kind,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
    storageVersionHash: Buffer.from(`${apiVersionOf(kind.type)}/${kind.type.kind}`)
      .toString('base64')
      .slice(0, 11),
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
