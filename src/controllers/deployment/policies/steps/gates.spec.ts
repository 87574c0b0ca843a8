import { beforeEach, describe, expect, it } from 'vitest';
import { ConfigMap, Job, Service } from '../../../../runtime/index.js';
import { stringifyJson } from '../../../../machinery/kubernetes/index.js';
import { MINUTE_MS, P, PolicyLab } from '../../../../testing/policy-lab.js';
import { createDeploymentController } from '../../definition.js';
import { parseHostRules } from '../checks/check-hosts.js';
import { readCheckResults } from '../checks/check-results.js';
import type { HttpSender, IncomingAnswer, OutgoingRequest } from '../checks/common/http-sender.js';
import { NoAnswerError } from '../checks/common/http-sender.js';

/** A sender with the answers of Prometheus and the webhooks until they are changed. */
class ScriptedSender implements HttpSender {
  readonly sent: OutgoingRequest[] = [];
  /** The status of webhooks. */
  status = 200;
  /** The value of Prometheus. Undefined: it is away. */
  value: string | undefined = '0';

  async send(request: OutgoingRequest): Promise<IncomingAnswer> {
    this.sent.push(request);
    if (request.method === 'POST') return { status: this.status, body: '' };
    if (this.value === undefined) throw new NoAnswerError('no answer (ECONNREFUSED)');
    const data = { resultType: 'vector', result: [{ metric: {}, value: [1, this.value] }] };
    return { status: 200, body: stringifyJson({ status: 'success', data }) };
  }
}

const CHECKS = {
  pre: 'webhook: { url: http://ci.test/gate, retries: 2 }',
  slo: 'prometheus: { address: "http://prometheus.test:9090", query: up, condition: "< 0.01" }\ninterval: 30s\ncount: 2',
  smoke: 'webhook: { url: http://ci.test/smoke }',
  away: 'prometheus: { address: http://prometheus.test:9090, query: up, condition: "< 1" }\ngive-up-after: 5m',
  elsewhere: 'webhook: { url: http://169.254.169.254/latest }',
  wrong: 'webhook: { url: http://ci.test/gate, tries: 2 }',
  run: 'job: { template: { spec: { template: { spec: { containers: [{ name: a, image: test }] } } } } }',
};

