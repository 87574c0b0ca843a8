import { counted } from '@rollkeeper/machinery/text';
import type {
  ApiClient,
  Decided,
  DecidingReconciler,
  Decision,
  ReconcileContext,
  ReconcileRequest,
  ReconcileResult,
} from '@rollkeeper/runtime';
import { unlessGone } from '@rollkeeper/runtime';
import type { Clock } from '@rollkeeper/machinery/clock';
import { toRfc3339 } from '@rollkeeper/machinery/clock';
import { Namespace, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import type { ContentReport } from './content-conditions.js';
import { decideConditions } from './content-conditions.js';
import type { NextStep } from './decide-content.js';
import { KUBERNETES_FINALIZER, decideNextStep, isOursToEmpty } from './decide-content.js';
import { deleteContent } from './delete-content.js';
import type { DeletedContent } from './delete-content.js';

/** A namespace, and what a pass over its content came to. */
export interface SeenNamespace {
  readonly namespace: Namespace;
  readonly content: DeletedContent;
}

/** The same, and what follows. */
export interface EmptiedNamespace extends SeenNamespace {
  readonly next: NextStep;
}

/**
 * Empties a namespace that is terminating, says in its status what holds it back, and lets it go when it is empty. That its content is
 * asked to go is no decision: it follows from the deletion; whether the namespace may go is one, by what is left.
 * Source: `namespacedResourcesDeleter.Delete` in k/k pkg/controller/namespace/deletion.
 */
export class NamespaceReconciler implements DecidingReconciler<Namespace, SeenNamespace, EmptiedNamespace> {
  constructor(private readonly clock: Clock) {}

  async observe(
    { name }: ReconcileRequest,
    { client, object: cached, signal }: ReconcileContext<Namespace>,
  ): Promise<SeenNamespace | undefined> {
    if (!cached || !isOursToEmpty(cached)) return undefined;
    const namespace = await this.readLive(name, client, signal);
    if (!namespace || !isOursToEmpty(namespace)) return undefined;
    const content = await deleteContent(name, await client.discover({ signal }), client, signal);
    return { namespace, content };
  }

  decide({ content, namespace }: SeenNamespace): Decided<EmptiedNamespace> {
    const next = decideNextStep(content, this.clock.now());
    const decision = describeDecision(namespace.metadata.name, content, next);
    return { decision, plan: { namespace, content, next } };
  }

  async act(
    { content, namespace, next }: EmptiedNamespace,
    { client, signal }: ReconcileContext<Namespace>,
  ): Promise<ReconcileResult> {
    if (next.action === 'finalize') {
      await this.finalize(namespace, client, signal);
      return {};
    }
    await this.report(namespace, content, client, signal);
    return { requeueAfterMs: next.recheckMs };
  }

  /**
   * The cache may be older than the namespace's deletion and re-creation, and the following steps delete everything.
   */
  private readLive(name: string, client: ApiClient, signal: AbortSignal): Promise<Namespace | undefined> {
    return unlessGone(client.get<Namespace>(Namespace, { name }, { signal }));
  }

  private async finalize(namespace: Namespace, client: ApiClient, signal: AbortSignal): Promise<void> {
    const finalizers = (namespace.spec?.finalizers ?? []).filter((each) => each !== KUBERNETES_FINALIZER);
    const finalized = { ...namespace, spec: { ...namespace.spec, finalizers } };
    await client.update(Namespace, finalized, { subresource: 'finalize', signal });
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
    const status = { ...namespace.status, phase: 'Terminating' as const, conditions };
    await client.update(Namespace, { ...namespace, status }, { subresource: 'status', signal });
  }
}

/** The result of a pass over a namespace's content, and the next step, for people. */
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
    ...(asked > 0
      ? [
          `asked ${counted(asked, 'object')} to go, ${objects.length} ${objects.length === 1 ? 'is' : 'are'} left`,
        ]
      : []),
    ...(action === 'finalize' ? ['let it go, it is empty'] : []),
  ];
  return parts.length > 0 ? `namespace ${name}: ${parts.join('; ')}` : '';
}
