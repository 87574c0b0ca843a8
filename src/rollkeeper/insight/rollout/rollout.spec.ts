import { describe, expect, it } from 'vitest';
import { InMemoryApi } from '../../../testing/in-memory/in-memory-api.js';
import { StandingClock } from '../../../testing/in-memory/standing-clock.js';
import type { Deployment, DeploymentStatus } from '../../../machinery/kubernetes/index.js';
import { ReplicaSet, RollkeeperDeployment, newControllerRef } from '../../../machinery/kubernetes/index.js';
import { completeDeployment, kubectlStatus } from '../../../controllers/deployment/index.js';
import { aDeployment } from '../../../testing/deployment-builder.js';

import type { RolloutTarget } from './rollout-verbs.js';
import { diffRevisions, prepareUndo, renderHistory, restartRollout, setPaused } from './rollout-verbs.js';

const REVISION = 'deployment.kubernetes.io/revision';
const CAUSE = 'kubernetes.io/change-cause';

function aCustom(image: string): Deployment {
  return { ...aDeployment({ image }), apiVersion: 'rollkeeper.dev/v1' };
}

/** Three revisions: app:2 is the latest, app:1 and app:0 are kept. */
function started() {
  const api = new InMemoryApi();
  api.seed(RollkeeperDeployment, aCustom('app:2'));
  for (const [revision, image] of ['app:0', 'app:1', 'app:2'].entries()) {
    const { selector, template } = completeDeployment(aCustom(image)).spec;
    const annotations = {
      [REVISION]: String(revision + 1),
      ...(revision === 1 && { [CAUSE]: 'the good one' }),
    };
    api.seed<ReplicaSet>(ReplicaSet, {
      apiVersion: 'apps/v1',
      kind: 'ReplicaSet',
      metadata: {
        ...{ name: `web-${revision}`, namespace: 'default', annotations },
        ownerReferences: [newControllerRef(aCustom(image))],
      },
      spec: { replicas: revision === 2 ? 10 : 0, selector, template },
    });
  }
  const deployment = () => api.all<Deployment>(RollkeeperDeployment)[0] as Deployment;
  const target = () => ({ client: api, type: RollkeeperDeployment, deployment: deployment() });
  const image = () => deployment().spec.template.spec?.containers[0]?.image;
  return { target, deployment, image };
}

async function undoRollout(target: RolloutTarget, revision?: bigint): Promise<void> {
  const undo = await prepareUndo(target, revision, { reason: 'it was better' });
  await undo.apply();
}

describe('rollkeeper rollout', () => {
  it('lists the revisions and why they were made, and shows the template of one', async () => {
    const { target } = started();
    expect(await renderHistory(target())).toBe(
      [
        'REVISION  STARTED  BY      TRIGGER  RESULT   TOOK    CHANGE-CAUSE',
        '1         <none>   <none>  <none>   unknown  <none>  <none>',
        '2         <none>   <none>  <none>   unknown  <none>  the good one',
        '3 *       <none>   <none>  <none>   unknown  <none>  <none>',
      ].join('\n'),
    );
    expect(await renderHistory(target(), { revision: 1n })).toContain('"image": "app:0"');
    await expect(renderHistory(target(), { revision: 9n })).rejects.toThrow('there is no revision 9');
  });

  it('goes back to the revision before, with its annotations, or to another one', async () => {
    const { deployment, image, target } = started();
    await undoRollout(target());
    expect(image()).toBe('app:1');
    expect(deployment().metadata.annotations).toMatchObject({ [CAUSE]: 'it was better' });
    expect(deployment().metadata.annotations?.['rollkeeper.dev/change']).toMatch(
      /"trigger":"undo","why":"it was better"/,
    );
    await undoRollout(target(), 1n);
    expect(image()).toBe('app:0');
    await expect(undoRollout(target(), 9n)).rejects.toThrow('Unable to find the revision to rollback to.');
    await expect(undoRollout(target(), 1n)).rejects.toThrow(/contains the same template/);
  });

  it('shows what an undo changes, and what differs between revisions, without changing anything', async () => {
    const { image, target } = started();
    const undo = await prepareUndo(target());
    expect(undo.changes).toMatchObject([{ from: 'app:2', to: 'app:1' }]);
    expect(await diffRevisions(target(), 1n, 2n)).toMatchObject([{ from: 'app:0', to: 'app:1' }]);
    expect(await diffRevisions(target(), 1n)).toMatchObject([{ from: 'app:0', to: 'app:2' }]);
    await expect(diffRevisions(target(), 9n)).rejects.toThrow('there is no revision 9');
    expect(image()).toBe('app:2');
  });

  it('pauses and resumes once, and undoes or restarts nothing that is paused', async () => {
    const { deployment, target } = started();
    await setPaused(target(), true);
    expect(deployment().spec.paused).toBe(true);
    await expect(setPaused(target(), true)).rejects.toThrow('web is already paused');
    await expect(undoRollout(target())).rejects.toThrow('web is paused and cannot be rolled back');
    const clock = new StandingClock(Date.UTC(2026, 0, 1));
    await expect(restartRollout(target(), clock)).rejects.toThrow('web is paused and cannot be restarted');
    await setPaused(target(), false);
    expect(deployment().spec.paused).toBeUndefined();
    await expect(setPaused(target(), false)).rejects.toThrow('web is not paused');
    await restartRollout(target(), clock);
    expect(deployment().spec.template.metadata?.annotations).toEqual({
      'kubectl.kubernetes.io/restartedAt': '2026-01-01T00:00:00Z',
    });
  });
});

describe('the state of a rollout', () => {
  const counts = { replicas: 10, updatedReplicas: 10, availableReplicas: 10 };
  const exceeded = [{ type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' }];
  it.each<{ status: DeploymentStatus; state: string; says: string }>([
    { status: {}, state: 'waiting', says: 'Waiting for deployment spec update to be observed...' },
    {
      status: { ...counts, updatedReplicas: 3, observedGeneration: 1 },
      state: 'waiting',
      says: 'Waiting for deployment "web" rollout to finish: 3 out of 10 new replicas have been updated...',
    },
    {
      status: { ...counts, replicas: 12, observedGeneration: 1 },
      state: 'waiting',
      says: 'Waiting for deployment "web" rollout to finish: 2 old replicas are pending termination...',
    },
    {
      status: { ...counts, availableReplicas: 9, observedGeneration: 1 },
      state: 'waiting',
      says: 'Waiting for deployment "web" rollout to finish: 9 of 10 updated replicas are available...',
    },
    {
      status: { ...counts, observedGeneration: 1 },
      state: 'complete',
      says: 'deployment "web" successfully rolled out',
    },
    {
      status: { observedGeneration: 1, conditions: exceeded },
      state: 'failed',
      says: 'deployment "web" exceeded its progress deadline',
    },
  ])('$state: $says', ({ says, state, status }) => {
    expect(kubectlStatus({ ...aDeployment(), status })).toEqual({ state, message: says });
  });
});
