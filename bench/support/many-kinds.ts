import { randomUUID } from 'node:crypto';
import type { KubernetesObject, ResourceType } from '../../src/machinery/kubernetes/index.js';
import {
  Deployment,
  Namespace,
  Pod,
  ReplicaSet,
  apiVersionOf,
} from '../../src/machinery/kubernetes/index.js';
import { LightApi } from './light-api.js';

export interface ManyKindsOptions {
  /** Beside pods, ReplicaSets, Deployments and namespaces, of which there are none. */
  readonly kinds: number;
  /** The number of objects of each kind. */
  readonly objects: number;
  readonly tls: { readonly cert: string; readonly key: string };
}

/**
 * A light API with very many kinds, over TLS, in which nothing happens. Its objects have as much metadata as those of
 * clusters do. To measure the cost of following them.
 */
export async function startManyKinds({ kinds, objects, tls }: ManyKindsOptions): Promise<LightApi> {
  const types = Array.from({ length: kinds }, (_, index) => customType(index));
  const api = await LightApi.start({ kinds: [Deployment, Namespace, Pod, ReplicaSet, ...types], tls });
  for (const type of types)
    for (let index = 0; index < objects; index++) api.seed(type, anObject(type, index));
  return api;
}

function customType(index: number): ResourceType {
  return {
    group: 'example.com',
    version: 'v1',
    resource: `widgets${index}`,
    kind: `Widget${index}`,
    namespaced: true,
  };
}

/** Half of them have an owner that is one of the others. */
function anObject(type: ResourceType, index: number): KubernetesObject {
  const owner = {
    apiVersion: apiVersionOf(type),
    kind: type.kind,
    controller: true,
    blockOwnerDeletion: true,
  };
  const labels = Object.fromEntries(
    ['name', 'instance', 'version', 'component', 'part-of', 'managed-by'].map((name) => [
      `app.kubernetes.io/${name}`,
      `some-value-${index}`,
    ]),
  );
  const managedFields = [
    { manager: 'helm', operation: 'Update', fieldsV1: { 'f:metadata': { 'f:labels': labels } } },
    { manager: 'controller', operation: 'Update', fieldsV1: { 'f:status': { 'f:conditions': labels } } },
  ];
  const metadata = {
    name: `${type.resource}-object-${index}`,
    // Owner and owned are in one namespace.
    namespace: `team-${Math.floor(index / 2) % 50}`,
    uid: index % 2 === 0 ? uidOf(type, index) : randomUUID(),
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
    labels,
    annotations: { 'kubectl.kubernetes.io/last-applied-configuration': JSON.stringify(labels) },
    managedFields,
    ...(index % 2 === 1 && {
      ownerReferences: [
        { ...owner, name: `${type.resource}-object-${index - 1}`, uid: uidOf(type, index - 1) },
      ],
    }),
  };
  return { apiVersion: 'meta.k8s.io/v1', kind: 'PartialObjectMetadata', metadata };
}

function uidOf({ resource }: ResourceType, index: number): string {
  return `00000000-${resource.padStart(12, '0')}-${String(index).padStart(12, '0')}`;
}
