import { describe, expect, it } from 'vitest';
import { MINUTE_MS } from '../../../../testing/policy-lab.js';
import { BROKEN_IMAGE } from '../../../../testing/rollout-world.js';
import { SeveralRollouts } from '../../../../testing/several-rollouts.js';

const POLICIES = { 'fail-after': '1m' };

/** Three that have run their first version for long enough. */
async function shop(): Promise<SeveralRollouts> {
  const lab = await SeveralRollouts.rolledOut(
    { name: 'api', policies: { ...POLICIES, release: 'shop-1' } },
    { name: 'jobs', policies: { ...POLICIES, release: 'shop-1' } },
    { name: 'web', policies: { ...POLICIES, release: 'shop-1', after: 'api' } },
  );
  await lab.pass(10 * MINUTE_MS);
  return lab;
}

describe('the Deployments of a release', () => {
  it('go back together where one of them fails, those that have not begun included [rollout-operator#461]', async () => {
    const lab = await shop();
    lab.apply('api', BROKEN_IMAGE, { release: 'shop-2' });
    for (const name of ['jobs', 'web']) lab.apply(name, 'app:2', { release: 'shop-2' });
    await lab.rest();
    expect(lab.running).toMatchObject({ jobs: 'app:2', web: 'app:1' });
    await lab.pass(2 * MINUTE_MS);
    expect(lab.running).toEqual({ api: 'app:1', jobs: 'app:1', web: 'app:1' });
    for (const name of ['api', 'jobs', 'web'])
      expect(lab.find(name).spec.template.spec?.containers[0]?.image, name).toBe('app:1');
    expect(lab.condition('jobs')).toMatch(/release shop-2 failed by deployment\/api: .*not available 1m/);
    await lab.pass(60 * MINUTE_MS);
    expect(lab.running, 'and stay there').toEqual({ api: 'app:1', jobs: 'app:1', web: 'app:1' });
  });

  it('go back without one that has nothing new in it', async () => {
    const lab = await shop();
    lab.apply('jobs', 'app:2', { release: 'shop-2' });
    lab.apply('web', undefined, { release: 'shop-2' });
    lab.apply('api', undefined, { release: 'shop-2' });
    await lab.rest();
    await lab.pass(10 * MINUTE_MS);
    lab.apply('api', BROKEN_IMAGE, { release: 'shop-3' });
    for (const name of ['jobs', 'web']) lab.apply(name, undefined, { release: 'shop-3' });
    await lab.rest();
    await lab.pass(2 * MINUTE_MS);
    expect(lab.running).toEqual({ api: 'app:1', jobs: 'app:2', web: 'app:1' });
  });

  it('are tried again where the one that failed is replaced, under the same release or another', async () => {
    const lab = await shop();
    lab.apply('api', BROKEN_IMAGE, { release: 'shop-2' });
    lab.apply('jobs', 'app:2', { release: 'shop-2' });
    await lab.rest();
    await lab.pass(2 * MINUTE_MS);
    expect(lab.running).toMatchObject({ api: 'app:1', jobs: 'app:1' });
    lab.apply('api', 'app:3', { release: 'shop-3' });
    lab.apply('jobs', 'app:2', { release: 'shop-3' });
    lab.apply('web', 'app:3', { release: 'shop-3' });
    await lab.rest();
    expect(lab.running).toEqual({ api: 'app:3', jobs: 'app:2', web: 'app:3' });
  });

  it('do not go back once all of them were good: what fails later is another change', async () => {
    const lab = await shop();
    for (const name of ['api', 'jobs', 'web']) lab.apply(name, 'app:2', { release: 'shop-2' });
    await lab.rest();
    await lab.pass(10 * MINUTE_MS);
    lab.apply('api', BROKEN_IMAGE);
    await lab.rest();
    await lab.pass(2 * MINUTE_MS);
    expect(lab.running).toEqual({ api: 'app:2', jobs: 'app:2', web: 'app:2' });
  });

  it('go back where a person aborts one of them', async () => {
    const lab = await shop();
    lab.world.breaks = (image) => image === 'app:2';
    for (const name of ['api', 'jobs']) lab.apply(name, 'app:2', { release: 'shop-2' });
    await lab.rest();
    lab.apply('api', undefined, { abort: 'jane' });
    await lab.rest();
    expect(lab.running).toMatchObject({ api: 'app:1', jobs: 'app:1' });
    expect(lab.condition('jobs')).toContain('release shop-2 failed by deployment/api: aborted');
  });

  it('go back where one without a version to go back to fails', async () => {
    const lab = await shop();
    lab.add({ name: 'new', policies: { ...POLICIES, release: 'shop-2' }, shape: { image: BROKEN_IMAGE } });
    lab.apply('jobs', 'app:2', { release: 'shop-2' });
    await lab.rest();
    await lab.pass(2 * MINUTE_MS);
    expect(lab.running).toMatchObject({ new: BROKEN_IMAGE, jobs: 'app:1' });
  });

  it('leave alone one that is told not to go back', async () => {
    const lab = await shop();
    lab.apply('api', BROKEN_IMAGE, { release: 'shop-2' });
    lab.apply('jobs', 'app:2', { release: 'shop-2', 'on-failure': 'none' });
    await lab.rest();
    await lab.pass(2 * MINUTE_MS);
    expect(lab.running).toMatchObject({ api: 'app:1', jobs: 'app:2' });
  });
});
