import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../clock/index.js';
import { FakeClock } from '../clock/index.js';
import { LeaseLostError } from '../errors/index.js';
import type { HealthCheck, HealthEndpoint } from '../health/index.js';
import { EventLoopMonitor, HealthRegistry } from '../health/index.js';
import { PODS } from '../kubernetes/index.js';
import type { CheckedParts } from './health-checks.js';
import { registerHealthChecks } from './health-checks.js';

interface Situation {
  managerState?: string;
  leaseError?: Error;
  leads?: boolean;
  synced?: boolean;
  consuming?: boolean;
  reconcileOn?: 'all' | 'leader';
  eventLoop?: HealthCheck;
}

/** Which checks fail, by endpoint. */
async function failures(situation: Situation): Promise<Record<HealthEndpoint, string[]>> {
  const { consuming = true, eventLoop, leads = true, managerState = 'running', synced = true } = situation;
  const registry = new HealthRegistry();
  const parts = {
    manager: { state: managerState },
    informers: { all: () => [{ hasSynced: synced, type: PODS }] },
    elector: {
      isLeader: leads,
      checkHealth: () =>
        situation.leaseError ? Promise.reject(situation.leaseError) : Promise.resolve(undefined),
    },
    controllers: [{ controller: { name: 'deployment', isConsuming: consuming } }],
    client: { ping: () => Promise.resolve() },
    actors: { ping: () => Promise.resolve() },
    eventLoop: eventLoop ?? new EventLoopMonitor(new FakeClock()),
    reconcileOn: situation.reconcileOn ?? 'all',
  } as unknown as CheckedParts;
  registerHealthChecks(registry, parts);
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

/** An event loop that was held up for longer than its limit. */
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

  it('are all that docs/HEALTH.md says is tested here', () => {
    const path = fileURLToPath(new URL('../../docs/HEALTH.md', import.meta.url));
    const rows = readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => /\| unit *\|$/.test(line));
    expect(rows.map((line) => line.split('|')[1]?.trim()).sort()).toEqual(
      ROWS.map(({ fault }) => fault).sort(),
    );
  });
});