describe('checks of a rollout', () => {
  let sender: ScriptedSender;
  beforeEach(() => {
    sender = new ScriptedSender();
  });

  function rolledOut(
    policies: Record<string, string>,
    shape: Parameters<typeof PolicyLab.rolledOut>[1] = {},
    data: Record<string, string> = CHECKS,
  ): Promise<PolicyLab> {
    const hosts = parseHostRules('*.test', 'check-hosts');
    return PolicyLab.rolledOut(policies, shape, {
      controller: createDeploymentController({ checks: { hosts, sender } }),
      prepare: (lab) => void define(lab, data),
    });
  }

  function define({ world }: PolicyLab, data: Record<string, string>): void {
    const metadata = { namespace: 'default', name: 'rollkeeper-checks' };
    world.api.seed(ConfigMap, { apiVersion: 'v1', kind: 'ConfigMap', metadata, data });
  }

  const COMPARE = {
    slo: 'prometheus: { address: "http://prometheus.test:9090", query: "x{{{hash}}}y{{{stable-hash}}}", condition: "< 1" }\ninterval: 1m',
  };

  it('are about the pods of an experiment at its step, from when they are available, and end it when one fails', async () => {
    const steps = 'experiment 10m: baseline 1, canary 1, check slo; 100%';
    const lab = await rolledOut({ steps, 'on-failure': 'rollback' }, {}, COMPARE);
    await lab.image('app:2');
    expect(sender.sent, 'before there are pods').toEqual([]);
    lab.world.startExperiments();
    await lab.pass(2000);
    const [hash, stable] = ['canary', 'baseline'].map(
      (side) =>
        lab.world.experimentSets.find(({ metadata }) => metadata.labels?.[`${P}experiment-side`] === side)
          ?.spec.template?.metadata?.labels?.['pod-template-hash'],
    );
    expect(new URL(sender.sent[0]?.url ?? '').searchParams.get('query')).toBe(`x{${hash}}y{${stable}}`);
    expect(lab.condition()).toContain('runs an experiment until');
    expect(lab.eventsOf('CheckPassed')).toEqual(['Normal CheckPassed Check slo of step 1 has passed']);
    await lab.annotate('abort', 'anna');
    await lab.image('app:3');
    lab.world.startExperiments();
    sender.value = '5';
    await lab.pass(2000);
    expect(lab.world.experimentSets).toEqual([]);
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.condition()).toContain('RolledBack');
  });

  it('have to pass after the time of an experiment, and a person may go on without one that is unknown', async () => {
    sender.value = undefined;
    const steps = 'experiment 2m: baseline 1, canary 1, check slo; 100%';
    const lab = await rolledOut({ steps }, {}, COMPARE);
    await lab.image('app:2');
    lab.world.startExperiments();
    await lab.pass(2000);
    await lab.pass(2 * MINUTE_MS);
    expect(lab.condition()).toContain('unknown: ');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(lab.world.experimentSets, 'its time is over').toEqual([]);
    await lab.annotate('approve', 'anna');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
  });

  it('hold a rollout before its first pod, between two sizes and after the last', async () => {
    sender.status = 503;
    const lab = await rolledOut({ steps: 'check pre; 1; check slo; 100%; check smoke' });
    expect(sender.sent, 'not for the first version').toEqual([]);
    await lab.image('app:2');
    expect(lab.sizes, 'before').toEqual({ 'app:1': 10 });
    expect(lab.condition()).toBe(
      'Unknown WaitingForCheck Step 1 of 5 (check pre): unknown: the webhook answered 503',
    );
    sender.status = 200;
    await lab.pass(2000);
    expect(lab.eventsOf('CheckPassed')).toEqual(['Normal CheckPassed Check pre of step 1 has passed']);
    expect(lab.sizes, 'between').toEqual({ 'app:1': 9, 'app:2': 1 });
    expect(lab.condition()).toBe(
      'Unknown WaitingForCheck Step 3 of 5 (check slo): waits for the check to pass',
    );
    sender.value = undefined;
    await lab.pass(30_000);
    expect(lab.condition()).toContain('unknown: Prometheus: no answer');
    sender.value = '0.002';
    sender.status = 500;
    await lab.pass(30_000);
    expect(lab.sizes, 'after').toEqual({ 'app:2': 10 });
    expect(lab.condition()).toContain('NewReplicaSetAvailable');
    expect(lab.isGood('app:2'), 'before its last check').toBe(false);
    sender.status = 204;
    await lab.pass(MINUTE_MS);
    expect(lab.isGood('app:2')).toBe(true);
    expect(readCheckResults(lab.replicaSet('app:2')).map(({ check, state }) => `${check} ${state}`)).toEqual([
      'pre passed',
      'slo passed',
      'smoke passed',
    ]);
  });

  it('go back when one fails after the last size, and do not try the template again', async () => {
    const lab = await rolledOut({ steps: '100%; check smoke', 'on-failure': 'rollback' });
    sender.status = 418;
    await lab.image('app:2');
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(lab.condition()).toContain('False RolledBack Revision 2');
    expect(lab.condition()).toContain('check smoke failed at step 2: the webhook answered 418');
    expect(lab.condition('RolloutPolicy')).toBe('none');
    const asked = sender.sent.length;
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(sender.sent).toHaveLength(asked);
    sender.status = 200;
    await lab.annotate('retry', 'alice');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    expect(lab.isGood('app:2')).toBe(true);
  });

  it('with hold run the good revision in place of what failed, and measure again on a retry', async () => {
    const lab = await rolledOut({ steps: '1; check smoke', 'on-failure': 'hold' });
    sender.status = 418;
    await lab.image('app:2');
    expect(lab.imageAsked).toBe('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    sender.status = 200;
    await lab.annotate('retry', 'alice');
    await lab.pass(1000);
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    expect(readCheckResults(lab.replicaSet('app:2'))).toMatchObject([{ attempt: 2, state: 'passed' }]);
  });

  it('without on-failure hold at the check, until a person goes on without it or has it measured again', async () => {
    const lab = await rolledOut({ steps: '1; check smoke; 50%; check smoke' });
    sender.status = 418;
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
    expect(lab.condition('RolloutPolicy')).toBe(
      'False CheckFailed Step 2 of 4 (check smoke): failed: the webhook answered 418',
    );
    expect(lab.eventsOf('CheckFailed')).toHaveLength(1);
    await lab.annotate('approve', 'alice');
    expect(lab.sizes).toEqual({ 'app:1': 5, 'app:2': 5 });
    expect(lab.condition('RolloutPolicy')).toContain('Step 4 of 4');
    sender.status = 200;
    await lab.annotate('retry', 'alice');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    expect(lab.condition('RolloutPolicy')).toBe('none');
    expect(lab.isGood('app:2')).toBe(true);
    expect(readCheckResults(lab.replicaSet('app:2'))).toMatchObject([
      { step: 2, state: 'overridden', by: 'alice' },
      { step: 4, state: 'passed', attempt: 2 },
    ]);
  });

  it('are no success while they are unknown: they hold, and fail once they have been given up', async () => {
    const lab = await rolledOut({ steps: '1; check away', 'on-failure': 'rollback' });
    sender.value = undefined;
    await lab.image('app:2');
    expect(lab.condition()).toContain('unknown: Prometheus: no answer (ECONNREFUSED)');
    expect(lab.condition('RolloutPolicy')).toContain('False CheckUnknown');
    expect(lab.world.requeueAfterMs).toBe(30_000);
    await lab.pass(30_000);
    expect(lab.eventsOf('CheckUnknown'), 'once').toHaveLength(1);
    sender.value = 'NaN';
    await lab.pass(30_000);
    expect(lab.condition()).toContain('unknown: Prometheus: the value is NaN');
    for (let minutes = 0; minutes < 4; minutes++) await lab.pass(MINUTE_MS);
    expect(lab.sizes, 'after 5 minutes').toEqual({ 'app:1': 10 });
    expect(lab.condition()).toContain(
      'check away failed at step 2: unknown for 5m: Prometheus: the value is NaN',
    );
  });

  it('hold at the size that there is, and fail at any, if they are measured all the way through', async () => {
    const lab = await rolledOut({
      steps: '1; wait 1m; 50%; wait 1m',
      checks: 'slo',
      'on-failure': 'rollback',
    });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
    sender.value = undefined;
    await lab.pass(MINUTE_MS);
    expect(lab.sizes, 'unknown').toEqual({ 'app:1': 9, 'app:2': 1 });
    expect(lab.condition()).toBe(
      'Unknown WaitingForCheck Check slo: unknown: Prometheus: no answer (ECONNREFUSED)',
    );
    sender.value = '0';
    await lab.pass(30_000);
    expect(lab.sizes, 'known again').toEqual({ 'app:1': 5, 'app:2': 5 });
    sender.value = '0.5';
    await lab.pass(30_000);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(lab.condition()).toContain('check slo failed: 0.5 is not < 0.01');
  });

  it('are measured in the bake time, before which the revision is not good, if they are measured all the way through', async () => {
    const lab = await rolledOut({ checks: 'slo', 'on-failure': 'rollback', 'bake-time': '10m' });
    await lab.pass(10 * MINUTE_MS);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    await lab.pass(5 * MINUTE_MS);
    sender.value = undefined;
    await lab.pass(5 * MINUTE_MS);
    expect(lab.isGood('app:2'), 'unknown').toBe(false);
    expect(lab.sizes).toEqual({ 'app:2': 10 });
    sender.value = '1';
    await lab.pass(30_000);
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    sender.value = '0';
    await lab.image('app:3');
    await lab.pass(10 * MINUTE_MS);
    expect(lab.isGood('app:3')).toBe(true);
    const asked = sender.sent.length;
    await lab.pass(MINUTE_MS);
    expect(sender.sent, 'no more once it is good').toHaveLength(asked);
  });

  it.each([
    ['elsewhere', '169.254.169.254:80 is not one of the hosts that --check-hosts allows'],
    ['wrong', 'key wrong of ConfigMap rollkeeper-checks: webhook: Unrecognized key: "tries"'],
    ['missing', 'there is no key missing of ConfigMap rollkeeper-checks'],
  ])('hold and are named if they cannot be measured: %s', async (check, problem) => {
    const either: Record<string, string>[] = [{ steps: `1; check ${check}` }, { checks: check }];
    for (const policies of either) {
      const lab = await rolledOut(policies);
      await lab.image('app:2');
      expect(lab.sizes['app:2'] ?? 0).toBeLessThanOrEqual(1);
      expect(lab.condition('RolloutPolicy')).toContain(problem);
      expect(lab.eventsOf('CheckNotPossible')).toHaveLength(1);
      await lab.pass(30_000);
      expect(lab.eventsOf('CheckNotPossible')).toHaveLength(1);
      define(lab, { ...CHECKS, [check]: CHECKS.slo });
      for (let each = 0; each < 3; each++) await lab.pass(30_000);
      expect(lab.sizes).toEqual({ 'app:2': 10 });
      expect(sender.sent.every(({ url }) => new URL(url).hostname.endsWith('.test'))).toBe(true);
    }
  });

  it('hold where the replica measures none, and a person may go on', async () => {
    const lab = await PolicyLab.rolledOut({ steps: '1; check slo' });
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 9, 'app:2': 1 });
    expect(lab.condition('RolloutPolicy')).toContain('start the controller with --rollout-checks');
    await lab.annotate('approve', 'alice');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
  });

  it('by a Job create it once, owned by the ReplicaSet, and wait for it', async () => {
    const lab = await rolledOut({ steps: '1; check run', 'on-failure': 'rollback' });
    await lab.image('app:2');
    await lab.pass(5000);
    const [job, ...others] = lab.world.api.all<Job>(Job);
    expect(others).toEqual([]);
    const { metadata } = lab.replicaSet('app:2');
    expect(job?.metadata.ownerReferences).toEqual([
      { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: metadata.name, uid: metadata.uid },
    ]);
    expect(job?.spec?.activeDeadlineSeconds).toBe(600);
    const writes = lab.world.api.writes.length;
    await lab.pass(5000);
    expect(lab.world.api.writes.length, 'while it runs').toBe(writes);
    lab.world.api.seed(Job, { ...job!, status: { conditions: [{ type: 'Complete', status: 'True' }] } });
    await lab.pass(5000);
    expect(lab.sizes).toEqual({ 'app:2': 10 });
  });

  it('by a Job fail with it, and with its deletion', async () => {
    for (const end of ['fails', 'goes'] as const) {
      const lab = await rolledOut({ steps: '1; check run', 'on-failure': 'rollback' });
      await lab.image('app:2');
      const [job] = lab.world.api.all<Job>(Job);
      const conditions = [{ type: 'Failed', status: 'True', message: 'has reached the limit' }];
      if (end === 'fails') lab.world.api.seed(Job, { ...job!, status: { conditions } });
      else await lab.world.api.delete(Job, job!.metadata);
      await lab.pass(5000);
      expect(lab.sizes).toEqual({ 'app:1': 10 });
      expect(lab.condition()).toContain(end === 'fails' ? 'has reached the limit' : 'was deleted');
    }
  });

  it('send what they are about, with an id that a try again has as well', async () => {
    const lab = await rolledOut({ steps: '1; check pre' });
    sender.status = 503;
    await lab.image('app:2');
    await lab.pass(2000);
    const { metadata } = lab.replicaSet('app:2');
    const [first, second] = sender.sent;
    expect(JSON.parse(first?.body ?? '')).toEqual({
      ...{ check: 'pre', namespace: 'default', name: lab.deployment.metadata.name, revision: '2', step: 2 },
      ...{ replicaSet: metadata.name, hash: metadata.labels?.['pod-template-hash'], attempt: 1 },
    });
    expect(second?.headers?.['webhook-id']).toBe(first?.headers?.['webhook-id']);
  });

  it('are not measured while the rollout is paused, and not for a way back', async () => {
    const lab = await rolledOut({ steps: '1; check slo' });
    await lab.image('app:2');
    lab.world.change(({ spec }) => void (spec.paused = true));
    const asked = sender.sent.length;
    await lab.pass(MINUTE_MS);
    expect(sender.sent).toHaveLength(asked);
    lab.world.change(({ spec }) => void (spec.paused = false));
    await lab.image('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 10 });
    expect(sender.sent).toHaveLength(asked);
  });

  it('may be those of another where they are of one ConfigMap', async () => {
    const lab = await rolledOut({ steps: '1; check pre', 'checks-from': 'others' });
    await lab.image('app:2');
    expect(lab.condition('RolloutPolicy')).toContain('there is no ConfigMap others');
  });

  it('hold, measured all the way through, the move of a blue-green Service, and an approval applies to them first', async () => {
    const policies = { strategy: 'blue-green', 'active-service': 'web', checks: 'slo' };
    const strategy = {
      type: 'RollingUpdate' as const,
      rollingUpdate: { maxSurge: '100%', maxUnavailable: 0 },
    };
    const lab = await PolicyLab.rolledOut(
      policies,
      { replicas: 4, strategy },
      {
        controller: createDeploymentController({
          blueGreen: true,
          checks: { hosts: parseHostRules('*.test', 'check-hosts'), sender },
        }),
        prepare: (made) => {
          define(made, CHECKS);
          const metadata = { namespace: 'default', name: 'web', uid: 'uid-of-web' };
          made.world.api.seed<Service>(Service, {
            ...{ apiVersion: 'v1', kind: 'Service', metadata },
            spec: { selector: { app: 'web' } },
          });
        },
      },
    );
    const served = (): string | undefined =>
      lab.world.api.all<Service>(Service)[0]?.spec.selector?.['pod-template-hash'];
    const before = served();
    sender.value = undefined;
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(lab.condition()).toContain('WaitingForCheck Check slo: unknown');
    await lab.annotate('approve', 'alice');
    expect(lab.condition()).toContain('WaitingForApproval');
    expect(served()).toBe(before);
    await lab.annotate('approve', 'alice');
    expect(served()).toBe(lab.replicaSet('app:2').metadata.labels?.['pod-template-hash']);
  });

  it('cost nothing if they are not asked for', async () => {
    const lab = await rolledOut({ steps: '1; wait 1m' });
    await lab.image('app:2');
    await lab.pass(MINUTE_MS);
    expect(sender.sent).toEqual([]);
    expect(lab.replicaSet('app:2').metadata.annotations).not.toHaveProperty(`${P}check-results`);
  });
});
