import { describe, expect, it } from 'vitest';
import { PodAddresses, nodeAddressOf, podCidrOf } from './pod-addresses.js';

describe('PodAddresses', () => {
  it('gives each pod one address of its node, and never one that another pod has', () => {
    const addresses = new PodAddresses();
    addresses.learn('old', '10.0.0.2');
    expect(addresses.addressFor('a', 0)).toBe('10.0.0.3');
    expect(addresses.addressFor('a', 0)).toBe('10.0.0.3');
    expect(addresses.addressFor('b', 0)).toBe('10.0.0.4');
    expect(addresses.addressFor('c', 1)).toBe('10.0.64.2');
  });

  it('gives a released address again, but only after all others', () => {
    const addresses = new PodAddresses();
    const first = addresses.addressFor('first', 0);
    addresses.release('first');
    const later = Array.from({ length: 16_380 }, (_, index) => addresses.addressFor(`pod-${index}`, 0));
    expect(later).not.toContain(first);
    expect(new Set(later).size).toBe(16_380);
    expect(addresses.addressFor('last', 0)).toBe(first);
  });

  it('keeps nodes and pods apart', () => {
    expect(podCidrOf(0)).toBe('10.0.0.0/18');
    expect(podCidrOf(999)).toBe('10.249.192.0/18');
    expect(nodeAddressOf(300)).toBe('172.18.1.46');
  });
});
