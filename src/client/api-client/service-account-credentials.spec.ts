import { describe, expect, it, vi } from 'vitest';
import { FakeClock, SeededRandom } from '../../machinery/clock/index.js';
import { Namespace, ServiceAccount } from '../../machinery/kubernetes/index.js';
import type { ResourceType } from '../../machinery/kubernetes/index.js';
import { ApiStatusError } from './api-status-error.js';
import { fixedCredentials } from './credentials.js';
import { connectionFor, serviceAccountCredentials } from './service-account-credentials.js';

describe('the credentials of a service account', () => {
  function make() {
    const clock = new FakeClock();
    let count = 0;
    const create = vi.fn(async (_type: unknown, _object: unknown, _options?: unknown) => ({
      status: {
        token: `t${++count}`,
        expirationTimestamp: new Date(clock.now() + 3_600_000).toISOString(),
      },
    }));
    const credentials = serviceAccountCredentials({
      client: { create } as never,
      serviceAccount: { namespace: 'kube-system', name: 'deployment-controller' },
      clock,
      random: new SeededRandom(1),
    });
    return { clock, create, credentials };
  }

  it('are tokens that the API is asked for by its own name', async () => {
    const { create, credentials } = make();
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer t1' });
    expect(create.mock.calls).toEqual([
      [
        ServiceAccount,
        {
          apiVersion: 'authentication.k8s.io/v1',
          kind: 'TokenRequest',
          metadata: { namespace: 'kube-system', name: 'deployment-controller' },
          spec: { expirationSeconds: 3600 },
        },
        { subresource: 'token' },
      ],
    ]);
  });

  it('are renewed well before they expire, and used to the end where that fails', async () => {
    const { clock, create, credentials } = make();
    await credentials.headers();
    await clock.advance(2_500_000);
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer t1' });
    await clock.advance(400_000);
    create.mockRejectedValueOnce(new Error('away'));
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer t1' });
    await clock.advance(2_000);
    expect(await credentials.headers()).toEqual({ authorization: 'Bearer t2' });
  });

  it.each([
    { there: ['kube-system'], made: ['serviceaccounts'] },
    { there: [], made: ['namespaces', 'serviceaccounts'] },
  ])(
    'are of an account that is created where it is missing, and so is its namespace: $made',
    async ({ there, made }) => {
      const { create, credentials } = make();
      const known = new Set<string>(there);
      const created: string[] = [];
      const issue = create.getMockImplementation()!;
      const failing = (code: number, reason: string) => new ApiStatusError({ code, reason });
      create.mockImplementation(async (type, object, options) => {
        const { name, namespace } = (object as { metadata: { name: string; namespace?: string } }).metadata;
        if (namespace !== undefined && !known.has(namespace)) throw failing(404, 'NotFound');
        if (options === undefined) {
          created.push((type as ResourceType).resource);
          // Another replica creates the account at the same moment.
          const isAccount = type === ServiceAccount;
          known.add(name);
          if (isAccount) throw failing(409, 'AlreadyExists');
          expect(type).toBe(Namespace);
        } else if (!known.has(name)) throw failing(404, 'NotFound');
        return issue(type, object, options);
      });
      expect(await credentials.headers()).toHaveProperty('authorization');
      expect(created).toEqual(made);
    },
  );

  it('name the account that no token is to be had for', async () => {
    const { create, credentials } = make();
    create.mockRejectedValue(new Error('forbidden'));
    await expect(credentials.headers()).rejects.toThrow(
      'no token for the service account kube-system/deployment-controller: forbidden',
    );
  });
});

describe('a connection for somebody else', () => {
  it('leaves out the certificate that says who we are, and follows one that is rotated', () => {
    let tls = { ca: 'CA', cert: 'C', key: 'K' };
    const ours = {
      serverUrl: 'https://h',
      get tls() {
        return tls;
      },
      credentials: fixedCredentials({ 'impersonate-user': 'x' }),
      source: 'test',
    };
    const credentials = fixedCredentials({});
    const theirs = connectionFor(ours, credentials);
    expect(theirs).toMatchObject({ serverUrl: 'https://h', credentials });
    const before = theirs.tls;
    expect(before).toEqual({ ca: 'CA', cert: undefined, key: undefined });
    expect(theirs.tls).toBe(before);
    tls = { ...tls, ca: 'CA2' };
    expect(theirs.tls).toMatchObject({ ca: 'CA2' });
  });
});
