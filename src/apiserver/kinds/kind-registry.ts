import { apiVersionOf, qualifiedResource } from '@rollkeeper/machinery/kubernetes';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import { BUILT_IN_KINDS } from './built-in-kinds.js';
import type { KindDefinition, KindRegistry } from './kind-definition.js';

/** The built-in kinds of the embedded server. They are permanent: a kind that is added later does not replace one of them. */
export function createKindRegistry(
  kinds: readonly KindDefinition[] = BUILT_IN_KINDS,
  { hasMetrics = true }: Pick<KindRegistry, 'hasMetrics'> = {},
): KindRegistry {
  const byPath = new Map<string, KindDefinition>();
  const byKind = new Map<string, KindDefinition>();
  const put = (kind: KindDefinition): void => {
    byPath.set(pathKey(kind.type.group, kind.type.version, kind.type.resource), kind);
    byKind.set(kindKey(kind.type), kind);
  };
  for (const kind of kinds) put(kind);
  const builtIn = new Set(kinds.flatMap(storedResources));
  const assertFree = (kind: KindDefinition): void => {
    const taken = storedResources(kind).find((resource) => builtIn.has(resource));
    if (taken !== undefined) throw new RangeError(`${taken} is the resource of a built-in kind`);
  };
  return {
    hasMetrics,
    get kinds() {
      return [...byPath.values()];
    },
    find: (group, version, resource) => byPath.get(pathKey(group, version, resource)),
    isBuiltIn: (resource) => builtIn.has(resource),
    findByKind: (apiVersion, kind) => byKind.get(`${apiVersion}/${kind}`),
    put(kind) {
      assertFree(kind);
      put(kind);
    },
    remove(type) {
      if (builtIn.has(qualifiedResource(type)))
        throw new RangeError(`${qualifiedResource(type)} is the resource of a built-in kind`);
      const path = pathKey(type.group, type.version, type.resource);
      const existing = byPath.get(path);
      byPath.delete(path);
      // Another resource may have a kind of the same name.
      if (existing && byKind.get(kindKey(existing.type)) === existing) byKind.delete(kindKey(existing.type));
    },
  };
}

/** The places of a kind's objects in the store: under its own name, or under that of another kind. */
function storedResources({ type, view }: KindDefinition): string[] {
  return [qualifiedResource(type), ...(view ? [view.resource] : [])];
}

function pathKey(group: string, version: string, resource: string): string {
  return `${group}/${version}/${resource}`;
}

function kindKey(type: Pick<ResourceType, 'group' | 'version' | 'kind'>): string {
  return `${apiVersionOf(type)}/${type.kind}`;
}
