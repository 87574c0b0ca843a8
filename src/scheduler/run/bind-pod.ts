import { TerminalError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { HttpExtender } from '../extender/http-extender.js';
import type { SchedulerPlugin, SchedulingContext, Verdict } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import type { Status } from '../framework/status.js';
import type { SchedulerMetrics } from './metrics.js';
import { runPermits } from './run-permits.js';
import type { Permits } from './run-permits.js';
import type { PermitQueue } from './waiting-pods.js';

export interface ChosenNode {
  readonly context: SchedulingContext;
  readonly profile: Profile;
  readonly node: string;
}

export interface BindParts {
  readonly clock: Clock;
  readonly metrics: SchedulerMetrics;
  readonly permitQueue: PermitQueue;
  readonly extenders: readonly HttpExtender[];
}

/** Takes what the pod needs on the node. @returns why not @throws what a plug-in failed with */
export async function reserveNode(
  { context, node, profile }: ChosenNode,
  signal: AbortSignal,
): Promise<Verdict> {
  for (const plugin of profile.reserve) {
    const refusal = await asked('Reserve', plugin, () => plugin.reserve?.(context, node, signal));
    if (refusal) return refusal;
  }
  return undefined;
}

/** Undoes {@link reserveNode}, in reverse order. */
export function unreserveNode({ context, node, profile }: ChosenNode): void {
  for (const plugin of profile.reserve.toReversed()) plugin.unreserve?.(context, node);
}

export function askPermits({ context, node, profile }: ChosenNode): Permits {
  return runPermits(profile, context, node);
}

/**
 * Everything after the decision: waits for permits, prepares what the pod needs, and binds it.
 * @returns why not, if a plug-in refuses
 * @throws what failed
 */
export async function bindPod(
  chosen: ChosenNode,
  { delays }: Permits,
  { clock, extenders, metrics, permitQueue }: BindParts,
  signal: AbortSignal,
): Promise<Verdict> {
  const { context, node, profile } = chosen;
  if (delays.length > 0) {
    const startMs = clock.monotonicNow();
    const refusal = await permitQueue.wait(context.pod.pod, node, delays);
    metrics.permitWait(refusal ? 'rejected' : 'allowed', clock.monotonicNow() - startMs);
    if (refusal) return refusal;
  }
  for (const plugin of profile.preBind) {
    signal.throwIfAborted();
    const refusal = await asked('PreBind', plugin, () => plugin.preBind?.(context, node, signal));
    if (refusal) return refusal;
  }
  signal.throwIfAborted();
  const refusal = await bind(chosen, extenders, signal);
  if (refusal) return refusal;
  for (const plugin of profile.postBind) plugin.postBind?.(context, node);
  return undefined;
}

async function bind(
  { context, node, profile }: ChosenNode,
  extenders: readonly HttpExtender[],
  signal: AbortSignal,
): Promise<Verdict> {
  const binder = extenders.find((extender) => extender.binds && extender.concerns(context.pod.pod));
  if (binder) {
    await binder.bind(context.pod, node, signal);
    return undefined;
  }
  for (const plugin of profile.bind) {
    const status = await asked('Bind', plugin, () => plugin.bind?.(context, node, signal), 'Skip');
    if (status?.code !== 'Skip') return status;
  }
  throw new TerminalError('binding rejected: no plug-in binds the pod');
}

async function asked(
  point: string,
  plugin: SchedulerPlugin,
  ask: () => Promise<Verdict> | undefined,
  ...passed: readonly Status['code'][]
): Promise<Verdict> {
  try {
    const status = await ask();
    if (!status || status.code === 'Success') return undefined;
    if (status.code === 'Skip' && !passed.includes('Skip')) return undefined;
    if (status.code === 'Error') throw new TerminalError(status.reasons.join(', '));
    return { ...status, plugin: plugin.name };
  } catch (error) {
    throw new PointError(point, plugin.name, error);
  }
}

/** A plug-in failed. The cause is what it failed with. */
export class PointError extends TerminalError {
  constructor(
    readonly point: string,
    plugin: string,
    cause: unknown,
  ) {
    super(`running ${point} plugin "${plugin}": ${errorMessage(cause)}`, { cause });
  }
}
