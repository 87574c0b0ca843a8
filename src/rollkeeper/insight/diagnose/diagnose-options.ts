import type { DeepReadonly, KubernetesObject, ResourceType } from '@rollkeeper/machinery/kubernetes';

/** How a cluster is looked at. */
export interface DiagnoseOptions {
  readonly nowMs: number;
  readonly signal?: AbortSignal;
  /** The user whose rights count, in the notes about what may not be listed. @default 'You' */
  readonly reader?: string;
  /** The objects of a type in a cache, in place of a list from the API; undefined: it has none. @default none */
  readonly cached?: (type: ResourceType) => readonly DeepReadonly<KubernetesObject>[] | undefined;
}
