import type { DiscoveredResource, DiscoveredResources } from './api-client.js';

interface GroupList {
  groups?: { name: string; versions?: { version: string }[]; preferredVersion?: { version: string } }[];
}

interface ResourceList {
  resources?: { name: string; kind: string; namespaced: boolean; verbs?: string[] }[];
}

interface GroupVersion {
  readonly group: string;
  readonly version: string;
}

/** Reads one discovery document. */
export type GetDocument = (path: string) => Promise<unknown>;

/**
 * Asks for every group's resources, preferred version first: of a resource in several versions only the most
 * preferred that has it counts, as in client-go's `ServerPreferredResources`. Rejects only when the list of groups
 * cannot be had.
 */
export async function discoverResources(get: GetDocument): Promise<DiscoveredResources> {
  const [core, groups] = (await Promise.all([get('/api'), get('/apis')])) as [
    { versions?: string[] },
    GroupList,
  ];
  const groupVersions = [
    ...(core.versions ?? []).map((version) => ({ group: '', version })),
    ...(groups.groups ?? []).flatMap(versionsByPreference),
  ];
  const answers = await Promise.allSettled(
    groupVersions.map((groupVersion) => resourcesOf(get, groupVersion)),
  );
  const resources = new Map<string, DiscoveredResource>();
  const failedGroups: { groupVersion: string; error: Error }[] = [];
  answers.forEach((answer, index) => {
    const { group, version } = groupVersions[index] as GroupVersion;
    if (answer.status === 'rejected') {
      const groupVersion = group === '' ? version : `${group}/${version}`;
      failedGroups.push({ groupVersion, error: answer.reason as Error });
      return;
    }
    for (const resource of answer.value) {
      const name = `${resource.resource}.${group}`;
      if (!resources.has(name)) resources.set(name, resource);
    }
  });
  return { resources: [...resources.values()], failedGroups };
}

function versionsByPreference(group: NonNullable<GroupList['groups']>[number]): GroupVersion[] {
  const versions = (group.versions ?? []).map(({ version }) => version);
  const preferred = group.preferredVersion?.version;
  const ordered = preferred ? [preferred, ...versions.filter((version) => version !== preferred)] : versions;
  return ordered.map((version) => ({ group: group.name, version }));
}

async function resourcesOf(
  get: GetDocument,
  { group, version }: GroupVersion,
): Promise<DiscoveredResource[]> {
  const path = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const { resources = [] } = (await get(path)) as ResourceList;
  return resources
    .filter(({ name, verbs = [] }) => !name.includes('/') && verbs.includes('list'))
    .map(({ name, kind, namespaced, verbs = [] }) => ({
      group,
      version,
      resource: name,
      kind,
      namespaced,
      verbs,
    }));
}
