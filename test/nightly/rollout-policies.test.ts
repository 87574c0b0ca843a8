import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { LookedAfter, PREFIX, imageOf } from '../e2e/support/looked-after.js';
import { SharedUp } from '../e2e/support/shared-up.js';
import type { run } from '../e2e/support/up.js';

const binary = anyKubectl()?.binary;

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

  it('holds a failed template where the template is not ours to change, until a person says retry', async () => {
    await looked.start('held', { 'on-failure': 'hold', 'fail-after': '2s' });
    await looked.rollouts.setImage('held', 'web:broken');
    await looked.says('held', 'ProgressDeadlineExceeded RolledBack: ');
    await looked.sized('held', { 'web:1': 5 });
    expect(imageOf(await looked.rollouts.read('held'))).toBe('web:broken');
    const { code } = await looked.rollkeeper('retry', `${namespace}/held`, '--by', 'alice');
    expect(code).toBe(0);
    await looked.sized('held', { 'web:1': 4, 'web:broken': 3 });
    await looked.sized('held', { 'web:1': 5 });
    await looked.rollouts.setImage('held', 'web:2');
    await looked.rollouts.rolledOut('held');
  });

  it('is waited for by a pipeline, which gets a code for each end and the cause', async () => {
    const wait = (name: string, ...flags: string[]): ReturnType<typeof run> =>
      looked.rollkeeper('rollout', 'wait', `deployment/${name}`, '-n', namespace, '--no-github', ...flags);
    await looked.start('piped', { 'on-failure': 'rollback', 'fail-after': '4s' });
    await looked.rollouts.setImage('piped', 'web:2');
    const complete = await wait('piped', '--timeout', '1m', '-o', 'json');
    expect({ code: complete.code, stderr: complete.stderr }).toEqual({ code: 0, stderr: '' });
    const lines = complete.stdout.trimEnd().split('\n');
    const last: unknown = JSON.parse(lines.at(-1) ?? '');
    expect(last).toMatchObject({ phase: 'complete', outcome: 'complete', exitCode: 0, name: 'piped' });
    await looked.rollouts.setImage('piped', 'web:broken');
    const back = await wait('piped', '--timeout', '1m', '--github');
    expect(back.code).toBe(4);
    expect(back.stderr).toContain('deployment "piped" was rolled back. Revision 3');
    expect(back.stderr).toContain('ImagePullBackOff');
    expect(back.stdout).toContain('::error title=Rollout of piped%3A rolled-back::');
    expect(back.stdout).not.toContain('another template');
    const status = await looked.rollkeeper(
      ...['rollout', 'status', 'deploy/piped', '-n', namespace, '--watch=false'],
    );
    expect(status.code).toBe(4);
    expect(imageOf(await looked.rollouts.read('piped'))).toBe('web:2');
    await looked.start('approved', { steps: '1; approve' });
    await looked.rollouts.setImage('approved', 'web:2');
    await looked.says('approved', 'WaitingForApproval');
    const late = await wait('approved', '--timeout', '1s');
    expect(late.code).toBe(7);
    expect(late.stderr).toMatch(/^rollkeeper: timed out after 1s: Step 2 of 2/);
    expect((await wait('approved', '--until-approval')).code).toBe(5);
  });

  it.skipIf(!binary)('restarts its pods once when a ConfigMap changes, and says which key did', async () => {
    const configMap = await looked.kubectl('create', 'configmap', 'settings', '--from-literal=colour=red');
    expect(configMap.code).toBe(0);
    await looked.start('configured', { 'restart-on': 'configmap/settings' });
    await waitFor(
      async () => (await looked.rollouts.read('configured')).metadata.annotations?.[`${PREFIX}config-record`],
      {
        what: 'the configuration to be recorded',
      },
    );
    const data = { colour: 'blue' };
    await looked.kubectl('patch', 'configmap', 'settings', '-p', JSON.stringify({ data }));
    await looked.kubectl('label', 'configmap', 'settings', 'team=a');
    await waitFor(async () => (await looked.revisions('configured')).length === 2, {
      what: 'a second revision of configured',
    });
    await looked.rollouts.rolledOut('configured');
    const history = await looked.kubectl('rollout', 'history', 'deployment/configured');
    expect(history.stdout).toContain('configuration changed: configmap/settings: key colour changed');
    expect(await looked.sizes('configured')).toEqual({ 'web:1': 5 });
    const undone = await looked.kubectl('rollout', 'undo', 'deployment/configured');
    expect(undone.code).toBe(0);
    await looked.rollouts.rolledOut('configured');
    await looked.kubectl('delete', 'configmap', 'settings');
    await waitFor(async () => (await looked.revisions('configured')).length === 3, {
      what: 'a revision for the deleted ConfigMap, and none for the undo',
    });
  });
});

