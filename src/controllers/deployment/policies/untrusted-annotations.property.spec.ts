import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MINUTE_MS, P, PolicyLab } from '../../../testing/policy-lab.js';
import { propertyRuns } from '../../../testing/property-runs.js';
import {
  DEPLOYMENT_RESPONDER,
  Deployment,
  EVICTION_ASKED,
  REPLACES_PODS_OF,
  ReplicaSet,
  evictionAskedForMs,
  replacedOwners,
} from '../../../machinery/kubernetes/index.js';
import { aPod } from '../../../testing/pod-builder.js';
import { aReplicaSet } from '../../../testing/replicaset-harness.js';
import {
  CONFIG_COPIES,
  FAILED_PODS_OF_OWNER,
  KEEP_OLD_OF_OWNER,
  NO_REQUESTS,
  POD_MARKS,
  POD_REPLACEMENT_OF_OWNER,
  REQUESTS_OF_VERSION,
  RESPONDER_OF_OWNER,
  RESPONDS,
  SCALE_DOWN_OF_OWNER,
  failedPodsRule,
  keepOldRule,
  podOfReplicaSet,
  readConfigCopies,
  readFirstToGo,
  readPodMarks,
  readZoneFirst,
} from '../../shared/index.js';
import { createDeploymentController } from '../definition.js';
import { REVISION } from '../kubernetes/annotations.js';
import { readResults, renderResults } from './checks/check-results.js';
import { readConfigRecord, renderConfigRecord } from './config-restart/config-record.js';
import { readFailures, withFailures } from './common/failed-templates.js';
import { readRevisionEntries } from './history/history.js';
import { CHANGE, CHANGED_BY, REVISIONS, SCALED_BY, SIZES } from './history/settings.js';
import { CHECK_RESULTS } from './checks/settings.js';
import { COMPLETE_SINCE, FAILED, GOOD_SINCE, TOLD } from './common/names.js';
import { CONFIG_RECORD } from './config-restart/settings.js';
import { RESIZE_REFUSED } from './resize/settings.js';
import { RESIZING } from './common/names.js';
import { STEP } from './common/names.js';
import { EXPERIMENT_NOTES, readExperimentNotes } from './experiment/experiment-notes.js';
import { SWITCHED } from './blue-green/settings.js';
import { TURN } from './turns/settings.js';
import { ZONE_BEGUN } from './zones/settings.js';
import { lastSwitchOf } from './blue-green/selecting-services.js';
import { readSizeSteps } from './history/size-steps.js';
import { readPosition } from './common/position.js';
import { nextRound, readTurn, renderTurn } from './turns/turns.js';
import { ADMISSION_DRIFT, readDrift } from './admission-restart/drift-record.js';
import { ADMISSION_RESTARTED } from './admission-restart/settings.js';
import { SIZE_AT_START } from './autoscaling/settings.js';
import { RELEASE_OF_VERSION } from './order/release-settings.js';
import { ORDER_SEEN, readOrderSeen } from './order/settings.js';
import { ALL_SETTINGS } from './policies.js';
import { REMOVE_PODS } from './remove-pods/settings.js';
import { WEIGHT } from './traffic/settings.js';

/*
 * Invariants, for any value of any annotation that the controller writes and reads back:
 *
 * 1. Reading it never throws, and gives nothing or a value of bounded size.
 * 2. What was read is read again when it has been written: the controller's own readers refuse none of its values.
 * 3. A rollout keeps to its limits beside it, and once the annotation is gone runs what is asked for.
 */
const runs = propertyRuns({ gate: 300, nightly: 5000 });
const worlds = propertyRuns({ gate: 15, nightly: 300 });

