import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { Namespace } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from './support/kubectl.js';
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
