import { describe, expect, it } from 'vitest';
import type { IPAddress, ServiceCIDR } from '../../machinery/kubernetes/index.js';
import { mayGo } from './service-cidr.js';

const aCidr = (name: string, ...cidrs: string[]): ServiceCIDR => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name },
  spec: { cidrs },
});
const anAddress = (name: string, by = 'ipallocator.k8s.io'): IPAddress => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'IPAddress',
  metadata: { name, labels: { 'ipaddress.kubernetes.io/managed-by': by } },
  spec: { parentRef: { resource: 'services', name: 'web' } },
});

describe('a ServiceCIDR that is being deleted', () => {
  const cidr = aCidr('old', '10.96.0.0/24', '2001:db8::/64');

  it.each<[boolean, string, ServiceCIDR[], IPAddress[]]>([
    [true, 'no address is in it', [], [anAddress('10.97.0.1')]],
    [false, 'an address is in it alone', [], [anAddress('10.96.0.7')]],
    [false, 'an IPv6 address is in it alone', [], [anAddress('2001:db8::7')]],
    [true, 'its addresses are in another one', [aCidr('new', '10.96.0.0/28')], [anAddress('10.96.0.7')]],
    [false, 'not all are', [aCidr('new', '10.96.0.0/28')], [anAddress('10.96.0.7'), anAddress('10.96.0.99')]],
    [
      true,
      'all its networks are in others',
      [aCidr('large', '10.96.0.0/16', '2001:db8::/32')],
      [anAddress('10.96.0.7')],
    ],
    [true, 'no allocator made the address', [], [anAddress('10.96.0.7', 'people')]],
  ])('may go: %s, where %s', (expected, _why, others, addresses) => {
    expect(mayGo(cidr, others, addresses)).toBe(expected);
  });
});
