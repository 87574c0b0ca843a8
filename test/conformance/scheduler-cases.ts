import { isTerminating, stringifyJson } from '@rollkeeper/machinery/kubernetes';
import { compileDeviceSelector } from '@rollkeeper/apiserver/device-selectors';
import { SeededRandom } from '@rollkeeper/machinery/clock';
import { silentLogger } from '@rollkeeper/machinery/logging';
import type { Chosen, ClusterView, ReadablePod, Refused } from '@rollkeeper/scheduler';
import {
  DEFAULT_PLUGINS,
  compileProfile,
  decidePod,
  isPlan,
  planVolumes,
  podInfoOf,
  sortClaims,
} from '@rollkeeper/scheduler';
import type { ConformanceFormat } from './conformance-format.js';
import { isJsonObject } from './conformance-format.js';
import type { RecordedPod, RecordedWorld } from './scheduler-world.js';
import { SchedulerWorld, toPod } from './scheduler-world.js';

type Scores = Readonly<Record<string, Readonly<Record<string, number>>>>;

export interface SchedulerCase {
  readonly id: string;
  readonly theme: string;
  readonly kind: string;
  readonly world: RecordedWorld;
  readonly pod: RecordedPod;
  readonly feasible?: readonly string[];
  readonly scores?: Scores;
  readonly best?: readonly string[];
  readonly chosen?: string;
  readonly bindings?: Readonly<Record<string, string>>;
  readonly message?: string;
  readonly nominated?: string;
  readonly victims?: readonly string[];
  readonly victimCount?: number;
}

/** A world and a pod, and what the genuine scheduler decided. */
export const schedulerCases: ConformanceFormat = {
  name: 'scheduler',
  matches: ({ pod, theme, world }) => isJsonObject(world) && isJsonObject(pod) && typeof theme === 'string',
  run: (recorded) => Promise.resolve(runSchedulerCase(recorded as unknown as SchedulerCase)),
};

/** @returns one line per difference, each beginning with what differs: `feasible`, `scores.PLUGIN`, `message`… */
function runSchedulerCase(recorded: SchedulerCase): string[] {
  if (recorded.kind === 'preassigned' || recorded.kind === 'ignored') return [];
  const { cache, view } = new SchedulerWorld(recorded.world);
  const handle = { view, log: silentLogger, compileDeviceSelector };
  const profile = compileProfile({
    plugins: DEFAULT_PLUGINS.map(({ create, weight }) => ({ plugin: create({}, handle), weight })),
  });
  const pod = podInfoOf(toPod(recorded.pod));
  const isHeld = profile.preEnqueue.some((plugin) => plugin.preEnqueue?.(pod.pod, view) !== undefined);
  if (isHeld || recorded.kind === 'gated')
    return isHeld === (recorded.kind === 'gated') ? [] : [`gated: ${String(isHeld)}`];
  const decision = decidePod({
    ...{ pod, view, profile },
    snapshot: cache.snapshot(),
    nominated: cache.nominated,
    random: new SeededRandom(1),
    startIndex: 0,
  });
  if (decision.kind === 'failed') return [`failed: ${decision.plugin}: ${decision.message}`];
  return decision.kind === 'chosen'
    ? [
        ...differencesOfChosen(recorded, decision),
        ...differencesOfBindings(recorded, pod.pod, decision, view),
      ]
    : differencesOfRefused(recorded, decision);
}

/** On the recorded node: what gets a volume, and what is provisioned, as the recording's provisioner calls it. */
function differencesOfBindings(
  { bindings = {}, chosen }: SchedulerCase,
  pod: ReadablePod,
  { feasible }: Chosen,
  view: ClusterView,
): string[] {
  const node = feasible.find(({ name }) => name === chosen)?.node;
  const claims = sortClaims(pod, view);
  if (!node || !claims || 'code' in claims) return difference('bindings', Object.entries(bindings), []);
  const plan = planVolumes(claims, node, view);
  if (!isPlan(plan)) return [`bindings: ${plan.join(', ')}`];
  const actual = [
    ...plan.bind.map(({ claim, volume }) => [claim.metadata.name, volume.metadata.name]),
    ...plan.provision.map(({ metadata: { name, namespace } }) => [name, `dyn-${namespace}-${name}`]),
  ].sort();
  return difference('bindings', Object.entries(bindings).sort(), actual);
}

function differencesOfChosen(recorded: SchedulerCase, decision: Chosen): string[] {
  const { best = [], feasible = [], message, scores = {} } = recorded;
  const ours = decision.feasible.map(({ name }) => name).sort();
  return [
    ...difference('feasible', feasible, ours),
    ...difference('message', message, undefined),
    ...(same(feasible, ours) ? differencesOfScores(scores, decision) : []),
    ...(best.length === 0 || best.includes(decision.node.name)
      ? []
      : [`best: expected one of ${best.join(', ')}, got ${decision.node.name}`]),
  ];
}

function differencesOfScores(expected: Scores, { feasible, scores }: Chosen): string[] {
  if (!scores) return difference('scores', expected, {});
  const actual = Object.fromEntries(
    feasible.map(({ name }, index) => [
      name,
      {
        ...Object.fromEntries(scores.byPlugin.map((each) => [each.plugin, each.scores[index]])),
        total: scores.totals[index],
      },
    ]),
  );
  const plugins = new Set(
    [...Object.values(expected), ...Object.values(actual)].flatMap((each) => Object.keys(each)),
  );
  return [...plugins].flatMap((plugin) => {
    const of = (all: Readonly<Record<string, Readonly<Record<string, number | undefined>>>>) =>
      Object.fromEntries(feasible.map(({ name }) => [name, all[name]?.[plugin]]));
    return difference(`scores.${plugin}`, of(expected), of(actual));
  });
}

function differencesOfRefused(recorded: SchedulerCase, decision: Refused): string[] {
  const { feasible = [], message, nominated, victimCount, victims = [] } = recorded;
  const isPreempting = recorded.kind === 'preempting';
  const leaving = decision.victims.filter(({ pod }) => !isTerminating(pod));
  return [
    ...difference('feasible', feasible, []),
    ...difference('message', message, decision.message),
    ...difference('nominated', isPreempting ? nominated : undefined, decision.nomination?.node),
    ...difference('victims', victims, leaving.map(({ key }) => key).sort()),
    // If all of them were leaving already, nothing is evicted, and none is counted.
    ...difference('victimCount', victimCount ?? 0, leaving.length > 0 ? decision.victims.length : 0),
  ];
}

function difference(what: string, expected: unknown, actual: unknown): string[] {
  return same(expected, actual)
    ? []
    : [`${what}: expected ${stringifyJson(expected)}, got ${stringifyJson(actual)}`];
}

/** Key order is that of the recordings on both sides. */
function same(one: unknown, other: unknown): boolean {
  return stringifyJson(one) === stringifyJson(other);
}
