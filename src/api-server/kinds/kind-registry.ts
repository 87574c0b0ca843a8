import { apiVersionOf } from '../../base/kubernetes/index.js';
import type { ResourceType } from '../../base/kubernetes/index.js';
import { BUILT_IN_KINDS } from './built-in-kinds.js';
import type { KindDefinition, KindRegistry } from './kind-definition.js';

/** The kinds that the embedded server has, to begin with. */
export function createKindRegistry(kinds: readonly KindDefinition[] = BUILT_IN_KINDS): KindRegistry {
  const byPath = new Map<string, KindDefinition>();
  const byKind = new Map<string, KindDefinition>();
  const put = (kind: KindDefinition): void => {
    byPath.set(pathKey(kind.type.group, kind.type.version, kind.type.resource), kind);
    byKind.set(kindKey(kind.type), kind);
  };
  for (const kind of kinds) put(kind);
  return {
    get kinds() {
      return [...byPath.values()];
    },
    find: (group, version, resource) => byPath.get(pathKey(group, version, resource)),
    findByKind: (apiVersion, kind) => byKind.get(`${apiVersion}/${kind}`),
    put,
    remove(type) {
      byKind.delete(kindKey(type));
      byPath.delete(pathKey(type.group, type.version, type.resource));
    },
  };
}

function pathKey(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}

function kindKey(type: Pick<ResourceType, 'group' | 'version' | 'kind'>): string {
  return `${apiVersionOf(type)}/${type.kind}`;
}
