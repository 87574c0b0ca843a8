import { describe, expect, it } from 'vitest';
import type { Service } from '@rollkeeper/runtime';
import type { EndpointSlice, Endpoints } from '../../machinery/kubernetes/index.js';
import { decideMirror, isMirrored } from './decide-mirror.js';

const http = { name: 'http', port: 80, protocol: 'TCP' as const };

function endpoints(subsets: Endpoints['subsets'], metadata: Partial<Endpoints['metadata']> = {}): Endpoints {
  return {
    ...{ apiVersion: 'v1', kind: 'Endpoints' },
    metadata: { name: 'db', namespace: 'default', uid: 'u', ...metadata },
    subsets,
  };
}

const service = (selector?: Record<string, string>): Service => ({
  ...{ apiVersion: 'v1', kind: 'Service' },
  metadata: { name: 'db', namespace: 'default' },
  spec: { ...(selector && { selector }) },
});

const stored = (slice: EndpointSlice | undefined, name: string): EndpointSlice => {
  if (!slice) throw new Error('there is no slice');
  return { ...slice, metadata: { ...slice.metadata, name, uid: name } };
};

describe('Endpoints', () => {
  it.each([
    { why: 'of a Service without a selector', given: endpoints([]), of: service(), is: true },
    { why: 'of a Service with one', given: endpoints([]), of: service({ app: 'web' }), is: false },
    { why: 'without a Service', given: endpoints([]), of: undefined, is: false },
    {
      why: 'that ask to be left alone',
      given: endpoints([], { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } }),
      of: service(),
      is: false,
    },
    {
      why: 'that are the lock of a leader',
      given: endpoints([], { annotations: { 'control-plane.alpha.kubernetes.io/leader': '{}' } }),
      of: service(),
      is: false,
    },
  ])('$why are mirrored: $is', ({ given, is, of }) => {
    expect(isMirrored(given, of)).toBe(is);
  });

  it('become a slice for each family, owned by them, with their labels and most annotations', () => {
    const given = endpoints(
      [
        {
          addresses: [{ ip: '10.0.0.1', nodeName: 'n' }, { ip: 'fd00::1' }],
          notReadyAddresses: [{ ip: '10.0.0.2', hostname: 'two' }],
          ports: [http],
        },
      ],
      {
        labels: { team: 'a' },
        annotations: { note: 'x', 'endpoints.kubernetes.io/last-change-trigger-time': 't' },
      },
    );
    const { creates, deletes, updates } = decideMirror(given, []);
    expect([deletes, updates]).toEqual([[], []]);
    expect(creates.map(({ addressType, endpoints: own }) => [addressType, own])).toEqual([
      [
        'IPv4',
        [
          { addresses: ['10.0.0.1'], conditions: { ready: true }, nodeName: 'n' },
          { addresses: ['10.0.0.2'], conditions: { ready: false }, hostname: 'two' },
        ],
      ],
      ['IPv6', [{ addresses: ['fd00::1'], conditions: { ready: true } }]],
    ]);
    expect(creates[0]?.ports).toEqual([http]);
    expect(creates[0]?.metadata).toMatchObject({
      generateName: 'db-',
      labels: {
        team: 'a',
        'kubernetes.io/service-name': 'db',
        'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
      },
      annotations: { note: 'x' },
      ownerReferences: [{ kind: 'Endpoints', name: 'db', uid: 'u', controller: true }],
    });
    expect(creates[0]?.metadata.annotations).toEqual({ note: 'x' });
  });

  it('are left alone if they are mirrored already, whatever the order of their addresses', () => {
    const first = endpoints([{ addresses: [{ ip: '10.0.0.1' }, { ip: '10.0.0.2' }], ports: [http] }]);
    const slice = stored(decideMirror(first, []).creates[0], 'db-1');
    const second = endpoints([{ addresses: [{ ip: '10.0.0.2' }, { ip: '10.0.0.1' }], ports: [http] }]);
    expect(decideMirror(second, [slice])).toMatchObject({ creates: [], updates: [], deletes: [] });
  });

  it('with other ports take over the slice that is no longer needed, and leave none over', () => {
    const given = (port: number) =>
      endpoints([{ addresses: [{ ip: '10.0.0.1' }], ports: [{ ...http, port }] }]);
    const slices = ['db-1', 'db-2'].map((name) => stored(decideMirror(given(80), []).creates[0], name));
    const { creates, deletes, updates } = decideMirror(given(81), slices);
    expect(creates).toEqual([]);
    expect(updates.map(({ metadata, ports }) => [metadata.name, ports?.[0]?.port])).toEqual([['db-1', 81]]);
    expect(deletes.map(({ metadata }) => metadata.name)).toEqual(['db-2']);
    expect(decideMirror(endpoints([]), slices).deletes).toHaveLength(2);
  });

  it('say how many addresses are none, and how many are too many', () => {
    const many = Array.from({ length: 1002 }, (_, index) => ({ ip: `10.0.${index >> 8}.${index & 255}` }));
    const plan = decideMirror(
      endpoints([{ addresses: [...many, { ip: 'db.example.com' }], ports: [http] }]),
      [],
    );
    expect(plan).toMatchObject({ invalid: 1, tooMany: 2 });
    expect(plan.creates[0]?.endpoints).toHaveLength(1000);
  });
});
