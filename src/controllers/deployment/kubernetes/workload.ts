import type { DeepReadonly, Deployment } from '@rollkeeper/machinery/kubernetes';

/** The words of messages about the object that rolls out. */
export interface Workload {
  /** `Deployment`, or the kind of a set that is seen as one. */
  readonly kind: string;
  /** As kubectl takes it: `deployment`. */
  readonly resource: string;
  /** The kind of its versions. */
  readonly versionKind: 'ReplicaSet' | 'ControllerRevision';
  /** The object, as commands of Rollkeeper take it: `shop/web`, or `statefulset/db -n shop`. */
  readonly target: string;
}

type Named = Pick<DeepReadonly<Deployment>, 'kind' | 'metadata'>;

/** An object from a cache has no kind, and is a Deployment then. */
export function workloadOf({ kind = 'Deployment', metadata }: Named): Workload {
  const { name, namespace = 'default' } = metadata;
  const resource = kind.toLowerCase();
  const isSet = kind !== 'Deployment';
  return {
    ...{ kind, resource },
    versionKind: isSet ? 'ControllerRevision' : 'ReplicaSet',
    target: isSet ? `${resource}/${name} -n ${namespace}` : `${namespace}/${name}`,
  };
}