const AT = '2026-01-01T00:00:00Z';
const REF = { template: 'abc', replicaSet: 'web-abc', revision: '1' };
const RUN = {
  ...{ check: 'slo', step: 1, attempt: 1, began: AT, state: 'measuring', next: AT, taken: 1, recent: 'p' },
  ...{ unknown: 0, unknownSince: AT, why: 'x', by: 'anna', job: 'web-1' },
  measurements: [{ at: AT, verdict: 'passed', value: 1, message: 'x' }],
};
/** Each as the controller writes it. */
const GENUINE: Readonly<Record<string, unknown>> = {
  [TURN]: { template: 'abc', asked: AT, round: 1, granted: AT },
  [STEP]: { revision: '1', done: 1, since: AT, approvals: [{ step: 1, by: 'anna', at: AT }] },
  [FAILED]: [{ ...REF, at: AT, cause: 'it broke', aborted: true, stopped: true, to: REF }],
  [REVISIONS]: [
    {
      ...{ revision: '1', at: AT, trigger: 'change', by: 'anna', user: 'anna', tool: 'kubectl', why: 'x' },
      ...{ what: 'x', ended: { as: 'failed', at: AT, why: 'x' } },
    },
  ],
  [SIZES]: [
    { n: 1, at: AT, from: 0, to: 1, total: 1, most: 2, available: 0, least: 0, policy: 'rollout-held' },
  ],
  [CONFIG_RECORD]: {
    ...{ template: 'abc', pending: { digest: 'd', atMs: 1, firstMs: 1 } },
    sources: { 'configmap/web': { digest: 'd', keys: { a: 'k' } } },
  },
  [CHECK_RESULTS]: { revision: '1', runs: [RUN] },
  [EXPERIMENT_NOTES]: [
    {
      ...{ revision: '1', step: 1, at: AT, began: AT, ended: AT, verdict: 'failed', why: 'x' },
      ...{ pods: { canary: 1 }, checks: ['slo'] },
    },
  ],
  [SWITCHED]: { to: 'abc', from: 'abd', at: AT, by: 'anna' },
  [CHANGE]: { template: 'abc', trigger: 'undo', by: 'anna', why: 'x' },
  [SCALED_BY]: { by: 'anna', to: 3, generation: 2 },
  [`${P}first-to-go`]: { replicas: 3, pods: { a: 'uid' }, beforeUnready: true },
  [`${P}zone-first`]: { label: 'zone', value: 'a', replicas: 3 },
  [GOOD_SINCE]: AT,
  [COMPLETE_SINCE]: AT,
  [RESIZING]: AT,
  [RESIZE_REFUSED]: 'abc: no room',
  [CHANGED_BY]: 'anna',
  [ZONE_BEGUN]: 'a',
  [TOLD]: '{}',
  [ORDER_SEEN]: { template: 'abc', asked: AT, with: ['api'] },
  [POD_MARKS]: { labels: { version: 'canary' }, annotations: { note: null } },
  [CONFIG_COPIES]: { 'configmap/web': { name: 'web-copy', digest: 'd' } },
  [ADMISSION_DRIFT]: { template: 'abc', digest: 'd', stale: 1, pods: 3, parts: ['containers/proxy/image'] },
  [ADMISSION_RESTARTED]: [{ at: AT, parts: ['containers/proxy/image'] }],
  [WEIGHT]: { percent: 20, from: 10, since: AT },
  [`${P}rebalancing`]: { pod: 'web-1', at: AT },
  [RESPONDER_OF_OWNER]: RESPONDS,
  [FAILED_PODS_OF_OWNER]: 'keep 3, 1h',
  [KEEP_OLD_OF_OWNER]: 'until "http :8080/sessions == 0", at most 24h, at most 3',
  [POD_REPLACEMENT_OF_OWNER]: 'terminated',
  [SCALE_DOWN_OF_OWNER]: 'keep-spread',
  [REQUESTS_OF_VERSION]: NO_REQUESTS,
  [REPLACES_PODS_OF]: 'uid-1,uid-2',
  [RELEASE_OF_VERSION]: 'shop-42 ended',
  [SIZE_AT_START]: '4',
  [REMOVE_PODS]: 'web-1',
};
/** Read by the passes of the rollout below alone. */
const READ_IN_PASSES: readonly string[] = [ADMISSION_RESTARTED, WEIGHT, `${P}rebalancing`];

