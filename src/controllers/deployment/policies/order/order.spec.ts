import { describe, expect, it } from 'vitest';
import { MINUTE_MS, PAST_DEADLINE_MS, P, PolicyLab } from '../../../../testing/policy-lab.js';
import { BROKEN_IMAGE } from '../../../../testing/rollout-world.js';
import { SeveralRollouts } from '../../../../testing/several-rollouts.js';
import { compilePolicy } from '../compile-policy.js';
import { releaseOf } from './order-source.js';
import { circleOf } from './order.js';
import { parseAfter, readOrderSeen } from './settings.js';

const SETTLED_MS = 10_000;

function shop(web: Readonly<Record<string, string>> = {}, api: Readonly<Record<string, string>> = {}) {
  // The follower is first in the list: the controller sees it before the one that it follows.
  return SeveralRollouts.rolledOut(
    { name: 'web', policies: { after: 'deployment/api', ...web } },
    { name: 'api', policies: api },
  );
}

describe('a rollout after others', () => {
  it('begins when the one before it has ended well [kubernetes#3554]', async () => {
    const lab = await shop();
    lab.world.breaks = (image) => image === 'app:2';
    lab.apply('api', 'app:2');
    lab.apply('web', 'app:2');
    await lab.rest();
    expect(lab.running['web']).toBe('app:1');
    expect(lab.condition('web')).toMatch(
      /^Unknown WaitingForOrder The rollout waits for deployment\/api, which is not complete$/,
    );
    lab.world.breaks = () => false;
    await lab.rest();
    expect(lab.running).toEqual({ web: 'app:2', api: 'app:2' });
    expect(lab.condition('web')).toMatch(/^True NewReplicaSetAvailable/);
    expect(lab.annotation('web', 'order-seen'), 'it is over').toBeUndefined();
  });

  it('does not overtake a predecessor whose change is seen after its own [kubernetes#3554]', async () => {
    const lab = await shop();
    lab.apply('web', 'app:2');
    await lab.rest();
    expect(lab.running['web']).toBe('app:1');
    expect(lab.condition('web')).toMatch(/may change together with it, which is looked at until/);
    lab.clock.move(SETTLED_MS - 1000);
    lab.world.breaks = (image) => image === 'app:2';
    lab.apply('api', 'app:2');
    await lab.rest();
    await lab.pass(5 * MINUTE_MS);
    expect(lab.running['web'], 'the predecessor is not complete').toBe('app:1');
    lab.world.breaks = () => false;
    await lab.rest();
    expect(lab.running['web']).toBe('app:2');
  });

  it('does not wait for one that does not roll out with it', async () => {
    const lab = await shop();
    lab.apply('web', 'app:2');
    await lab.rest();
    await lab.pass(SETTLED_MS);
    expect(lab.running).toEqual({ web: 'app:2', api: 'app:1' });
  });

  it('does not wait for one that failed in an earlier change', async () => {
    const lab = await shop({}, { 'on-failure': 'rollback', 'fail-after': '1m' });
    lab.apply('api', BROKEN_IMAGE);
    await lab.rest();
    await lab.pass(2 * MINUTE_MS);
    expect(lab.running['api']).toBe('app:1');
    await lab.pass(MINUTE_MS);
    lab.apply('web', 'app:2');
    await lab.rest();
    await lab.pass(SETTLED_MS);
    expect(lab.running['web']).toBe('app:2');
  });

  it('never begins after one of the same change that failed, and says which one', async () => {
    const lab = await shop({}, { 'on-failure': 'rollback', 'fail-after': '1m' });
    lab.apply('api', BROKEN_IMAGE);
    lab.apply('web', 'app:2');
    await lab.rest();
    await lab.pass(2 * MINUTE_MS);
    await lab.pass(60 * MINUTE_MS);
    expect(lab.running).toEqual({ web: 'app:1', api: 'app:1' });
    expect(lab.condition('web')).toMatch(/waits for deployment\/api, which has failed: .*not available 1m/);
    lab.apply('api', 'app:3');
    await lab.rest();
    expect(lab.running, 'what replaced it ended well').toEqual({ web: 'app:2', api: 'app:3' });
  });

  it('waits for the bake time of the one before it, or for completion alone, and for as long as it is told to', async () => {
    const lab = await SeveralRollouts.rolledOut(
      { name: 'bakes', policies: { 'on-failure': 'rollback', 'bake-time': '10m' } },
      { name: 'good', policies: { after: 'bakes' } },
      { name: 'complete', policies: { after: 'deployment/bakes@complete' } },
      { name: 'later', policies: { after: 'deployment/bakes@complete 15m' } },
    );
    await lab.pass(20 * MINUTE_MS);
    for (const name of ['bakes', 'good', 'complete', 'later']) lab.apply(name, 'app:2');
    await lab.rest();
    expect(lab.running).toEqual({ bakes: 'app:2', good: 'app:1', complete: 'app:2', later: 'app:1' });
    await lab.pass(11 * MINUTE_MS);
    expect(lab.running).toMatchObject({ good: 'app:2', later: 'app:1' });
    expect(lab.condition('later')).toMatch(/is complete, and is waited for until 2026-/);
    await lab.pass(5 * MINUTE_MS);
    expect(lab.running).toMatchObject({ later: 'app:2' });
  });

  it('says who waits for whom, down to the one that holds all others up [kruise#1049]', async () => {
    const lab = await SeveralRollouts.rolledOut(
      { name: 'web', policies: { after: 'api' } },
      { name: 'api', policies: { after: 'db-schema' } },
      { name: 'db-schema' },
    );
    for (const name of ['web', 'api']) lab.apply(name, 'app:2');
    lab.apply('db-schema', BROKEN_IMAGE);
    await lab.rest();
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.condition('web')).toMatch(
      /waits for deployment\/api, which waits for deployment\/db-schema, which has failed: .*exceeded its progress deadline/,
    );
    expect(lab.running).toMatchObject({ web: 'app:1', api: 'app:1' });
  });

  it('holds the first version as well, and starts no pod of it [kubernetes#3554, kruise#1049]', async () => {
    const lab = SeveralRollouts.unseen(
      { name: 'web', policies: { after: 'api' } },
      { name: 'api', shape: { image: BROKEN_IMAGE } },
    );
    await lab.rest();
    await lab.pass(MINUTE_MS);
    expect(lab.running).toEqual({ web: '', api: BROKEN_IMAGE });
    expect(lab.find('web').status?.observedGeneration).toBe(1);
    lab.apply('api', 'app:1');
    await lab.rest();
    expect(lab.running).toEqual({ web: 'app:1', api: 'app:1' });
  });

  it('refuses a circle with its path, which each member tells, until one of them leaves it [rollout-operator#461]', async () => {
    const lab = await SeveralRollouts.rolledOut({ name: 'a' }, { name: 'b' }, { name: 'c' });
    for (const [name, after] of [
      ['a', 'b'],
      ['b', 'c'],
      ['c', 'a'],
    ] as const)
      lab.apply(name, 'app:2', { after: `deployment/${after}` });
    await lab.rest();
    await lab.pass(60 * MINUTE_MS);
    expect(lab.running).toEqual({ a: 'app:1', b: 'app:1', c: 'app:1' });
    const circle = 'its order is a circle: deployment/';
    expect(lab.condition('a', 'RolloutPolicy')).toContain(
      `${circle}a after deployment/b after deployment/c after deployment/a`,
    );
    expect(lab.condition('b', 'RolloutPolicy')).toContain(`${circle}b after deployment/c`);
    expect(lab.condition('c', 'RolloutPolicy')).toContain(`${circle}c after deployment/a`);
    expect(lab.condition('a')).toMatch(/^Unknown WaitingForOrder .*circle/);
    lab.apply('c', undefined, { after: undefined });
    await lab.rest();
    await lab.pass(SETTLED_MS);
    expect(lab.running).toEqual({ a: 'app:2', b: 'app:2', c: 'app:2' });
    expect(lab.condition('a', 'RolloutPolicy')).toBe('none');
  });

  it('never waits to go back, and its size changes while it waits', async () => {
    const lab = await shop();
    await lab.pass(MINUTE_MS);
    lab.apply('web', 'app:2');
    await lab.rest();
    await lab.pass(SETTLED_MS);
    lab.apply('api', BROKEN_IMAGE);
    lab.apply('web', 'app:1');
    await lab.rest();
    expect(lab.running['web'], 'a version that ran before').toBe('app:1');
  });

  it('waits where its predecessor is missing, and says so', async () => {
    const lab = await SeveralRollouts.rolledOut({ name: 'web' }, { name: 'api' });
    lab.apply('web', 'app:2', { after: 'apj' });
    await lab.rest();
    await lab.pass(60 * MINUTE_MS);
    expect(lab.running['web']).toBe('app:1');
    expect(lab.condition('web')).toContain('waits for deployment/apj, which does not exist');
  });

  it('waits with a release for as long as its predecessor has another one, and no longer', async () => {
    const lab = await shop({ release: 'shop-1' }, { release: 'shop-1' });
    lab.apply('web', 'app:2', { release: 'shop-2' });
    await lab.rest();
    await lab.pass(60 * MINUTE_MS);
    expect(lab.running['web']).toBe('app:1');
    expect(lab.condition('web')).toContain('deployment/api, which has release shop-1, and not shop-2');
    lab.apply('api', undefined, { release: 'shop-2' });
    await lab.rest();
    expect(lab.running).toEqual({ web: 'app:2', api: 'app:1' });
  });

  it('believes no time on the Deployment that has yet to come', async () => {
    const lab = await shop();
    lab.apply('web', 'app:2');
    await lab.rest();
    const seen = readOrderSeen(lab.find('web').metadata.annotations ?? {});
    lab.apply('web', undefined, { 'order-seen': JSON.stringify({ ...seen, asked: '2099-01-01T00:00:00Z' }) });
    await lab.rest();
    expect(lab.condition('web')).not.toContain('2099');
    await lab.pass(SETTLED_MS);
    expect(lab.running['web']).toBe('app:2');
  });
});

