import type { ApiClient } from '@rollkeeper/client/api-client';
import { listAll } from '@rollkeeper/client/api-client';
import { CronJob, DaemonSet, Job, StatefulSet } from '@rollkeeper/runtime';
import type { KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';
import {
  Deployment,
  Node,
  Pod,
  ReplicaSet,
  RollkeeperDeployment,
  isControlledBy,
} from '@rollkeeper/machinery/kubernetes';
import { objectType, wordOf } from './object-kinds.js';

/** An object with a page of its own. */
export interface ObjectLink {
  /** The kind as a word of an address. */
  readonly word: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** The kinds that the objects of a kind make. */
const MADE: readonly (readonly [ResourceType, ResourceType])[] = [
  [Deployment, ReplicaSet],
  [RollkeeperDeployment, ReplicaSet],
  [ReplicaSet, Pod],
  [StatefulSet, Pod],
  [DaemonSet, Pod],
  [Job, Pod],
  [CronJob, Job],
];
const MOST = 200;

/** The owners of an object that have pages. */
export function ownersOf({ metadata }: KubernetesObject): readonly ObjectLink[] {
  const { namespace, ownerReferences = [] } = metadata;
  return ownerReferences.flatMap(({ apiVersion, kind, name }) => {
    const group = apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : '';
    const type = [objectType(kind), objectType(`${kind}s.${group}`)].find(
      (known) => known?.kind === kind && known.group === group,
    );
    return type ? [linkTo(type, { name, ...(type.namespaced && { namespace }) })] : [];
  });
}

/** Returns the objects that the object made, and the pods of a node. @throws what the API answers */
export async function madeBy(
  client: Pick<ApiClient, 'list'>,
  type: ResourceType,
  object: KubernetesObject,
): Promise<readonly ObjectLink[]> {
  const { name, namespace } = object.metadata;
  if (type === Node) {
    const pods = await listAll<KubernetesObject & { readonly spec?: { readonly nodeName?: string } }>(
      client,
      Pod,
      { fieldSelector: `spec.nodeName=${name}` },
    );
    return linksTo(
      Pod,
      pods.filter(({ spec }) => spec?.nodeName === name),
    );
  }
  const made = MADE.find(([owner]) => owner === type)?.[1];
  if (!made) return [];
  const all = await listAll<KubernetesObject>(client, made, {
    ...(namespace !== undefined && { namespace }),
    metadataOnly: true,
  });
  return linksTo(
    made,
    all.filter((each) => isControlledBy(each, object)),
  );
}

/** The newest first, as of a CronJob those are asked about. */
function linksTo(type: ResourceType, objects: readonly KubernetesObject[]): readonly ObjectLink[] {
  return objects
    .toSorted(
      (a, b) =>
        (b.metadata.creationTimestamp ?? '').localeCompare(a.metadata.creationTimestamp ?? '') ||
        a.metadata.name.localeCompare(b.metadata.name, 'en', { numeric: true }),
    )
    .slice(0, MOST)
    .map(({ metadata }) => linkTo(type, metadata));
}

function linkTo(
  type: ResourceType,
  { name, namespace }: { readonly name: string; readonly namespace?: string | undefined },
): ObjectLink {
  return { word: wordOf(type), kind: type.kind, ...(namespace !== undefined && { namespace }), name };
}