const leaf = fc.oneof(
  fc.constantFrom<unknown>(
    ...[-1, 0.5, 2 ** 31, Number.MAX_SAFE_INTEGER, 2 ** 53, 1e308, -1e308],
    ...[null, true, [], {}, '', 'x'.repeat(5000), '9999-12-31T23:59:59Z', '0000-01-01T00:00:00Z', 'soon'],
    ...['+275760-09-13T00:00:00Z', '\u001b[31m', '__proto__', Array(1000).fill(0)],
  ),
  fc.jsonValue(),
);

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** A genuine value with any one place in it replaced. */
function withOneReplaced(value: unknown, place: number, by: unknown): unknown {
  let left = place;
  const walk = (each: unknown): unknown => {
    if (left-- === 0) return by;
    if (Array.isArray(each)) return each.map(walk);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, field]) => [key, walk(field)]));
  };
  return walk(value);
}

const hostile = fc
  .record({
    name: fc.constantFrom(...Object.keys(GENUINE)),
    place: fc.nat({ max: 25 }),
    leaf,
    whole: fc.string(),
  })
  .chain(({ name, place, leaf: by, whole }) => {
    const genuine = GENUINE[name];
    const changed =
      typeof genuine === 'string' ? textOf(by) : JSON.stringify(withOneReplaced(genuine, place, by));
    return fc.constantFrom(
      { name, value: changed },
      { name, value: whole },
      { name, value: '['.repeat(9000) },
    );
  });

/** Reads, and says how much. */
function readAll(annotations: Record<string, string>): unknown[] {
  const metadata = { name: 'web', annotations };
  return [
    readTurn(annotations),
    readPosition(annotations),
    readFailures(annotations),
    readRevisionEntries(annotations),
    readSizeSteps(annotations),
    readConfigRecord(annotations),
    readResults(annotations),
    readExperimentNotes(annotations),
    lastSwitchOf({ apiVersion: 'v1', kind: 'Service', metadata }),
    readFirstToGo({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata }, 3),
    readZoneFirst({ apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata, spec: { replicas: 3 } } as never),
    readOrderSeen(annotations),
    readConfigCopies(annotations),
    readDrift(annotations),
    Object.values(readPodMarks({ metadata })).flatMap((marks) => Object.keys(marks)),
  ];
}

/** The ReplicaSet controller goes by these, and the scheduler. */
function readOfReplicaSet(annotations: Record<string, string>): unknown[] {
  const set = aReplicaSet();
  const owner = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', uid: 'd', controller: true };
  set.metadata = { ...set.metadata, annotations, ownerReferences: [owner] };
  return [failedPodsRule(set), keepOldRule(set), replacedOwners(set), podOfReplicaSet(set, 'web-1').spec];
}

