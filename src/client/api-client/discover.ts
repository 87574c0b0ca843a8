import { toError } from '@rollkeeper/machinery/errors';
import { apiVersionOf } from '@rollkeeper/machinery/kubernetes';
import type { DiscoverOptions, DiscoveredResource, DiscoveredResources } from './api-client.js';
import { ApiProtocolError } from './transport-errors.js';

/** Accepts either version of the aggregated format (Kubernetes 1.26 and newer), otherwise the older lists. */
const ACCEPT = [
  'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList',
  'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
  'application/json',
].join(',');

/**
 * The fields of an answer that discovery uses. `body` is undefined if the server says that the known document is
 * current.
 */
export interface DiscoveryDocument {
  readonly body: DiscoveryBody | undefined;
  readonly etag?: string;
}

/** Reads one document; `etag` is that of the known one. */
type GetDiscoveryDocument = (
  path: string,
  options: { readonly accept?: string; readonly etag?: string },
) => Promise<DiscoveryDocument>;

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** The resources of one version of a group, or the error. */
type VersionResources = GroupVersion &
  ({ readonly resources: readonly DiscoveredResource[] } | { readonly error: Error });

/**
 * Finds every resource type of a server. A server with the aggregated format gets two requests, answered with 304 if
 * nothing has changed; for others there is one request per version of every group.
 */
export class Discovery {
  private readonly known = new Map<string, { readonly etag: string; readonly body: DiscoveryBody }>();

  /**
   * For a resource in several versions, returns the most preferred one that has it, as client-go's
   * `ServerPreferredResources`, unless every version is requested. A group that fails is listed and does not affect the
   * others. Rejects only if the list of groups cannot be read.
   */
  async discover(
    get: GetDiscoveryDocument,
    { everyVersion = false }: Pick<DiscoverOptions, 'everyVersion'> = {},
  ): Promise<DiscoveredResources> {
    const [core, groups] = await Promise.all([this.read(get, '/api'), this.read(get, '/apis')]);
    const versions = [...(await versionsOf(get, core)), ...(await versionsOf(get, groups))];
    return merge(versions, everyVersion ? apiVersionOf : ({ group }) => group);
  }

  private async read(get: GetDiscoveryDocument, path: string): Promise<DiscoveryBody> {
    const known = this.known.get(path);
    const { body, etag } = await get(path, { accept: ACCEPT, etag: known?.etag });
    if (body === undefined) {
      if (known) return known.body;
      throw new ApiProtocolError(
        `GET ${path}: the server answered that a document is current that was never read`,
      );
    }
    if (etag === undefined) this.known.delete(path);
    else this.known.set(path, { etag, body });
    return body;
  }
}

interface AggregatedGroup {
  metadata?: { name?: string };
  versions?: { version: string; freshness?: string; resources?: AggregatedResource[] }[];
}

interface AggregatedResource {
  resource: string;
  singularResource?: string;
  shortNames?: string[];
  responseKind?: { group?: string; version?: string; kind?: string };
  scope?: string;
  verbs?: string[];
}

/** The fields of all kinds of documents that discovery reads. */
export interface DiscoveryBody {
  kind?: string;
  /** The groups in the aggregated format. */
  items?: AggregatedGroup[];
  /** The versions of the core group. */
  versions?: string[];
  /** The resources in the list of one version. */
  groups?: { name: string; versions?: { version: string }[]; preferredVersion?: { version: string } }[];
  /** The resources in the list of one version. */
  resources?: {
    name: string;
    singularName?: string;
    shortNames?: string[];
    kind: string;
    namespaced: boolean;
    verbs?: string[];
  }[];
}

/** The versions in a top-level document of either format, preferred versions first. */
async function versionsOf(get: GetDiscoveryDocument, document: DiscoveryBody): Promise<VersionResources[]> {
  if (document.kind === 'APIGroupDiscoveryList') return aggregatedVersions(document);
  const { groups = [], versions = [] } = document;
  const all = [
    ...versions.map((version) => ({ group: '', version })),
    ...groups.flatMap((group) => versionsByPreference(group)),
  ];
  return Promise.all(all.map((groupVersion) => askForVersion(get, groupVersion)));
}

/** Source: `SplitGroupsAndResources` in k8s.io/client-go/discovery: stale counts as failed. */
function aggregatedVersions({ items = [] }: DiscoveryBody): VersionResources[] {
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
  // A resource without a kind is only a parent of subresources.
  if (!responseKind?.kind) return [];
  const names = { resource, singular: singularResource, shortNames };
  return [{ ...groupVersion, ...names, kind: responseKind.kind, namespaced: scope === 'Namespaced', verbs }];
}

function versionsByPreference(group: NonNullable<DiscoveryBody['groups']>[number]): GroupVersion[] {
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
    const { resources = [] } = (await get(path, {})).body ?? {};
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
    return { ...groupVersion, error: toError(error) };
  }
}

/** @param scopeOf the scope in which only the first occurrence of a resource counts */
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
