import { beforeEach, describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../client/api-client/index.js';
import { FakeClock } from '../../machinery/clock/index.js';
import { silentLogger } from '../../machinery/logging/index.js';
import { LeaseCandidacy } from './lease-candidate.js';
import { LeaseReleaseWatch } from './lease-release-watch.js';

type Server = ConstructorParameters<typeof LeaseReleaseWatch>[0] &
  ConstructorParameters<typeof LeaseCandidacy>[0]['client'];

/** How many requests a minute a server may see of one follower that it serves badly. */
const MOST_A_MINUTE = 120;

describe.each([
  { name: 'ends each watch at once', watch: () => undefined },
  {
    name: 'refuses each watch',
    watch: () => {
      throw statusError(500);
    },
  },
])('a server that $name', ({ watch }) => {
  let clock: FakeClock;
  let requests: number;
  let server: Server;
  const candidate = { metadata: { namespace: 'ns', name: 'a', resourceVersion: '1' }, spec: {} };

  beforeEach(() => {
    clock = new FakeClock();
    requests = 0;
    const answer = <T>(value: T): Promise<T> => {
      requests += 1;
      return Promise.resolve(value);
    };
    server = {
      list: () => answer({ items: [], resourceVersion: '1' }),
      get: () => answer(candidate),
      create: () => answer(candidate),
      update: () => answer(candidate),
      delete: () => answer(undefined),
      watch: async function* () {
        requests += 1;
        yield* [];
        watch();
      },
    } as unknown as Server;
  });

  it('is not asked in a hot loop by a follower that waits for the lease', async () => {
    const releases = new LeaseReleaseWatch(server, { namespace: 'ns', name: 'leader' }, clock);
    const stop = releases.onReleased(() => undefined);
    await clock.advance(60_000);
    stop();
    expect(requests).toBeGreaterThan(10);
    expect(requests).toBeLessThan(MOST_A_MINUTE);
  });

  it('is not asked in a hot loop by a candidate for the lease', async () => {
    const { stop, ended } = stand();
    await clock.advance(60_000);
    stop();
    await clock.advance(1000);
    await ended;
    expect(requests).toBeGreaterThan(10);
    expect(requests).toBeLessThan(MOST_A_MINUTE);
  });

  it('is not asked in a hot loop if it refuses each renewal of a candidate because of a conflict', async () => {
    server.update = () => {
      requests += 1;
      return Promise.reject(statusError(409));
    };
    const { stop, ended } = stand();
    await clock.advance(60_000);
    stop();
    await clock.advance(1000);
    await ended;
    expect(requests).toBeLessThan(MOST_A_MINUTE);
  });

  function stand(): { stop: () => void; ended: Promise<void> } {
    const options = { client: server, clock, logger: silentLogger };
    const candidacy = new LeaseCandidacy({
      ...options,
      ...{ namespace: 'ns', name: 'a', leaseName: 'leader', version: '1.0.0' },
    });
    const stop = new AbortController();
    return { ended: candidacy.run(stop.signal), stop: () => stop.abort() };
  }
});

function statusError(code: number): ApiStatusError {
  return new ApiStatusError({ code, reason: code === 409 ? 'Conflict' : 'InternalError' });
}
