import { describe, expect, it } from 'vitest';
import { renderFlagz, renderStatusz, structuredVersionAsked } from './z-pages.js';

describe('the z-pages', () => {
  it('tell the options as flags, in the order of their names, and of secrets nothing', () => {
    const { fields, text } = renderFlagz({
      standalone: false,
      'admin-token-file': '(hidden)',
      workers: { deployment: 5, replicaset: 10 },
      controllers: ['deployment', 'replicaset'],
      context: undefined,
    });
    expect(fields.flags).toEqual({
      'admin-token-file': 'CLASSIFIED',
      controllers: 'deployment,replicaset',
      standalone: 'false',
      workers: 'deployment=5,replicaset=10',
    });
    expect(text).toMatch(
      /^\nrollkeeper flags\nWarning: This endpoint is not meant to be machine parseable, .*\n\nadmin-token/,
    );
    expect(text.endsWith('workers=deployment=5,replicaset=10\n')).toBe(true);
  });

  it('tell since when the process runs, as components of Kubernetes write it', () => {
    const text = renderStatusz({
      startedAtMs: Date.UTC(2024, 9, 6, 21, 3, 43),
      uptimeSeconds: 3723,
      nodeVersion: 'v24.0.0',
      binaryVersion: '1.2.3',
      paths: ['/livez', '/readyz'],
    });
    expect(text.split('\n')).toEqual([
      '',
      'rollkeeper statusz',
      expect.stringContaining('Warning: '),
      '',
      'Started: Sun Oct  6 21:03:43 UTC 2024',
      'Up: 1 hr 02 min 03 sec',
      'Node.js version: v24.0.0',
      'Binary version: 1.2.3',
      'Paths: /livez /readyz',
      '',
    ]);
  });

  it.each([
    ['application/json;v=v1beta1;g=config.k8s.io;as=Statusz', 'v1beta1'],
    ['text/html, application/json; as=Statusz; g=config.k8s.io; v=v1alpha1', 'v1alpha1'],
    ['application/json', undefined],
    ['application/json;v=v1beta1;g=config.k8s.io;as=Flagz', undefined],
    ['application/json;v=v9;g=config.k8s.io;as=Statusz', undefined],
    [undefined, undefined],
  ])('are structured where all of it is asked for: %s', (accept, version) => {
    expect(structuredVersionAsked(accept, 'Statusz')).toBe(version);
  });
});