describe('a leader that dies while a rollout looks after itself', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let looked: LookedAfter;
  let history: RolloutHistory;
  const namespace = 'policies-failover';

  beforeAll(async () => {
    up = await SharedUp.take('killable');
    client = await up.client();
    await up.createNamespace(client, namespace);
    looked = new LookedAfter(up, client, namespace);
    history = new RolloutHistory(client, namespace);
    await history.start();
  });

  afterAll(async () => {
    await history.stop();
    await client.close();
    await up.give();
  });

  const killLeader = async (): Promise<void> => void process.kill((await up.leader()).pid, 'SIGKILL');

  it('is gone on from by another: an approval right after its death, and a rollback under way', async () => {
    const policies = { steps: '40%; approve', 'on-failure': 'rollback', 'fail-after': '3s' };
    await looked.start('web', policies);
    await looked.rollouts.setImage('web', 'web:2');
    await looked.says('web', 'WaitingForApproval');
    await killLeader();
    await looked.annotate('web', 'approve', 'alice');
    await looked.rollouts.rolledOut('web');
    await looked.rollouts.setImage('web', 'web:broken');
    await looked.sized('web', { 'web:2': 4, 'web:broken': 2 });
    await killLeader();
    await looked.says('web', 'RolledBack Revision 3 ');
    await looked.sized('web', { 'web:2': 5 });
    expect(findViolations(history.events())).toEqual([]);
  });

  /** Another image under way, the leader killed, and nothing begun by the next one. @param says what `Progressing` says meanwhile */
  const isHeld = async (name: string, says: string): Promise<void> => {
    await looked.rollouts.setImage(name, 'web:2');
    await looked.says(name, says);
    await killLeader();
    await looked.rollouts.scale(name, 3);
    await looked.sized(name, { 'web:1': 3 });
    expect(await looked.progressing(name)).toContain(says);
  };

  it('holds a rollout outside its window for the next leader too, and lets it begin in a wider one', async () => {
    const inTwoDays = new Date(Date.now() + 2 * 86_400_000);
    const day = inTwoDays.toLocaleDateString('en', { weekday: 'short', timeZone: 'UTC' });
    await looked.start('windowed', {}, 2);
    await looked.annotate('windowed', 'window', `${day} 09:00-10:00`);
    await isHeld('windowed', 'RolloutHeld');
    await looked.annotate('windowed', 'window', '00:00-24:00');
    await looked.rollouts.rolledOut('windowed');
    expect(await looked.sizes('windowed')).toEqual({ 'web:2': 3 });
  });

  it('holds a rollout under a freeze for the next leader too', async () => {
    await looked.start('cold', { freeze: 'holidays' }, 2);
    await isHeld('cold', 'holidays');
    await looked.annotate('cold', 'freeze', null);
    await looked.rollouts.rolledOut('cold');
    expect(await looked.sizes('cold')).toEqual({ 'web:2': 3 });
  });

  it('leaves a way back to a recent revision on its fast track, past the approval', async () => {
    await looked.start('fast', { steps: '1; approve', 'fast-track': '2' });
    await looked.rollouts.setImage('fast', 'web:2');
    await looked.says('fast', 'WaitingForApproval');
    await looked.annotate('fast', 'approve', 'alice');
    await looked.rollouts.rolledOut('fast');
    await looked.rollouts.setImage('fast', 'web:1');
    await killLeader();
    await looked.rollouts.rolledOut('fast');
    expect(await looked.sizes('fast')).toEqual({ 'web:1': 5 });
  });

  it.skipIf(!binary).each([
    ['our annotation', 'configured', { 'restart-on': 'configmap/settings' }],
    ['Reloader’s annotation', 'reloaded', {}],
  ])(
    'leaves a change of configuration to the next leader, which restarts once, with %s',
    async (_, name, policies) => {
      const settings = name === 'reloaded' ? 'others' : 'settings';
      await looked.kubectl('create', 'configmap', settings, '--from-literal=colour=red');
      await looked.start(name, policies);
      const reload = `configmap.reloader.stakater.com/reload=${settings}`;
      if (name === 'reloaded') await looked.kubectl('annotate', 'deployment', name, reload);
      const recorded = async () =>
        (await looked.rollouts.read(name)).metadata.annotations?.[`${PREFIX}config-record`];
      await waitFor(recorded, { what: 'the configuration to be recorded' });
      await looked.kubectl('patch', 'configmap', settings, '-p', '{"data":{"colour":"blue"}}');
      await killLeader();
      await waitFor(async () => (await looked.revisions(name)).length === 2, { what: 'a second revision' });
      await looked.rollouts.rolledOut(name);
      expect(await looked.revisions(name)).toHaveLength(2);
    },
  );

  it('holds a failed template for the next leader too, and goes back once', async () => {
    await looked.start('held', { 'on-failure': 'hold', 'fail-after': '3s' });
    await looked.rollouts.setImage('held', 'web:broken');
    await looked.sized('held', { 'web:1': 4, 'web:broken': 3 });
    await killLeader();
    await looked.says('held', 'ProgressDeadlineExceeded RolledBack: ');
    await looked.sized('held', { 'web:1': 5 });
    expect(imageOf(await looked.rollouts.read('held'))).toBe('web:broken');
  });

  it('breaks no limit in any of these', () => {
    expect(findViolations(history.events())).toEqual([]);
  });
});
