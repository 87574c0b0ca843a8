import { beforeEach, describe, expect, it } from 'vitest';
import { MemoryStorage } from '../../storage/index.js';
import { ServiceAddresses } from './service-addresses.js';

const namespace = 'shop';
const wanted = { namespace, name: 'hook', port: 443 };

describe('the Service of a webhook', () => {
  let storage: MemoryStorage;
  const store = (resource: string, name: string, rest: object) => {
    const object = { apiVersion: 'v1', kind: 'Any', metadata: { namespace, name }, ...rest };
    return storage.create({ resource, namespace, name }, object);
  };
  const aSlice = (endpoint: object) =>
    store('endpointslices.discovery.k8s.io', 'hook-1', {
      metadata: { namespace, name: 'hook-1', labels: { 'kubernetes.io/service-name': 'hook' } },
      endpoints: [{ addresses: ['10.0.0.1'], ...endpoint }],
      ports: [{ port: 8443 }],
    });
  const target = (kind: string) => ({ targetRef: { kind, name: 'it' } });
  const found = () => new ServiceAddresses(storage).addressOf(wanted);

  beforeEach(async () => {
    storage = new MemoryStorage();
    await store('services', 'hook', { spec: { ports: [{ port: 443 }] } });
  });

  it('is what an endpoint says that somebody has written', async () => {
    await aSlice({});
    expect(await found()).toBe('10.0.0.1:8443');
  });

  it('is nowhere behind a simulated pod, whoever else may have that address', async () => {
    await aSlice(target('Pod'));
    await expect(found()).rejects.toThrow('dial tcp 10.0.0.1:8443: connect: connection refused');
  });

  it('is looked for in Endpoints by the same rule', async () => {
    const addresses = [{ ip: 'fd00::1', ...target('Pod') }];
    await store('endpoints', 'hook', { subsets: [{ addresses, ports: [{ port: 8443 }] }] });
    await expect(found()).rejects.toThrow('dial tcp [fd00::1]:8443: connect: connection refused');
  });

  it('is what was given for it, pods or not', async () => {
    await aSlice(target('Pod'));
    const given = new ServiceAddresses(storage, { 'shop/hook': '127.0.0.1:9443' });
    expect(await given.addressOf(wanted)).toBe('127.0.0.1:9443');
  });
});
