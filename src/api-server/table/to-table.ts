import type { UnstructuredObject } from '../../base/kubernetes/index.js';
import type { ShownKind } from '../kinds/index.js';

export interface TableOptions {
  readonly metadata: object;
  /** Wall clock, for ages. */
  readonly nowMs: number;
  readonly columns: boolean;
  readonly rows: boolean;
  readonly includeObject: 'None' | 'Metadata' | 'Object';
  readonly metaVersion: 'v1' | 'v1beta1';
}

/** The `meta.k8s.io` Table that `kubectl get` prints. */
export function toTable(
  objects: readonly UnstructuredObject[],
  kind: ShownKind,
  options: TableOptions,
): object {
  const apiVersion = `meta.k8s.io/${options.metaVersion}`;
  return {
    kind: 'Table',
    apiVersion,
    metadata: options.metadata,
    columnDefinitions: options.columns ? kind.columns : null,
    rows: objects.map((object) => ({
      cells: kind.toRow(object, options.nowMs),
      ...(options.includeObject === 'Object' && { object }),
      ...(options.includeObject === 'Metadata' && {
        object: { kind: 'PartialObjectMetadata', apiVersion, metadata: object.metadata },
      }),
    })),
  };
}
