import type { DiscoveredResources } from '@rollkeeper/runtime';
import type { ResourceType } from '@rollkeeper/machinery/kubernetes';
import type { ViewedResource } from '../framework/cluster-view.js';
import { VIEWED_RESOURCES } from '../framework/cluster-view.js';

/** The resources that plug-ins read and the server serves, with the version that it prefers. */
export function servedResources({
  resources,
}: Pick<DiscoveredResources, 'resources'>): ReadonlyMap<ViewedResource, ResourceType> {
  const watchable = resources.filter(({ verbs }) => verbs.includes('list') && verbs.includes('watch'));
  const served = new Map<string, ResourceType>(watchable.map((each) => [nameOf(each), each]));
  return new Map(
    VIEWED_RESOURCES.flatMap((name) => {
      const type = served.get(name);
      return type ? [[name, type] as const] : [];
    }),
  );
}

function nameOf({ group, resource }: ResourceType): string {
  return group === '' ? resource : `${group}/${resource}`;
}