describe(`an annotation that anyone may have written (SEED=${runs.seed})`, () => {
  it('reads every genuine value', () => {
    for (const [name, genuine] of Object.entries(GENUINE)) {
      if (typeof genuine === 'string' || [CHANGE, SCALED_BY, ...READ_IN_PASSES].includes(name)) continue;
      const read = readAll({ [REVISION]: '1', [name]: JSON.stringify(genuine) });
      const isRead = (each: unknown): boolean => (Array.isArray(each) ? each.length > 0 : each !== undefined);
      expect(read.filter(isRead), name).toHaveLength(1);
    }
  });

  it('is one of these: all that a policy keeps is among them', () => {
    const kept = ALL_SETTINGS.flatMap(({ keeps = [] }) => keeps);
    expect(kept.filter((name) => !Object.hasOwn(GENUINE, name))).toEqual([]);
  });

  it('has new pods name the responder of Deployments if it says so, and no other one, whatever else it says', () => {
    const respondersOf = (value: string): unknown =>
      podOfReplicaSet(
        {
          ...aReplicaSet(),
          metadata: { ...aReplicaSet().metadata, annotations: { [RESPONDER_OF_OWNER]: value } },
        },
        'web-1',
      ).spec;
    expect(respondersOf(RESPONDS)).toHaveProperty('evictionResponders', [DEPLOYMENT_RESPONDER]);
    const property = fc.property(fc.oneof(leaf.map(textOf), fc.string()), (value) => {
      if (value !== RESPONDS) expect(respondersOf(value)).not.toHaveProperty('evictionResponders');
    });
    fc.assert(property, runs);
  });

  it('asks for the eviction of a pod for at most five minutes, or until it is removed', () => {
    const property = fc.property(fc.oneof(leaf.map(textOf), fc.string(), fc.constant(AT)), (value) => {
      const pod = aPod({ name: 'web-1' });
      pod.metadata.annotations = { [EVICTION_ASKED]: value };
      const leftMs = evictionAskedForMs(pod, Date.parse(AT)) ?? 1;
      expect(leftMs === Infinity || (leftMs > 0 && leftMs <= 5 * MINUTE_MS), value).toBe(true);
    });
    fc.assert(property, runs);
  });

  it('is read without an error, to something of bounded size, which is read again when it is written', () => {
    const property = fc.property(hostile, ({ name, value }) => {
      const annotations = { [REVISION]: '1', [name]: value };
      const read = readAll(annotations);
      expect(JSON.stringify([read, readOfReplicaSet(annotations)]).length).toBeLessThan(64 * 1024);
      const turn = readTurn(annotations);
      if (turn) {
        expect(readTurn({ [TURN]: renderTurn(turn) })).toEqual(turn);
        const queued = [{ namespace: 'a', name: 'x', priority: 0, turn: { ...turn, granted: AT } }];
        const next = { ...turn, round: nextRound('b', queued) };
        expect(readTurn({ [TURN]: renderTurn(next) }), 'of the one that asks next').toEqual(next);
      }
      const failures = readFailures(annotations);
      expect(readFailures(withFailures({}, failures))).toEqual(failures);
      const record = readConfigRecord(annotations);
      if (record) expect(readConfigRecord({ [CONFIG_RECORD]: renderConfigRecord(record) })).toBeDefined();
      const results = readResults(annotations);
      if (results)
        expect(readResults({ [REVISION]: '1', [CHECK_RESULTS]: renderResults(results) })?.runs).toHaveLength(
          results.runs.length,
        );
    });
    fc.assert(property, runs);
  });

  it('lets a rollout keep to its limits, and run what is asked for once it is gone', async () => {
    const property = fc.asyncProperty(fc.array(hostile, { minLength: 1, maxLength: 5 }), async (values) => {
      const policies = {
        'on-failure': 'rollback',
        steps: '2; wait 1m; 50%',
        history: '14d',
        'fail-after': '5m',
        'on-eviction': 'surge',
      };
      const controller = createDeploymentController({ evictionRequests: true });
      const lab = await PolicyLab.rolledOut(policies, { replicas: 4 }, { controller });
      const put = (annotations: Record<string, string> = {}) => ({
        ...annotations,
        ...Object.fromEntries(values.map(({ name, value }) => [name, value])),
      });
      const seed = () => {
        const { deployment, replicaSets } = lab.world;
        const { metadata } = deployment;
        lab.world.api.seed(Deployment, {
          ...deployment,
          metadata: { ...metadata, annotations: put(metadata.annotations) },
        });
        for (const set of replicaSets)
          lab.world.api.seed(ReplicaSet, {
            ...set,
            metadata: { ...set.metadata, annotations: put(set.metadata.annotations) },
          });
      };
      seed();
      await lab.image('app:2');
      seed();
      for (let minute = 0; minute < 3; minute++) await lab.pass(MINUTE_MS);
      lab.world.change(({ metadata }) => {
        const names = new Set(values.map(({ name }) => name));
        const kept = Object.entries(metadata.annotations ?? {}).filter(([name]) => !names.has(name));
        metadata.annotations = Object.fromEntries(kept);
      });
      await lab.image('app:3');
      for (let minute = 0; minute < 3; minute++) await lab.pass(MINUTE_MS);
      expect(lab.sizes).toEqual({ 'app:3': 4 });
    });
    await fc.assert(property, worlds);
  });
});
