import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Pod } from '../../src/machinery/kubernetes/index.js';
import { Deployment, isTerminating } from '../../src/machinery/kubernetes/index.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { aDeployment } from '../e2e/support/a-deployment.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

describe.skipIf(!anyKubectl())('a configuration that belongs to its version', () => {
  let lab: PolicyUp;

  beforeAll(async () => {
    // The account of the Deployment controller reads Secrets, where the replicas' own would have all rights.
    lab = await PolicyUp.start('--', '--use-service-account-credentials');
    await lab.kubectl('create', 'configmap', 'settings', '--from-literal=colour=red');
    await lab.kubectl('create', 'secret', 'generic', 'key', '--from-literal=key=one');
    const web = aDeployment({ name: 'web', replicas: 3 });
    web.metadata.annotations = { 'rollkeeper.dev/config': 'pinned', 'rollkeeper.dev/steps': '1; approve' };
    const [container] = web.spec.template.spec?.containers ?? [];
    Object.assign(container ?? {}, {
      envFrom: [{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'key' } }],
    });
    await lab.client.create(Deployment, web);
    const rolledOut = await lab.kubectl('rollout', 'status', 'deployment/web', '--timeout=60s');
    expect(rolledOut.code, rolledOut.stdout).toBe(0);
  });

  afterAll(() => lab.stop());

  const colourOf = async ({ spec }: Pod): Promise<string> => {
    const name = spec.containers[0]?.envFrom?.[0]?.configMapRef?.name ?? '';
    const { stdout } = await lab.kubectl('get', 'configmap', name, '-o', 'jsonpath={.data.colour}');
    return stdout;
  };

  /** The content that the pods read, sorted. */
  const colours = async (): Promise<readonly string[]> => {
    const pods = (await lab.pods()).filter((pod) => !isTerminating(pod));
    return (await Promise.all(pods.map(colourOf))).toSorted();
  };

  const until = (...wanted: string[]): Promise<unknown> =>
    waitFor(async () => JSON.stringify(await colours()) === JSON.stringify(wanted), {
      what: `pods that read ${wanted.join(', ')}`,
      timeoutMs: 90_000,
    });

  it('is a copy that can be neither changed nor found by its content', async () => {
    await until('red', 'red', 'red');
    const names = await lab.kubectl('get', 'configmaps,secrets', '-o', 'name');
    expect(names.stdout).toMatch(/configmap\/settings-[0-9a-f]{10}\n/);
    const [copy = ''] = /configmap\/settings-[0-9a-f]{10}/.exec(names.stdout) ?? [];
    const patched = await lab.kubectl('patch', copy, '-p', '{"data":{"colour":"pink"}}');
    expect(patched.stderr).toContain('immutable');
  });

  it('stays that of a pod which starts again in the middle of a rollout, although the leader is killed', async () => {
    await lab.kubectl('patch', 'configmap', 'settings', '-p', '{"data":{"colour":"blue"}}');
    await until('blue', 'red', 'red');
    await lab.killLeader();
    const old = (await lab.pods()).find((pod) => !isTerminating(pod));
    expect(old).toBeDefined();
    await lab.kubectl('delete', 'pods', '-l', 'app=web', '--wait=false');
    await until('blue', 'red', 'red');
    await lab.kubectl('annotate', 'deployment/web', 'rollkeeper.dev/approve=jane');
    await lab.killLeader();
    await until('blue', 'blue', 'blue');
  });

  it('comes back with kubectl rollout undo, and stays', async () => {
    const undone = await lab.kubectl('rollout', 'undo', 'deployment/web');
    expect(undone.code, undone.stderr).toBe(0);
    await until('red', 'red', 'red');
    const history = await lab.kubectl('rollout', 'history', 'deployment/web');
    expect(history.stdout).toContain('configuration changed: configmap/settings: key colour changed');
  });

  it('goes with its ReplicaSet', async () => {
    await lab.kubectl('delete', 'deployment/web');
    await waitFor(
      async () => {
        const { stdout } = await lab.kubectl('get', 'configmaps,secrets', '-o', 'name');
        return !/(settings|key)-[0-9a-f]{10}/.test(stdout);
      },
      { what: 'the copies to be deleted', timeoutMs: 60_000 },
    );
  });
});
