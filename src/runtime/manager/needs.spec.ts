import { describe, expect, it } from 'vitest';
import type { LeadingWork } from '../controller/index.js';
import { LeaseLostError } from '../../machinery/errors/index.js';
import type { InformerTrouble } from '../../client/informer/index.js';
import type { ResourceType } from '../../machinery/kubernetes/index.js';
import { Deployment, Pod, ReplicaSet } from '../../machinery/kubernetes/index.js';
import type { Logger } from '../../machinery/logging/index.js';
import { ManagerHarness } from './manager-harness.fixture.js';
import { waitFor } from '../../testing/wait-for.js';
import { FakeCluster } from '../../testing/fake-cluster.js';
import { FakeInformers } from '../../testing/fake-informers.js';
import { NotedInformers, missingOf, readabilityOf, troublesOf } from './needs.js';

/** A cache that the test fills. */
class ScriptedNeed {
  hasSynced = false;
  trouble: InformerTrouble | undefined;
  private readonly filled = Promise.withResolvers<void>();

  constructor(readonly type: ResourceType) {}

  fill(): this {
    this.hasSynced = true;
    this.trouble = undefined;
    this.filled.resolve();
    return this;
  }

  refuse(): this {
    this.trouble = { code: 403, reason: 'you may not' };
    return this;
  }

  waitForSync(signal: AbortSignal): Promise<void> {
    const aborted = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true }),
    );
    return Promise.race([this.filled.promise, aborted]);
  }
}

function recordingLogger(): { logger: Logger; told: string[] } {
  const told: string[] = [];
  const tell =
    (level: string): Logger['info'] =>
    (message, { controller, resource } = {}) => {
      const about = [controller, resource].filter((part) => part !== undefined).map(String);
      told.push([level, message, ...about].join(' | '));
    };
  const logger: Logger = {
    debug: tell('debug'),
    info: tell('info'),
    warn: tell('warn'),
    error: tell('error'),
    child: () => logger,
  };
  return { logger, told };
}

describe('a controller that needs what the server does not list', () => {
  it('keeps no other from starting, and starts when it has it', async () => {
    const missing = new ScriptedNeed(Deployment).refuse();
    const pods = new ScriptedNeed(Pod).fill();
    const watched: string[] = [];
    const watch = (name: string) => () => {
      watched.push(name);
      return () => undefined;
    };
    const { logger, told } = recordingLogger();
    const harness = new ManagerHarness(
      [
        { name: 'held', needs: [pods, missing], built: { watch: watch('held') } },
        { name: 'free', needs: [pods], built: { watch: watch('free') } },
      ],
      { logger },
    );
    const [held, free] = harness.controllers as [
      (typeof harness.controllers)[0],
      (typeof harness.controllers)[0],
    ];
    await waitFor(() => free.controller.isConsuming);
    expect(harness.manager.state).toBe('running');
    expect(told).toContain(
      'error | a controller waits for a resource that cannot be listed | held | deployments.apps',
    );
    void harness.elector.win(1);
    await waitFor(() => watched.length > 0);
    await harness.clock.advance(1000);
    expect(watched).toEqual(['free']);
    expect(held.controller.isConsuming).toBe(false);

    missing.fill();
    await waitFor(() => held.controller.isConsuming);
    await waitFor(() => watched.includes('held'));
    expect(told).toContain('info | a controller has what it waited for, and starts | held');
    await held.queue.add('a/b');
    await waitFor(() => held.reconciled.includes('a/b'));
    await harness.end();
  });

  it('leaves a replica that has no other not running, and without a wish to lead', async () => {
    const missing = new ScriptedNeed(Deployment).refuse();
    const harness = new ManagerHarness([{ needs: [missing] }]);
    await harness.clock.advance(1000);
    expect([harness.manager.state, harness.elector.isRunning]).toEqual(['starting', false]);
    missing.fill();
    await waitFor(() => harness.elector.isRunning);
    expect(harness.manager.state).toBe('running');
    await harness.end();
  });

  it('stops cleanly while it waits', async () => {
    const missing = new ScriptedNeed(Deployment).refuse();
    const harness = new ManagerHarness([{ needs: [missing] }, { name: 'free' }]);
    await waitFor(() => harness.elector.isRunning);
    void harness.elector.win(1);
    await harness.end();
    expect(harness.manager.state).toBe('stopped');
  });

  it('is told by what it asked for while it was built, and by what the server says', () => {
    const noted = new NotedInformers(new FakeInformers(new FakeCluster()));
    for (const type of [Pod, ReplicaSet, Pod]) noted.informerFor(type);
    noted.metadataInformerFor(Deployment);
    noted.informerFor(Deployment, { optional: true });
    expect(noted.needs.map(({ type }) => type)).toEqual([Pod, ReplicaSet]);
    const [refused, silent] = [new ScriptedNeed(Deployment).refuse(), new ScriptedNeed(ReplicaSet)];
    silent.trouble = { reason: 'connection refused' };
    expect(missingOf([refused, silent, new ScriptedNeed(Pod).fill()])).toEqual([
      { resource: 'deployments.apps', reason: 'you may not' },
    ]);
  });
});

