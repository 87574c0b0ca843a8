import { describe, expect, it, vi } from 'vitest';
import { ApiStatusError } from '../../../client/api-client/index.js';
import { DaemonLab } from '../../../controllers/set-rollouts/daemon-lab.fixture.js';
import { REF } from '../../../controllers/set-rollouts/set-lab.fixture.js';
import { Node } from '../../../machinery/kubernetes/index.js';
import { DaemonSet } from '../../../runtime/index.js';
import { findSetTarget, readSetRollout } from './set-target.js';

/** The nodes of the pods that the rollout has, in their order, and how many it wants. */
async function shown({ api }: DaemonLab): Promise<{ readonly wanted?: number; readonly nodes: string }> {
  const { deployment, pods } = await readSetRollout(api, DaemonSet, REF);
  const nodes = pods.map(({ spec }) => spec.nodeName ?? '').toSorted();
  return { wanted: Number(deployment.spec.replicas), nodes: nodes.join('') };
}

describe('the rollout of a DaemonSet', () => {
  it('has no pods of nodes that the DaemonSet controller wants none on, even if they still run there', async () => {
    const lab = await DaemonLab.rolledOut({ steps: '25%; approve' });
    expect(await shown(lab)).toEqual({ wanted: 4, nodes: 'abcd' });
    lab.taint('b', 'NoSchedule');
    await lab.rest();
    expect(lab.pods).toHaveLength(4);
    expect(await shown(lab)).toEqual({ wanted: 3, nodes: 'acd' });
  });

  it('has the pods of all nodes, as its controller counts them, if the caller may not list nodes', async () => {
    const lab = await DaemonLab.rolledOut({ steps: '25%; approve' });
    lab.taint('b', 'NoSchedule');
    await lab.rest();
    const { api } = lab;
    const refusal = new ApiStatusError({ code: 403 });
    const list = api.list.bind(api);
    vi.spyOn(api, 'list').mockImplementation((type, ...more) =>
      type === Node ? Promise.reject(refusal) : list(type, ...more),
    );
    expect(await shown(lab)).toEqual({ wanted: 3, nodes: 'abcd' });
  });

  it('is found without a list of all nodes, since none of its commands needs them', async () => {
    const { api } = await DaemonLab.rolledOut({ steps: '25%; approve' });
    const list = vi.spyOn(api, 'list');
    expect((await findSetTarget(api, DaemonSet, REF)).deployment.spec.replicas).toBe(4);
    expect(list.mock.calls.map(([type]) => type.kind)).not.toContain('Node');
  });
});
