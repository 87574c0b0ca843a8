import type { DeepReadonly, PodTemplateSpec } from '@rollkeeper/machinery/kubernetes';

export const SOURCE_KINDS = ['configmap', 'secret'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];
/** A ConfigMap or Secret of the Deployment's namespace: `configmap/web`. */
export type SourceName = `${SourceKind}/${string}`;

/** How a template refers to a source. */
export interface Reference {
  /** A pod cannot start without it. */
  readonly isRequired: boolean;
}

type Template = DeepReadonly<PodTemplateSpec>;
type Spec = NonNullable<Template['spec']>;
type Containers = readonly Spec['containers'][number][];

/** One of the ways to name a source; which fields are there depends on the kind of reference. */
interface Named {
  readonly name?: string;
  readonly secretName?: string;
  readonly optional?: boolean;
}

/**
 * The ConfigMaps and Secrets that pods of the template read: by `env`, `envFrom` and volumes, projected ones included. Not those that
 * only pull images, or that a storage driver uses: pods do not read them.
 */
export function configReferences({ spec }: Template): ReadonlyMap<SourceName, Reference> {
  const found = new Map<SourceName, Reference>();
  const add = (kind: SourceKind, reference: Named | undefined): void => {
    const name = reference?.name ?? reference?.secretName ?? '';
    if (name === '') return;
    const source = sourceName(kind, name);
    const isRequired = reference?.optional !== true || found.get(source)?.isRequired === true;
    found.set(source, { isRequired });
  };
  const containers: Containers = [...(spec?.initContainers ?? []), ...(spec?.containers ?? [])];
  for (const { env = [], envFrom = [] } of containers) {
    for (const { valueFrom } of env) {
      add('configmap', valueFrom?.configMapKeyRef);
      add('secret', valueFrom?.secretKeyRef);
    }
    for (const { configMapRef, secretRef } of envFrom) {
      add('configmap', configMapRef);
      add('secret', secretRef);
    }
  }
  for (const { configMap, projected, secret } of spec?.volumes ?? []) {
    add('configmap', configMap);
    add('secret', secret);
    for (const each of projected?.sources ?? []) {
      add('configmap', each.configMap);
      add('secret', each.secret);
    }
  }
  return found;
}

export function sourceName(kind: SourceKind, name: string): SourceName {
  return `${kind}/${name}`;
}

/** The reverse of {@link sourceName}. */
export function parseSource(source: SourceName): { readonly kind: SourceKind; readonly name: string } {
  const kind = SOURCE_KINDS.find((each) => source.startsWith(`${each}/`)) ?? 'configmap';
  return { kind, name: source.slice(kind.length + 1) };
}
