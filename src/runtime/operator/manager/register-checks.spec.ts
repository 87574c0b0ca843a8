import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../machinery/clock/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import { LeaseLostError } from '../../../machinery/errors/index.js';
import type { UnreadableResource } from '../../controller/index.js';
import type { HealthCheck, HealthEndpoint } from '../../health/index.js';
import { EventLoopMonitor, HealthRegistry } from '../../health/index.js';
import { Pod } from '../../../machinery/kubernetes/index.js';
import type { CheckedParts } from './register-checks.js';
import { registerChecks } from './register-checks.js';

/** A cache that the server does not list, and one that it does. */
const REFUSED = { type: Pod, hasSynced: false, trouble: { code: 403, reason: 'you may not list pods' } };
const LISTED = { type: Pod, hasSynced: true };

interface Situation {
  managerState?: string;
  leaseError?: Error;
  leads?: boolean;
  synced?: boolean;
  consuming?: boolean;
  reconcileOn?: 'all' | 'leader';
  eventLoop?: HealthCheck;
  /** @default LISTED */
  cache?: typeof REFUSED | typeof LISTED;
  /** A second controller, which only works on the leader. @default none */
  collector?: { consuming: boolean; isReady: boolean; unreadable?: readonly UnreadableResource[] };
}

function registryOf(situation: Situation): HealthRegistry {
  const { consuming = true, eventLoop, leads = true, managerState = 'running', synced = true } = situation;
  const { cache = { ...LISTED, hasSynced: synced }, collector } = situation;
  const registry = new HealthRegistry();
  const leaders = collector && {
    controller: { name: 'garbage-collector', isConsuming: collector.consuming },
    built: { leading: { isReady: collector.isReady }, unreadable: () => collector.unreadable ?? [] },
    worksOn: 'leader',
  };
  const parts = {
    manager: { state: managerState },
    informers: { all: () => [cache] },
    election: {
      isLeader: leads,
      checkHealth: () =>
        situation.leaseError ? Promise.reject(situation.leaseError) : Promise.resolve(undefined),
    },
    controllers: [
      { controller: { name: 'deployment', isConsuming: consuming }, built: {}, needs: [cache] },
      ...(leaders ? [leaders] : []),
    ],
    client: { ping: () => Promise.resolve() },
    coordination: { name: 'redis', ping: () => Promise.resolve() },
    eventLoop: eventLoop ?? new EventLoopMonitor(new FakeClock()),
    reconcileOn: situation.reconcileOn ?? 'all',
  } as unknown as CheckedParts;
  registerChecks(registry, parts);
  return registry;
}

/** The failing checks, by endpoint. */
async function failures(situation: Situation): Promise<Record<HealthEndpoint, string[]>> {
  const registry = registryOf(situation);
  const failing = async (endpoint: HealthEndpoint): Promise<string[]> => {
    const results = registry.of(endpoint).map(async (check) => {
      try {
        await check.check();
        return [];
      } catch {
        return [check.name];
      }
    });
    return (await Promise.all(results)).flat();
  };
  return { livez: await failing('livez'), readyz: await failing('readyz') };
}

/** The notes of healthy readyz checks. */
async function notes(situation: Situation): Promise<Record<string, string>> {
  const told: Record<string, string> = {};
  for (const check of registryOf(situation).of('readyz')) {
    const note = await check.check();
    if (typeof note === 'string') told[check.name] = note;
  }
  return told;
}

/** An event loop that was blocked for longer than its limit. */
async function aHeldUpEventLoop(): Promise<EventLoopMonitor> {
  const clock = new FakeClock();
  let heldUpMs = 0;
  const late: Clock = {
    now: () => clock.now(),
    monotonicNow: () => clock.monotonicNow() + heldUpMs,
    setTimeout: (callback, ms) => clock.setTimeout(callback, ms),
    sleep: async (ms, signal) => {
      await clock.sleep(ms, signal);
      heldUpMs += 6000;
    },
  };
  const monitor = new EventLoopMonitor(late);
  const stop = new AbortController();
  const running = monitor.run(stop.signal);
  await clock.advance(500);
  stop.abort();
  await running;
  return monitor;
}

const WIDGETS: UnreadableResource = { resource: 'widgets.example.com', reason: 'you may not list widgets' };

