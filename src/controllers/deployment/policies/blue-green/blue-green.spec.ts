import { describe, expect, it } from 'vitest';
import { setImage } from '../../../../testing/deployment-builder.js';
import { P, PolicyLab } from '../../../../testing/policy-lab.js';
import { BROKEN_IMAGE, refusal } from '../../../../testing/rollout-world.js';
import {
  SECOND_MS,
  WATCHING,
  WHOLE,
  putService,
  running,
  served,
  serviceOf,
} from './blue-green-lab.fixture.js';

describe('a blue-green rollout', () => {
  it('gives both Services the first version', async () => {
    const lab = await running();
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:1']);
    expect(serviceOf(lab, 'web')?.spec.selector?.['app'], 'its own selector').toBe('web');
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
  });

  it('brings the new version up whole, shows it to the preview Service, and waits for an approval', async () => {
    const lab = await running();
    await lab.image('app:2');
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:2']);
    expect(lab.condition()).toMatch(
      /^Unknown WaitingForApproval web-\w+ is whole and can be seen by Service "preview"/,
    );
    expect(lab.eventsOf('WaitingForApproval')).toHaveLength(1);
    await lab.pass(24 * 3600 * SECOND_MS);
    expect(served(lab), 'a day later').toBe('app:1');
  });

  it('moves the active Service when a person approves, and keeps the old version for the delay', async () => {
    const lab = await running();
    await lab.image('app:2');
    await lab.annotate('approve', 'alice');
    expect(served(lab)).toBe('app:2');
    expect(lab.annotation('approve')).toBeUndefined();
    expect(JSON.parse(serviceOf(lab, 'web')?.metadata.annotations?.[`${P}switched`] ?? '')).toMatchObject({
      by: 'alice',
    });
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(lab.condition()).toMatch(
      /^Unknown WaitingInStep Service "web" selects web-\w+; web-\w+ stays until /,
    );
    expect(lab.world.requeueAfterMs).toBe(30 * SECOND_MS);
    await lab.pass(29 * SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    await lab.pass(SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:2': 4 });
    expect(lab.condition()).toMatch(/^True NewReplicaSetAvailable/);
    expect(lab.isGood('app:2')).toBe(true);
    expect(lab.eventsOf('ApprovalNotNeeded')).toEqual([]);
  });

  it('moves at once where it promotes by itself', async () => {
    const lab = await running({ 'auto-promote': 'true', 'scale-down-delay': '0s' });
    await lab.image('app:2');
    expect(served(lab)).toBe('app:2');
    expect(lab.sizes).toEqual({ 'app:2': 4 });
  });

  it('goes back at once within the delay, and without an approval', async () => {
    const lab = await running();
    await lab.image('app:2');
    await lab.annotate('approve', 'alice');
    const before = lab.world.allPods.length;
    await lab.image('app:1');
    expect(served(lab)).toBe('app:1');
    expect(lab.world.allPods, 'no pod was started').toHaveLength(before);
    await lab.pass(30 * SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
  });

  it('removes a version that was only tried when a third one comes', async () => {
    const lab = await running();
    await lab.image('app:2');
    await lab.image('app:3');
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:3': 4 });
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:3']);
  });

  it.each([{ to: 8 }, { to: 2 }])('keeps both versions whole when it is scaled to $to', async ({ to }) => {
    const lab = await running();
    await lab.image('app:2');
    await lab.scale(to);
    expect(lab.sizes).toEqual({ 'app:1': to, 'app:2': to });
    expect(served(lab)).toBe('app:1');
    await lab.annotate('approve', 'alice');
    await lab.pass(30 * SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:2': to });
  });

  it('follows a scale while it is paused, and moves nothing', async () => {
    const lab = await running();
    await lab.image('app:2');
    lab.world.change(({ spec }) => void (spec.paused = true));
    await lab.annotate('approve', 'alice');
    await lab.scale(6);
    expect(lab.sizes).toEqual({ 'app:1': 6, 'app:2': 6 });
    expect(served(lab)).toBe('app:1');
    lab.world.change(({ spec }) => void (spec.paused = false));
    await lab.rest();
    expect(served(lab)).toBe('app:2');
  });

  it('is left by an abort, before and after the move', async () => {
    const lab = await running();
    await lab.image('app:2');
    await lab.annotate('abort', 'bob');
    expect([served(lab), lab.imageAsked]).toEqual(['app:1', 'app:1']);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    await lab.annotate('retry', 'bob');
    await lab.annotate('approve', 'alice');
    expect(served(lab)).toBe('app:2');
    await lab.annotate('abort', 'bob');
    expect([served(lab), lab.imageAsked]).toEqual(['app:1', 'app:1']);
    expect(lab.sizes, 'a failed version is not kept for the delay').toEqual({ 'app:1': 4 });
  });

  it('rolls back a version that fails beside the old one', async () => {
    const lab = await running({ 'on-failure': 'rollback', 'fail-after': '1m', 'auto-promote': 'true' });
    await lab.image(BROKEN_IMAGE);
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', BROKEN_IMAGE]);
    await lab.pass(60 * SECOND_MS);
    expect(lab.imageAsked).toBe('app:1');
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect([served(lab), served(lab, 'preview')]).toEqual(['app:1', 'app:1']);
  });

  it('runs the good version in place of a failed one that is held', async () => {
    const lab = await running({ 'on-failure': 'hold', 'fail-after': '1m', 'auto-promote': 'true' });
    await lab.image(BROKEN_IMAGE);
    await lab.pass(60 * SECOND_MS);
    expect(lab.imageAsked).toBe(BROKEN_IMAGE);
    expect(lab.sizes).toEqual({ 'app:1': 4 });
    expect(served(lab)).toBe('app:1');
  });

  it('claims the Service for the running version before a new one begins', async () => {
    const lab = await PolicyLab.rolledOut({}, WHOLE, {
      controller: WATCHING,
      prepare: (made) => putService(made, 'web'),
    });
    expect(served(lab)).toBe('all');
    lab.world.change((deployment) => {
      setImage(deployment, 'app:2');
      deployment.metadata.annotations = { [`${P}strategy`]: 'blue-green', [`${P}active-service`]: 'web' };
    });
    await lab.world.sync();
    expect(served(lab)).toBe('app:1');
    expect(lab.sizes, 'the same pass').toEqual({ 'app:1': 4 });
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(lab.condition()).toMatch(/WaitingForApproval/);
  });

  it('lets the Service go before anything else when the policy goes', async () => {
    const lab = await running();
    await lab.image('app:2');
    lab.world.change(({ metadata }) => void (metadata.annotations = {}));
    await lab.world.sync();
    expect([served(lab), served(lab, 'preview')]).toEqual(['all', 'all']);
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
    expect(serviceOf(lab, 'web')?.metadata.annotations ?? {}).toEqual({});
    await lab.rest();
    expect(lab.sizes).toEqual({ 'app:2': 4 });
  });

  it('follows a Service that another hand has moved', async () => {
    const lab = await running();
    await lab.image('app:2');
    putService(lab, 'web', serviceOf(lab, 'preview')?.spec.selector);
    await lab.rest();
    expect(lab.sizes, 'both for the delay').toEqual({ 'app:1': 4, 'app:2': 4 });
    await lab.pass(30 * SECOND_MS);
    expect(lab.sizes).toEqual({ 'app:2': 4 });
    expect(served(lab)).toBe('app:2');
  });

  it.each([{ noted: true }, { noted: false }])(
    'takes the Service back that another hand let go in the middle (the last move is noted: $noted)',
    async ({ noted }) => {
      const lab = await running();
      await lab.image('app:2');
      const annotations = noted ? serviceOf(lab, 'web')?.metadata.annotations : {};
      putService(lab, 'web', { app: 'web' }, annotations);
      await lab.rest();
      expect(served(lab)).toBe('app:1');
      expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
      expect(lab.condition()).toContain('WaitingForApproval');
    },
  );

  it('asks the API for the selector before it removes pods', async () => {
    const lab = await running();
    const old = serviceOf(lab, 'web');
    await lab.image('app:2');
    await lab.annotate('approve', 'alice');
    lab.clock.move(30 * SECOND_MS);
    const get = lab.world.api.get.bind(lab.world.api);
    lab.world.api.get = async (type, ref) =>
      (type.resource === 'services' ? structuredClone(old) : await get(type, ref)) as never;
    await expect(lab.world.sync()).rejects.toThrow('Service web selects pods that were to go');
    expect(lab.sizes).toEqual({ 'app:1': 4, 'app:2': 4 });
  });

  it('makes the move again where the Service has changed meanwhile', async () => {
    const lab = await running();
    await lab.image('app:2');
    const patch = lab.world.api.patch.bind(lab.world.api);
    lab.world.api.patch = async () => {
      throw refusal(409);
    };
    await expect(lab.annotate('approve', 'alice')).rejects.toThrow();
    expect([served(lab), lab.annotation('approve')]).toEqual(['app:1', 'alice']);
    lab.world.api.patch = patch;
    await lab.rest();
    expect([served(lab), lab.annotation('approve')]).toEqual(['app:2', undefined]);
  });

  it('does not warn of an approval whose move was made by a process that died after it', async () => {
    const lab = await running();
    await lab.image('app:2');
    const died = new Error('killed');
    lab.world.onEffect = () => {
      if (served(lab) === 'app:2') throw died;
    };
    await expect(lab.annotate('approve', 'alice')).rejects.toThrow(died);
    expect([served(lab), lab.annotation('approve')]).toEqual(['app:2', 'alice']);
    lab.world.onEffect = () => undefined;
    await lab.rest();
    expect(lab.annotation('approve')).toBeUndefined();
    expect(lab.eventsOf('ApprovalNotNeeded')).toEqual([]);
  });
});
