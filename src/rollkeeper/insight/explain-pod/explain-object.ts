import type { ApiClient } from '@rollkeeper/client/api-client';
import type { ObjectRef } from '@rollkeeper/machinery/kubernetes';
import { Pod, isPodActive } from '@rollkeeper/machinery/kubernetes';
import type { PlacementExplanation } from '@rollkeeper/scheduler';
import type { DiagnoseOptions, Diagnosis, KindDiagnosis } from '../diagnose/index.js';
import { diagnose } from '../diagnose/index.js';
import type { SchedulerFiles } from './scheduler-settings.js';

/** The explanation of an object; of a pod that is on no node, also why each node does not take it. */
export interface ExplainedObject extends Diagnosis {
  readonly placement?: PlacementExplanation;
}

/**
 * Explains an object with the caller's rights; a pod with the scheduler's own rules besides, as long as it is on no node.
 * @param files of the scheduler, where it has any
 * @throws ApiStatusError if the object itself cannot be read; InvalidOptionError
 */
export async function explainObject(
  client: ApiClient,
  kind: KindDiagnosis,
  ref: Required<ObjectRef>,
  { files = {}, ...options }: DiagnoseOptions & { readonly files?: SchedulerFiles },
): Promise<ExplainedObject> {
  const told = await diagnose(client, kind, ref, options);
  if (kind.type.kind !== 'Pod' || !(await isToBePlaced(client, ref))) return told;
  // The scheduler, with CEL, is in the memory of a replica only once a client asks for it.
  const { explainPod } = await import('./explain-pod.js');
  return { ...told, placement: await explainPod(client, ref, files) };
}

/** Reading what a placement depends on is for pods that wait for one. */
async function isToBePlaced(client: ApiClient, ref: ObjectRef): Promise<boolean> {
  const pod = await client.get<Pod>(Pod, ref);
  return pod.spec.nodeName === undefined && isPodActive(pod);
}
