import { describe, expect, it } from 'vitest';
import { ApiStatusError } from '../../../client/api-client/index.js';
import { FakeClock } from '../../../machinery/clock/index.js';
import { PROBE_EVERY_MS, RefusalProbes, causeOf } from './refusal-probes.js';
import type { RefusedKey } from './refusal-probes.js';

const refusal = (message: string, code = 403) => new ApiStatusError({ code, message });
const DENIED = refusal(
  `pods "web-1" is forbidden: ValidatingAdmissionPolicy 'size' with binding 'all' denied request: too big`,
);
const UNREACHABLE = refusal(
  'Internal error occurred: failed calling webhook "check.example.com": failed to call webhook: connection refused',
  500,
);
const refused = (key: string, controller = 'replicaset'): RefusedKey => ({ controller, key });

function someProbes() {
  const clock = new FakeClock();
  const [probed, woken]: [string[], string[]] = [[], []];
  const probes = new RefusalProbes({
    clock,
    probe: async ({ key }) => void probed.push(key),
    wake: async ({ key }) => void woken.push(key),
  });
  return { clock, probed, probes, woken };
}

describe('keys that a policy or a webhook refuses', () => {
  it.each([
    [DENIED, "ValidatingAdmissionPolicy 'size' with binding 'all'"],
    [UNREACHABLE, 'webhook "check.example.com"'],
    [refusal('admission webhook "check.example.com" denied the request: no'), 'webhook "check.example.com"'],
    [
      new Error('could not create a pod', { cause: DENIED }),
      "ValidatingAdmissionPolicy 'size' with binding 'all'",
    ],
    [refusal('pods "web-1" is forbidden: violates PodSecurity'), undefined],
    [new Error('socket hang up'), undefined],
  ])('have it as their cause: %s', (error, cause) => {
    expect(causeOf(error)).toBe(cause);
  });

  it('are tried one by one, one of each cause and namespace at a time', async () => {
    const { clock, probed, probes } = someProbes();
    for (const key of ['shop/a', 'shop/b', 'bank/c']) probes.refused(refused(key), DENIED);
    probes.refused(refused('shop/d'), UNREACHABLE);
    probes.refused(refused('shop/e'), refusal('no room'));
    await clock.advance(PROBE_EVERY_MS - 1);
    expect(probed).toEqual([]);
    await clock.advance(1);
    expect(probed.splice(0)).toEqual(['shop/a', 'bank/c', 'shop/d']);
    await clock.advance(PROBE_EVERY_MS);
    expect(probed.splice(0)).toEqual(['shop/b', 'bank/c', 'shop/d']);
  });

  it('are all woken when one of them is accepted, and those of other causes are not', async () => {
    const { clock, probed, probes, woken } = someProbes();
    for (const key of ['shop/a', 'shop/b', 'bank/c']) probes.refused(refused(key), DENIED);
    probes.refused(refused('shop/d'), UNREACHABLE);
    probes.accepted(refused('shop/a'));
    expect(woken.splice(0)).toEqual(['shop/b']);
    probes.accepted(refused('shop/other'));
    probes.drop(refused('bank/c'));
    expect(woken).toEqual([]);
    await clock.advance(PROBE_EVERY_MS);
    expect(probed).toEqual(['shop/b', 'shop/d']);
  });

  it('cost nothing once there are none, or the replica stops', async () => {
    const { clock, probes } = someProbes();
    probes.refused(refused('shop/a'), DENIED);
    probes.accepted(refused('shop/a'));
    await clock.advance(PROBE_EVERY_MS);
    expect(clock.pendingTimers).toBe(0);
    probes.refused(refused('shop/b'), UNREACHABLE);
    probes.stop();
    expect(clock.pendingTimers).toBe(0);
    probes.refused(refused('shop/c'), UNREACHABLE);
    expect(clock.pendingTimers).toBe(0);
  });
});
