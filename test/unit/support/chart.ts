import type { PodSpec } from '../../../src/machinery/kubernetes/index.js';
import type { Release, Rendered, Values } from './helm.js';
import { render } from './helm.js';

export interface PolicyRule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

export interface Binding extends Rendered {
  readonly roleRef: { readonly apiGroup: string; readonly kind: string; readonly name: string };
  readonly subjects: readonly { readonly kind: string; readonly name: string; readonly namespace: string }[];
}

type Container = PodSpec['containers'][number];

/** The chart as rendered once, by what its objects are for. */
export class Chart {
  readonly objects: readonly Rendered[];

  constructor(values: Values = {}, release: Release = {}) {
    this.objects = render(values, release);
  }

  /** `Kind/name`, sorted. */
  get names(): string[] {
    return this.objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`).sort();
  }

  all<T = Rendered>(kind: string): T[] {
    return this.objects.filter((object) => object.kind === kind) as T[];
  }

  /** The only one of its kind (and name). @throws when there is none, or more */
  one<T = Rendered>(kind: string, name?: string): T {
    const found = this.objects.filter(
      (object) => object.kind === kind && (name === undefined || object.metadata.name === name),
    );
    if (found.length !== 1)
      throw new Error(`${found.length} of ${kind} ${name ?? ''} in ${this.names.join()}`);
    return found[0] as T;
  }

  get pods(): { labels: Record<string, string>; annotations?: Record<string, string>; spec: PodSpec } {
    const { spec } = this.one<{
      spec: {
        template: {
          metadata: { labels: Record<string, string>; annotations?: Record<string, string> };
          spec: PodSpec;
        };
      };
    }>('Deployment');
    return { ...spec.template.metadata, spec: spec.template.spec };
  }

  get container(): Container {
    const [container, ...others] = this.pods.spec.containers;
    if (!container || others.length > 0) throw new Error('the pods have one container');
    return container;
  }

  /** The container's arguments, with `$(NAME)` as the kubelet puts it in. @throws for a name that has no variable */
  get args(): string[] {
    const { env } = this;
    return (this.container.args ?? []).map((arg) =>
      arg.replaceAll(/\$\((\w+)\)/g, (_whole, name: string) => {
        const value = env[name];
        if (value === undefined) throw new Error(`${arg}: there is no variable ${name}`);
        return value;
      }),
    );
  }

  /** The container's environment; what comes from elsewhere reads `from-…`, a URL for REDIS_URL. */
  get env(): Record<string, string> {
    return Object.fromEntries(
      (this.container.env ?? []).map(({ name, value, valueFrom }) => {
        if (valueFrom === undefined) return [name, value ?? ''];
        return [
          name,
          name === 'REDIS_URL' ? 'redis://from-secret:6379' : `from-${valueFrom.fieldRef?.fieldPath}`,
        ];
      }),
    );
  }

  /** The role that a binding names, in its own namespace if it has one. */
  roleOf({ metadata, roleRef }: Pick<Binding, 'metadata' | 'roleRef'>): { readonly rules: PolicyRule[] } {
    const found = this.all<Rendered & { readonly rules: PolicyRule[] }>(roleRef.kind).filter(
      (role) =>
        role.metadata.name === roleRef.name &&
        (roleRef.kind === 'ClusterRole' || role.metadata.namespace === metadata.namespace),
    );
    if (found.length !== 1) throw new Error(`${found.length} of ${roleRef.kind} ${roleRef.name}`);
    return found[0] as { readonly rules: PolicyRule[] };
  }

  /**
   * The rights of a service account, in `namespace` or everywhere, by the roles that are rendered. A role without a
   * namespace is in that of the release, `ops`.
   * @param account by default the pods'
   */
  rulesOf(namespace: string, account = this.pods.spec.serviceAccountName): PolicyRule[] {
    return [...this.all<Binding>('ClusterRoleBinding'), ...this.all<Binding>('RoleBinding')]
      .filter(
        ({ kind, metadata }) => kind === 'ClusterRoleBinding' || (metadata.namespace ?? 'ops') === namespace,
      )
      .filter(({ subjects }) =>
        subjects.some(({ kind, name }) => kind === 'ServiceAccount' && name === account),
      )
      .flatMap((binding) => (binding.roleRef.name.startsWith('system:') ? [] : this.roleOf(binding).rules));
  }
}
