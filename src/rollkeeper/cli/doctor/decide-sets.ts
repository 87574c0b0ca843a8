import type { DeepReadonly } from '@rollkeeper/machinery/kubernetes';
import { keyOf } from '@rollkeeper/machinery/kubernetes';
import {
  asksForSetPolicies,
  isFirstSeen,
  isHeldAtRest,
  ownerOfField,
} from '@rollkeeper/controllers/set-rollouts';
import { counted } from '@rollkeeper/machinery/text';
import type { StatefulSet } from '@rollkeeper/runtime';
import type { Asked, Finding } from './finding.js';
import { ok, someOf, warning } from './finding.js';

const PARTITION = ['spec', 'updateStrategy', 'rollingUpdate', 'partition'];

/**
 * Whether a controller follows the StatefulSets that ask for rollout policies, and they are held, so that no change of a template begins
 * unseen. Nothing is said where none asks, or they may not be listed.
 * @param isOn whether the replicas run with `--stateful-sets`; undefined if none was asked, and then the sets tell
 */
export function decideSets(
  asked: Asked<readonly DeepReadonly<StatefulSet>[]>,
  isOn: boolean | undefined,
): readonly Finding[] {
  if (asked.is !== 'answered') return [];
  const sets = asked.value.filter(({ metadata }) => asksForSetPolicies(metadata.annotations));
  if (sets.length === 0) return [];
  if (isOn === false)
    return [
      warning(
        'sets',
        `${named(sets, 'asks', 'ask')} for rollout policies that no replica follows`,
        'start the replicas with --stateful-sets (chart: statefulSets), or remove the annotations; a partition that was raised before stays',
      ),
    ];
  const owned = sets.filter((set) => ownerOfField(set, PARTITION) !== undefined);
  const unseen = sets.filter((set) => !owned.includes(set) && isFirstSeen(set.metadata));
  const loose = sets.filter((set) => !owned.includes(set) && !unseen.includes(set) && !isHeldAtRest(set));
  return [
    ...(owned.length > 0
      ? [
          warning(
            'sets',
            `the partition of ${named(owned)} is also written by another tool, so policies cannot hold a rollout`,
            'remove spec.updateStrategy.rollingUpdate.partition from what that tool applies (docs/ROLLOUTS.md)',
          ),
        ]
      : []),
    ...(unseen.length > 0
      ? [
          warning(
            'sets',
            `${named(unseen, 'asks', 'ask')} for rollout policies, and no controller has noted a rollout there: a state that was copied from another StatefulSet does not count`,
            'check again in a minute; if it persists, start the replicas with --stateful-sets (chart: statefulSets), or see in their log why they cannot write to it',
          ),
        ]
      : []),
    ...(loose.length > 0
      ? [
          warning(
            'sets',
            `${named(loose, 'is', 'are')} at rest and not held: a change of the template begins before the policies have seen it`,
            'rollkeeper explain statefulset/NAME says why the controller does not raise the partition',
          ),
        ]
      : []),
    ...(owned.length + unseen.length + loose.length === 0
      ? [ok('sets', `${named(sets, 'is', 'are')} held at rest, or rolling out`)]
      : []),
  ];
}

/** @param one the verb that follows one set @param many the verb that follows several */
function named(sets: readonly DeepReadonly<StatefulSet>[], one = '', many = ''): string {
  const names = sets.map(({ metadata }) => keyOf(metadata));
  const verb = sets.length === 1 ? one : many;
  return `${counted(sets.length, 'StatefulSet')} (${someOf(names, 3)}) ${verb}`.trimEnd();
}
