import { describe, expect, it } from 'vitest';
import type { Service } from '../../runtime/index.js';
import { freeAddress, isSameAddress, CLEANUP_FINALIZER, decideLoadBalancer } from './decide-load-balancer.js';

interface Parts {
  readonly metadata?: Partial<Service['metadata']>;
  readonly spec?: Partial<Service['spec']>;
  readonly ips?: readonly string[];
}

const aService = ({ ips, metadata, spec }: Parts = {}): Service => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', namespace: 'a', ...metadata },
  spec: { type: 'LoadBalancer', ...spec },
  ...(ips && { status: { loadBalancer: { ingress: ips.map((ip) => ({ ip })) } } }),
});

const OURS = { finalizers: [CLEANUP_FINALIZER] };
const decide = (parts: Parts, ...taken: string[]) => decideLoadBalancer(aService(parts), new Set(taken));

describe('a Service', () => {
  it('gets the first address that nobody has', () => {
    expect(decide({}, '198.51.100.1')).toEqual({ action: 'ensure', addresses: ['198.51.100.2'] });
  });

  it('keeps what it has, and nothing is written again', () => {
    expect(decide({ metadata: OURS, ips: ['198.51.100.9'] })).toEqual({ action: 'nothing' });
  });

  it('is protected although it has its address', () => {
    expect(decide({ ips: ['198.51.100.9'] })).toEqual({ action: 'ensure', addresses: ['198.51.100.9'] });
  });

  it('gets another address where two have the same', () => {
    const twice = decide({ metadata: OURS, ips: ['198.51.100.1'] }, '198.51.100.1');
    expect(twice).toEqual({ action: 'ensure', addresses: ['198.51.100.2'] });
  });

  it('gets one of each of its families', () => {
    const ipFamilies: ('IPv4' | 'IPv6')[] = ['IPv6', 'IPv4'];
    expect(decide({ spec: { ipFamilies } })).toEqual({
      action: 'ensure',
      addresses: ['2001:db8::1', '198.51.100.1'],
    });
  });

  it('gets the address that it asks for, unless somebody has it', () => {
    const spec: Parts['spec'] = { ipFamilies: ['IPv6'], loadBalancerIP: '2001:db8:0::5' };
    expect(decide({ spec })).toEqual({ action: 'ensure', addresses: ['2001:db8:0::5'] });
    expect(decide({ spec }, '2001:db8::5')).toMatchObject({ action: 'fail' });
  });

  it.each<[string, Parts, string]>([
    ['is of another type', { spec: { type: 'ClusterIP' } }, 'nothing'],
    ['has become another type', { metadata: OURS, spec: { type: 'NodePort' } }, 'release'],
    ['has a class', { spec: { loadBalancerClass: 'example.com/lb' } }, 'nothing'],
    ['is being deleted', { metadata: { ...OURS, deletionTimestamp: '2026-01-01T00:00:00Z' } }, 'release'],
  ])('has no balancer if it %s, or gives it back', (_why, parts, action) => {
    expect(decide(parts)).toEqual({ action });
  });
});

describe('the addresses', () => {
  it('are those of documentation, and come to an end', () => {
    const taken = new Set<string>();
    for (let next = freeAddress('IPv4', taken); next; next = freeAddress('IPv4', taken)) taken.add(next);
    expect(taken.size).toBe(762);
    for (const address of taken) expect(address).toMatch(/^(198\.51\.100|203\.0\.113|192\.0\.2)\.\d+$/);
    expect(decideLoadBalancer(aService(), taken)).toMatchObject({ action: 'fail' });
  });

  it('are the same however they are written', () => {
    expect(isSameAddress('2001:db8::5', '2001:0db8:0:0::5')).toBe(true);
    expect(isSameAddress('2001:db8::5', '2001:db8::6')).toBe(false);
    expect(isSameAddress('192.0.2.1', '192.0.2.1')).toBe(true);
  });
});
