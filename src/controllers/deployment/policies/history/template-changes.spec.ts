import { describe, expect, it } from 'vitest';
import { changesOfTemplate, renderChange, withoutSecrets } from './template-changes.js';

const template = (change: (spec: Record<string, unknown>) => void = () => undefined) => {
  const spec = {
    containers: [
      {
        name: 'app',
        image: 'app:1',
        env: [
          { name: 'LEVEL', value: 'info' },
          { name: 'TOKEN', valueFrom: { secretKeyRef: { name: 'api', key: 'token' } } },
        ],
        resources: { limits: { memory: '64Mi' } },
        ports: [{ containerPort: 80 }],
        command: ['serve', '--fast'],
      },
    ],
  };
  change(spec);
  return { metadata: { labels: { app: 'web' } }, spec };
};
const container = (spec: Record<string, unknown>) =>
  (spec as { containers: Record<string, unknown>[] }).containers[0]!;
const rendered = (from: object, to: object): string[] => changesOfTemplate(from, to).map(renderChange);

describe('the differences of two pod templates', () => {
  it('is nothing between equal ones apart from the hash that a ReplicaSet adds', () => {
    const hashed = { ...template(), metadata: { labels: { app: 'web', 'pod-template-hash': 'abc' } } };
    expect(rendered(template(), hashed)).toEqual([]);
  });

  it('is named as a person names it: the container, and the field or the variable in it', () => {
    const other = template((spec) => {
      container(spec)['image'] = 'app:2';
      container(spec)['env'] = [
        { name: 'ADDED', value: '' },
        { name: 'LEVEL', value: 'debug' },
      ];
      container(spec)['resources'] = { limits: { memory: '128Mi' } };
      container(spec)['command'] = ['serve'];
    });
    expect(rendered(template(), other)).toEqual([
      'container app: image app:1 → app:2',
      'container app: env LEVEL info → debug',
      'container app: env TOKEN removed: {"name":"TOKEN","valueFrom":{"secretKeyRef":{"name":"api","key":"token"}}}',
      'container app: env ADDED added: ""',
      'container app: resources.limits.memory 64Mi → 128Mi',
      'container app: command ["serve","--fast"] → ["serve"]',
    ]);
  });

  it('is a container that came or went, a label, an annotation and a field of the pod', () => {
    const other = {
      metadata: { labels: { app: 'web', tier: 'front' }, annotations: { restarted: 'now' } },
      spec: {
        containers: [...(template().spec.containers as object[]), { name: 'proxy', image: 'proxy:1' }],
        nodeName: 'a',
      },
    };
    expect(rendered(template(), other)).toEqual([
      'label tier added: front',
      'annotation restarted added: now',
      'container proxy added: {"name":"proxy","image":"proxy:1"}',
      'nodeName added: a',
    ]);
    expect(rendered(other, template())[2]).toBe(
      'container proxy removed: {"name":"proxy","image":"proxy:1"}',
    );
  });

  it('can be said without values that may be secret', () => {
    const other = template((spec) => {
      container(spec)['image'] = 'app:2';
      container(spec)['env'] = [{ name: 'LEVEL', value: 'secret' }];
      container(spec)['command'] = ['serve', '--password=secret'];
    });
    expect(changesOfTemplate(template(), other).map(withoutSecrets).map(renderChange)).toEqual([
      'container app: image app:1 → app:2',
      'container app: env LEVEL changed',
      'container app: env TOKEN removed',
      'container app: command changed',
    ]);
  });

  it('keeps a long value to a length that people read', () => {
    const other = template((spec) => (container(spec)['image'] = 'x'.repeat(1000)));
    expect(rendered(template(), other)[0]!.length).toBeLessThan(260);
  });
});
