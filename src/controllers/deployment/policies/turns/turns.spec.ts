import { describe, expect, it } from 'vitest';
import { Deployment, Namespace } from '../../../../machinery/kubernetes/index.js';
import { aDeployment } from '../../../../testing/deployment-builder.js';
import { MINUTE_MS, P, PAST_DEADLINE_MS, PolicyLab } from '../../../../testing/policy-lab.js';
import { BROKEN_IMAGE } from '../../../../testing/rollout-world.js';
import { createDeploymentController } from '../../definition.js';
import type { QueuedRollout, Turn } from './turns.js';
import { decideTurns, nextRound, orderOfTurns, placeInQueue, readTurn, renderTurn } from './turns.js';

let asked = 0;

function queued(key: string, turn: Partial<Turn> & { priority?: number } = {}): QueuedRollout {
  const [namespace = '', name = ''] = key.split('/');
  const { priority = 0, ...rest } = turn;
  const time = new Date(Date.UTC(2026, 0, 1) + 1000 * asked++).toISOString();
  return { namespace, name, priority, turn: { template: 'h', asked: time, round: 1, ...rest } };
}

const names = (rollouts: readonly QueuedRollout[]): string[] =>
  rollouts.map(({ name, namespace }) => `${namespace}/${name}`);
const GRANTED = '2026-01-01T00:00:00Z';
const limits = (cluster?: number, namespace?: number) => ({ cluster, namespaceOf: () => namespace });

describe('the queue of rollouts', () => {
  it('is served by the time of asking, as far as the limits leave room', () => {
    const queue = [queued('a/1', { granted: GRANTED }), queued('a/2'), queued('a/3'), queued('a/4')];
    expect(names(decideTurns(queue, limits(3)))).toEqual(['a/2', 'a/3']);
    expect(names(decideTurns(queue, limits(undefined, 2)))).toEqual(['a/2']);
    expect(decideTurns(queue, limits(1))).toEqual([]);
    expect(names(decideTurns(queue, limits()))).toEqual(['a/2', 'a/3', 'a/4']);
  });

  it('goes around between namespaces, however many one of them has asked for', () => {
    let queue: QueuedRollout[] = [];
    const ask = (key: string): void => {
      const round = nextRound(key.split('/')[0] ?? '', queue);
      queue = [...queue, queued(key, { round })];
    };
    for (let index = 0; index < 50; index++) ask(`many/${index}`);
    const served: string[] = [];
    for (let turns = 0; turns < 6; turns++) {
      if (turns === 1) ask('few/1');
      if (turns === 2) ask('other/1');
      const [next] = decideTurns(queue, limits(1));
      if (!next) break;
      served.push(`${next.namespace}/${next.name}`);
      const others = queue.filter((each) => each !== next);
      queue = [...others, { ...next, turn: { ...next.turn, granted: GRANTED } }];
      if (turns === 0) continue;
      queue = queue.filter(({ turn }) => turn.granted === undefined);
    }
    expect(served.slice(0, 1)).toEqual(['many/0']);
    expect(served.indexOf('few/1')).toBeLessThan(3);
    expect(served.indexOf('other/1')).toBeLessThan(5);
  });

  it('counts no more granted turns of a namespace than that may have, because users can write others', () => {
    const forged = Array.from({ length: 10 }, (_, index) => queued(`mal/${index}`, { granted: GRANTED }));
    const queue = [...forged, queued('mal/more'), queued('vic/1'), queued('vic/2')];
    expect(names(decideTurns(queue, limits(2, 1)))).toEqual(['vic/1']);
    expect(decideTurns(queue, limits(2)), 'where no namespace has a limit').toEqual([]);
  });

  it('serves a namespace that was served least recently first, whatever the turns of another say', () => {
    const forged = { round: 0, asked: '2000-01-01T00:00:00Z' };
    const queue = [queued('mal/1', forged), queued('mal/2', forged), queued('vic/1', { round: 9 })];
    const served = new Map([['mal', 1]]);
    expect(names(decideTurns(queue, limits(1), served))).toEqual(['vic/1']);
    expect(names(decideTurns(queue, limits(3), served))).toEqual(['vic/1', 'mal/1', 'mal/2']);
  });

  it('gives the next round a number that its own reader accepts, beside a forged one', () => {
    for (const round of [1e9, 2 ** 53 - 1, -5, 0.5, 1e300]) {
      const text = JSON.stringify({ template: 'x', asked: GRANTED, round, granted: GRANTED });
      const turn = readTurn({ [`${P}turn`]: text });
      const next = nextRound('vic', turn ? [queued('mal/1', turn)] : []);
      const own = { template: 'h', asked: GRANTED, round: next };
      expect(readTurn({ [`${P}turn`]: renderTurn(own) }), String(round)).toEqual(own);
    }
  });

  it('lets a priority move a rollout to the front of its own namespace, and past no other', () => {
    const queue = [
      queued('a/1', { round: 1 }),
      queued('b/1', { round: 1 }),
      queued('a/2', { round: 2 }),
      queued('a/urgent', { round: 3, priority: 10 }),
    ];
    // The urgent one has the round of a/1; of the two in that round b/1 asked first.
    expect(names(orderOfTurns(queue))).toEqual(['b/1', 'a/urgent', 'a/1', 'a/2']);
  });

  it('lets others pass where the namespace of the first is full', () => {
    const queue = [queued('a/1', { granted: GRANTED }), queued('a/2'), queued('b/1', { round: 2 })];
    expect(names(decideTurns(queue, limits(5, 1)))).toEqual(['b/1']);
  });

  it('returns the place of each, by the limit that it is under', () => {
    const queue = [queued('a/1', { granted: GRANTED }), queued('b/1'), queued('a/2', { round: 2 })];
    expect(placeInQueue({ namespace: 'a', name: '2' }, queue, true)).toEqual({
      waitingBefore: 1,
      behind: 'b/1',
    });
    expect(placeInQueue({ namespace: 'a', name: '2' }, queue, false)).toEqual({
      waitingBefore: 0,
      behind: 'a/1',
    });
  });

  it('asks again where another hand has written what cannot be read', () => {
    const { turn } = queued('a/1');
    expect(readTurn({ [`${P}turn`]: renderTurn(turn) })).toEqual(turn);
    for (const text of ['', '{', '7', '{"template":"h"}'])
      expect(readTurn({ [`${P}turn`]: text })).toBeUndefined();
  });
});

