import type {
  ApiClient,
  Lister,
  ReconcileRequest,
  SyncContext,
  SyncReconciler,
  SyncStep,
  Decision,
} from '@rollkeeper/runtime';
import { unlessGone } from '@rollkeeper/runtime';
import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import type { Namespace } from '@rollkeeper/machinery/kubernetes';
import { NAMESPACES, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ContentReport } from './content-conditions.js';
import { decideConditions } from './content-conditions.js';
import type { NextStep } from './decide-content.js';
import { KUBERNETES_FINALIZER, decideNextStep, isOursToEmpty } from './decide-content.js';
import { deleteContent } from './delete-content.js';
import type { DeletedContent } from './delete-content.js';

/** What a pass over the content came to, and what follows. */
interface EmptiedNamespace {
  readonly namespace: Namespace;
  readonly content: ContentReport;
  readonly next: NextStep;
}

/**
 * Empties a namespace that is terminating, says in its status what holds it back, and lets it go when it is empty.
 * Source: `namespacedResourcesDeleter.Delete` in k/k pkg/controller/namespace/deletion.
 */
export class NamespaceReconciler implements SyncReconciler {
  constructor(
    private readonly lister: Lister<Namespace>,
    private readonly clock: Clock,
  ) {}

  async reconcile({ name, key }: ReconcileRequest, context: SyncContext): Promise<SyncStep> {
    const { client, signal } = context;
    const cached = this.lister.get(key);
    if (!cached || !isOursToEmpty(cached)) return {};
    const namespace = await this.readLive(name, client, signal);
    if (!namespace || !isOursToEmpty(namespace)) return {};
    const content = await deleteContent(name, await client.discover({ signal }), client, signal);
    return {
      decide: () => {
        const next = decideNextStep(content, this.clock.now());
        const apply = () => this.apply({ namespace, content, next }, context);
        return { decision: describeDecision(name, content, next), apply };
      },
    };
  }

  private async apply(
    { content, namespace, next }: EmptiedNamespace,
    { client, signal }: SyncContext,
  ): Promise<SyncStep> {
    if (next.action === 'finalize') {
      await this.finalize(namespace, client, signal);
      return {};
    }
    await this.report(namespace, content, client, signal);
    return { requeueAfterMs: next.recheckMs };
  }

  /** The cache may be older than the namespace's deletion and re-creation; what follows deletes everything. */
  private readLive(name: string, client: ApiClient, signal: AbortSignal): Promise<Namespace | undefined> {
    return unlessGone(client.get<Namespace>(NAMESPACES, { name }, { signal }));
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

/** What a pass over a namespace's content came to, and what follows, for people. */
function describeDecision(name: string, content: DeletedContent, next: NextStep): Decision {
  const { asked, deletionFailures, discoveryFailures, finalizers, objects, remaining } = content;
  return {
    branch: next.action,
    summary: summaryOf(name, content, next),
    changes: asked > 0 || next.action === 'finalize',
    inputs: {
      'rollkeeper.content.asked_to_go': asked,
      'rollkeeper.content.remaining': objects.length,
      'rollkeeper.content.remaining_types': [...remaining.keys()],
      'rollkeeper.content.finalizers': [...finalizers.keys()],
      'rollkeeper.content.failures': deletionFailures.length + discoveryFailures.length,
      ...(next.action === 'finalize' ? {} : { 'rollkeeper.recheck_ms': next.recheckMs }),
    },
  };
}

function summaryOf(name: string, { asked, objects }: DeletedContent, { action }: NextStep): string {
  const parts = [
    ...(asked > 0 ? [`asked ${asked} objects to go, ${objects.length} are left`] : []),
    ...(action === 'finalize' ? ['let it go, it is empty'] : []),
  ];
  return parts.length > 0 ? `namespace ${name}: ${parts.join('; ')}` : '';
}
