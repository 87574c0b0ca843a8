import { describe, expect, it } from 'vitest';
import { Pod } from '../runtime/index.js';
import { refusalOf } from './admission-review.js';
import { defineWebhook } from './define-webhook.js';
import { validatingWebhooks } from './webhook-configurations.js';

const validate = (): undefined => undefined;

describe('a webhook of a subresource', () => {
  it('is asked about that alone, and named after both', () => {
    const webhook = defineWebhook(Pod, { subresource: 'eviction', operations: ['CREATE'], validate });
    expect(webhook.name).toBe('pods-eviction.core.k8s.io');
    expect(validatingWebhooks([webhook], () => ({}))).toMatchObject([
      { rules: [{ apiGroups: [''], resources: ['pods/eviction'], operations: ['CREATE'] }] },
    ]);
  });

  it('is one word, and has no versions to convert', () => {
    expect(() => defineWebhook(Pod, { subresource: 'pods/eviction', validate })).toThrow(
      'webhook.subresource: "pods/eviction" must be one word of lower-case letters',
    );
    expect(() => defineWebhook(Pod, { subresource: 'eviction', convert: [{} as never], validate })).toThrow(
      'webhook.convert',
    );
  });
});

describe('the answer of a handler', () => {
  const pod = { group: '', kind: 'Pod', name: 'web-1' };
  it.each([
    { verdict: undefined, expected: undefined },
    { verdict: '', expected: undefined },
    { verdict: 'no', expected: { code: 403, reason: 'Forbidden', message: 'no' } },
    {
      verdict: { code: 429, message: 'later' },
      expected: { code: 429, reason: 'TooManyRequests', message: 'later' },
    },
    {
      verdict: { code: 418, reason: 'Teapot', message: 'no' },
      expected: { code: 418, reason: 'Teapot', message: 'no' },
    },
    { verdict: [], expected: undefined },
  ])('$verdict is $expected', ({ verdict, expected }) => {
    expect(refusalOf(verdict, pod)).toEqual(expected);
  });
});
