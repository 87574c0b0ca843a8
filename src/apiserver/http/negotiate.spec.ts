import { describe, expect, it } from 'vitest';
import { checkRepresentable, negotiate } from './negotiate.js';

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

  it.each([
    ['application/json;q=0.1,application/yaml;q=0.9', 'yaml'],
    ['application/json;q=0.9,application/yaml;q=0.1', 'json'],
    ['application/json;q=0.5,application/yaml', 'yaml'],
    ['application/yaml;q=nothing,application/json;q=0.1', 'json'],
    ['*/*,application/yaml;q=0.1', 'yaml'],
    ['text/html,application/xhtml+xml,application/yaml;q=0.9,*/*;q=0.8', 'yaml'],
    ['application/*,application/yaml', 'yaml'],
  ])('takes what weighs most, and stars last: %s', (accept, format) => {
    expect(negotiate(accept)).toEqual({ format, metaVersion: 'v1' });
  });

  it('takes a view of a lower weight only if the first one is not offered', () => {
    const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    expect(negotiate(`application/json;q=0.9,${table};q=0.5`)).not.toHaveProperty('as');
    expect(negotiate(`application/json;q=0.4,${table};q=0.5`)).toHaveProperty('as', 'Table');
  });

  it.each([
    'application/vnd.kubernetes.protobuf',
    'text/html',
    'application/json;v=v2',
    'application/json;as=Table;g=meta.k8s.io',
    'application/json;as=Table;g=meta.k8s.io;v=v2',
    'application/json;as=Table;v=v1',
  ])('refuses %s', (accept) => {
    expect(() => negotiate(accept)).toThrow(/only the following media types are accepted/);
  });
});

describe('the form of the answer for a built-in kind', () => {
  it.each([undefined, 'text/html, */*', 'application/yaml;q=1'])('may be asked for as %s', (accept) => {
    expect(() => checkRepresentable(accept, { hasStreams: false })).not.toThrow();
  });

  it('is named to those who ask for something else', () => {
    const written = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';
    const ask = (hasStreams: boolean) => () =>
      checkRepresentable('application/*', { hasStreams, first: ['text/plain'] });
    expect(ask(false)).toThrow(`406: Not Acceptable\n\nAvailable representations: text/plain, ${written}`);
    expect(ask(true)).toThrow(
      /protobuf, application\/json;stream=watch, application\/vnd.kubernetes.protobuf;stream=watch$/,
    );
  });
});