describe('the annotation release', () => {
  it.each([
    ['shop-42', 'shop-42'],
    [' shop-42 ', 'shop-42'],
    ['', undefined],
    ['x'.repeat(64), undefined],
    ['shop 42', undefined],
  ])('%j is the release %j', (release, read) => {
    expect(releaseOf({ [`${P}release`]: release })).toBe(read);
  });
});

describe('the annotation after', () => {
  it('names Deployments, what they must have become, and for how long', () => {
    expect(parseAfter('deployment/db-schema, deploy/api@complete 5m,web 1h')).toEqual([
      { name: 'db-schema', state: 'good', forMs: 0 },
      { name: 'api', state: 'complete', forMs: 300_000 },
      { name: 'web', state: 'good', forMs: 3_600_000 },
    ]);
  });

  it.each([
    ['statefulset/db', 'is not a Deployment'],
    ['deployment/shop/db', 'is not of the form'],
    ['Web', 'is not the name of a Deployment'],
    ['web@ready', 'neither good nor complete'],
    ['web soon', 'is not a duration'],
    ['web, deployment/web', 'names deployment/web twice'],
    ['web 5m 5m', 'is not of the form'],
    [Array.from({ length: 21 }, (_, index) => `web-${index}`).join(), 'more than 20'],
    [Array.from({ length: 50_000 }, () => '?').join(), 'more than 20'],
  ])('refuses %j', async (after, why) => {
    const lab = await PolicyLab.rolledOut({ after }, { replicas: 1 });
    expect(lab.condition('RolloutPolicy')).toContain(why);
  });

  it('is not repeated at length where it is refused', async () => {
    const lab = await PolicyLab.rolledOut({ after: `web ${'x'.repeat(100_000)}` }, { replicas: 1 });
    expect(lab.condition('RolloutPolicy')?.length).toBeLessThan(1000);
  });

  it('belongs on the Deployment, and so does a release', () => {
    for (const [setting, value] of [
      ['after', 'web'],
      ['release', 'shop-1'],
    ] as const)
      expect(compilePolicy({}, { [P + setting]: value })).toMatchObject({
        kind: 'invalid',
        problems: [{ why: 'belongs on the Deployment' }],
      });
  });

  it('finds the shortest circle, and ends where others are a circle without it', () => {
    const after = new Map([
      ['a', 'b, c'],
      ['b', 'c'],
      ['c', 'b'],
    ]);
    const find = (name: string) => ({
      name,
      annotations: { [`${P}after`]: after.get(name) ?? '' },
      state: 'ended' as const,
      words: '',
      isOrdered: false,
      isGood: true,
    });
    const read = (text: string) => {
      const parsed = parseAfter(text);
      return typeof parsed === 'string' ? [] : parsed;
    };
    expect(circleOf('b', read('c'), find)).toEqual(['b', 'c', 'b']);
    expect(circleOf('a', read('b, c'), find)).toBeUndefined();
  });
});
