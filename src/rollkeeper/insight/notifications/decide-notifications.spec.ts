import { describe, expect, it } from 'vitest';
import { FAILURE, T0, aView, at } from '../../../controllers/deployment/state/rollout-view.fixture.js';
import type { Shape } from '../../../controllers/deployment/state/rollout-view.fixture.js';
import { NOTIFIED_WITHIN_MS, decideNotifications } from './decide-notifications.js';

const entry = (changes: object = {}) => ({
  'rollkeeper.dev/revisions': JSON.stringify([
    { revision: '2', at: at(0), trigger: 'change', by: 'anna', what: 'image app:0 → app:1', ...changes },
  ]),
});
const keysOf = (shape: Shape) => decideNotifications(aView(shape)).map(({ key }) => key);

describe('the notifications of a rollout', () => {
  it('say that it began, what changed, and who is said to have asked', () => {
    const [started] = decideNotifications(
      aView({ reason: 'ReplicaSetUpdated', updated: 1, ofReplicaSet: entry() }),
    );
    expect(started).toMatchObject({
      ...{ event: 'started', id: 'uid-of-web.2.started', revision: '2', images: ['app:1'] },
      ...{ title: 'default/web rolls out revision 2', text: 'image app:0 → app:1.', atMs: T0 },
      by: 'claimed by anna',
    });
    expect(started).not.toHaveProperty('link');
  });

  it('say that it ended, and no more that it began', () => {
    expect(keysOf({ reason: 'NewReplicaSetAvailable', ofReplicaSet: entry() })).toEqual(['complete']);
  });

  it('are of each step that lasts, and of an approval alone where one is asked for', () => {
    const waiting = (reason: string, message: string) =>
      keysOf({ reason, message, updated: 1, ofReplicaSet: entry({ trigger: 'rollback' }) });
    expect(waiting('WaitingInStep', 'Step 2 of 6 (wait 5m): until 12:00')).toEqual(['step.2']);
    expect(waiting('WaitingForApproval', 'Step 3 of 6 (approve): waits for an approval')).toEqual([
      'waiting-for-approval.3',
    ]);
  });

  it('say that it failed when the way back begins, and that it was rolled back at its end', () => {
    const annotations = { 'rollkeeper.dev/failed': JSON.stringify([FAILURE]) };
    const back = decideNotifications(aView({ annotations, updated: 1, ofReplicaSet: entry() }));
    expect(back.map(({ event }) => event)).toContain('failed');
    expect(back.at(-1)).toMatchObject({ key: `failed.${T0}`, cause: 'no such image' });
    expect(keysOf({ annotations, reason: 'RolledBack', ofReplicaSet: entry() })).toEqual([
      `rolled-back.${T0}`,
    ]);
  });

  it('have no long name of an image in them, and are none of a revision that is no number', () => {
    const view = aView({ reason: 'ReplicaSetUpdated', updated: 1, ofReplicaSet: entry() });
    const [container] = view.replicaSets.flatMap(({ spec }) => spec.template?.spec?.containers ?? []);
    Object.assign(container ?? {}, { image: `app:${'1'.repeat(500_000)}` });
    const [started] = decideNotifications(view);
    expect(started?.images.map(({ length }) => length)).toEqual([300]);
    for (const { metadata } of [view.deployment, ...view.replicaSets])
      Object.assign(metadata.annotations ?? {}, { 'deployment.kubernetes.io/revision': '2'.repeat(100_000) });
    expect(decideNotifications(view)).toEqual([]);
  });

  it('link to the console, and to its question for an approval', () => {
    const reason = 'WaitingForApproval';
    const message = 'Step 3 of 6 (approve): waits for an approval';
    const view = aView({ reason, message, updated: 1 });
    const [asked] = decideNotifications(view, 'https://console.test');
    expect(asked).toMatchObject({
      link: 'https://console.test/console?deployment=default%2Fweb',
      approveLink:
        'https://console.test/console?deployment=default%2Fweb&ask=promote%3Arollouts%2Fdefault%2Fweb',
    });
  });

  it('are none of what is older than an hour', () => {
    const view = { ...aView({ reason: 'NewReplicaSetAvailable' }), nowMs: T0 + NOTIFIED_WITHIN_MS + 1 };
    expect(decideNotifications(view)).toEqual([]);
  });
});
