import type { SelectingService, ServiceWrite, Services } from '@rollkeeper/controllers/deployment';
import { SWITCHED } from '@rollkeeper/controllers/deployment';
import { POD_TEMPLATE_HASH } from '@rollkeeper/controllers/shared';
import type { DeepReadonly, Deployment, ReplicaSet } from '@rollkeeper/machinery/kubernetes';
import { stringifyJson } from '@rollkeeper/machinery/kubernetes';

/**
 * The Services of a planned rollout: every one that a policy names is taken for given, and selects the version with the most pods, as
 * after earlier rollouts under the same policy.
 */
export class PlannedServices implements Services {
  readonly availability = 'known';
  private readonly moved = new Map<string, SelectingService>();

  constructor(
    private readonly deployment: DeepReadonly<Deployment>,
    private readonly replicaSets: readonly DeepReadonly<ReplicaSet>[],
    /** RFC 3339. */
    private readonly since: string,
  ) {}

  find(_namespace: string, name: string): SelectingService {
    return this.moved.get(name) ?? this.given(name);
  }

  inNamespace(): readonly SelectingService[] {
    return [];
  }

  managedBy(): readonly SelectingService[] {
    return [];
  }

  leftBy(): readonly SelectingService[] {
    return [];
  }

  otherWorkload(): undefined {
    return undefined;
  }

  hasTwin(): boolean {
    return false;
  }

  isUsedBy(): boolean {
    return false;
  }

  /** Returns the write in words. */
  write({ name, namespace, patch }: ServiceWrite): string {
    const service = this.find(namespace, name);
    const { metadata, selector } = service;
    const kept = Object.entries({ ...selector, ...patch.spec.selector });
    const noted = Object.entries({ ...metadata.annotations, ...patch.metadata.annotations });
    this.moved.set(name, {
      ...service,
      metadata: { ...metadata, annotations: Object.fromEntries(noted.filter(isSet)) },
      selector: Object.fromEntries(kept.filter(isSet)),
    });
    const to = patch.spec.selector[POD_TEMPLATE_HASH];
    return `point Service ${name} at ${this.deployment.metadata.name}-${to}`;
  }

  private given(name: string): SelectingService {
    const { namespace } = this.deployment.metadata;
    const [largest] = this.replicaSets
      .filter(({ spec }) => (spec.replicas ?? 1) > 0)
      .toSorted((a, b) => (b.spec.replicas ?? 1) - (a.spec.replicas ?? 1));
    const hash = largest?.metadata.labels?.[POD_TEMPLATE_HASH];
    const labels = { ...this.deployment.spec.template.metadata?.labels };
    const kind = { apiVersion: 'v1', kind: 'Service' };
    if (hash === undefined) return { ...kind, metadata: { name, namespace }, selector: labels };
    const annotations = { [SWITCHED]: stringifyJson({ to: hash, at: this.since }) };
    const selector = { ...labels, [POD_TEMPLATE_HASH]: hash };
    return { ...kind, metadata: { name, namespace, annotations }, selector };
  }
}

function isSet(entry: [string, string | null]): entry is [string, string] {
  return entry[1] !== null;
}
