import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Pod, EndpointSlice } from '../../machinery/kubernetes/index.js';
import { cloneJson, Service } from '../../machinery/kubernetes/index.js';
import { typeMeta } from '../../runtime/operator/kinds/kinds.js';
import { aPod } from '../../testing/pod-builder.js';
import { decideSlices } from './decide-slices.js';
import { decideSubsets } from './decide-subsets.js';

const aService = (spec: Partial<Service['spec']> = {}): Service => ({
  ...typeMeta(Service),
  metadata: { name: 'web', namespace: 'default', uid: 'uid-web', labels: { team: 'a' } },
  spec: {
    clusterIP: '10.0.0.1',
    selector: { app: 'web' },
    ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }],
    ...spec,
  },
});

function servingPod(index: number, port = 8080, traits: Parameters<typeof aPod>[0] = {}): Pod {
  const pod = aPod({ name: `web-${index}`, readySince: '2026-01-01T00:00:00Z', node: 'node-0', ...traits });
  pod.spec.containers = [{ name: 'web', ports: [{ name: 'http', containerPort: port }] }];
  pod.status = { ...pod.status, podIPs: [{ ip: `10.0.${index >> 8}.${index & 255}` }] };
  return pod;
}

const podsOf = (count: number): Pod[] => Array.from({ length: count }, (_, index) => servingPod(index));

/** The stored slices after executing a plan. */
function carryOut(slices: readonly EndpointSlice[], service: Service, pods: readonly Pod[]) {
  const before = cloneJson([...slices]);
  const plan = decideSlices(service, pods, slices);
  expect(slices).toEqual(before);
  const updated = new Map(plan.updates.map((slice) => [slice.metadata.name, slice]));
  const gone = plan.deletes.map(({ metadata }) => metadata.name);
  const kept = slices
    .filter(({ metadata }) => !gone.includes(metadata.name))
    .map((slice) => updated.get(slice.metadata.name) ?? slice);
  const created = plan.creates.map((slice, index) => {
    const name = `web-${slices.length}-${index}-${kept.length}-${Math.min(pods.length, 9999)}`;
    return { ...slice, metadata: { ...slice.metadata, name } };
  });
  const writes = plan.creates.length + plan.updates.length + plan.deletes.length;
  return { slices: [...kept, ...created], writes };
}

const addressesIn = (slices: readonly EndpointSlice[]) =>
  slices.flatMap(({ endpoints = [] }) => endpoints.flatMap(({ addresses }) => addresses)).sort();

describe('the slices of a Service', () => {
  it('hold at most 100 endpoints each', () => {
    const { slices } = carryOut([], aService(), podsOf(250));
    expect(slices.map(({ endpoints }) => endpoints?.length)).toEqual([100, 100, 50]);
  });

  it('keep apart pods that serve a named port under different numbers', () => {
    const { slices } = carryOut([], aService(), [servingPod(1, 80), servingPod(2, 81), servingPod(3, 80)]);
    expect(slices.map(({ endpoints, ports }) => [ports?.[0]?.port, endpoints?.length])).toEqual([
      [80, 2],
      [81, 1],
    ]);
  });

  it('are written where something changed, and nowhere else', () => {
    const first = carryOut([], aService(), podsOf(250));
    expect(carryOut(first.slices, aService(), podsOf(250)).writes).toBe(0);
    expect(carryOut(first.slices, aService(), podsOf(249)).writes).toBe(1);
    expect(carryOut(first.slices, aService(), podsOf(300)).writes).toBe(1);
  });

  it('show after any history the pods that there are, each once, and then rest', () => {
    const history = fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 400 }), { maxLength: 350 }), {
      minLength: 1,
      maxLength: 4,
    });
    fc.assert(
      fc.property(history, (states) => {
        let slices: EndpointSlice[] = [];
        for (const state of states) {
          const pods = state.map((index) => servingPod(index, 8080 + (index % 2)));
          ({ slices } = carryOut(slices, aService(), pods));
          expect(addressesIn(slices)).toEqual(pods.map(({ status }) => status?.podIPs?.[0]?.ip).sort());
          expect(slices.every(({ endpoints = [] }) => endpoints.length <= 100)).toBe(true);
          expect(carryOut(slices, aService(), pods).writes).toBe(0);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('the subsets of Endpoints', () => {
  const going = servingPod(3, 8080, { deletedAt: '2026-01-01T00:01:00Z' });

  it('leave out pods that are about to go, unless every state is published', () => {
    const pods = [servingPod(1), going];
    const namesIn = (service: Service) =>
      decideSubsets(service, pods).subsets.flatMap(({ addresses = [] }) =>
        addresses.map(({ targetRef }) => targetRef?.name),
      );
    expect(namesIn(aService())).toEqual(['web-1']);
    expect(namesIn(aService({ publishNotReadyAddresses: true }))).toEqual(['web-1', 'web-3']);
  });

  it('have no ports where a headless Service names none', () => {
    const { subsets } = decideSubsets(aService({ clusterIP: 'None', ports: undefined }), [servingPod(1)]);
    expect(subsets).toMatchObject([{ addresses: [{ ip: '10.0.0.1', nodeName: 'node-0' }] }]);
    expect(subsets[0]).not.toHaveProperty('ports');
  });

  it('leave out a pod that has no port of that name', () => {
    const pod = servingPod(1);
    pod.spec.containers = [{ name: 'web' }];
    expect(decideSubsets(aService(), [pod]).subsets).toEqual([]);
  });

  it('end at a thousand addresses, and say so', () => {
    const { isTruncated, subsets } = decideSubsets(aService(), podsOf(1001));
    expect(isTruncated).toBe(true);
    expect(subsets[0]?.addresses).toHaveLength(1000);
  });
});
