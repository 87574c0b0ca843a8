import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../machinery/kubernetes/index.js';
import { decideDrift } from './decide-drift.js';

interface Shape {
  readonly name?: string;
  readonly proxy?: string;
  readonly token?: string;
  readonly edit?: (pod: Pod) => void;
}

/** A pod with a sidecar, as a webhook of a mesh injects it. */
function aPod({ edit, name = 'web-a', proxy = 'proxy:1', token = 'abcde' }: Shape = {}): Pod {
  const mount = { name: `kube-api-access-${token}`, mountPath: '/var/run/secrets/token', readOnly: true };
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace: 'default' },
    spec: {
      containers: [
        { name: 'web', image: 'web:1', volumeMounts: [mount] },
        { name: 'proxy', image: proxy, args: ['--id', `${name}.default`], volumeMounts: [mount] },
      ],
      volumes: [{ name: `kube-api-access-${token}`, projected: { sources: [] } }],
    },
  };
  edit?.(pod);
  return pod;
}

const dry = (proxy: string, edit?: (pod: Pod, index: number) => void): readonly [Pod, Pod] => [
  aPod({ name: 'web-x', token: 'xxxxx', proxy, edit: (pod) => edit?.(pod, 0) }),
  aPod({ name: 'web-y', token: 'yyyyy', proxy, edit: (pod) => edit?.(pod, 1) }),
];

describe('the drift of running pods from what admission gives new ones', () => {
  it('is none for what differs between equal pods: names, volumes of tokens, nodes and requests', () => {
    const running = aPod({
      edit: ({ spec }) => {
        spec.nodeName = 'node-1';
        spec.priority = 5;
        spec.containers[0]!.resources = { requests: { cpu: '2' } };
      },
    });
    expect(decideDrift([running, aPod({ name: 'web-b' })], dry('proxy:1'))).toBeUndefined();
  });

  it('is told by the parts that differ, and by how many pods have them, without a value', () => {
    const drift = decideDrift([aPod(), aPod({ name: 'web-b', proxy: 'proxy:2' })], dry('proxy:2'));
    expect(drift).toMatchObject({ stale: 1, pods: 2, parts: ['containers/proxy/image'] });
    expect(drift?.digest).toMatch(/^[0-9a-f]{16}$/);
  });

  it('is a sidecar that comes, and one that goes', () => {
    const without = (pod: Pod): void => void pod.spec.containers.pop();
    expect(decideDrift([aPod({ edit: without })], dry('proxy:1'))?.parts).toContain('containers/proxy/image');
    expect(decideDrift([aPod()], dry('proxy:1', without))?.parts).toContain('containers/proxy/image');
  });

  it('leaves out what differs between two new pods as well: a webhook that adds a time or a random text', () => {
    const stamp = (pod: Pod, index: number): void => {
      pod.spec.containers[1]!.env = [{ name: 'STARTED', value: `second ${index}` }];
    };
    const running = aPod({ edit: (pod) => stamp(pod, 9) });
    expect(decideDrift([running], dry('proxy:1', stamp))).toBeUndefined();
    expect(decideDrift([running], dry('proxy:2', stamp))?.parts).toEqual(['containers/proxy/image']);
  });

  it('leaves out names that differ between two new pods as well: a volume or a sidecar with a random name', () => {
    const named = (pod: Pod, index: number): void => {
      pod.spec.volumes?.push({ name: `secrets-${index}`, emptyDir: {} });
      pod.spec.containers.push({ name: `side-${index}`, image: 'side:1' });
    };
    const running = aPod({ edit: (pod) => named(pod, 9) });
    expect(decideDrift([running], dry('proxy:1', named))).toBeUndefined();
    expect(decideDrift([running], dry('proxy:2', named))?.parts).toEqual(['containers/proxy/image']);
  });

  it('has one digest for the same pods, and another for other ones', () => {
    const of = (proxy: string) => decideDrift([aPod({ proxy: 'proxy:0' })], dry(proxy))?.digest;
    expect(of('proxy:1')).toBe(of('proxy:1'));
    expect(of('proxy:1')).not.toBe(of('proxy:2'));
  });

  it('names a few parts, and counts the others', () => {
    const many = ({ spec }: Pod): void => {
      for (let index = 0; index < 8; index++) spec.containers.push({ name: `side-${index}`, image: 's' });
    };
    const parts = decideDrift([aPod()], dry('proxy:1', many))?.parts ?? [];
    expect(parts).toHaveLength(6);
    expect(parts.at(-1)).toBe('11 more');
  });
});