const ROWS: readonly {
  readonly fault: string;
  readonly situation: () => Situation | Promise<Situation>;
  readonly livez?: string[];
  readonly readyz?: string[];
}[] = [
  {
    fault: 'leading work goes on after the lease ended',
    situation: () => ({ leaseError: new LeaseLostError('it ended 30 s ago') }),
    livez: ['leader-election'],
  },
  {
    fault: 'event loop held up for more than 5 s',
    situation: async () => ({ eventLoop: await aHeldUpEventLoop() }),
    livez: ['event-loop'],
  },
  { fault: 'caches not filled', situation: () => ({ synced: false }), readyz: ['informers-synced'] },
  {
    fault: '`--reconcile-on leader` and not leading',
    situation: () => ({ reconcileOn: 'leader', leads: false, consuming: false }),
  },
  {
    fault: 'a resource cannot be listed that one controller needs',
    situation: () => ({ cache: REFUSED, consuming: false, collector: { consuming: true, isReady: true } }),
  },
  {
    fault: 'no controller can list what it needs',
    situation: () => ({ managerState: 'starting', cache: REFUSED, consuming: false }),
    readyz: ['controller-deployment', 'informers-synced', 'running'],
  },
  {
    fault: 'garbage collector, not leading',
    situation: () => ({ leads: false, collector: { consuming: false, isReady: false } }),
  },
  {
    fault: 'garbage collector fills its caches after an election',
    situation: () => ({ collector: { consuming: false, isReady: false } }),
  },
  {
    fault: 'a kind that the garbage collector cannot read',
    situation: () => ({ collector: { consuming: true, isReady: true, unreadable: [WIDGETS] } }),
  },
];

describe('the checks of a replica', () => {
  it.each(ROWS)('$fault', async ({ livez = [], readyz = [], situation }) => {
    expect(await failures(await situation())).toEqual({ livez, readyz });
  });

  it('are not ready while it starts or stops', async () => {
    for (const managerState of ['created', 'starting', 'stopping', 'stopped'])
      expect(await failures({ managerState })).toEqual({ livez: [], readyz: ['running'] });
  });

  it('miss a consumer that should be at work', async () => {
    const leading = { reconcileOn: 'leader', leads: true, consuming: false } as const;
    expect((await failures(leading)).readyz).toEqual(['controller-deployment']);
    expect((await failures({ consuming: false })).readyz).toEqual(['controller-deployment']);
  });

  it('say which resources a controller waits for, and which it does without', async () => {
    const situation = { cache: REFUSED, consuming: false };
    const told = 'cannot read pods (you may not list pods)';
    expect(await notes(situation)).toEqual({
      'controller-deployment': `does not start: ${told}`,
      'informers-synced': told,
    });
    const synced = { ...REFUSED, hasSynced: true };
    const collector = { consuming: false, isReady: false, unreadable: [WIDGETS] };
    expect(await notes({ cache: synced, collector })).toEqual({
      'controller-deployment': told,
      'controller-garbage-collector':
        'fills its caches; cannot read widgets.example.com (you may not list widgets)',
    });
    expect(await notes({ collector: { consuming: true, isReady: true } })).toEqual({});
  });

  it('name ten resources and count the rest', async () => {
    const unreadable = Array.from({ length: 12 }, (_, index) => ({ resource: `r${index}`, reason: 'no' }));
    const { 'controller-garbage-collector': note = '' } = await notes({
      collector: { consuming: true, isReady: true, unreadable },
    });
    expect(note).toMatch(/^cannot read r0 \(no\), .*, r9 \(no\) and 2 more$/);
  });

  it('miss a consumer of the replica that leads, once its caches are filled', async () => {
    const collector = { consuming: false, isReady: true };
    expect((await failures({ collector })).readyz).toEqual(['controller-garbage-collector']);
  });

  it('are all that docs/HEALTH.md says is tested here', () => {
    const path = fileURLToPath(new URL('../../../../docs/HEALTH.md', import.meta.url));
    const rows = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => /\| unit *\|$/.test(line));
    expect(rows.map((line) => line.split('|')[1]?.trim()).sort()).toEqual(
      ROWS.map(({ fault }) => fault).sort(),
    );
  });
});
