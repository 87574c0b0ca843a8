import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { ConfigMap, Namespace, Secret, Service } from '../../src/machinery/kubernetes/index.js';
import { typeMeta } from '../../src/runtime/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from './support/kubectl.js';
import { MetricServer } from './support/metric-server.js';
import { LookedAfter, PREFIX, imageOf } from './support/looked-after.js';
import { SharedUp } from './support/shared-up.js';

const binary = anyKubectl()?.binary;

/* More of them, and leaders that die, are in the nightly suite. */
describe('a rollout that looks after itself', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let looked: LookedAfter;
  const namespace = 'policies';

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    client = await up.client();
    await up.createNamespace(client, namespace);
    looked = new LookedAfter(up, client, namespace);
  });

  afterAll(async () => {
    await client?.close();
    await up.give();
  });

  it.skipIf(!binary)('rolls a bad image back by itself, and kubectl rollout status ends with 1', async () => {
    await looked.start('bad', { 'on-failure': 'rollback', 'fail-after': '3s' });
    await looked.rollouts.setImage('bad', 'web:broken');
    const { code, stderr } = await looked.kubectl('rollout', 'status', 'deployment/bad');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: deployment "bad" exceeded its progress deadline\n',
    });
    await looked.says('bad', 'RolledBack Revision 2 ');
    expect(imageOf(await looked.rollouts.read('bad'))).toBe('web:1');
    expect(await looked.sizes('bad')).toEqual({ 'web:1': 5 });
    await looked.rollouts.setImage('bad', 'web:broken');
    await waitFor(async () => imageOf(await looked.rollouts.read('bad')) === 'web:1', {
      what: 'the failed template to be put back without a try',
    });
    expect(await looked.sizes('bad')).toEqual({ 'web:1': 5 });
    const events = await looked.kubectl(
      'get',
      'events',
      '-o',
      'custom-columns=REASON:.reason',
      '--no-headers',
    );
    expect(events.stdout).toContain('RolloutFailed');
    expect(events.stdout).toContain('RolledBack');
  });

  it('makes a Service for each version of an experiment that asks for them, and an abort removes them', async () => {
    await looked.start('tried', { steps: 'experiment 10m: baseline 1, canary 1, services; 100%' }, 1);
    await client.create<Service>(Service, {
      ...{ ...typeMeta(Service), metadata: { namespace, name: 'tried' } },
      spec: { selector: { app: 'tried' }, ports: [{ port: 80, targetPort: 8080 }] },
    });
    const made = async (): Promise<readonly Service[]> => {
      const labelSelector = `${PREFIX}experiment-of=tried`;
      return (await client.list<Service>(Service, { namespace, labelSelector })).items;
    };
    await looked.rollouts.setImage('tried', 'web:2');
    await looked.says('tried', 'runs an experiment until');
    const services = await made();
    expect(services.map(({ metadata }) => metadata.labels?.[`${PREFIX}experiment-side`]).toSorted()).toEqual([
      'baseline',
      'canary',
    ]);
    for (const { spec } of services) expect(spec.ports).toMatchObject([{ port: 80, targetPort: 8080 }]);
    expect((await looked.rollkeeper('abort', `${namespace}/tried`, '--by', 'alice')).code).toBe(0);
    await waitFor(async () => (await made()).length === 0, { what: 'the Services to be gone' });
    expect(await looked.sizes('tried')).toEqual({ 'web:1': 1 });
  });

  it('waits at a step for an approval, and goes back from it by an abort', async () => {
    await looked.start('steps', { steps: '1; wait 1s; 40%; approve' });
    const nothing = await looked.rollkeeper('promote', `${namespace}/steps`);
    expect(nothing.stderr).toContain('does not wait for an approval');
    await looked.rollouts.setImage('steps', 'web:2');
    await looked.says('steps', 'WaitingForApproval Step 4 of 4');
    expect(await looked.sizes('steps')).toEqual({ 'web:1': 3, 'web:2': 2 });
    const explained = await looked.rollkeeper('explain', 'deployment', `${namespace}/steps`, '--json');
    expect(JSON.parse(explained.stdout)).toMatchObject({ state: 'progressing', cause: 'waits-for-approval' });
    expect((await looked.rollkeeper('promote', `${namespace}/steps`, '--by', 'alice')).code).toBe(0);
    await looked.rollouts.rolledOut('steps');
    await looked.rollouts.setImage('steps', 'web:3');
    await looked.says('steps', 'WaitingForApproval');
    expect((await looked.rollkeeper('abort', `${namespace}/steps`, '--by', 'bob')).code).toBe(0);
    await looked.says('steps', 'was aborted by bob');
    await looked.sized('steps', { 'web:2': 5 });
  });

  it('is held by a freeze of the Namespace, and goes on when that is lifted', async () => {
    await looked.start('frozen', {});
    const freeze = async (reason: string | null): Promise<void> => {
      const body = { metadata: { annotations: { [`${PREFIX}freeze`]: reason } } };
      await client.patch(Namespace, { name: 'frozen-policies' }, { type: 'merge', body });
    };
    await up.createNamespace(client, 'frozen-policies');
    const frozen = new LookedAfter(up, client, 'frozen-policies');
    await frozen.start('web', {});
    await freeze('inventory');
    await frozen.rollouts.setImage('web', 'web:2');
    await frozen.says('web', 'RolloutHeld The rollout is held by a freeze: inventory');
    expect(await frozen.sizes('web')).toEqual({ 'web:1': 5 });
    await looked.rollouts.setImage('frozen', 'web:2');
    await looked.rollouts.rolledOut('frozen');
    await freeze(null);
    await frozen.rollouts.rolledOut('web');
    expect(await frozen.sizes('web')).toEqual({ 'web:2': 5 });
  });

  it('looks at a metric with a token that only a Secret has, and goes back where the value is wrong', async () => {
    const metrics = new MetricServer('t0ken');
    const host = await metrics.start();
    try {
      const prefixed = { secret: 'metrics', key: 'token', prefix: 'Bearer ' };
      const web = { url: `http://${host}/{{name}}`, headers: { authorization: prefixed } };
      const check = { web: { ...web, 'json-path': '$.rate', condition: '< 0.05' }, interval: '1s' };
      const data = { errors: JSON.stringify(check), seen: JSON.stringify({ ...check, mode: 'observe' }) };
      await client.create<ConfigMap>(ConfigMap, {
        ...typeMeta(ConfigMap),
        metadata: { namespace, name: 'rollkeeper-checks' },
        data,
      });
      const annotations = { [`${PREFIX}check-hosts`]: 'elsewhere.example.com' };
      const token = Buffer.from('t0ken').toString('base64');
      await client.create<Secret>(Secret, {
        ...typeMeta(Secret),
        metadata: { namespace, name: 'metrics', annotations },
        data: { token },
      });
      metrics.rates = { observed: 0.5, measured: 0.01 };
      await looked.start('observed', { steps: '1; check seen; 100%' });
      await looked.start('measured', { steps: '1; check errors; 100%', 'on-failure': 'rollback' });

      await looked.rollouts.setImage('measured', 'web:2');
      await looked.says('measured', 'Secret metrics may not be sent to');
      expect(metrics.tokens, 'nothing is sent where the Secret does not allow the host').toEqual([]);
      const allowed = await looked.kubectl(
        ...['annotate', '--overwrite', 'secret/metrics', `${PREFIX}check-hosts=127.0.0.1`],
      );
      expect(allowed.code).toBe(0);
      await looked.rollouts.rolledOut('measured');
      await looked.rollouts.setImage('observed', 'web:2');
      await looked.rollouts.rolledOut('observed');
      expect(await looked.sizes('observed'), 'a check that is only observed holds nothing').toEqual({
        'web:2': 5,
      });
      metrics.rates['measured'] = 0.2;
      await looked.rollouts.setImage('measured', 'web:3');
      await looked.says('measured', 'RolledBack Revision 3 ');
      expect(await looked.sizes('measured')).toEqual({ 'web:2': 5 });
      expect(new Set(metrics.tokens)).toEqual(new Set(['Bearer t0ken']));
      const events = await looked.kubectl('get', 'events', '-o', 'custom-columns=M:.message', '--no-headers');
      expect(events.stdout).toContain('Check errors of step 2 failed: 0.2 is not < 0.05');
      expect(events.stdout).toContain('which is only observed, would fail: 0.5 is not < 0.05');
      expect(events.stdout).not.toContain('t0ken');
    } finally {
      await metrics.stop();
    }
  });

  it('is held and says so where one of its policies cannot be understood', async () => {
    await looked.start('wrong', { steps: '20%%', 'on-failure': 'rollback' });
    await looked.rollouts.setImage('wrong', 'web:2');
    await looked.says('wrong', 'RolloutHeld The rollout is held, because an annotation cannot be understood');
    expect(await looked.sizes('wrong')).toEqual({ 'web:1': 5 });
    const { status } = await looked.rollouts.read('wrong');
    const condition = status?.conditions?.find(({ type }) => type === 'RolloutPolicy');
    expect(condition).toMatchObject({ status: 'False', reason: 'InvalidAnnotation' });
    expect(condition?.message).toContain('rollkeeper.dev/steps: "20%%"');
  });
});
