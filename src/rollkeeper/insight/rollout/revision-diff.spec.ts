import { describe, expect, it } from 'vitest';
import type { PodTemplateSpec } from '../../../machinery/kubernetes/index.js';
import { PLAIN } from '../../terminal/index.js';
import { decideDiff, renderDiff, revisionsToCompare } from './revision-diff.js';

type Container = PodTemplateSpec['spec'] extends infer Spec
  ? Spec extends { containers: (infer C)[] }
    ? C
    : never
  : never;

const template = (
  container: Partial<Container>,
  more: Omit<PodTemplateSpec, 'spec'> & { spec?: object } = {},
): PodTemplateSpec => ({
  metadata: { labels: { app: 'web' }, ...more.metadata },
  spec: { containers: [{ name: 'app', image: 'app:1', ...container }], ...more.spec },
});
const probe = (port: number) => ({
  readinessProbe: { httpGet: { port, httpHeaders: [{ name: 'Authorization', value: `secret-${port}` }] } },
});

describe('the differences of two revisions', () => {
  it('is in the order in which people ask, containers first', () => {
    const from = template({
      ...{ image: 'app:1', env: [{ name: 'LEVEL', value: 'info' }] },
      readinessProbe: { httpGet: { port: 80 } },
      resources: { limits: { memory: '64Mi' } },
    });
    const to = template(
      {
        ...{ image: 'app:2', env: [{ name: 'LEVEL', value: 'debug' }] },
        readinessProbe: { httpGet: { port: 8080 } },
        resources: { limits: { memory: '128Mi' } },
      },
      { metadata: { labels: { app: 'web', tier: 'front' } } },
    );
    const changes = decideDiff(from, to);
    expect(renderDiff('deployment.apps/web', { from: 1, to: 2, changes }, PLAIN)).toBe(
      [
        'deployment.apps/web: revision 1 → revision 2',
        'container app',
        '  image        image                        app:1 → app:2',
        '  environment  env LEVEL                    changed (values are not shown)',
        '  resources    resources.limits.memory      64Mi → 128Mi',
        '  probes       readinessProbe.httpGet.port  80 → 8080',
        'pod',
        '  other  label tier  added: front',
      ].join('\n'),
    );
  });

  const SECRETS: readonly (readonly [string, PodTemplateSpec, PodTemplateSpec])[] = [
    [
      'a variable',
      template({ env: [{ name: 'TOKEN', value: 'hunter1' }] }),
      template({ env: [{ name: 'TOKEN', value: 'hunter2' }] }),
    ],
    ['arguments', template({ args: ['--password=hunter1'] }), template({ args: ['--password=hunter2'] })],
    ['a command', template({}), template({ command: ['sh', '-c', 'echo hunter2'] })],
    ['a header of a probe', template(probe(1)), template(probe(2))],
    [
      'the command of a probe',
      template({ livenessProbe: { exec: { command: ['hunter1'] } } }),
      template({ livenessProbe: { exec: { command: ['hunter2'] } } }),
    ],
    ['a hook', template({}), template({ lifecycle: { preStop: { exec: { command: ['hunter2'] } } } })],
    [
      'an annotation',
      template({}, { metadata: { annotations: { 'example.com/key': 'hunter1' } } }),
      template({}, { metadata: { annotations: { 'example.com/key': 'hunter2' } } }),
    ],
    [
      'a volume’s attributes',
      template({}),
      template(
        {},
        { spec: { volumes: [{ name: 'v', csi: { driver: 'd', volumeAttributes: { pass: 'hunter2' } } }] } },
      ),
    ],
    [
      'a new container',
      template({}),
      {
        spec: {
          containers: [
            { name: 'app', image: 'app:1' },
            { name: 'b', env: [{ name: 'A', value: 'hunter2' }] },
          ],
        },
      },
    ],
  ];

  it.each(SECRETS)('tells that %s differs, and not its value', (_, from, to) => {
    const text = JSON.stringify(decideDiff(from, to));
    expect(decideDiff(from, to)).not.toEqual([]);
    expect(text).not.toMatch(/hunter|secret-|hidden:/);
  });

  it('shows values where that is asked for', () => {
    const [, from, to] = SECRETS[0]!;
    expect(decideDiff(from, to, { showValues: true })).toEqual([
      { place: 'container app', section: 'environment', field: 'env TOKEN', from: 'hunter1', to: 'hunter2' },
    ]);
  });

  it('is nothing between equal ones, and where a hidden value is the same', () => {
    const one = template({ env: [{ name: 'A', value: 'x' }] });
    expect(decideDiff(one, structuredClone(one))).toEqual([]);
    expect(renderDiff('web', { from: 1, to: 'live', changes: [] }, PLAIN)).toBe(
      'web: revision 1 → what runs now\nnothing differs',
    );
  });

  it('says which Secret a variable comes from', () => {
    const from = (name: string) =>
      template({
        env: [{ name: 'TOKEN', valueFrom: { secretKeyRef: { name, key: 'token' } } }],
      });
    expect(JSON.stringify(decideDiff(from('old'), from('new')))).toContain('"to":"new"');
  });
});

describe('the revisions that are compared', () => {
  const known = [1, 2, 3].map((revision) => ({ revision, isCurrent: revision === 3 }));

  it('are those that are named, else the one before and the one that runs', () => {
    expect(revisionsToCompare(known, [])).toEqual([2n, 3n]);
    expect(revisionsToCompare(known, [1n])).toEqual([1n, undefined]);
    expect(revisionsToCompare(known, [1n, 2n])).toEqual([1n, 2n]);
    const other = known.map((each) => ({ ...each, isCurrent: false }));
    expect(revisionsToCompare(other, []), 'the template is not rolled out yet').toEqual([3n, undefined]);
  });

  it('need two', () => {
    expect(() => revisionsToCompare(known.slice(2), [])).toThrow('there is only one revision');
  });
});
