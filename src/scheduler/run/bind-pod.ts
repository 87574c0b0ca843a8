import { TerminalError, errorMessage } from '@rollkeeper/machinery/errors';
import type { Clock } from '@rollkeeper/machinery/clock';
import type { PointTimer } from '../decide/point-timer.js';
import { timed, timedUntil } from '../decide/point-timer.js';
import type { HttpExtender } from '../extender/http-extender.js';
import type { SchedulerPlugin, SchedulingContext, Verdict } from '../framework/plugin.js';
import type { Profile } from '../framework/profile.js';
import type { Status } from '../framework/status.js';
import type { SchedulerMetrics } from './metrics.js';
import type { PermitQueue } from './waiting-pods.js';

export interface ChosenNode {
  readonly context: SchedulingContext;
  readonly profile: Profile;
  readonly node: string;
  /** @default nothing is noted */
  readonly timer?: PointTimer;
}

interface BindParts {
  readonly clock: Clock;
  readonly metrics: SchedulerMetrics;
  readonly permitQueue: PermitQueue;
  readonly extenders: readonly HttpExtender[];
}

/** Takes what the pod needs on the node. @returns why not @throws what a plug-in failed with */
export async function reserveNode(chosen: ChosenNode, signal: AbortSignal): Promise<Verdict> {
  return timedUntil(chosen.timer, 'Reserve', () => reserve(chosen, signal), itself);
}

async function reserve({ context, node, profile }: ChosenNode, signal: AbortSignal): Promise<Verdict> {
  for (const plugin of profile.reserve) {
    const refusal = await asked('Reserve', plugin, () => plugin.reserve?.(context, node, signal));
    if (refusal) return refusal;
  }
  return undefined;
}

function itself(verdict: Verdict): Verdict {
  return verdict;
}

/** Undoes {@link reserveNode}, in reverse order. */
export function unreserveNode({ context, node, profile, timer }: ChosenNode): void {
  timed(timer, 'Unreserve', () => {
    for (const plugin of profile.reserve.toReversed()) plugin.unreserve?.(context, node);
  });
}

export function askPermits({ context, node, profile, timer }: ChosenNode): Permits {
  const statusOf = ({ delays, refusal }: Permits): { code: string } | undefined =>
    refusal ?? (delays.length > 0 ? { code: 'Wait' } : undefined);
  return timed(timer, 'Permit', () => runPermits(profile, context, node), statusOf);
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
  const { context, node, timer } = chosen;
  if (delays.length > 0) {
    const startMs = clock.monotonicNow();
    const refusal = await permitQueue.wait(context.pod.pod, node, delays);
    metrics.permitWait(refusal ? 'rejected' : 'allowed', clock.monotonicNow() - startMs);
    if (refusal) return refusal;
  }
  const unready = await timedUntil(timer, 'PreBind', () => prepare(chosen, signal), itself);
  if (unready) return unready;
  signal.throwIfAborted();
  const refusal = await timedUntil(timer, 'Bind', () => bind(chosen, extenders, signal), itself);
  if (refusal) return refusal;
  timed(timer, 'PostBind', () => {
    for (const plugin of chosen.profile.postBind) plugin.postBind?.(context, node);
  });
  return undefined;
}

async function prepare({ context, node, profile }: ChosenNode, signal: AbortSignal): Promise<Verdict> {
  for (const plugin of profile.preBind) {
    signal.throwIfAborted();
    const refusal = await asked('PreBind', plugin, () => plugin.preBind?.(context, node, signal));
    if (refusal) return refusal;
  }
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

interface Permits {
  /** The first refusal. */
  readonly refusal?: Status;
  /** The plug-ins that delay the binding. */
  readonly delays: readonly { readonly plugin: string; readonly timeoutMs?: number }[];
}

/** Asks all plug-ins whether the pod may be bound, until one refuses. */
function runPermits({ permit }: Profile, context: SchedulingContext, node: string): Permits {
  const delays: { plugin: string; timeoutMs?: number }[] = [];
  for (const plugin of permit) {
    const { status, timeoutMs } = plugin.permit?.(context, node) ?? {};
    if (!status || status.code === 'Success') continue;
    if (status.code === 'Wait')
      delays.push({ plugin: plugin.name, ...(timeoutMs !== undefined && { timeoutMs }) });
    else return { refusal: { ...status, plugin: plugin.name }, delays };
  }
  return { delays };
}
