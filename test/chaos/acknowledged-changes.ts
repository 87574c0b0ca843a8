import type { ApiClient } from '../../src/client/api-client/index.js';
import { ApiStatusError, isNotFound } from '../../src/client/api-client/index.js';
import type { PodTemplateSpec } from '../../src/machinery/kubernetes/index.js';
import { Deployment, ReplicaSet } from '../../src/machinery/kubernetes/index.js';

/** The part of a Deployment that the user decides. */
export interface Wish {
  readonly paused: boolean;
  readonly replicas: number | undefined;
  readonly template: PodTemplateSpec;
}

/** The last that the API server has confirmed for one name. */
export interface AcknowledgedChange {
  readonly name: string;
  readonly operation: string;
  /** Absent: it was deleted. */
  readonly wish: Wish | undefined;
  /** A change was sent since, and its outcome is unknown. */
  readonly isUncertain: boolean;
}

const REVISION = 'deployment.kubernetes.io/revision';

/** Sends changes of Deployments, and remembers the last change of each name that the API server has confirmed. */
export class AcknowledgedChanges {
  readonly counts = { acknowledged: 0, refused: 0, unknown: 0 };
  private readonly changes = new Map<string, AcknowledgedChange>();

  constructor(
    private readonly client: ApiClient,
    private readonly namespaceOf: (name: string) => string,
  ) {}

  /** The last confirmed change of each name. */
  last(): MapIterator<AcknowledgedChange> {
    return this.changes.values();
  }

  lastOf(name: string): AcknowledgedChange | undefined {
    return this.changes.get(name);
  }

  refOf(name: string): { readonly namespace: string; readonly name: string } {
    return { namespace: this.namespaceOf(name), name };
  }

  create(name: string, object: Deployment): Promise<void> {
    return this.send(name, 'create', () => this.client.create(Deployment, object));
  }

  patch(name: string, operation: string, body: unknown): Promise<void> {
    const patch = { type: 'strategic', body } as const;
    return this.send(name, operation, () =>
      this.client.patch<Deployment>(Deployment, this.refOf(name), patch),
    );
  }

  /** As `kubectl rollout undo` does: the template of the revision before the newest. */
  async undo(name: string): Promise<void> {
    const list = await this.client
      .list<ReplicaSet>(ReplicaSet, { namespace: this.namespaceOf(name), labelSelector: `app=${name}` })
      .catch(() => undefined);
    const byRevision = (list?.items ?? []).toSorted((a, b) => revisionOf(b) - revisionOf(a));
    const template = byRevision[1]?.spec.template;
    if (!template) return;
    const { 'pod-template-hash': _, ...labels } = template.metadata?.labels ?? {};
    const value = { ...template, metadata: { ...template.metadata, labels } };
    const patch = { type: 'json', body: [{ op: 'replace', path: '/spec/template', value }] } as const;
    await this.send(name, 'undo', () => this.client.patch<Deployment>(Deployment, this.refOf(name), patch));
  }

  delete(name: string): Promise<void> {
    return this.send(name, 'delete', async () => {
      await this.client.delete(Deployment, this.refOf(name));
      return undefined;
    });
  }

  /** Finds out the outcome of a change whose answer was lost. It stays uncertain if the API server does not answer. */
  async lookAgain(name: string): Promise<void> {
    try {
      const object = await this.client.get<Deployment>(Deployment, this.refOf(name));
      this.acknowledge(name, 'a change without an answer', object);
    } catch (error) {
      if (isNotFound(error)) this.acknowledge(name, 'a change without an answer', undefined);
    }
  }

  private async send(
    name: string,
    operation: string,
    request: () => Promise<Deployment | undefined>,
  ): Promise<void> {
    try {
      this.acknowledge(name, operation, await request());
      this.counts.acknowledged += 1;
    } catch (error) {
      const isRefused = error instanceof ApiStatusError && error.code < 500;
      this.counts[isRefused ? 'refused' : 'unknown'] += 1;
      const before = this.changes.get(name) ?? { name, operation, wish: undefined, isUncertain: true };
      this.changes.set(name, { ...before, isUncertain: true });
    }
  }

  private acknowledge(name: string, operation: string, object: Deployment | undefined): void {
    const wish = object && {
      paused: object.spec.paused ?? false,
      replicas: object.spec.replicas,
      template: object.spec.template,
    };
    this.changes.set(name, { name, operation, wish, isUncertain: false });
  }
}

function revisionOf({ metadata }: ReplicaSet): number {
  return Number(metadata.annotations?.[REVISION] ?? 0);
}
