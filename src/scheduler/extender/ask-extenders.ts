import { errorMessage } from '@rollkeeper/machinery/errors';
import type { Logger } from '@rollkeeper/machinery/logging';
import type { ExtendersWord } from '../decide/decide-pod.js';
import type { NodeInfo, PodInfo } from '../framework/node-info.js';
import type { Status } from '../framework/status.js';
import type { HttpExtender } from './http-extender.js';

/**
 * The opinion of the extenders on the nodes that the plug-ins left: each filters what those before it left, then all
 * score what is left in the end. An ignorable one that fails is passed over.
 * @throws what another extender failed with
 */
export async function askExtenders(
  extenders: readonly HttpExtender[],
  { pod }: PodInfo,
  nodes: readonly NodeInfo[],
  log: Logger,
  signal: AbortSignal,
): Promise<ExtendersWord> {
  const asked = extenders.filter((extender) => extender.concerns(pod));
  const refusals = new Map<string, Status>();
  let left = nodes;
  for (const extender of asked.filter(({ filters }) => filters)) {
    if (left.length === 0) break;
    const said = await unlessIgnorable(extender, log, signal, () => extender.filter(pod, left, signal));
    for (const [name, status] of said ?? []) refusals.set(name, status);
    left = left.filter(({ name }) => !refusals.has(name));
  }
  if (left.length < 2) return { refusals };
  const scores = new Map<string, number>();
  const scoring = asked
    .filter(({ prioritizes }) => prioritizes)
    .map(async (extender) => {
      // As in kube-scheduler, a failure to score is passed over in any extender.
      const given = await attempt(extender, log, signal, () => extender.prioritize(pod, left, signal));
      for (const [name, score] of given ?? []) scores.set(name, (scores.get(name) ?? 0) + score);
    });
  await Promise.all(scoring);
  return { refusals, scores };
}

/** The victims that all extenders agree to; undefined if one of them does not want to preempt on the node. */
export async function agreedVictims(
  extenders: readonly HttpExtender[],
  { pod }: PodInfo,
  node: string,
  victims: readonly PodInfo[],
  log: Logger,
  signal: AbortSignal,
): Promise<readonly PodInfo[] | undefined> {
  let agreed: readonly PodInfo[] | undefined = victims;
  for (const extender of extenders.filter((each) => each.preempts && each.concerns(pod))) {
    const before: readonly PodInfo[] = agreed;
    const said = await unlessIgnorable(extender, log, signal, async () => ({
      agreed: await extender.preempt(pod, node, before, signal),
    }));
    if (said) agreed = said.agreed;
    if (!agreed || agreed.length === 0) return undefined;
  }
  return agreed;
}

async function unlessIgnorable<T>(
  extender: HttpExtender,
  log: Logger,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  return extender.isIgnorable ? attempt(extender, log, signal, ask) : ask();
}

async function attempt<T>(
  extender: HttpExtender,
  log: Logger,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    log.warn('an extender failed and is passed over', {
      extender: extender.name,
      error: errorMessage(error),
    });
    return undefined;
  }
}
