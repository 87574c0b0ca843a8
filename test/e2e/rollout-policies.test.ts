import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import type { Deployment, ReplicaSet } from '../../src/machinery/kubernetes/index.js';
import { DEPLOYMENTS, NAMESPACES, REPLICA_SETS } from '../../src/machinery/kubernetes/index.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { anyKubectl } from './support/kubectl.js';
import { Rollouts } from './support/rollouts.js';
import { SharedUp } from './support/shared-up.js';
import { run } from './support/up.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const P = 'rollkeeper.dev/';
const binary = anyKubectl()?.binary;

/** What a person does with the rollouts of one namespace. */
class Looked {
  readonly rollouts: Rollouts;

  constructor(
    readonly up: SharedUp,
    readonly client: HttpApiClient,
    readonly namespace: string,
  ) {
    this.rollouts = new Rollouts(client, namespace);
  }

  /** Rolled out at `web:1`, under these policies. */
  async start(name: string, policies: Record<string, string>, replicas = 5): Promise<void> {
    const deployment = aDeployment({ namespace: this.namespace, name, replicas });
    const annotations = Object.fromEntries(Object.entries(policies).map(([key, value]) => [P + key, value]));
    await this.client.create(DEPLOYMENTS, {
      ...deployment,
      metadata: { ...deployment.metadata, annotations },
    });
    await this.rollouts.rolledOut(name);
  }

  async annotate(name: string, key: string, value: string | null): Promise<void> {
    const body = { metadata: { annotations: { [P + key]: value } } };
    await this.client.patch(DEPLOYMENTS, { namespace: this.namespace, name }, { type: 'merge', body });
  }

  async progressing(name: string): Promise<string> {
    const { status } = await this.rollouts.read(name);
    const found = status?.conditions?.find(({ type }) => type === 'Progressing');
    return `${found?.reason} ${found?.message}`;
  }

  async says(name: string, text: string): Promise<void> {
    await waitFor(async () => (await this.progressing(name)).includes(text), {
      what: `${name} to say ${text}`,
    });
  }

  /** The sizes by image, of those with pods. */
  async sizes(name: string): Promise<Record<string, number>> {
    const active = (await this.revisions(name)).filter(({ spec }) => (spec.replicas ?? 1) > 0);
    return Object.fromEntries(
      active.map(({ spec }) => [spec.template?.spec?.containers[0]?.image, spec.replicas ?? 1]),
    );
  }

  async revisions(name: string): Promise<readonly ReplicaSet[]> {
    const { items } = await this.client.list<ReplicaSet>(REPLICA_SETS, {
      namespace: this.namespace,
      labelSelector: `app=${name}`,
    });
    return items;
  }

  async sized(name: string, sizes: Record<string, number>): Promise<void> {
    const sorted = (all: Record<string, number>): string => JSON.stringify(Object.entries(all).sort());
    await waitFor(async () => sorted(await this.sizes(name)) === sorted(sizes), {
      what: `the sizes ${sorted(sizes)} of ${name}`,
    });
  }

  rollkeeper(...args: string[]): ReturnType<typeof run> {
    return run(process.execPath, [MAIN, ...args, '--kubeconfig', this.up.kubeconfig]);
  }

  kubectl(...args: string[]): ReturnType<SharedUp['kubectl']> {
    return this.up.kubectl(binary ?? '', ['-n', this.namespace, ...args]);
  }
}

function imageOf({ spec }: Deployment): string | undefined {
  return spec.template.spec?.containers[0]?.image;
}

describe('a rollout that looks after itself', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let looked: Looked;
  const namespace = 'policies';

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    client = await up.client();
    await up.createNamespace(client, namespace);
    looked = new Looked(up, client, namespace);
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
      const body = { metadata: { annotations: { [`${P}freeze`]: reason } } };
      await client.patch(NAMESPACES, { name: 'frozen-policies' }, { type: 'merge', body });
    };
    await up.createNamespace(client, 'frozen-policies');
    const frozen = new Looked(up, client, 'frozen-policies');
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
      async () => (await looked.rollouts.read('configured')).metadata.annotations?.[`${P}config`],
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

  it('has its policies off and says so where one of them cannot be understood', async () => {
    await looked.start('wrong', { steps: '20%%', 'on-failure': 'rollback' });
    await looked.rollouts.setImage('wrong', 'web:2');
    const { status } = await looked.rollouts.rolledOut('wrong');
    const condition = status?.conditions?.find(({ type }) => type === 'RolloutPolicy');
    expect(condition).toMatchObject({ status: 'False', reason: 'InvalidAnnotation' });
    expect(condition?.message).toContain('rollkeeper.dev/steps: "20%%"');
  });
});

describe('a leader that dies while a rollout looks after itself', () => {
  let up: SharedUp;
  let client: HttpApiClient;
  let looked: Looked;
  let history: RolloutHistory;
  const namespace = 'policies-failover';

  beforeAll(async () => {
    up = await SharedUp.take('killable');
    client = await up.client();
    await up.createNamespace(client, namespace);
    looked = new Looked(up, client, namespace);
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
});
