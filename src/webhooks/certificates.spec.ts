import { X509Certificate } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../machinery/clock/index.js';
import { silentLogger } from '../machinery/logging/index.js';
import { Secret } from '../runtime/index.js';
import { FakeCluster } from '../testing/fake-cluster.js';
import { SecretCertificates } from './certificates.js';
import { authoritiesIn } from './decide-certificates.js';

const DAY_MS = 86_400_000;
const SECRET = { namespace: 'ops', name: 'hooks' };
const HOSTS = ['hooks.ops.svc'];

describe('certificates in a Secret', () => {
  let clock: FakeClock;
  let cluster: FakeCluster;
  const source = (hosts: readonly string[] = HOSTS) =>
    new SecretCertificates({ client: cluster, clock, logger: silentLogger, secret: SECRET, hosts });
  const isTrusted = (cert: string, ca = '') =>
    authoritiesIn(ca).some((pem) => new X509Certificate(cert).verify(new X509Certificate(pem).publicKey));

  beforeEach(() => {
    clock = new FakeClock();
    cluster = new FakeCluster(clock);
  });

  it('are made once, by whichever replica is first, and shared', async () => {
    const [a, b] = await Promise.all([source().look(false, undefined), source().look(false, undefined)]);
    expect(a).toEqual(b);
    expect(isTrusted(a.served.cert, a.ca)).toBe(true);
    expect(new X509Certificate(a.served.cert).checkHost('hooks.ops.svc')).toBe('hooks.ops.svc');
    expect(cluster.requests.filter(({ verb }) => verb === 'create').length).toBeLessThanOrEqual(2);
    expect(await source().look(true, a.ca)).toEqual(a);
  });

  it('are made again where the Secret holds something else', async () => {
    const first = await source().look(true, undefined);
    await cluster.patch(Secret, SECRET, { type: 'merge', body: { data: { 'tls.crt': 'bm90aGluZw==' } } });
    const second = await source().look(false, first.ca);
    expect(second.served.cert).not.toBe(first.served.cert);
    expect(isTrusted(second.served.cert, second.ca)).toBe(true);
  });

  it('are renewed before they expire, by the replica in charge', async () => {
    const first = await source().look(true, undefined);
    await clock.advance(300 * DAY_MS);
    expect(await source().look(false, first.ca)).toEqual(first);
    const renewed = await source().look(true, first.ca);
    expect(renewed.ca).toBe(first.ca);
    expect(renewed.served.cert).not.toBe(first.served.cert);
  });

  it('change their authority in two steps: it is trusted everywhere before a certificate is shown', async () => {
    let held = await source().look(true, undefined);
    const first = held.ca;
    await clock.advance(9.2 * 365 * DAY_MS);
    held = await source().look(true, first);
    // Both are trusted, and the certificate is still one of the former, or expired.
    expect(authoritiesIn(held.ca ?? '')).toHaveLength(2);
    const [newest = ''] = authoritiesIn(held.ca ?? '');
    const isNew = ({ served }: typeof held) =>
      new X509Certificate(served.cert).verify(new X509Certificate(newest).publicKey);
    expect(isNew(held)).toBe(false);
    held = await source().look(true, held.ca);
    expect(isNew(held)).toBe(true);
    expect(isTrusted(held.served.cert, held.ca)).toBe(true);
  });

  it('are for the hosts that the server has now', async () => {
    const first = await source().look(true, undefined);
    const second = await source(['hooks.other.svc']).look(true, first.ca);
    expect(new X509Certificate(second.served.cert).checkHost('hooks.other.svc')).toBe('hooks.other.svc');
  });
});
