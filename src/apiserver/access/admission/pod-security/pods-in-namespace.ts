import type { Clock } from '@rollkeeper/machinery/clock';
import { objectOfKind } from '@rollkeeper/machinery/kubernetes';
import type { Pod } from '@rollkeeper/machinery/kubernetes';
import { pagesOf } from '../../../storage/index.js';
import type { Storage } from '../../../storage/index.js';
import { describeLevel } from './namespace-policy.js';
import type { LevelVersion } from './namespace-policy.js';
import { violationsOf } from './evaluate-pod.js';

/** Limits of the check of a new level: the number of pods, and the time in milliseconds. */
const MAX_PODS = 3000;
const MAX_MS = 1000;

/**
 * The warnings of a namespace that enforces a new level: the pods that are there stay, and break it. The pods of one
 * controller are alike, so one of each comes first.
 */
export async function warningsOfNewLevel(
  namespace: string,
  enforce: LevelVersion,
  { clock, storage }: { readonly clock: Clock; readonly storage: Pick<Storage, 'list'> },
): Promise<readonly string[]> {
  const { chosen, total } = await choosePods(namespace, storage);
  const giveUpAt = clock.monotonicNow() + MAX_MS;
  const names = new Map<string, string[]>();
  let checked = 0;
  for (const { metadata, spec } of chosen) {
    const violations = violationsOf(enforce, { annotations: metadata.annotations ?? {}, spec });
    const reasons = violations.map(({ reason }) => reason).join(', ');
    if (reasons !== '') names.set(reasons, [...(names.get(reasons) ?? []), metadata.name]);
    checked++;
    if (clock.monotonicNow() >= giveUpAt) break;
  }
  const isPartial = checked < total;
  return [
    ...(isPartial
      ? [`new PodSecurity enforce level only checked against the first ${checked} of ${total} existing pods`]
      : []),
    ...(names.size > 0
      ? [
          `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${describeLevel(enforce)}"`,
        ]
      : []),
    ...[...names].map(([reasons, pods]) => `${describePods(pods)}: ${reasons}`).sort(),
  ];
}

async function choosePods(
  namespace: string,
  storage: Pick<Storage, 'list'>,
): Promise<{ readonly chosen: readonly Pod[]; readonly total: number }> {
  const firsts: Pod[] = [];
  const further: Pod[] = [];
  const controllers = new Set<string>();
  let total = 0;
  for await (const { items } of pagesOf(storage, 'pods', { namespace }))
    for (const { object } of items) {
      const pod: Pod = objectOfKind(object);
      const owner = pod.metadata.ownerReferences?.find(({ controller }) => controller === true)?.uid;
      const list = owner !== undefined && controllers.has(owner) ? further : firsts;
      if (owner !== undefined) controllers.add(owner);
      if (list.length < MAX_PODS) list.push(pod);
      total++;
    }
  return { chosen: [...firsts, ...further].slice(0, MAX_PODS), total };
}

/** `a`, `a (and 1 other pod)`, `a (and 2 other pods)` */
function describePods(names: readonly string[]): string {
  const first = [...names].sort()[0] ?? '';
  const others = names.length - 1;
  if (others === 0) return first;
  return `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'})`;
}
