import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { HttpApiClient } from '../../src/client/api-client/index.js';
import type { Explanation } from '../../src/rollkeeper/insight/explain/index.js';
import { Deployment } from '../../src/machinery/kubernetes/index.js';
import type { RolloutPlan } from '../../src/rollkeeper/insight/plan/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from './support/a-deployment.js';
import { anyKubectl } from './support/kubectl.js';
import { SharedUp } from './support/shared-up.js';
import { run } from './support/up.js';

const MAIN = join(import.meta.dirname, '..', '..', 'dist', 'main.js');

/** As docs/CONSOLE.md has them. */
const EXIT_CODES: Readonly<Record<Explanation['state'], number>> = {
  ...{ complete: 0, 'scaled-to-zero': 0, progressing: 3, blocked: 4 },
  ...{ degraded: 5, paused: 6, deleting: 7 },
};

const namespace = 'explained';

describe('rollkeeper explain, plan and queue', () => {
  const folder = mkdtempSync(join(tmpdir(), 'rollkeeper-e2e-'));
  let up: SharedUp;
  let client: HttpApiClient;

  beforeAll(async () => {
    up = await SharedUp.take('ordinary');
    client = await up.client();
    await up.createNamespace(client, namespace);
  });

  afterAll(async () => {
    await client?.close();
    await up.give();
    rmSync(folder, { recursive: true });
  });

  const rollkeeper = (...args: string[]) => run(process.execPath, [MAIN, ...args]);
  const here = () => ['--data-dir', up.dataDir];

  const explained = async (key: string, ...flags: string[]): Promise<Explanation> => {
    const { code, stderr, stdout } = await rollkeeper('explain', 'deployment', key, '--json', ...flags);
    const explanation = JSON.parse(stdout === '' ? 'null' : stdout) as Explanation | null;
    if (!explanation) throw new Error(stderr);
    expect(code).toBe(EXIT_CODES[explanation.state]);
    return explanation;
  };

  /** Asked over HTTP until it is so, and then by the command, of which each process takes a while to start. */
  const explainedAs = async (key: string, is: (answer: Explanation) => boolean): Promise<Explanation> => {
    const [replica] = (await up.status()).replicas;
    await waitFor(
      async () => {
        const answer = await fetch(`${replica?.adminUrl}/admin/explain/deployments/${key}`);
        return answer.ok && is((await answer.json()) as Explanation);
      },
      { what: `${key} to be explained so` },
    );
    return waitFor(
      async () => {
        const answer = await explained(key, ...here());
        return is(answer) && answer;
      },
      { what: `${key} to be explained so by the command` },
    );
  };
  const complete = (name: string): Promise<Explanation> =>
    explainedAs(`${namespace}/${name}`, ({ state }) => state === 'complete');

  it('says what is wrong, with the decisions of whichever replica decided, and from the API alone', async () => {
    await client.create(Deployment, aDeployment({ name: 'ill', replicas: 3, image: 'web:1-missing' }));
    const why = await explainedAs('default/ill', ({ cause }) => cause === 'image-pull');
    expect(why).toMatchObject({ state: 'blocked', limits: { replicas: 3, floor: 3, ceiling: 4 } });
    expect(why.lastDecisions[0]?.replica).toMatch(/^controller-\d$/);
    expect(why.lastDecisions.flatMap(({ actions }) => actions).join(' ')).toContain(why.replicaSets[0]?.name);
    const direct = await explained('default/ill', '--kubeconfig', up.kubeconfig);
    expect(direct).toMatchObject({ state: 'blocked', cause: 'image-pull', lastDecisions: [] });
    const { stdout } = await rollkeeper('explain', 'deployment', 'ill', ...here());
    expect(stdout).toContain('What would unblock it:');
  });

  const binary = anyKubectl()?.binary;

  it.skipIf(!binary)('once the deadline has passed, kubectl shows the cause that explain tells', async () => {
    const kubectl = (...args: string[]) => up.kubectl(binary ?? '', ['-n', namespace, ...args]);
    const shape = { namespace, name: 'late', replicas: 2, progressDeadlineSeconds: 3 };
    const annotations = { 'node.rollkeeper.dev/behaviour': 'image-pull-error' };
    await client.create(Deployment, aDeployment({ ...shape, annotations }));
    // An image that cannot be pulled is retried again and again, and the kubelet has a reason for each of the two
    // states.
    const cause = /2 of 2 new pods: (ErrImagePull|ImagePullBackOff) \(.+"web:1".*\)/;
    const told = new RegExp(`ReplicaSet "late-\\w+" has timed out progressing\\. ${cause.source}\\.`);
    await waitFor(
      async () => {
        const { stdout } = await kubectl('get', 'deploy', 'late', '-o', 'yaml');
        // YAML breaks long lines where it likes.
        return told.test(stdout.replaceAll(/\s+/g, ' '));
      },
      { intervalMs: 200, what: 'the cause in the condition' },
    );
    const { status } = await client.get<Deployment>(Deployment, { namespace, name: 'late' });
    expect(status?.conditions?.find(({ type }) => type === 'Progressing')).toMatchObject({
      status: 'False',
      reason: 'ProgressDeadlineExceeded',
    });
    const deadline = (await explained(`${namespace}/late`, ...here())).waitsFor.find(
      (finding) => finding.cause === 'deadline-exceeded',
    );
    expect(deadline?.summary).toMatch(cause);
    const { code, stderr } = await kubectl('rollout', 'status', 'deployment/late');
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: 'error: deployment "late" exceeded its progress deadline\n',
    });
  });

  it('says so when there is no such Deployment', async () => {
    const { code, stderr } = await rollkeeper('explain', 'deployment', 'default/nothing', ...here());
    expect(code).not.toBe(0);
    expect(stderr).toContain('no Deployment default/nothing');
  });

  it('plans a rollout from what runs, and touches nothing', async () => {
    const before = await client.create(Deployment, aDeployment({ namespace, name: 'planned', replicas: 10 }));
    await complete('planned');
    const file = join(folder, 'planned.json');
    writeFileSync(
      file,
      JSON.stringify(aDeployment({ namespace, name: 'planned', replicas: 10, image: 'web:2' })),
    );
    const live = ['--against', 'live', '--kubeconfig', up.kubeconfig];
    const { stdout } = await rollkeeper('plan', '-f', file, '--json', ...live);
    const plan = JSON.parse(stdout) as RolloutPlan;
    expect(plan).toMatchObject({ floor: 8, ceiling: 13, mostPods: 13, fewestAvailable: 8, completes: true });
    expect((await rollkeeper('plan', '-f', file, ...live)).stdout).toContain('3 steps; at most 13 pods');
    writeFileSync(file, JSON.stringify(aDeployment({ namespace, name: 'planned', replicas: 10 })));
    expect((await rollkeeper('plan', '-f', file, ...live)).stdout).toContain('Nothing would change.');
    const after = await client.get(Deployment, before.metadata);
    expect(after.metadata.generation).toBe(before.metadata.generation);
  });

  it('parks a key by hand, explains that, and takes it out again', async () => {
    await client.create(Deployment, aDeployment({ namespace, name: 'parked', replicas: 1 }));
    await complete('parked');
    // Any change takes a key out again, and the echo of the controller's last status write is still on its way.
    await waitFor(
      async () => {
        expect((await rollkeeper('queue', 'park', 'deployment', `${namespace}/parked`, ...here())).code).toBe(
          0,
        );
        const { cause, state } = await explained(`${namespace}/parked`, ...here());
        const { stdout } = await rollkeeper('queue', 'show', 'deployment', ...here());
        return state === 'blocked' && cause === 'parked' && stdout.includes(`parked   ${namespace}/parked`);
      },
      { intervalMs: 500, what: 'the parked key to be explained and shown' },
    );
    expect((await rollkeeper('queue', 'unpark', 'deployment', `${namespace}/parked`, ...here())).code).toBe(
      0,
    );
    await complete('parked');
  });
});
