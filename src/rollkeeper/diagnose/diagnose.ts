import type { ApiClient } from '@rollkeeper/client/api-client';
import type { DeepReadonly, KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { ClusterReader } from './cluster-reader.js';
import { conclude } from './conclude.js';
import type { Diagnosis } from './diagnosis.js';
import type { KindDiagnosis } from './kind-diagnosis.js';

export interface DiagnoseOptions {
  readonly nowMs: number;
  readonly signal?: AbortSignal;
}

/**
 * Explains one object from the API, with the caller's rights.
 * @throws ApiStatusError if the object itself cannot be read
 */
export async function diagnose(
  client: ApiClient,
  kind: KindDiagnosis,
  ref: ObjectRef,
  { nowMs, signal }: DiagnoseOptions,
): Promise<Diagnosis> {
  const { name } = ref;
  const namespace = kind.type.namespaced ? ref.namespace : undefined;
  const options = signal && { signal };
  const object = await client.get<KubernetesObject>(
    kind.type,
    { name, ...(namespace !== undefined && { namespace }) },
    options,
  );
  const reader = new ClusterReader(client, signal);
  return { ...(await judged(reader, kind, object, nowMs)), notes: reader.notes() };
}

/** The diagnosis of an object that was read before. */
export async function judged(
  reader: ClusterReader,
  kind: KindDiagnosis,
  object: DeepReadonly<KubernetesObject>,
  nowMs: number,
): Promise<Diagnosis> {
  const lists = kind.type.resource === 'namespaces' ? object.metadata.name : object.metadata.namespace;
  const needs = [...kind.needs(lists), ...(kind.alsoNeeds?.(object) ?? [])];
  const snapshot = await reader.snapshot(needs);
  return conclude(kind.type.kind, object, kind.judge(object, snapshot, nowMs));
}
