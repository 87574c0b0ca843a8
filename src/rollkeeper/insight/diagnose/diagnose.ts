import type { ApiClient } from '@rollkeeper/client/api-client';
import type { DeepReadonly, KubernetesObject, ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { ClusterReader } from './cluster-reader.js';
import { conclude } from './conclude.js';
import type { DiagnoseOptions } from './diagnose-options.js';
import type { Diagnosis } from './diagnosis.js';
import type { KindDiagnosis } from './kind-diagnosis.js';

/**
 * Explains one object from the API, with the caller's rights.
 * @throws ApiStatusError if the object itself cannot be read
 */
export async function diagnose(
  client: ApiClient,
  kind: KindDiagnosis,
  ref: ObjectRef,
  options: DiagnoseOptions,
): Promise<Diagnosis> {
  const { name } = ref;
  const namespace = kind.type.namespaced ? ref.namespace : undefined;
  const { nowMs, signal } = options;
  const object = await client.get<KubernetesObject>(
    kind.type,
    { name, ...(namespace !== undefined && { namespace }) },
    signal && { signal },
  );
  const reader = new ClusterReader(client, options);
  return { ...(await judged(reader, kind, object, nowMs)), notes: reader.notes() };
}

/** The diagnosis of an object that was read before. */
async function judged(
  reader: ClusterReader,
  kind: KindDiagnosis,
  object: DeepReadonly<KubernetesObject>,
  nowMs: number,
): Promise<Diagnosis> {
  const scope = kind.scopeOf?.(object) ?? object.metadata.namespace;
  const needs = [...kind.needs(scope), ...(kind.alsoNeeds?.(object) ?? [])];
  const snapshot = await reader.snapshot(needs);
  return conclude(kind.type, object, kind.judge(object, snapshot, nowMs));
}
