import { describe, expect, it } from 'vitest';
import { withoutValues } from './hide-values.js';

describe('an object for an anonymous reader', () => {
  const object = {
    metadata: {
      name: 'web',
      labels: { app: 'web' },
      annotations: { note: 'kept', 'kubectl.kubernetes.io/last-applied-configuration': '{"env":"s3cret"}' },
    },
    spec: {
      template: {
        spec: {
          containers: [
            {
              name: 'app',
              image: 'web:1',
              command: ['run', '--password=s3cret'],
              args: ['s3cret'],
              env: [
                { name: 'PASSWORD', value: 's3cret' },
                { name: 'OTHER', valueFrom: { secretKeyRef: { name: 'web', key: 'other' } } },
              ],
              livenessProbe: { httpGet: { httpHeaders: [{ name: 'Authorization', value: 's3cret' }] } },
            },
          ],
        },
      },
    },
  };

  it('has none of the values that may be secret, and all the rest', () => {
    const shown = JSON.stringify(withoutValues(object));
    expect(shown).not.toContain('s3cret');
    for (const kept of ['web:1', 'PASSWORD', 'secretKeyRef', 'Authorization', 'kept', 'app'])
      expect(shown).toContain(kept);
  });

  it('is a copy', () => {
    const before = structuredClone(object);
    withoutValues(object);
    expect(object).toEqual(before);
  });
});
