import type { DeepReadonly, PodSpec } from '@rollkeeper/machinery/kubernetes';

export const SOURCE_KINDS = ['configmap', 'secret'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];
/** A ConfigMap or Secret of the namespace: `configmap/web`. */
export type SourceName = `${SourceKind}/${string}`;

/** One of the ways to name a source; which fields are there depends on the kind of reference. */
interface Named {
  readonly name?: string;
  readonly secretName?: string;
  readonly optional?: boolean;
}

/** One place in a pod's spec that names a ConfigMap or Secret that the pod reads. */
export interface ConfigReference {
  readonly source: SourceName;
  /** A pod starts without it. */
  readonly isOptional: boolean;
  /** The object that has the name, and the field that it is in. */
  readonly at: Named;
  readonly field: 'name' | 'secretName';
}

type Spec = DeepReadonly<PodSpec>;
type Containers = readonly Pick<Spec['containers'][number], 'env' | 'envFrom'>[];

/**
 * The places that name what a pod reads: `env`, `envFrom` and volumes, projected ones included, of containers of all kinds. Not those
 * that only pull images, or that a storage driver uses: pods do not read them.
 */
export function configReferencesOf(spec: Spec | undefined): readonly ConfigReference[] {
  if (!spec) return [];
  const {
    containers = [],
    ephemeralContainers = [],
    initContainers = [],
    volumes = [],
  }: Partial<Spec> = spec;
  return [
    ...ofContainers([...initContainers, ...containers, ...ephemeralContainers]),
    ...volumes.flatMap(({ configMap, projected, secret }) => [
      ...reference('configmap', configMap),
      ...reference('secret', secret),
      ...(projected?.sources ?? []).flatMap((each) => [
        ...reference('configmap', each.configMap),
        ...reference('secret', each.secret),
      ]),
    ]),
  ];
}

function ofContainers(containers: Containers): readonly ConfigReference[] {
  return containers.flatMap(({ env = [], envFrom = [] }) => [
    ...env.flatMap(({ valueFrom }) => [
      ...reference('configmap', valueFrom?.configMapKeyRef),
      ...reference('secret', valueFrom?.secretKeyRef),
    ]),
    ...envFrom.flatMap(({ configMapRef, secretRef }) => [
      ...reference('configmap', configMapRef),
      ...reference('secret', secretRef),
    ]),
  ]);
}

function reference(kind: SourceKind, at: Named | undefined): readonly ConfigReference[] {
  if (!at) return [];
  const field = at.name === undefined ? 'secretName' : 'name';
  const name = at[field] ?? '';
  if (name === '') return [];
  return [{ source: sourceName(kind, name), isOptional: at.optional === true, at, field }];
}

export function sourceName(kind: SourceKind, name: string): SourceName {
  return `${kind}/${name}`;
}

/** The reverse of {@link sourceName}. */
export function parseSource(source: SourceName): { readonly kind: SourceKind; readonly name: string } {
  const kind = SOURCE_KINDS.find((each) => source.startsWith(`${each}/`)) ?? 'configmap';
  return { kind, name: source.slice(kind.length + 1) };
}
