import { describe, expect, it } from 'vitest';
import { negotiate } from './negotiate.js';

describe('negotiate', () => {
  it.each([
    [undefined, { format: 'json', metaVersion: 'v1' }],
    ['application/json, */*', { format: 'json', metaVersion: 'v1' }],
    ['application/yaml', { format: 'yaml', metaVersion: 'v1' }],
    ['application/vnd.kubernetes.protobuf,application/json', { format: 'json', metaVersion: 'v1' }],
    [
      'application/json;as=Table;v=v1;g=meta.k8s.io,application/json',
      { format: 'json', as: 'Table', metaVersion: 'v1' },
    ],
    [
      'application/json;as=Table;v=v1beta1;g=meta.k8s.io',
      { format: 'json', as: 'Table', metaVersion: 'v1beta1' },
    ],
    [
      'application/json;as=Unheard;v=v1;g=meta.k8s.io,application/json',
      { format: 'json', metaVersion: 'v1' },
    ],
  ])('%s gives %j', (accept, expected) => {
    expect(negotiate(accept)).toEqual(expected);
  });

  it.each(['application/vnd.kubernetes.protobuf', 'text/html'])('refuses %s', (accept) => {
    expect(() => negotiate(accept)).toThrow(/only the following media types are accepted/);
  });
});
