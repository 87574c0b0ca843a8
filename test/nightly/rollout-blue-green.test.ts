import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { POD_TEMPLATE_HASH } from '../../src/controllers/shared/index.js';
import { Service } from '../../src/machinery/kubernetes/index.js';
import { RolloutHistory, findViolations } from '../../src/testing/rollout-history.js';
import { waitFor } from '../../src/testing/wait-for.js';
import { anyKubectl } from '../e2e/support/kubectl.js';
import { PolicyUp } from './support/policy-up.js';

describe.skipIf(!anyKubectl())('a blue-green rollout, with kubectl', () => {
  let lab: PolicyUp;
  let history: RolloutHistory;

  beforeAll(async () => {
    lab = await PolicyUp.start();
    history = new RolloutHistory(lab.client, 'default');
    await history.start();
  });

  afterAll(async () => {
    await history.stop();
    await lab.stop();
  });

  /** The image of the pods that a Service selects. */
  const served = async (name: string): Promise<string | undefined> => {
    const service = await lab.client.get<Service>(Service, { namespace: 'default', name });
    const hash = service.spec.selector?.[POD_TEMPLATE_HASH];
    const sets = await lab.replicaSets();
    const selected = sets.find(({ metadata }) => metadata.labels?.[POD_TEMPLATE_HASH] === hash);
    return selected?.spec.template?.spec?.containers[0]?.image;
  };
  const serves = (name: string, image: string): Promise<unknown> =>
    waitFor(async () => (await served(name)) === image, { what: `${name} to serve ${image}` });
  const setImage = (image: string) => lab.kubectl('set', 'image', 'deployment/web', `web=${image}`);

  it('comes up beside the old version, moves on approval, and goes back at once', async () => {
    expect((await lab.applyExample('blue-green.yaml')).code).toBe(0);
    await serves('web', 'nginx:1.25');
    await setImage('nginx:1.26');
    await lab.says('WaitingForApproval');
    expect(await lab.sizes()).toEqual({ 'nginx:1.25': 3, 'nginx:1.26': 3 });
    expect([await served('web'), await served('web-preview')]).toEqual(['nginx:1.25', 'nginx:1.26']);
    const held = await lab.rollkeeper('rollout', 'wait', 'deployment/web', '--until-approval', '--no-github');
    expect(held.code).toBe(5);
    expect((await lab.rollkeeper('promote', 'web', '--by', 'alice')).code).toBe(0);
    await serves('web', 'nginx:1.26');
    await lab.says('WaitingInStep');
    const names = async () => (await lab.pods()).map(({ metadata }) => metadata.name).sort();
    const before = await names();
    await lab.kubectl('rollout', 'undo', 'deployment/web');
    await serves('web', 'nginx:1.25');
    expect(await names(), 'no pod was started or removed').toEqual(before);
  });

  it('is gone on from by another leader, right before the approval and right after the move', async () => {
    await lab.kubectl('annotate', 'deployment/web', 'rollkeeper.dev/scale-down-delay=3s', '--overwrite');
    await lab.sized({ 'nginx:1.25': 3 });
    await setImage('nginx:1.27');
    await lab.says('WaitingForApproval');
    await lab.killLeader();
    await lab.kubectl('annotate', 'deployment/web', 'rollkeeper.dev/approve=bob');
    await serves('web', 'nginx:1.27');
    await lab.killLeader();
    await lab.sized({ 'nginx:1.27': 3 });
    await lab.says('NewReplicaSetAvailable');
    expect(findViolations(history.events())).toEqual([]);
  });

  it('is held where the Service is gone, and goes on when it is back', async () => {
    await lab.kubectl('delete', 'service', 'web');
    await setImage('nginx:1.28');
    await lab.says('RolloutHeld The rollout is held: Service "web" does not exist');
    expect(await lab.sizes()).toEqual({ 'nginx:1.27': 3 });
    await lab.kubectl('create', 'service', 'clusterip', 'web', '--tcp=80');
    await lab.kubectl('patch', 'service', 'web', '-p', '{"spec":{"selector":{"app":"web"}}}');
    await lab.says('WaitingForApproval');
    await serves('web', 'nginx:1.27');
  });
});
