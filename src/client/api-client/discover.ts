import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { DiscoverOptions, DiscoveredResource, DiscoveredResources } from './api-client.js';

/** Takes the aggregated form in either version (Kubernetes 1.26 and newer), and else the lists of old. */
const ACCEPT = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

/** What of an answer discovery wants to know. `body` is undefined where the server says that the known one still holds. */
export interface DiscoveryDocument {
  readonly body: unknown;
  readonly etag?: string;
}

/** Reads one document; `etag` is that of the one which is known already. */
export type GetDiscoveryDocument = (
  path: string,
  options: { readonly accept?: string; readonly etag?: string },
) => Promise<DiscoveryDocument>;

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** The resources of one version of a group, or why they are not known. */
type VersionResources = GroupVersion &
  ({ readonly resources: readonly DiscoveredResource[] } | { readonly error: Error });

/**
 * Finds every resource type of a server. A server that has the aggregated form is asked two questions, which it answers
 * with "as before" where nothing has changed; another one is asked for every version of every group.
 */
export class Discovery {
  private readonly known = new Map<string, { readonly etag: string; readonly body: unknown }>();

  /**
   * Of a resource in several versions only the most preferred that has it counts, as in client-go's
   * `ServerPreferredResources`, unless every version is asked for. A group that fails is named and takes nothing else with
   * it. Rejects only when the list of groups cannot be had.
   */
  async discover(
    get: GetDiscoveryDocument,
    { everyVersion = false }: Pick<DiscoverOptions, 'everyVersion'> = {},
  ): Promise<DiscoveredResources> {
    const [core, groups] = await Promise.all([this.read(get, '/api'), this.read(get, '/apis')]);
    const versions = [...(await versionsOf(get, core)), ...(await versionsOf(get, groups))];
    return merge(versions, everyVersion ? apiVersionOf : ({ group }) => group);
  }

  private async read(get: GetDiscoveryDocument, path: string): Promise<unknown> {
    const known = this.known.get(path);
    const { body, etag } = await get(path, { accept: ACCEPT, etag: known?.etag });
    if (known && body === undefined) return known.body;
    if (etag === undefined) this.known.delete(path);
    else this.known.set(path, { etag, body });
    return body;
  }
}

interface AggregatedList {
  kind: 'APIGroupDiscoveryList';
  items?: {
    metadata?: { name?: string };
    versions?: { version: string; freshness?: string; resources?: AggregatedResource[] }[];
  }[];
}

interface AggregatedResource {
  resource: string;
  singularResource?: string;
  shortNames?: string[];
  responseKind?: { group?: string; version?: string; kind?: string };
  scope?: string;
  verbs?: string[];
}

interface CoreVersions {
  versions?: string[];
}

interface GroupList {
  groups?: { name: string; versions?: { version: string }[]; preferredVersion?: { version: string } }[];
}

interface ResourceList {
  resources?: {
    name: string;
    singularName?: string;
    shortNames?: string[];
    kind: string;
    namespaced: boolean;
    verbs?: string[];
  }[];
}

/** What either form of a top-level document leads to, preferred versions first. */
async function versionsOf(get: GetDiscoveryDocument, document: unknown): Promise<VersionResources[]> {
  const { kind } = document as { kind?: string };
  if (kind === 'APIGroupDiscoveryList') return aggregatedVersions(document as AggregatedList);
  const { versions = [] } = document as CoreVersions;
  const { groups = [] } = document as GroupList;
  const all = [
    ...versions.map((version) => ({ group: '', version })),
    ...groups.flatMap((group) => versionsByPreference(group)),
  ];
  return Promise.all(all.map((groupVersion) => askForVersion(get, groupVersion)));
}

/** Source: `SplitGroupsAndResources` in k8s.io/client-go/discovery: stale is as good as failed. */
function aggregatedVersions({ items = [] }: AggregatedList): VersionResources[] {
  return items.flatMap(({ metadata, versions = [] }) =>
    versions.map(({ freshness, resources = [], version }): VersionResources => {
      const group = metadata?.name ?? '';
      const groupVersion = { group, version };
      if (freshness === 'Stale') {
        const error = new Error(`stale GroupVersion discovery: ${apiVersionOf(groupVersion)}`);
        return { ...groupVersion, error };
      }
      return { ...groupVersion, resources: resources.flatMap((each) => fromAggregated(groupVersion, each)) };
    }),
  );
}

function fromAggregated(
  groupVersion: GroupVersion,
  { resource, responseKind, scope, shortNames, singularResource, verbs = [] }: AggregatedResource,
): DiscoveredResource[] {
  // Only the parent of subresources, and nothing itself.
  if (!responseKind?.kind) return [];
  const names = { resource, singular: singularResource, shortNames };
  return [{ ...groupVersion, ...names, kind: responseKind.kind, namespaced: scope === 'Namespaced', verbs }];
}

function versionsByPreference(group: NonNullable<GroupList['groups']>[number]): GroupVersion[] {
  const versions = (group.versions ?? []).map(({ version }) => version);
  const preferred = group.preferredVersion?.version;
  const ordered = preferred ? [preferred, ...versions.filter((version) => version !== preferred)] : versions;
  return ordered.map((version) => ({ group: group.name, version }));
}

async function askForVersion(
  get: GetDiscoveryDocument,
  groupVersion: GroupVersion,
): Promise<VersionResources> {
  const { group, version } = groupVersion;
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  try {
    const { resources = [] } = (await get(path, {})).body as ResourceList;
    return {
      ...groupVersion,
      resources: resources
        .filter(({ name }) => !name.includes('/'))
        .map(({ name, singularName, shortNames, kind, namespaced, verbs = [] }) => ({
          ...groupVersion,
          ...{ resource: name, singular: singularName, shortNames },
          kind,
          namespaced,
          verbs,
        })),
    };
  } catch (error) {
    return { ...groupVersion, error: error as Error };
  }
}

/** @param scopeOf within which a resource counts once: the first one */
function merge(
  versions: readonly VersionResources[],
  scopeOf: (version: GroupVersion) => string,
): DiscoveredResources {
  const resources = new Map<string, DiscoveredResource>();
  const failedGroups: { groupVersion: string; error: Error }[] = [];
  for (const version of versions) {
    if ('error' in version) {
      failedGroups.push({ groupVersion: apiVersionOf(version), error: version.error });
      continue;
    }
    for (const resource of version.resources) {
      const name = `${resource.resource}.${scopeOf(version)}`;
      if (!resources.has(name)) resources.set(name, resource);
    }
  }
  return { resources: [...resources.values()], failedGroups };
}
