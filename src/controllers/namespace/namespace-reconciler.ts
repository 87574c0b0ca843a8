import type {
  ApiClient,
  Lister,
  ReconcileRequest,
  ReconcileResult,
  SyncContext,
  SyncReconciler,
} from '../../kit/index.js';
import { isNotFound, noSyncObserver } from '../../kit/index.js';
import type { Clock } from '../../base/clock/index.js';
import { toRfc3339 } from '../../base/clock/index.js';
import type { Namespace } from '../../base/kubernetes/index.js';
import { NAMESPACES, stringifyJson } from '../../base/kubernetes/index.js';
import type { ContentReport } from './content-conditions.js';
import { decideConditions } from './content-conditions.js';
import { KUBERNETES_FINALIZER, decideNextStep, isOursToEmpty } from './decide-content.js';
import { deleteContent } from './delete-content.js';
import { describeDecision } from './describe-decision.js';

/**
 * Empties a namespace that is terminating, says in its status what holds it back, and lets it go when it is empty.
 * Source: `namespacedResourcesDeleter.Delete` in k/k pkg/controller/namespace/deletion.
 */
export class NamespaceReconciler implements SyncReconciler {
  constructor(
    private readonly lister: Lister<Namespace>,
    private readonly clock: Clock,
  ) {}

  async reconcile({ name, key }: ReconcileRequest, context: SyncContext): Promise<ReconcileResult> {
    const { client, observer = noSyncObserver, signal } = context;
    const cached = this.lister.get(key);
    if (!cached || !isOursToEmpty(cached)) return {};
    const namespace = await this.readLive(name, client, signal);
    if (!namespace || !isOursToEmpty(namespace)) return {};
    const content = await deleteContent(name, await client.discover({ signal }), client, signal);
    const next = observer.decide(
      () => decideNextStep(content, this.clock.now()),
      (decided) => describeDecision(name, content, decided),
    );
    if (next.action === 'finalize') {
      await this.finalize(namespace, client, signal);
      return {};
    }
    await this.report(namespace, content, client, signal);
    return { requeueAfterMs: next.recheckMs };
  }

  /** The cache may be older than the namespace's deletion and re-creation; what follows deletes everything. */
  private async readLive(
    name: string,
    client: ApiClient,
    signal: AbortSignal,
  ): Promise<Namespace | undefined> {
    try {
      return await client.get<Namespace>(NAMESPACES, { name }, { signal });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }

  private async finalize(namespace: Namespace, client: ApiClient, signal: AbortSignal): Promise<void> {
    const finalizers = (namespace.spec?.finalizers ?? []).filter((each) => each !== KUBERNETES_FINALIZER);
    const finalized = { ...namespace, spec: { ...namespace.spec, finalizers } };
    await client.update(NAMESPACES, finalized, { subresource: 'finalize', signal });
  }

  private async report(
    namespace: Namespace,
    content: ContentReport,
    client: ApiClient,
    signal: AbortSignal,
  ): Promise<void> {
    const before = namespace.status?.conditions ?? [];
    const conditions = decideConditions(before, content, toRfc3339(this.clock.now()));
    const unchanged = stringifyJson(before) === stringifyJson(conditions);
    if (unchanged && namespace.status?.phase === 'Terminating') return;
    const status = { ...namespace.status, phase: 'Terminating', conditions };
    await client.update(NAMESPACES, { ...namespace, status }, { subresource: 'status', signal });
  }
}
