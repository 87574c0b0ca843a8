import type { KindDefinition, KindRegistry } from '../kinds/index.js';
import { groupsOf } from './group-versions.js';
import type { AnsweredType } from './group-versions.js';
import { subresourceFacts, verbsOf } from './verbs.js';

/** Media types of the aggregated form that we have; the newest is preferred. */
const AGGREGATED =
  /application\/json;\s*g=apidiscovery\.k8s\.io;\s*v=(v2|v2beta1);\s*as=APIGroupDiscoveryList/;

/** @returns the version of the aggregated form that the client would take */
export function aggregatedVersion(accept: string | undefined): 'v2' | 'v2beta1' | undefined {
  return AGGREGATED.exec(accept ?? '')?.[1] as 'v2' | 'v2beta1' | undefined;
}

export function aggregatedContentType(version: 'v2' | 'v2beta1'): string {
  return `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`;
}

/** Everything that is below `/api` (`core`) or `/apis` in one answer. */
export function aggregatedDiscovery(
  kinds: KindRegistry,
  part: 'core' | 'groups',
  version: 'v2' | 'v2beta1',
): object {
  const items = groupsOf(kinds)
    .filter(([{ group }]) => (group === '') === (part === 'core'))
    .map((versions) => ({
      metadata: { ...(versions[0].group !== '' && { name: versions[0].group }), creationTimestamp: null },
      versions: versions.map((found) => ({
        version: found.version,
        resources: [...found.kinds.map(toResource), ...found.answered.map(answered)],
        freshness: 'Current',
      })),
    }));
  return { kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {}, items };
}

function answered(type: AnsweredType): object {
  const { group, kind, namespaced, resource, shortNames, singular, verbs, version } = type;
  return {
    resource,
    responseKind: { group, version, kind },
    scope: namespaced ? 'Namespaced' : 'Cluster',
    singularResource: singular,
    verbs,
    ...(shortNames && { shortNames }),
  };
}

function toResource(kind: KindDefinition): object {
  const { type } = kind;
  const subresources = kind.subresources.flatMap((subresource) => {
    const facts = subresourceFacts(kind, subresource);
    if (!facts) return [];
    const { verbs, ...responseKind } = facts;
    return [{ subresource, responseKind, verbs }];
  });
  return {
    resource: type.resource,
    responseKind: { group: type.group, version: type.version, kind: type.kind },
    scope: type.namespaced ? 'Namespaced' : 'Cluster',
    singularResource: kind.singular,
    verbs: verbsOf(kind),
    ...(kind.shortNames.length > 0 && { shortNames: kind.shortNames }),
    ...(kind.categories.length > 0 && { categories: kind.categories }),
    ...(subresources.length > 0 && { subresources }),
  };
}