describe('objects that a controller cannot read', () => {
  const widgets = { resource: 'widgets.example.com', reason: 'forbidden' };

  it('is what it waits for, and what it knows from before or does without', () => {
    const never = new ScriptedNeed(Deployment).refuse();
    const noMore = new ScriptedNeed(ReplicaSet).fill().refuse();
    const managed = {
      needs: [never, noMore, new ScriptedNeed(Pod).fill()],
      built: { unreadable: () => [widgets] },
    };
    expect(troublesOf(managed)).toEqual({
      waitsFor: [{ resource: 'deployments.apps', reason: 'you may not' }],
      unreadable: [{ resource: 'replicasets.apps', reason: 'you may not' }, widgets],
    });
    expect([...readabilityOf(managed)]).toEqual([
      { resource: 'deployments.apps', isReadable: false },
      { resource: 'replicasets.apps', isReadable: false },
      { resource: 'widgets.example.com', isReadable: false },
      { resource: 'pods', isReadable: true },
    ]);
  });
});

describe('a controller that works where the replica leads', () => {
  /** Work that the test makes ready, or fails. */
  function scriptedLeading() {
    const ready = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<never>();
    const log: string[] = [];
    const leading: LeadingWork = {
      isReady: false,
      async run(signal) {
        log.push('run');
        const aborted = new Promise<void>((resolve) =>
          signal.addEventListener('abort', () => resolve(), { once: true }),
        );
        await Promise.race([aborted, failed.promise]);
        log.push('end');
      },
      waitUntilReady: () => ready.promise,
    };
    return { failed, leading, log, ready };
  }

  it('works on keys there alone, and only when its leading work is ready', async () => {
    const { leading, log, ready } = scriptedLeading();
    const watch = () => {
      log.push('watch');
      return () => void log.push('unwatch');
    };
    const harness = new ManagerHarness([
      { name: 'everywhere' },
      { name: 'collector', worksOn: 'leader', built: { leading, watch } },
    ]);
    const [everywhere, collector] = harness.controllers as [
      (typeof harness.controllers)[0],
      (typeof harness.controllers)[0],
    ];
    await waitFor(() => everywhere.controller.isConsuming);
    expect(collector.controller.isConsuming).toBe(false);
    void harness.elector.win(1);
    await harness.clock.advance(1000);
    expect([log, collector.controller.isConsuming]).toEqual([['run'], false]);
    ready.resolve();
    await waitFor(() => collector.controller.isConsuming);
    expect(log).toEqual(['run', 'watch']);
    await harness.elector.lose(new LeaseLostError('taken'));
    expect(log).toEqual(['run', 'watch', 'unwatch', 'end']);
    expect([everywhere, collector].map(({ controller }) => controller.isConsuming)).toEqual([true, false]);
    void harness.elector.win(2);
    await waitFor(() => collector.controller.isConsuming);
    await harness.end();
  });

  it('keeps its leading work until the last key has ended', async () => {
    const { leading, log, ready } = scriptedLeading();
    ready.resolve();
    const finish = Promise.withResolvers<void>();
    const reconcile = async () => {
      log.push('begin');
      await finish.promise;
      log.push('finish');
      return {};
    };
    const harness = new ManagerHarness([{ worksOn: 'leader', reconcile, built: { leading } }]);
    await waitFor(() => harness.elector.isRunning);
    void harness.elector.win(1);
    await harness.controllers[0]?.queue.add('a/b');
    await waitFor(() => log.includes('begin'));
    const ended = harness.end();
    finish.resolve();
    await ended;
    expect(log).toEqual(['run', 'begin', 'finish', 'end']);
  });

  it('is not watched for when the lease was lost before it was ready', async () => {
    const { leading, log, ready } = scriptedLeading();
    const watch = () => {
      log.push('watch');
      return () => undefined;
    };
    const harness = new ManagerHarness([{ worksOn: 'leader', built: { leading, watch } }]);
    await waitFor(() => harness.elector.isRunning);
    void harness.elector.win(1);
    const lost = harness.elector.lose(new LeaseLostError('taken'));
    ready.resolve();
    await lost;
    expect(log).toEqual(['run', 'end']);
    await harness.end();
  });

  it('ends the leading, with all other work, when its leading work fails', async () => {
    const { failed, leading } = scriptedLeading();
    const other = scriptedLeading();
    other.ready.resolve();
    const harness = new ManagerHarness([
      { built: { leading } },
      { name: 'other', built: { leading: other.leading } },
    ]);
    await waitFor(() => harness.elector.isRunning);
    const term = harness.elector.win(1);
    const outcome = expect(term).rejects.toThrow('out of order');
    failed.reject(new Error('out of order'));
    await outcome;
    expect(other.log).toEqual(['run', 'end']);
    await harness.end().catch(() => undefined);
  });
});