const controller = createDeploymentController({ maxRollouts: 0 });

async function limited(policies: Record<string, string> = {}, max = '1'): Promise<PolicyLab> {
  return PolicyLab.rolledOut(
    policies,
    { replicas: 4 },
    {
      controller,
      prepare: ({ world }) => {
        const annotations = { [`${P}max-rollouts`]: max };
        world.api.seed(Namespace, {
          ...{ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default', annotations } },
        });
        const other = aDeployment({
          annotations: { [`${P}turn`]: renderTurn(queued('d/o', { granted: GRANTED }).turn) },
        });
        const metadata = { ...other.metadata, name: 'zzz', uid: 'uid-of-zzz' };
        world.api.seed(Deployment, {
          ...other,
          metadata,
          spec: { ...other.spec, selector: { matchLabels: { app: 'z' } } },
        });
      },
    },
  );
}

/** As the controller of the queue does it. */
async function grant(lab: PolicyLab): Promise<void> {
  const turn = readTurn(lab.deployment.metadata.annotations ?? {});
  if (!turn) throw new Error('nothing has been asked for');
  await lab.annotate('turn', renderTurn({ ...turn, granted: GRANTED }));
}

describe('a rollout under a limit', () => {
  it('asks for a turn, says that it waits and behind whom, and goes on when it has it', async () => {
    const lab = await limited();
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(readTurn(lab.deployment.metadata.annotations ?? {})).toMatchObject({ round: 2 });
    const sentence = 'It is not its turn: at most 1 rollout at once in namespace default';
    expect(lab.condition()).toBe(`Unknown WaitingForTurn ${sentence}`);
    await lab.pass(60 * MINUTE_MS);
    expect(lab.eventsOf('WaitingForTurn')).toEqual([
      `Normal WaitingForTurn ${sentence}; 0 others wait before it, the next is default/zzz`,
    ]);
    await grant(lab);
    expect(lab.sizes).toEqual({ 'app:2': 4 });
    expect(lab.annotation('turn'), 'it is over').toBeUndefined();
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('says nothing of a wait where there is room, unless no turn is given in time', async () => {
    const lab = await limited({}, '2');
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
    expect(lab.world.requeueAfterMs).toBe(5000);
    await grant(lab);
    expect(lab.sizes).toEqual({ 'app:2': 4 });
    expect(lab.eventsOf('WaitingForTurn')).toEqual([]);
    await lab.image('app:3');
    await lab.pass(5000);
    expect(lab.condition()).toMatch(/^Unknown WaitingForTurn .*at most 2 rollouts at once/);
  });

  it('keeps its place where the template changes while it waits, and its turn where it changes in the middle', async () => {
    const lab = await limited({ steps: '1; approve' });
    await lab.image('app:2');
    const before = readTurn(lab.deployment.metadata.annotations ?? {});
    await lab.pass(MINUTE_MS);
    await lab.image('app:3');
    expect(readTurn(lab.deployment.metadata.annotations ?? {})).toMatchObject({ asked: before?.asked });
    await grant(lab);
    expect(lab.sizes).toEqual({ 'app:1': 3, 'app:3': 1 });
    await lab.image('app:4');
    expect(lab.sizes).toEqual({ 'app:1': 3, 'app:4': 1 });
  });

  it('never waits to go back, to change its size, or with its first version', async () => {
    const lab = await limited();
    expect(lab.sizes, 'the first').toEqual({ 'app:1': 4 });
    expect(lab.annotation('turn')).toBeUndefined();
    await lab.image('app:2');
    await grant(lab);
    await lab.image('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    await lab.scale(6);
    expect(lab.sizes).toEqual({ 'app:1': 6 });
    expect(lab.annotation('turn')).toBeUndefined();
  });

  it('gives its turn back when it is taken back before it began', async () => {
    const lab = await limited();
    await lab.image('app:2');
    expect(lab.annotation('turn')).toBeDefined();
    await lab.image('app:1');
    expect(lab.annotation('turn')).toBeUndefined();
  });

  it('gives its turn back when its progress deadline passes, and takes none again while it is stuck', async () => {
    const lab = await limited();
    await lab.image(BROKEN_IMAGE);
    await grant(lab);
    expect(lab.annotation('turn')).toBeDefined();
    await lab.pass(PAST_DEADLINE_MS);
    expect(lab.condition()).toMatch(/^False ProgressDeadlineExceeded/);
    expect(lab.annotation('turn')).toBeUndefined();
    await lab.pass(MINUTE_MS);
    expect(lab.annotation('turn')).toBeUndefined();
  });

  it('gives its turn back where it failed and is rolled back', async () => {
    const lab = await limited({ 'on-failure': 'hold', 'fail-after': '1m' });
    await lab.image(BROKEN_IMAGE);
    await grant(lab);
    await lab.pass(2 * MINUTE_MS);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(lab.annotation('turn')).toBeUndefined();
  });

  it('gives its turn back where a freeze comes before it has begun', async () => {
    const lab = await limited();
    await lab.image('app:2');
    await lab.annotate('freeze', 'inventory');
    expect(lab.annotation('turn')).toBeUndefined();
    expect(lab.condition()).toMatch(/^Unknown RolloutHeld/);
  });

  it('goes on where the limit is taken away', async () => {
    const lab = await limited();
    await lab.image('app:2');
    lab.world.api.seed(Namespace, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'default' } });
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:2': 4 });
    expect(lab.annotation('turn')).toBeUndefined();
  });

  it('says where nothing keeps the limit of its Namespace, and goes on', async () => {
    const lab = await PolicyLab.rolledOut(
      {},
      {},
      {
        prepare: ({ world }) => {
          const annotations = { [`${P}max-rollouts`]: '1' };
          world.api.seed(Namespace, {
            apiVersion: 'v1',
            kind: 'Namespace',
            metadata: { name: 'default', annotations },
          });
        },
      },
    );
    expect(lab.condition('RolloutPolicy')).toMatch(/^False RolloutsNotLimited .*--max-rollouts/);
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 10 });
  });

  it.each([
    [{ 'max-rollouts': '3' }, 'belongs on the Namespace'],
    [{ 'rollout-priority': 'high' }, 'is not a whole number'],
  ])('refuses %j', async (policies, why) => {
    const lab = await PolicyLab.rolledOut(policies, {}, { controller });
    expect(lab.condition('RolloutPolicy')).toContain(why);
  });
});
